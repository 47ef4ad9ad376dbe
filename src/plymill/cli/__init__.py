"""The command line: ties the workers into the job system, and asks books and solver questions."""

from plymill.cli.main import main

__all__ = ["main"]

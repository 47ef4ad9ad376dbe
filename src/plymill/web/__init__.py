"""The page: runs, books and matches in a browser, and the same as JSON. Reads the store only."""

from plymill.web.settings import ServeError, Settings

__all__ = ["ServeError", "Settings"]

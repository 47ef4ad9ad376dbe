"""Compiles the programs in ``peer_c``, with the flags of a variant of ours."""

import ctypes
import subprocess
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
FLAGS = PROJECT["tool"]["plymill"]["flags"]  # by level of processor


def compile_peer(source: str, folder: str, variant: str) -> ctypes.CDLL:
    """A C program of ``peer_c`` as a library, which is written to ``folder``."""
    library = Path(folder) / f"{source}.so"
    include = [f"-I{ROOT / 'src' / 'plymill' / room}" for room in ("games", "solver")]
    path = str(Path(__file__).parent / "peer_c" / source)
    command = ["cc", *FLAGS[variant], "-fPIC", "-shared", *include, path]
    subprocess.run([*command, "-o", str(library), "-lm"], check=True)
    return ctypes.CDLL(str(library))

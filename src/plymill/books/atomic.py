"""Files that are either written whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import get_ident
from typing import BinaryIO


@contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Opens a new binary file that takes the name ``path`` when the block ends without an error.

    Until then it bears a temporary name in the same folder, one for each thread that writes; after
    an error it is removed, and what stood under ``path`` before is still there. The file is on
    the disk before it is renamed.
    """
    target = Path(path)
    temporary = target.with_name(f".{target.name}.{os.getpid()}-{get_ident()}.tmp")
    try:
        with temporary.open("w+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
        _sync_folder(target.parent)
    except BaseException:
        with suppress(FileNotFoundError):
            temporary.unlink()
        raise


def _sync_folder(folder: Path) -> None:
    """Brings the rename itself to the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

"""Text files that people write: read whole, and never more than such a file can hold."""

import errno
import io
import os
from pathlib import Path
from typing import TextIO

MIB = 1 << 20


def open_text(path: str | os.PathLike[str], *, most: int = 64 * MIB) -> TextIO:
    """A text file in UTF-8, with or without a byte order mark, with any ends of lines.

    The limit is for what has no end, such as a device, and for what was named by mistake.

    Args:
        path: a file or a pipe.
        most: bytes that such a file can hold.

    Raises:
        OSError: it cannot be read, or is longer.
        UnicodeDecodeError: on reading: it is not in UTF-8.
    """
    with Path(path).open("rb") as stream:
        data = stream.read(most + 1)
    if len(data) > most:
        reason = f"It is longer than {most // MIB} MiB, expected a text of a person's making"
        raise OSError(errno.EFBIG, reason, str(path))
    return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8-sig")

"""Finding what the command line names: books, stores, and room for new files."""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from plymill.cli.failures import UsageError
from plymill.cli.options import Layout

if TYPE_CHECKING:
    from plymill.books import Book

_PUBLISHED: dict[Layout, str] = {
    "8ply": "book_8ply.dat",
    "12ply": "book_12ply.dat",
    "12ply-dist": "book_12ply_distances.dat",
}
_PACKAGE = "bitbully_databases"
#: Names the book of 8 stones that comes with plymill.
BUNDLED = "bundled"


def locate(name: str, layout: Layout | None) -> tuple[Path, Layout | None]:
    """The file and layout of a book: a path, ``bundled``, or ``published:LAYOUT``.

    Raises:
        UsageError: there is no such published book, it is of another layout than ``layout``, or its
            package is not installed.
    """
    if name == BUNDLED:
        from plymill.players import perfect

        return perfect.BUNDLED, layout
    scheme, mark, wanted = name.partition(":")
    if scheme != "published" or not mark:
        return Path(name), layout
    for published, file in _PUBLISHED.items():
        if wanted == published:
            if layout not in (None, published):
                raise UsageError(f"{name} is not of the layout {layout}, expected no layout")
            return _assets(name) / file, published
    raise UsageError(
        f"There is no published book '{wanted}', expected one of {', '.join(_PUBLISHED)}"
    )


def open_named(name: str, layout: Layout | None) -> "Book":
    """The book that the command line names.

    Raises:
        BookFormatError: the file cannot be read or is no such book.
        UsageError: see `locate`.
    """
    from plymill.books import open_book

    return open_book(*locate(name, layout))


def require_store(url: str, *, there: bool) -> None:
    """See that a local store is a folder; the others say themselves what is wrong.

    Args:
        url: the store.
        there: whether it has to exist already.

    Raises:
        UsageError: it is missing, or is not a folder.
    """
    try:
        folder = Path(url).expanduser()
    except RuntimeError:
        raise UsageError(f"The store {url} is in the home of a user who does not exist") from None
    if "://" in url or folder.is_dir() or not (there or folder.exists()):
        return
    fault = "is not a folder" if folder.exists() else "does not exist"
    raise UsageError(f"The store {url} {fault}, expected a folder that holds runs")


def require_free(path: Path, *, force: bool) -> None:
    """See that a new file can be put at ``path``.

    Raises:
        UsageError: something is there and is not to be replaced, or there is no such folder.
    """
    if path.is_dir():
        raise UsageError(f"{path} is a folder, expected the name of a file to write")
    if path.exists() and not force:
        raise UsageError(f"{path} is there already; --force replaces it")
    if not path.parent.is_dir():
        raise UsageError(f"{path}: there is no folder {path.parent} to write it to")


def require_folder(path: Path) -> None:
    """See that new files can be put into the folder ``path``, which need not be there yet.

    Raises:
        UsageError: a file is there, or where a folder above it would have to be.
    """
    there = next((place for place in (path, *path.parents) if place.exists()), None)
    if there is not None and not there.is_dir():
        raise UsageError(f"{there} is a file, expected a folder to put files in")


def shown(path: str | Path) -> str:
    """A path as short as it can be said from here; URLs stay as they are."""
    if "://" in str(path) or Path.cwd() == Path("/"):
        return str(path)
    try:
        return str(Path(path).relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def called(source: str) -> str:
    """What an answer calls the book that it comes from: a path, or the one of plymill in words."""
    from plymill.players import perfect

    if source == str(perfect.BUNDLED):
        return f"the book of {perfect.BUNDLED_PLY} stones that comes with plymill"
    return shown(source)


def _assets(name: str) -> Path:
    spec = find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        raise UsageError(
            f"{name} comes with the package bitbully-databases, which is not installed; "
            "'pip install bitbully-databases' does that"
        )
    return Path(spec.origin).parent / "assets"

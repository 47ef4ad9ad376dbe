"""The books of a store, opened where they are, and what they say of positions."""

import tempfile
import threading
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from plymill.books import (
    ArrayBook,
    Book,
    BookContentError,
    BookFormatError,
    NotInBookError,
    Scope,
    open_book,
)
from plymill.books.format import HEADER_SIZE, Header
from plymill.books.scores import describe
from plymill.cluster import RunInfo, RunNotFoundError, StoreError
from plymill.errors import IllegalMoveError, told
from plymill.games import Position
from plymill.players.answers import Answer, answer
from plymill.solver import Solver
from plymill.web.memo import Memo
from plymill.web.models import BookEntry, BookFile, PositionAnswer, Value
from plymill.web.reading import StoreReader, artifact_path, side_by_side
from plymill.workers.titles import title_of

#: Positions with fewer stones take the solver too long for somebody who waits for a page.
SOLVE_FROM = 10
_TABLE_MB = 64
_REMEMBERED = 4000  # positions of a shelf that took long to answer
_QUICK = 7  # plies above a book in memory
_SHELVES = 8  # unpacked at once, those asked last
_DESCRIBED = 1000  # books, or as many as there are
_MOST_WAITING = 16  # for their turn, and as many for what others wait for
_FOR_EVER = 1e9
_UNPACKED = 10_000_000  # positions of a book at most
_SUFFIX = ".plymill"
#: The last three if somebody has made up a header, with the check sum that belongs to it.
_UNREADABLE = (BookFormatError, BookContentError, IllegalMoveError, UnicodeDecodeError)


class BusyError(StoreError):
    """Too many questions at once that take long."""


class Workshop:
    """The solver, and how many may wait for what takes long: it is done one after the other.

    Who waits holds up one of the threads that answer, of which a server has forty for all visitors.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._in_line = threading.BoundedSemaphore(_MOST_WAITING)
        # Of their own: the one whom they wait for has to find room.
        self._listening = threading.BoundedSemaphore(_MOST_WAITING)

    @cached_property
    def solver(self) -> Solver:
        """The solver; it is made when it is first needed."""
        return Solver(_TABLE_MB)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait until it is one's turn.

        Raises:
            BusyError: too many wait already.
        """
        with _room_in(self._in_line), self._lock:
            yield

    def listener(self) -> AbstractContextManager[None]:
        """Wait for what another, who asked the same, is told.

        Raises:
            BusyError: too many do so already.
        """
        return _room_in(self._listening)


@contextmanager
def _room_in(line: threading.Semaphore) -> Iterator[None]:
    if not line.acquire(blocking=False):
        raise BusyError("Too many positions are being worked out; ask again in a moment.")
    try:
        yield
    finally:
        line.release()


class Shelf:
    """The books of one run, which answer together.

    Args:
        entry: what they are.
        books: the books, by ply.
        workshop: for what they cannot tell.
    """

    def __init__(self, entry: BookEntry, books: Sequence[Book], workshop: Workshop) -> None:
        self.entry = entry
        self._books = books
        self._workshop = workshop
        self._answers: Memo[tuple[str, bool], PositionAnswer] = Memo(_REMEMBERED)

    @property
    def opening(self) -> str:
        """The moves that all positions follow."""
        return self.entry.opening

    def ask(self, moves: str, *, solve: bool = True) -> PositionAnswer:
        """What is known of the position after these moves.

        Args:
            moves: columns 1 to 7.
            solve: whether to solve what the books cannot tell, if that takes seconds at most.

        Raises:
            IllegalMoveError: they are not.
            BusyError: too many others are being solved.
        """
        if len(moves) > 42:
            raise IllegalMoveError(f"A game has at most 42 moves, got {len(moves)}.", 43)
        position = Position(moves)
        book = next((book for book in self._books if position.ply < book.ply), self._books[-1])
        # A book in memory tells what is a few plies above it in a fraction of a millisecond. Only
        # what takes longer is remembered, such as the few positions far above it: many objects
        # that live long make the garbage collector stop for long.
        quick = isinstance(book, ArrayBook) and book.ply - _QUICK <= position.ply < book.ply
        if position.is_over() or quick:
            return self._find(position, book, solve=solve)
        return self._answers.get(
            (moves, solve),
            lambda: self._find(position, book, solve=solve),
            lambda _: _FOR_EVER,
            wait=self._workshop.listener,
        )

    def best_line(self, moves: str, most: int) -> Iterator[tuple[int, PositionAnswer]]:
        """Best moves from a position on, and what is known after each; the middle one of several.

        Args:
            moves: of the position.
            most: how many at most.
        """
        for _ in range(most):
            best = self.ask(moves).best
            if not best:
                return
            column = min(best, key=lambda column: abs(column - 4))
            moves += str(column)
            yield column, self.ask(moves)

    def _find(self, position: Position, book: Book, *, solve: bool) -> PositionAnswer:
        name = Path(book.source).name
        near = position.ply >= book.ply - (_QUICK if isinstance(book, ArrayBook) else 3)
        try:
            with nullcontext() if near or position.is_over() else self._workshop.turn():
                return _told(answer(position, book, None, name=name))
        except BookFormatError as error:  # a part of it that is read only now is damaged
            said = str(error).replace(book.source, name)
            raise BookFormatError(f"the book cannot be read: {said}") from error
        except NotInBookError as error:
            if not solve or position.ply < SOLVE_FROM:
                return self._unknown(position, book, str(error))
        with self._workshop.turn():
            solver = self._workshop.solver
            return _told(answer(position, book, lambda: solver, name=name))

    def _unknown(self, position: Position, book: Book, why: str) -> PositionAnswer:
        """What is left to say: the value of the position itself, if the book ends at it."""
        held = book.get(position) if position.ply == book.ply else None
        name = Path(book.source).name
        if held is not None:
            reason = f"{name} ends here: it tells the value of this position, not of its moves."
        elif position.ply < len(self.opening):
            reason = f"{name} begins after {self.opening}."
        else:
            reason = f"{name} does not tell: {why.replace(book.source, name)}."
        value = None
        if held is not None:
            words = describe(held, position.moves_left, position.to_move, distances=book.distances)
            score = held if book.distances else None
            winner = position.to_move if held > 0 else 3 - position.to_move
            value = Value(score=score, winner=winner if held else None, plies=None, words=words)
        return PositionAnswer(
            moves=position.moves or "",
            ply=position.ply,
            to_move=position.to_move,
            board=position.to_array().tolist(),
            value=value,
            columns={str(column): None for column in range(1, 8)},
            best=[],
            source="book" if held is not None else "none",
            reason=reason,
        )


class Library:
    """All books of a store.

    Args:
        reader: the store.
    """

    def __init__(self, reader: StoreReader) -> None:
        self._reader = reader
        self._workshop = Workshop()
        self._shelves: Memo[str, Shelf] = Memo(_SHELVES)
        # Descriptions are small, and apart from the shelves: the list of all books unpacks none.
        self._described: Memo[tuple[str, str], BookFile] = Memo(_DESCRIBED)

    def entries(self) -> list[BookEntry]:
        """What books there are, by the run that made them.

        Without runs whose books are gone or damaged: these tell it themselves.
        """
        runs = [run for run in self._reader.runs() if _names(run)]
        self._described.hold(sum(len(_names(run)) for run in runs))
        found = side_by_side(self._entry_or_none, runs)
        return [entry for entry in found if entry is not None]

    def shelf(self, run_id: str) -> Shelf:
        """The books of a run.

        Raises:
            RunNotFoundError: there is no such run, or it has made no books.
            BookFormatError: a book is damaged.
        """
        run = self._reader.run(run_id)
        names = _names(run)
        if not names:
            raise RunNotFoundError(f"Run {run_id} has made no books, or not yet.")
        digests = ",".join(_facts(run, name)["sha256"] for name in names)
        version = (bool(run.spec), digests)  # the title is of the spec, which may be mended
        return self._shelves.get(run_id, lambda: self._open(run), lambda _: _FOR_EVER, version)

    def _open(self, run: RunInfo) -> Shelf:
        names = _names(run)
        books = {name: self._unpack(run, name) for name in names}
        files = [
            self._remember(
                run, name, partial(_file_of, run, name, books[name].scope, len(books[name]))
            )
            for name in names
        ]
        entry = _entry_of(run, files)
        return Shelf(entry, [books[file.name] for file in entry.books], self._workshop)

    def _unpack(self, run: RunInfo, name: str) -> Book:
        with self._at_hand(run.run_id, name) as path:
            return _in_memory(open_book(path))

    def _entry_or_none(self, run: RunInfo) -> BookEntry | None:
        try:
            names = _names(run)
            files = [self._remember(run, name, partial(self._look, run, name)) for name in names]
            return _entry_of(run, files)
        except (RunNotFoundError, BookFormatError):  # it was deleted meanwhile, or is damaged
            return None

    def _look(self, run: RunInfo, name: str) -> BookFile:
        """What the header of a book tells: nothing of it is unpacked, nor fetched if elsewhere."""
        files, place = self._reader.files_of(run.run_id), artifact_path(name)
        try:
            if files.local_path(place) is None:
                start, whole = files.read_part(place, 0, HEADER_SIZE), f"{run.run_id}/{place}"
                with _called(whole, whole):
                    header = Header.unpack(start, whole)
                return _file_of(run, name, header.scope, header.count)
        except FileNotFoundError:
            raise _missing(run.run_id, name) from None
        with self._at_hand(run.run_id, name) as path, open_book(path) as book:
            return _file_of(run, name, book.scope, len(book))

    def _remember(self, run: RunInfo, name: str, look: Callable[[], BookFile]) -> BookFile:
        """The description of a book; it is made once."""
        version: Hashable = _facts(run, name)["sha256"]
        return self._described.get((run.run_id, name), look, lambda _: _FOR_EVER, version)

    @contextmanager
    def _at_hand(self, run_id: str, name: str) -> Iterator[Path]:
        """A book on a disk of this machine; the copy of one that is elsewhere is removed again.

        Who has opened it by then can go on reading it.
        """
        files = self._reader.files_of(run_id)
        path = artifact_path(name)
        try:
            local = files.local_path(path)
            data = b"" if local is not None else files.read(path)
        except FileNotFoundError:
            raise _missing(run_id, name) from None
        place = f"{run_id}/{path}"
        if local is not None:
            with _called(local, place):
                yield local
            return
        with ExitStack() as stack:
            try:
                folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="plymill-page-"))
                copy = Path(folder) / name
                copy.write_bytes(data)
            except OSError as error:  # such as a full disk of this machine
                raise StoreError(f"Cannot keep a copy of {place}: {told(error)}.") from error
            del data
            with _called(copy, place):
                yield copy


@contextmanager
def _called(path: Path | str, place: str) -> Iterator[None]:
    """Let an error about a book name its place in the store, and none on this machine."""
    try:
        yield
    except _UNREADABLE as error:
        said = str(error).replace(str(path), place)
        raise BookFormatError(f"the book cannot be read: {said}") from error


def _in_memory(book: Book) -> Book:
    """The book unpacked, if it is not too large: then many questions at once are answered sooner.

    Nine bytes a position: the 12-ply book takes 38 MB.
    """
    if len(book) > _UNPACKED:
        return book
    with book:
        keys, values = book[:]
        return ArrayBook(keys, values, book.scope, source=book.source)


def _names(run: RunInfo) -> list[str]:
    files = (run.manifest or {}).get("files", {})
    return sorted(name for name in files if name.endswith(_SUFFIX))


def _facts(run: RunInfo, name: str) -> Mapping[str, Any]:
    """Size and digest of a book."""
    assert run.manifest is not None
    facts: Mapping[str, Any] = run.manifest["files"][name]
    return facts


def _missing(run_id: str, name: str) -> RunNotFoundError:
    return RunNotFoundError(f"The book {name} of run {run_id} is missing.")


def _file_of(run: RunInfo, name: str, scope: Scope, positions: int) -> BookFile:
    return BookFile(
        name=name,
        ply=scope.ply,
        positions=positions,
        distances=scope.distances,
        opening=scope.opening,
        **_facts(run, name),
    )


def _entry_of(run: RunInfo, files: Sequence[BookFile]) -> BookEntry:
    books = sorted(files, key=lambda file: file.ply)
    return BookEntry(
        run_id=run.run_id, title=title_of(run.spec), opening=books[0].opening, books=books
    )


def _told(found: Answer) -> PositionAnswer:
    return PositionAnswer.model_validate(found.as_json() | {"moves": found.position.moves or ""})

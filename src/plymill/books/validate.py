"""Checking a book against other books, data files, the rules, and a solver."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from plymill.books.book import Block, Book, Keys, Values
from plymill.books.errors import BookContentError
from plymill.books.induction import positions_of
from plymill.books.report import Check, Fault, Report
from plymill.books.scope import Scope
from plymill.books.sorted_keys import difference, find_sorted
from plymill.books.uci import read_uci
from plymill.games.arrays import canonical_keys, decided, immediate_wins, play_all
from plymill.games.connect4 import WIDTH

Mask = npt.NDArray[np.bool_]

#: Gives the exact scores of positions, an int8 array for a uint64 array of keys.
SolveKeys = Callable[[Keys], npt.NDArray[np.int8]]


def validate(
    book: Book,
    *,
    against: Sequence[Book] = (),
    uci: str | os.PathLike[str] | None = None,
    itself: bool = True,
    expected: Keys | None = None,
    sample: int = 0,
    solve_keys: SolveKeys | None = None,
    seed: int = 0,
) -> Report:
    """Runs all checks that are asked for; see the functions below for each of them.

    Args:
        book: the book to check.
        against: other books of the same ply.
        uci: a data file of the UCI repository.
        itself: check order, filter, completeness and values of the book alone.
        expected: the keys of a complete book, ascending; by default they are enumerated.
        sample: number of random positions to solve again with ``solve_keys``.
        solve_keys: gives the scores of positions.
        seed: chooses the sample.
    """
    checks = [check_itself(book, expected)] if itself else []
    checks += [check_against(book, other) for other in against]
    if uci is not None:
        checks.append(check_against_uci(book, uci))
    if sample:
        if solve_keys is None:
            raise BookContentError("a sample can be solved again only with a solver: give one")
        checks.append(check_sample(book, solve_keys, sample, seed))
    return Report(book.source, checks)


def check_against(book: Book, other: Book) -> Check:
    """Compares a book with another, of any layout, as sets of canonical positions.

    Scores are compared as scores if both books have distances, else as outcomes. What a miss
    means in either book counts as its answer. Where one of them lies below an opening, only
    positions below it are compared.

    Raises:
        BookContentError: the books have different plies, or openings of which neither continues
            the other.
    """
    opening = _narrower_opening(book, other)
    exact = book.distances and other.distances
    missing, extra, differing = Fault("missing"), Fault("extra"), Fault("differing")
    compared = 0
    for keys, values in _below(book, opening):
        theirs, found = other.lookup(keys)
        extra.add(keys[~found], lambda _: f"is not in {other.source}")
        _add_differences(differing, keys[found], values[found], theirs[found], exact=exact)
        compared += len(keys)
    for keys, theirs in _below(other, opening):
        rest = ~book.lookup(keys, stored_only=True)[1]
        keys, theirs = keys[rest], theirs[rest]  # noqa: PLW2901 - the others are compared already
        values, found = book.lookup(keys)
        missing.add(keys[~found], lambda _: f"is in {other.source} only")
        _add_differences(differing, keys[found], values[found], theirs[found], exact=exact)
        compared += len(keys)
    name = f"{'scores' if exact else 'outcomes'} against {other.source}"
    return Check(name=name, compared=compared, faults=[missing, extra, differing])


def check_against_uci(book: Book, path: str | os.PathLike[str]) -> Check:
    """Compares the outcomes of the positions in a UCI data file with those of a book.

    Raises:
        BookFormatError: the file cannot be read or holds a line that is no position.
    """
    keys, outcomes = read_uci(path)
    values, found = book.lookup(keys)
    missing, differing = Fault("missing"), Fault("differing")
    missing.add(keys[~found], lambda _: f"is in {path} only")
    _add_differences(differing, keys[found], values[found], outcomes[found], exact=False)
    return Check(name=f"outcomes against {path}", compared=len(keys), faults=[missing, differing])


def check_itself(book: Book, expected: Keys | None = None) -> Check:
    """Checks a book alone: its digest, its order, its filter, its values, its completeness.

    Of values it checks the bounds that the number of squares left sets, and all losses in two
    plies, which the rules alone decide: a position is one if after every move the opponent wins
    at once.

    Args:
        book: the book to check.
        expected: the keys of a complete book, ascending; by default they are enumerated. A book
            without the wins of player 1 is checked only for positions that nobody expects.

    Raises:
        BookFormatError: the file is damaged.
    """
    book.verify()
    keys, values = book[:]
    faults = [
        *_faults_of_keys(book.scope, keys),
        *_faults_of_values(book.scope, keys, values),
        *_gaps(book.scope, keys, positions_of(book.scope) if expected is None else expected),
    ]
    return Check(name="the book alone", compared=len(keys), faults=faults)


def check_sample(book: Book, solve_keys: SolveKeys, size: int, seed: int = 0) -> Check:
    """Solves a random sample of a book's positions again and compares the values.

    Args:
        book: the book to check.
        solve_keys: gives the scores of positions, an int8 array for a uint64 array of keys.
        size: number of positions; the whole book if it has no more.
        seed: the same seed chooses the same positions.
    """
    chosen = np.random.default_rng(seed).permutation(len(book))[:size]
    keys, values = book[:]
    keys, values = keys[np.sort(chosen)], values[np.sort(chosen)]
    differing = Fault("differing")
    _add_differences(differing, keys, values, solve_keys(keys), exact=book.distances)
    name = f"random sample (seed {seed}) solved again"
    return Check(name=name, compared=len(keys), faults=[differing])


def _faults_of_keys(scope: Scope, keys: Keys) -> list[Fault]:
    order, twin, place = Fault("out of order"), Fault("not canonical"), Fault("out of place")
    order.add(keys[1:][keys[1:] <= keys[:-1]], lambda _: "does not come after the one before")
    if not scope.mirrored:
        twin.add(keys[canonical_keys(keys) != keys], lambda _: "is not the smaller of its pair")
    place.add(keys[scope.misfits(keys)], lambda _: "should not be in this book")
    return [order, twin, place]


def _faults_of_values(scope: Scope, keys: Keys, values: Values) -> list[Fault]:
    bounds, rules = Fault("out of bounds"), Fault("against the rules")
    low, high = scope.value_range
    far = (values < low) | (values > high)
    bounds.add(keys[far], lambda place: f"{values[far][place]} is not within {low} to {high}")
    lost = _lost_in_two(keys)
    quickest = -(scope.moves_left // 2) if scope.distances else -1
    wrong = lost & (values != quickest)
    if scope.distances and quickest:
        wrong |= ~lost & (values == quickest)
    wrong &= ~decided(keys)
    rules.add(
        keys[wrong],
        lambda place: (
            f"has the value {values[wrong][place]}, but "
            f"{'every' if lost[wrong][place] else 'not every'} move loses at once"
        ),
    )
    return [bounds, rules]


def _gaps(scope: Scope, keys: Keys, expected: Keys) -> list[Fault]:
    missing, extra = Fault("missing"), Fault("extra")
    extra.add(difference(keys, expected), lambda _: "is not expected in this book")
    if not scope.first_wins_omitted:
        missing.add(difference(expected, np.sort(keys)), lambda _: "is missing")
    return [missing, extra]


def _lost_in_two(keys: Keys) -> Mask:
    """True where there is a move, and after every one the opponent can win at once."""
    lost = np.ones(len(keys), dtype=np.bool_)
    some_move = np.zeros(len(keys), dtype=np.bool_)
    for column in range(1, WIDTH + 1):
        after = play_all(keys, column)
        legal = after != 0
        some_move |= legal
        lost &= ~legal | (immediate_wins(after) & ~decided(after))
    return lost & some_move & ~immediate_wins(keys)


def _add_differences(
    fault: Fault, keys: Keys, ours: Values, theirs: Values, *, exact: bool
) -> None:
    differ = ours != theirs if exact else np.sign(ours) != np.sign(theirs)
    mine, others = ours[differ], theirs[differ]
    fault.add(keys[differ], lambda place: f"has the value {mine[place]}, not {others[place]}")


def _narrower_opening(book: Book, other: Book) -> str:
    """The longer of two openings, which must continue the shorter one."""
    if book.ply != other.ply:
        raise BookContentError(
            f"{book.source} holds positions of ply {book.ply} and {other.source} of ply "
            f"{other.ply}: only books of the same ply can be compared"
        )
    short, long = sorted((book.opening, other.opening), key=len)
    if not long.startswith(short):
        raise BookContentError(
            f"{book.source} lies below {book.opening} and {other.source} below {other.opening}: "
            "one of the openings must continue the other for a comparison"
        )
    return long


def _below(book: Book, opening: str) -> Iterator[Block]:
    """The canonical positions of a book, or of its part below a longer opening."""
    wanted = None
    if book.opening != opening:
        wanted = positions_of(replace(book.scope, opening=opening, mirrored=False))
    for keys, values in book.blocks():
        kept = canonical_keys(keys) == keys
        if wanted is not None:
            kept &= find_sorted(wanted, np.zeros(len(wanted), dtype=np.int8), keys)[1]
        yield keys[kept], values[kept]

"""First moves: how often each was played, and whether that agrees with what was published."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from plymill.matches.compare import holm
from plymill.matches.errors import MatchError
from plymill.matches.grids import Cell
from plymill.matches.moves import first_move_text
from plymill.matches.published import FirstMoves, plain_move
from plymill.matches.records import Matches

if TYPE_CHECKING:
    from plymill.games.game import Game

#: Moves played less often than this by both together are taken as one.
_RARE = 5


@dataclass(frozen=True, slots=True)
class FirstMoveComparison:
    """The first moves at one number of iterations, ours and the published ones.

    Attributes:
        iterations: of the first player.
        ours: how many matches of ours there were.
        theirs: how many matches the published fractions are of.
        chi_squared: of the two samples.
        freedom: its degrees of freedom; 0 if there is nothing to compare.
        p: probability of so large a value by chance.
        farthest: the move whose fractions differ most.
        our_fraction: our fraction of that move.
        their_fraction: the published one.
        stands_out: whether it does among all numbers of iterations (Holm, 5%).
    """

    iterations: int
    ours: int
    theirs: int
    chi_squared: float
    freedom: int
    p: float
    farthest: str
    our_fraction: float
    their_fraction: float
    stands_out: bool = False


def count_first_moves(matches: Matches, cells: Sequence[Cell]) -> dict[int, Counter[int]]:
    """How often each move was the first one, by the iterations of the first player.

    Matches that were not played to their end are left out.
    """
    counts: dict[int, Counter[int]] = {}
    played = matches.take(matches.played)
    rows = {cell.index: cell.row for cell in cells}
    pairs = zip(played.arrays["cell"].tolist(), played.first_moves().tolist(), strict=True)
    for (cell, code), number in Counter(pairs).items():
        row = rows[cell]
        if row is not None and code >= 0:
            counts.setdefault(row, Counter())[code] += number
    return dict(sorted(counts.items()))


def compare_first_moves(
    game: "Game",
    ours: Mapping[int, Mapping[int, int]],
    published: FirstMoves,
    published_matches: Mapping[int, int],
) -> list[FirstMoveComparison]:
    """Compares first moves, one number of iterations after the other.

    Args:
        game: the rules.
        ours: how often each move code was played, by iterations.
        published: the published fractions, by iterations and move.
        published_matches: how many matches the fractions are of, by iterations.

    Raises:
        MatchError: the published moves are not those of the game, or no number of iterations is
            in both.
    """
    names = {code: plain_move(first_move_text(game, code, gdl=True)) for code in _moves(game)}
    common = sorted(ours.keys() & published.keys() & published_matches.keys())
    if not common:
        raise MatchError("first moves: expected some of our numbers of iterations, got others.")
    found = []
    for iterations in common:
        theirs = published[iterations]
        strange = sorted(theirs.keys() - set(names.values()))
        if strange:
            raise MatchError(
                f"first moves: {game.name} has no first move '{strange[0]}', expected one of "
                f"{', '.join(names.values())}."
            )
        size = published_matches[iterations]
        table = {
            name: (ours[iterations].get(code, 0), theirs.get(name, 0.0) * size)
            for code, name in names.items()
        }
        found.append(_compare(iterations, table))
    marked = holm({place: each.p for place, each in enumerate(found) if each.freedom})
    return [replace(each, stands_out=place in marked) for place, each in enumerate(found)]


def _moves(game: "Game") -> list[int]:
    return game.start().moves(0)


def _compare(iterations: int, table: Mapping[str, tuple[float, float]]) -> FirstMoveComparison:
    from scipy.special import gammaincc

    sizes = [sum(pair[k] for pair in table.values()) for k in (0, 1)]
    rare = [name for name, pair in table.items() if sum(pair) < _RARE]
    groups = [pair for name, pair in table.items() if name not in rare]
    groups.append(tuple(sum(table[name][k] for name in rare) for k in (0, 1)))  # type: ignore[arg-type]
    groups = [pair for pair in groups if sum(pair) > 0]
    chi_squared = 0.0
    for pair in groups:
        for count, size in zip(pair, sizes, strict=True):
            expected = sum(pair) * size / sum(sizes)
            chi_squared += (count - expected) ** 2 / expected
    freedom = len(groups) - 1
    fractions = {name: (a / sizes[0], b / sizes[1]) for name, (a, b) in table.items()}
    farthest = max(fractions, key=lambda name: abs(fractions[name][0] - fractions[name][1]))
    return FirstMoveComparison(
        iterations,
        round(sizes[0]),
        round(sizes[1]),
        chi_squared,
        freedom,
        float(gammaincc(freedom / 2, chi_squared / 2)) if freedom else 1.0,
        farthest,
        *fractions[farthest],
    )

"""`plymill` itself: names loaded when first used, and `solve` with and without a book."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import plymill
from plymill.books import NotInBookError, open_book, write_book
from plymill.errors import IllegalMoveError, SolverError
from plymill.games import Position
from plymill.solver import Solver, enumerate_ply
from plymill.solver import solver as solver_module

PUBLIC = ["Book", "Position", "Solver", "enumerate_ply", "open_book", "solve"]

#: A game of 27 moves that leaves fifteen squares.
OPENING = "526764154731135223326647735"


def run(code: str) -> str:
    """What a fresh interpreter prints."""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def test_importing_plymill_loads_no_extension_and_no_library() -> None:
    loaded = run("import sys, plymill; print(*sorted(sys.modules))").split()
    assert [name for name in loaded if name.startswith("plymill")] == [
        "plymill",
        "plymill._version",
    ]
    assert not {"numpy", "ray", "pyarrow"} & set(loaded)


@pytest.mark.parametrize("name", PUBLIC)
def test_each_public_name_loads_at_first_use_and_stays(name: str) -> None:
    code = (
        f"import plymill; assert {name!r} not in vars(plymill); value = plymill.{name}; "
        f"assert vars(plymill)[{name!r}] is value; print(value.__name__)"
    )
    assert run(code) == name


def test_positions_need_no_solver() -> None:
    code = "import sys, plymill; plymill.Position('44'); print('plymill.solver' in sys.modules)"
    assert run(code) == "False"


def test_the_names_are_listed_and_others_are_missing() -> None:
    assert sorted(plymill.__all__) == sorted([*PUBLIC, "__version__"])
    assert dir(plymill) == sorted(plymill.__all__)
    missing = "nothing"
    with pytest.raises(AttributeError, match="'plymill' has no attribute 'nothing'"):
        getattr(plymill, missing)


def test_solve_gives_the_score_of_moves_or_of_a_position() -> None:
    moves = "24322345511246752347651"
    assert plymill.solve(moves) == -9
    assert plymill.solve(Position(moves)) == -9
    assert plymill.solve(Position.from_key(Position(moves).key)) == -9


@dataclass
class FakeBook:
    """A book by duck typing: it answers 7 to all that it covers, and notes what it was asked."""

    ply: int = 4
    distances: bool = True
    covers: bool = True
    asked: list[Position] = field(default_factory=list)

    def value(self, position: Position) -> int:
        self.asked.append(position)
        if not self.covers:
            raise NotInBookError("not in this book")
        return 7


@pytest.fixture
def no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes any search fail the test."""
    monkeypatch.setattr(Solver, "score", lambda *_: pytest.fail("searched what the book knows"))


@pytest.fixture
def searched(monkeypatch: pytest.MonkeyPatch) -> list[Position]:
    """Records what is searched; every score is then 3."""
    positions: list[Position] = []

    def score(_: Solver, position: Position) -> int:
        positions.append(position)
        return 3

    monkeypatch.setattr(Solver, "score", score)
    return positions


@pytest.mark.usefixtures("no_search")
@pytest.mark.parametrize("moves", ["", "4", "4444"])
def test_a_book_answers_at_its_ply_and_above(moves: str) -> None:
    book = FakeBook()
    assert plymill.solve(moves, book) == 7
    assert book.asked == [Position(moves)]


@pytest.mark.parametrize(
    ("book", "asks"),
    [
        pytest.param(FakeBook(ply=3), 0, id="below-the-horizon"),
        pytest.param(FakeBook(distances=False), 0, id="outcomes-are-no-scores"),
        pytest.param(FakeBook(covers=False), 1, id="outside-the-opening"),
    ],
)
def test_what_no_book_answers_is_searched(
    searched: list[Position], book: FakeBook, asks: int
) -> None:
    assert plymill.solve("4444", book) == 3
    assert searched == [Position("4444")]
    assert len(book.asked) == asks


def test_decided_positions_and_illegal_moves_are_refused_before_the_book() -> None:
    book = FakeBook(ply=42)
    with pytest.raises(SolverError, match="is over: player 1 has won"):
        plymill.solve("1212121", book)
    with pytest.raises(IllegalMoveError, match="move 2 of '48'"):
        plymill.solve("48", book)
    assert book.asked == []


@pytest.fixture
def real_book(tmp_path: Path) -> Path:
    """A file with the scores of ply 30 that follow the opening."""
    keys = enumerate_ply(30, OPENING)
    path = tmp_path / "late.plymill"
    values = Solver(1).score_many(keys)
    write_book(path, keys, values, ply=30, distances=True, opening=OPENING)
    return path


def test_a_real_book_gives_what_the_search_gives(
    real_book: Path, brute_force: Callable[[str], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    at_horizon = [p for p in followers(3) if not p.winner()]
    above = [Position(OPENING), *(p for p in followers(1) if not p.winner())]
    assert len(at_horizon) > 100
    with open_book(real_book) as book:
        with monkeypatch.context() as patch:
            patch.setattr(Solver, "score", lambda *_: pytest.fail("searched what the book knows"))
            for position in [*above, *at_horizon]:
                assert plymill.solve(position, book) == brute_force(position.moves or "")
        # One ply below the book, and outside its opening.
        after = at_horizon[0].play
        below = next(p for p in map(after, at_horizon[0].legal_moves()) if not p.winner())
        elsewhere = Position("24322345511246752347651")
        with pytest.raises(NotInBookError):
            book.value(elsewhere)
        assert plymill.solve(below, book) == brute_force(below.moves or "")
        assert plymill.solve(elsewhere, book) == -9


def followers(plies: int) -> list[Position]:
    """Every game that goes on for so many plies after the opening."""
    games = [Position(OPENING)]
    for _ in range(plies):
        games = [game.play(column) for game in games for column in game.legal_moves()]
    return games


def test_the_solver_of_solve_is_made_once() -> None:
    assert solver_module._default_solver() is solver_module._default_solver()

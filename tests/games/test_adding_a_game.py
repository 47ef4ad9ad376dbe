"""docs/adding-a-game.md: its game is compiled, registered by its line, and played."""

import pickle
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import plymill.games
from plymill.games import Game, State, Stream, game_names, open_game, registry

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "adding-a-game.md").read_text()

pytestmark = pytest.mark.slow

BUILD = """
from Cython.Build import cythonize
from setuptools import Extension, setup

setup(
    name="nim",
    ext_modules=cythonize(
        Extension("plymill.games.nim", ["nim.pyx"], include_dirs=[{headers!r}]),
        include_path=[{source!r}],
        compiler_directives={{"language_level": 3, "cdivision": True, "wraparound": False}},
    ),
    script_args=["-q", "build_ext", "--build-lib", "built"],
)
"""


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that holds the compiled module of the page."""
    folder = tmp_path_factory.mktemp("nim")
    (folder / "nim.pyx").write_text("\n\n".join(blocks("cython")))
    source = ROOT / "src"
    script = BUILD.format(headers=str(source / "plymill" / "games"), source=str(source))
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "built" / "plymill" / "games"


@pytest.fixture
def nim(built: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Game]:
    """The game, as if its file lay in the package and its line stood in the registry."""
    line = blocks("python")[0]
    families = eval(f"{{{line}}}", {"Family": registry.Family})
    monkeypatch.setattr(plymill.games, "__path__", [*plymill.games.__path__, str(built)])
    monkeypatch.setattr(registry, "FAMILIES", {**registry.FAMILIES, **families})
    yield open_game("nim")
    open_game.cache_clear()
    sys.modules.pop("plymill.games.nim", None)


def test_the_game_can_be_opened_by_its_name(nim: Game) -> None:
    assert nim.name == "nim"
    assert "nim" in game_names()
    assert pickle.loads(pickle.dumps(nim.start())) == nim.start()


def test_the_example_of_the_page_runs(nim: Game, capsys: pytest.CaptureFixture[str]) -> None:
    exec(blocks("python")[1], {})
    *drawing, moves, goals = capsys.readouterr().out.splitlines()
    assert drawing == ["a oo", "b oo", "c "]
    assert moves == "['a1', 'a2', 'b1', 'b2']"
    assert goals in {"(100, 0)", "(0, 100)"}


def test_its_playout_is_the_generic_one(nim: Game) -> None:
    for match in range(200):
        own, generic = Stream(1, 0, match), Stream(1, 0, match)
        end = nim.start().playout(own)
        assert end == nim.start().playout(generic, generic=True)
        assert own == generic
        assert sum(end.goals) == 100


def test_who_can_even_out_the_heaps_wins(nim: Game) -> None:
    """The theory of the game: the mover wins unless the sizes' exclusive or is 0."""
    values: dict[State, bool] = {}

    def mover_wins(state: State) -> bool:
        if state not in values:
            if state.status == -1:
                return False
            values[state] = any(not mover_wins(state.play(code)) for code in state.moves())
        return values[state]

    assert mover_wins(nim.start())
    for state, wins in values.items():
        a, b, c = state.words[0].to_bytes(3, "little")
        assert wins == (a ^ b ^ c != 0)


def test_moves_are_read_and_written(nim: Game) -> None:
    moves = nim.parse_moves("a3 ( take b 4 ) c5")
    assert moves == [(2,), (11,), (20,)]
    assert nim.format_moves(moves) == "a3 b4 c5"
    assert nim.after(moves).goals == (100, 0)

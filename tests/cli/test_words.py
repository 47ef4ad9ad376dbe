"""The words of commands: none may be empty, and no name of a run leads out of the store."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from plymill.cluster import SpecError
from plymill.workers.kinds import SPECS
from tests.cli.helpers import Plymill

EMPTY = [
    ("run list --store", "--store"),
    ("book build --store", "--store"),
    ("book build --against", "--against"),
    ("book build --spec", "--spec"),
    ("book build --log-file", "--log-file"),
    ("book build --address", "--address"),
    ("book build --submit --env", "--env"),
    ("book verify x --uci", "--uci"),
    ("match grid --game", "--game"),
    ("match compare x --published", "--published"),
    ("match chart x --to", "--to"),
    ("solve 44 --book", "--book"),
    ("serve --host", "--host"),
    ("serve --token", "--token"),
    ("jobs --address", "--address"),
    ("submit job.toml --wheel", "--wheel"),
    ("submit", "JOB"),
    ("status", "RUN"),
    ("delete", "RUN"),
    ("run show", "RUN"),
    ("book info", "BOOK"),
    ("download x", "DEST"),
    ("book convert x", "OUT"),
]


@pytest.mark.parametrize(("words", "name"), EMPTY)
@pytest.mark.parametrize("empty", ["", " "])
def test_an_empty_word_is_refused(plymill_: Plymill, words: str, name: str, empty: str) -> None:
    done = plymill_(*words.split(), empty)
    assert done.code == 2
    assert done.err.startswith(f"plymill: {name} is empty, expected a value. See 'plymill ")


def test_an_empty_variable_is_refused_by_its_name(
    plymill_: Plymill, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLYMILL_STORE", "")
    done = plymill_("run", "list")
    assert done.code == 2
    assert done.err.startswith("plymill: PLYMILL_STORE is empty, expected a value.")


def test_what_may_be_empty_still_may(plymill_: Plymill, tmp_path: Path) -> None:
    done = plymill_("book", "build", "--opening", "", "--ply", "42", "--store", tmp_path)
    assert "ply: expected at most 41, got 42." in done.err


@pytest.mark.parametrize("word", ["", "=x", "A B=1", "1A=x", "A-B=x"])
def test_a_variable_has_a_name(plymill_: Plymill, tmp_path: Path, word: str) -> None:
    (tmp_path / "job.toml").write_text('kind = "book"\nply = 8\n')
    done = plymill_("submit", tmp_path / "job.toml", "--store", tmp_path / "runs", "--env", word)
    assert done.code == 2
    assert "--env" in done.err
    assert not (tmp_path / "runs").exists()


def test_a_variable_is_given_once(plymill_: Plymill, tmp_path: Path) -> None:
    (tmp_path / "job.toml").write_text('kind = "book"\nply = 8\n')
    words = ("submit", tmp_path / "job.toml", "--store", tmp_path / "runs")
    done = plymill_(*words, "--env", "A=1", "--env", "A=2")
    assert done.err == "plymill: --env 'A=2': A is there twice, expected it once.\n"


ODD_NAMES = ["../{run}", "{store}/{run}", "./{run}", "{run}/", "..", "."]
COMMANDS = [
    "run show {odd}",
    "run resume {odd}",
    "run download {odd} --to {tmp}/to",
    "download {odd} {tmp}/to",
    "status {odd}",
    "delete {odd} --yes",
    "match replay {odd} 0:0",
    "match chart {odd} --to {tmp}/to",
    "match compare {odd} {run}",
    "match compare {run} {odd}",
]


@pytest.mark.parametrize("name", ODD_NAMES)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_name_of_a_run_that_is_a_path_is_refused(
    plymill_: Plymill, store: Path, grid_id: str, tmp_path: Path, command: str, name: str
) -> None:
    """The store named here lies beside the one that holds the run: the path would reach it."""
    odd = name.format(run=grid_id, store=store)
    words = command.format(odd=odd, run=grid_id, tmp=tmp_path)
    done = plymill_(*words.split(), "--store", store)
    assert done.code == 2
    assert done.err == (
        f"plymill: '{odd}' is not the name of a run, expected one such as book-1f0c2a3b4d5e.\n"
    )
    assert not (tmp_path / "to").exists()


#: A value of every kind that a file can hold, and numbers at the ends.
VALUES: list[Any] = ["odd", True, 1.5, -1, 10**30, float("nan"), float("inf"), [], [[1]], {"a": 1}]
FIELDS: dict[str, dict[str, Any]] = {
    "book": {},
    "grid": {"game": "tictactoe", "first": "10", "second": "10"},
    "duel": {"game": "tictactoe", "player_a": "random", "player_b": "uct:10"},
    "pool": {"game": "tictactoe", "players": ["random", "uct:10"]},
}


def faults(kind: str) -> Iterator[str]:
    """What is said of every field of a kind of job with every value that it does not take."""
    model: type[BaseModel] = SPECS[kind]
    for name in model.model_fields:
        for value in VALUES:
            try:
                SPECS[kind].from_fields({**FIELDS[kind], name: value}, where="job.toml")
            except SpecError as error:
                yield str(error)


@pytest.mark.parametrize("kind", SPECS)
def test_faults_of_fields_are_told_in_our_words(kind: str) -> None:
    """Not in those of the library that checks them, and with each field named once."""
    told = list(faults(kind))
    assert len(told) > 2 * len(SPECS[kind].model_fields)
    for sentence in told:
        assert sentence.startswith("job.toml: ")
        assert not re.search(
            r"should|input|\bvalid\b|tuple|dict|another value|None", sentence, re.I
        )
        assert not re.search(r"\b(\w+): \1:", sentence)
        assert "\n" not in sentence

"""Help is quick, whole, and shows an example; what only submits or looks loads no solver."""

import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from cyclopts import App

from plymill import __version__
from plymill.cli.commands import make_app
from tests.cli.helpers import Plymill

COMMANDS = [
    *(f"book {name}" for name in ("build", "derive", "verify", "query", "convert", "info")),
    *(f"match {name}" for name in ("grid", "duel", "pool", "replay", "compare", "chart")),
    *(f"run {name}" for name in ("list", "show", "resume", "download")),
    "serve",
    *("submit", "jobs", "status", "logs", "stop", "resume", "download", "cancel", "delete"),
    "solve",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(plymill_: Plymill, command: str) -> None:
    shown = plymill_(*command.split(), "--help")
    assert shown.code == 0
    assert f"Usage: plymill {command}" in shown.out
    assert f"Example: plymill {command}" in shown.out


@pytest.mark.parametrize(
    ("command", "job_server", "here"),
    [
        ("submit", True, False),
        ("resume", True, False),
        ("run resume", False, True),
        ("book build", True, True),
    ],
)
def test_help_tells_which_address_is_meant(
    plymill_: Plymill, command: str, job_server: bool, here: bool
) -> None:
    words = plymill_(*command.split(), "--help").out.replace("│", " ")
    shown = " ".join(words.split()).partition(" --address STR ")[2].partition(" --threads ")[0]
    assert ("http://head:8265" in shown) is job_server
    assert ("Ray is started here" in shown) is here
    assert ("--submit" in shown) is (job_server and here)


def every_command(app: App, *above: str) -> Iterator[tuple[str, App]]:
    """The commands that the help lists, with those of groups."""
    for name in app:
        if name.startswith("-") or not app[name].show:
            continue
        below = list(every_command(app[name], *above, name))
        yield from below or [(" ".join([*above, name]), app[name])]


def test_no_command_is_missing_from_these_tests() -> None:
    assert sorted(name for name, _ in every_command(make_app())) == sorted(COMMANDS)


@pytest.mark.parametrize("command", sorted({*COMMANDS} - {"serve", "logs"}))
def test_what_a_program_may_read_has_json(plymill_: Plymill, command: str) -> None:
    """The page has an API, and logs are text."""
    assert " --json " in plymill_(*command.split(), "--help").out


def test_examples_are_commands_that_exist() -> None:
    """With words that are understood, so that what goes wrong is at most what they name."""
    for name, command in every_command(make_app()):
        example = str(command.help_epilogue).removeprefix("Example: plymill ")
        assert example.startswith(name)
        bound = make_app().parse_args(shlex.split(example), exit_on_error=False, print_error=False)
        assert bound[0] is command.default_command


@pytest.mark.parametrize("words", [[], ["--help"], ["book"], ["match"], ["run"]])
def test_help_of_groups_lists_their_commands(plymill_: Plymill, words: list[str]) -> None:
    shown = plymill_(*words)
    assert shown.code == 0
    group = [word for word in words if word != "--help"]
    for command in COMMANDS:
        first, *rest = command.split()
        if not group:
            assert f" {first} " in shown.out
        elif group == [first]:
            assert f" {rest[0]} " in shown.out


def test_version(plymill_: Plymill) -> None:
    assert plymill_("--version").out == f"{__version__}\n"


def test_help_loads_no_ray_no_arrays_and_no_compiled_part() -> None:
    loaded = _modules_after(["--help"])
    assert not loaded & {"ray", "numpy", "pyarrow", "pydantic"}
    assert not any(name.startswith(("plymill.games", "plymill.solver")) for name in loaded)


def test_looking_at_runs_loads_no_ray_and_no_solver(tmp_path: Path) -> None:
    loaded = _modules_after(["run", "list", "--store", str(tmp_path)])
    assert "plymill.cluster.runs" in loaded
    assert "ray" not in loaded
    for part in ("games", "books", "solver", "players", "matches", "workers"):
        assert f"plymill.{part}" not in loaded


def _modules_after(words: list[str]) -> set[str]:
    """The modules that are loaded once a command has run in a process of its own."""
    code = (
        "import sys; from plymill.cli import main; code = main(sys.argv[1:]);"
        "print('\\n'.join(sys.modules), file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=True
    )
    return set(done.stderr.splitlines())

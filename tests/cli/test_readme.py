"""The README keeps its word: its Python runs, its figures are right, its table has all commands."""

import re
from pathlib import Path

from tests.cli.test_help import COMMANDS

README = (Path(__file__).parents[2] / "README.md").read_text()


def test_the_table_lists_every_command_and_no_other() -> None:
    listed = re.findall(r"^\| `plymill ([a-z ]+[a-z])", README, re.MULTILINE)
    assert sorted(listed) == sorted(COMMANDS)


def test_the_python_example_runs_and_its_figures_are_right() -> None:
    example = re.findall(r"```python\n(.*?)```", README, re.DOTALL)[0]
    names: dict[str, object] = {}
    checked = 0
    for line in filter(None, example.splitlines()):
        code, _, comment = line.partition("#")
        if "=" in code or code.startswith("import"):
            exec(code, names)
            continue
        value = eval(code, names)
        if figure := re.match(r" (\d+)\b", comment):
            assert value == int(figure[1]), line
            checked += 1
    assert checked == 2

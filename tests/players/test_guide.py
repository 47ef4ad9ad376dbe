"""What docs/players.md shows can be done as it stands there."""

import re
from pathlib import Path

import pytest

from plymill.games import Stream, open_game
from plymill.matches.records import Status
from plymill.matches.referee import play_match
from plymill.players import parse_player

GUIDE = (Path(__file__).parents[2] / "docs" / "players.md").read_text()
EXAMPLES = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)


def test_the_example_of_a_player_plays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_player.py").write_text(EXAMPLES[0])
    monkeypatch.chdir(tmp_path)
    game = open_game("connect4")
    greedy = parse_player("python:my_player:Greedy,chance=0.5").make(game)
    chance = parse_player("random").make(game)
    try:
        records = [
            play_match(game, (greedy, chance), Stream(1, 0, match)).record for match in range(10)
        ]
    finally:
        greedy.close()
    assert {record.status for record in records} == {Status.PLAYED}
    assert sum(record.first_goal for record in records) > 500


def test_the_example_in_python_runs_and_gives_what_it_says() -> None:
    names: dict[str, object] = {}
    exec(EXAMPLES[1], names)
    player, game = names["player"], names["game"]
    player.begin(0, Stream(seed=1))  # type: ignore[attr-defined]
    choice = player.choose(game.start())  # type: ignore[attr-defined]
    shown = re.search(r"Choice\(move=(\d+), value=([\d.]+)\.\.\.\)", EXAMPLES[1])
    assert shown
    assert choice.move == int(shown[1])
    assert f"{choice.value:.4f}".startswith(shown[2])


@pytest.mark.parametrize("text", re.findall(r"`((?:uct|perfect|python):[a-z0-9][^`]*)`", GUIDE))
def test_every_player_that_the_guide_names_can_be_read(text: str) -> None:
    assert parse_player(text)

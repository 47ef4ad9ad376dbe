"""Players of the user's own: what goes wrong with them is told apart, and leaves no process."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from plymill.games import open_game
from plymill.games.random import Stream
from plymill.matches.records import Status
from plymill.matches.referee import play_match
from plymill.players import (
    PlayerFailure,
    PlayerHung,
    PlayerIllegal,
    PlayerRaised,
    parse_player,
)
from plymill.players.foreign import ForeignPlayer
from tests.faults import running, wait_until_gone

BOTS = "python:tests.players.bots"
LIMIT = ",limit=1"  # for those that hang only: this machine may be slow


@contextmanager
def seated(text: str, game: str = "connect4", side: int = 0) -> Iterator[ForeignPlayer]:
    player = parse_player(text).make(open_game(game))
    assert isinstance(player, ForeignPlayer)
    try:
        player.begin(side, Stream(1))
        yield player
    finally:
        player.close()


def test_it_plays_by_code_and_by_words_with_and_without_estimate() -> None:
    start = open_game("connect4").start()
    with seated(f"{BOTS}:Last") as player:
        assert player.choose(start) == (6, None)
    with seated(f"{BOTS}:Last,as_text=1") as player:
        assert player.choose(start) == (6, None)
    with seated(f"{BOTS}:Last,value=0.25") as player:
        assert player.choose(start) == (6, 0.25)


def test_it_plays_both_sides_of_simultaneous_moves() -> None:
    game = open_game("bidding-tictactoe")
    players = parse_player(f"{BOTS}:Last").make(game), parse_player(f"{BOTS}:Random").make(game)
    try:
        record = play_match(game, players, Stream(5)).record
    finally:
        for player in players:
            player.close()
    assert record.status is Status.PLAYED
    assert record.moves[0] == game.start().moves(0)[-1]


def test_its_random_numbers_come_from_the_matchs_stream() -> None:
    game = open_game("connect4")
    players = parse_player(f"{BOTS}:Random").make(game), parse_player(f"{BOTS}:Random").make(game)
    try:
        first, again, other = (
            play_match(game, players, Stream(1, 0, match)).record.moves for match in (0, 0, 1)
        )
    finally:
        for player in players:
            player.close()
    assert first == again != other


def test_one_process_serves_many_matches_and_ends_with_the_player() -> None:
    with seated(f"{BOTS}:Last") as player:
        pid = player.pid
        player.begin(1, Stream(2))
        assert player.pid == pid is not None
        assert running(pid)
    assert player.pid is None
    assert not running(pid)
    player.close()


FAILURES = [
    ("raise", PlayerRaised, "raised ZeroDivisionError: my own fault"),
    ("number", PlayerIllegal, "gave 99, expected one of the moves 0, 1, 2, 3, 4, 5, 6"),
    ("none", PlayerIllegal, "gave None, expected one of"),
    ("text", PlayerIllegal, "gave 'nonsense', expected one of"),
    ("true", PlayerIllegal, "gave True, expected one of the moves 0, 1"),
    ("huge", PlayerIllegal, "gave [7, 7, 7, 7, 7, 7, ...], expected one of"),
    ("huge_number", PlayerIllegal, "expected one of the moves 0, 1, 2, 3, 4, 5, 6"),
    ("three", PlayerIllegal, "gave (0, 0.5, 'and more'), expected one of"),
    ("nan", PlayerIllegal, "gave nan as its estimate, expected a number from 0 to 1, or None"),
    ("seventeen", PlayerIllegal, "gave 17.0 as its estimate, expected a number from 0 to 1"),
    ("negative", PlayerIllegal, "gave -0.001 as its estimate, expected a number from 0 to 1"),
    ("estimate_text", PlayerIllegal, "gave '0.5' as its estimate, expected a number"),
    ("estimate_true", PlayerIllegal, "gave True as its estimate, expected a number"),
    ("raise_lines", PlayerRaised, "raised ValueError: one two ?[31mred ?"),
    ("raise_base", PlayerRaised, "raised KeyboardInterrupt: not the end of everything"),
    ("raise_mute", PlayerRaised, "raised Mute, whose text raises ValueError"),
    ("close", PlayerRaised, "ended its process with exit code 1"),
    ("close_and_hang", PlayerRaised, "closed or misused the connection on which it is asked"),
    ("garbage", PlayerRaised, "closed or misused the connection on which it is asked"),
    ("ignore_sigterm", PlayerHung, "gave no answer for 1 seconds, its limit"),
    ("kill_group", PlayerRaised, "ended its process with SIGKILL"),
    ("exit", PlayerRaised, "ended its process with exit code 3"),
    ("sys_exit", PlayerRaised, "ended its process with exit code 4"),
    ("abort", PlayerRaised, "ended its process with SIGSEGV"),
    ("hang", PlayerHung, "gave no answer for 1 seconds, its limit"),
    ("sleep", PlayerHung, "gave no answer for 1 seconds, its limit"),
]


@pytest.mark.parametrize(("do", "kind", "message"), FAILURES, ids=[f[0] for f in FAILURES])
def test_each_failure_is_told_by_its_kind_and_leaves_no_process(
    do: str, kind: type[PlayerFailure], message: str
) -> None:
    game = open_game("connect4")
    with seated(f"{BOTS}:Bad,do={do}{LIMIT if kind is PlayerHung else ''}") as player:
        pid = player.pid
        assert pid is not None
        with pytest.raises(kind) as raised:
            player.choose(game.start())
        assert message in str(raised.value)
        assert player.pid is None
        assert not running(pid)
        with pytest.raises(PlayerRaised, match="has failed before in this match"):
            player.choose(game.start())
        player.begin(0, Stream(2))  # a new match gets a new process
        assert player.pid not in (None, pid)


@pytest.mark.parametrize(
    ("do", "status"),
    [
        ("raise", (Status.FIRST_RAISED, Status.SECOND_RAISED)),
        ("number", (Status.FIRST_ILLEGAL, Status.SECOND_ILLEGAL)),
        ("exit", (Status.FIRST_RAISED, Status.SECOND_RAISED)),
        ("hang", (Status.FIRST_HUNG, Status.SECOND_HUNG)),
    ],
)
@pytest.mark.parametrize("side", [0, 1])
def test_a_failure_in_the_middle_of_a_match_ends_that_match_only(
    do: str, status: tuple[Status, Status], side: int
) -> None:
    game = open_game("connect4")
    limit = LIMIT if do == "hang" else ""
    bad = parse_player(f"{BOTS}:Bad,do={do},ply=4{limit}").make(game)
    good = parse_player("first-legal").make(game)
    try:
        for match in range(2):  # and the next one is played as if nothing had been
            players = (good, bad) if side else (bad, good)
            played = play_match(game, players, Stream(1, 0, match))
            assert played.record.status is status[side]
            assert played.record.plies == 4 + side
            assert played.fault
    finally:
        bad.close()


def test_a_traceback_of_the_players_own_code_is_handed_on() -> None:
    with seated(f"{BOTS}:Bad,do=raise") as player:
        with pytest.raises(PlayerRaised) as raised:
            player.choose(open_game("connect4").start())
        assert "do_raise" in raised.value.details


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("python:no.such.module:Bot", "raised ModuleNotFoundError: No module named 'no"),
        (f"{BOTS}:Nobody", "raised AttributeError: module"),
        (f"{BOTS}:Unmade", "raised RuntimeError: no weights"),
        (f"{BOTS}:Random,strength=3", "raised TypeError: "),
    ],
)
def test_a_class_that_cannot_be_made_is_reported_at_the_beginning(text: str, message: str) -> None:
    with pytest.raises(PlayerRaised) as raised, seated(text):
        pass
    assert message in str(raised.value)


def test_an_error_while_it_is_told_the_moves_is_its_failure_too() -> None:
    with seated(f"{BOTS}:Unobservant") as player:
        pid = player.pid
        assert pid is not None
        with pytest.raises(PlayerRaised, match="KeyError: 'lost'"):
            player.observe((3,))
        assert not running(pid)


def test_what_it_prints_does_not_get_into_the_answers() -> None:
    with seated(f"{BOTS}:Bad,do=print") as player:
        assert player.choose(open_game("connect4").start()) == (0, None)


def test_a_number_of_any_kind_is_an_estimate() -> None:
    with seated(f"{BOTS}:Bad,do=fine_estimate") as player:
        assert player.choose(open_game("connect4").start()) == (0, 0.25)


def test_binary_that_it_prints_does_not_get_into_the_answers() -> None:
    with seated(f"{BOTS}:Bad,do=binary") as player:
        assert player.choose(open_game("connect4").start()) == (0, None)


def test_a_player_that_forks_and_lets_both_halves_return_is_heard_once(tmp_path: Path) -> None:
    start, file = open_game("connect4").start(), tmp_path / "pids"
    with seated(f"{BOTS}:Bad,do=fork,file={file}") as player:
        for _ in range(4):
            assert player.choose(start) == (0, None)
            player.observe((0,))
        halves = [int(line) for line in file.read_text().splitlines()]
        assert len(halves) == 4
        wait_until_gone(halves)  # each has returned what it was asked for
        player.begin(1, Stream(3))


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nobody adopts orphans")
@pytest.mark.parametrize("end", ["close", "exit", "hang", "killed"])
def test_processes_that_left_its_session_are_killed_with_it(tmp_path: Path, end: str) -> None:
    """The player is closed, ends by itself, hangs, or is killed by somebody else."""
    file = tmp_path / "pids"
    text = f"{BOTS}:Bad,do=leave_daemons,end={end},file={file},limit={5 if end == 'hang' else 60}"
    start = open_game("connect4").start()
    with seated(text) as player:
        if end in ("close", "killed"):
            player.choose(start)
        else:
            with pytest.raises(PlayerHung if end == "hang" else PlayerRaised):
                player.choose(start)
        first, second, own = map(int, file.read_text().split())
        if end == "killed":
            assert running(first)
            os.kill(own, signal.SIGKILL)
            with pytest.raises(PlayerRaised, match="ended its process with SIGKILL"):
                player.choose(start)
    for pid in (first, second, own):
        assert not running(pid), "it was waited for"


def test_processes_that_it_started_are_killed_with_it(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    text = f"{BOTS}:Bad,do=hang_with_child,limit=5,file={file}"
    with seated(text) as player, pytest.raises(PlayerHung):
        player.choose(open_game("connect4").start())
    wait_until_gone([int(file.read_text())])


def test_it_ends_when_the_process_that_asks_it_is_killed(tmp_path: Path) -> None:
    program = (
        "import sys, time\n"
        "from plymill.games import open_game\n"
        "from plymill.games.random import Stream\n"
        "from plymill.players import parse_player\n"
        f"player = parse_player('{BOTS}:Bad,do=hang').make(open_game('connect4'))\n"
        "player.begin(0, Stream(1))\n"
        "print(player.pid, flush=True)\n"
        "player.choose(open_game('connect4').start())\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    assert running(pid)
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    wait_until_gone([pid])


def test_a_module_in_the_current_folder_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_bot.py").write_text(
        "class Bot:\n"
        "    def __init__(self, game, side, seed):\n"
        "        self.side = side\n"
        "    def choose(self, state):\n"
        "        return state.moves(self.side)[2]\n"
    )
    monkeypatch.chdir(tmp_path)
    with seated("python:my_bot:Bot") as player:
        assert player.choose(open_game("connect4").start()).move == 2

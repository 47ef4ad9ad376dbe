"""Descriptions of players: what can be written, its canonical form, and what is refused."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plymill.players import (
    FirstLegalSpec,
    PerfectSpec,
    PlayerError,
    PlayerSpec,
    PythonSpec,
    RandomSpec,
    UctSpec,
    parse_player,
)
from plymill.players.spec import FINALS, MAX_ITERATIONS, TREATMENTS


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("uct:20480", UctSpec(20480)),
        ("uct:5,c=1,final=visits", UctSpec(5, c=1.0, final="visits")),
        ("uct:5,final=average,reuse=no,wincheck=no,playout=0", UctSpec(5)),
        ("uct:5,wincheck=yes,reuse=yes", UctSpec(5, wincheck=True, reuse=True)),
        (" uct:007,simultaneous=sequential ", UctSpec(7, simultaneous="sequential")),
        ("uct:5,c=-0.0", UctSpec(5, c=0.0)),
        ("random", RandomSpec()),
        ("first-legal", FirstLegalSpec()),
        ("perfect", PerfectSpec()),
        ("perfect:delay", PerfectSpec(delay=True)),
        ("perfect:book=a.book", PerfectSpec(book="a.book")),
        (
            "perfect:delay,layout=12ply-dist,book=b",
            PerfectSpec(delay=True, book="b", layout="12ply-dist"),
        ),
        ("python:my.bots:Bot", PythonSpec("my.bots", "Bot")),
        (
            "python:bots:Bot,z=1,limit=2,a=x y",
            PythonSpec("bots", "Bot", 2.0, (("a", "x y"), ("z", "1"))),
        ),
    ],
)
def test_a_description_is_read_and_its_canonical_form_means_the_same(
    text: str, spec: PlayerSpec
) -> None:
    assert parse_player(text) == spec
    assert parse_player(spec.text) == spec
    assert parse_player(text).text == spec.text
    assert str(spec) == spec.text


def test_the_canonical_form_leaves_out_what_is_the_default() -> None:
    assert UctSpec(20480).text == "uct:20480"
    assert (
        UctSpec(9, c=1.0, final="visits", reuse=True).text == "uct:9,c=1.0,final=visits,reuse=yes"
    )
    assert PythonSpec("a", "B").text == "python:a:B"


@given(
    st.builds(
        UctSpec,
        st.integers(1, MAX_ITERATIONS),
        c=st.floats(0, 1e6).map(abs),
        final=st.sampled_from(FINALS),
        reuse=st.booleans(),
        playout=st.integers(0, 10_000),
        wincheck=st.booleans(),
        simultaneous=st.sampled_from(TREATMENTS),
    )
)
def test_every_uct_player_can_be_written_down(spec: UctSpec) -> None:
    assert parse_player(spec.text) == spec


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "There is no player '', expected one of uct:ITERATIONS, random"),
        ("uct", "the number of iterations is '', expected a whole number from 1 to 10000000"),
        ("uct:0", "is '0', expected a whole number"),
        ("uct:1_000", "is '1_000', expected a whole number"),
        ("uct:10000001", "expected a whole number from 1 to 10000000"),
        ("uct:" + "9" * 5000, "expected a whole number"),
        ("uct:5,c=nan", "c is 'nan', expected a number from 0 to 1e"),
        ("uct:5,c=-1", "c is '-1', expected a number"),
        ("uct:5,c", "'c' is no option, expected NAME=VALUE"),
        ("uct:5,c=1,c=1", "'c=1' is no option, expected NAME=VALUE, each name once"),
        ("uct:5,depth=3", "has no option 'depth', expected some of c, final, reuse, playout"),
        ("uct:5,final=best", "final is 'best', expected average or visits"),
        ("uct:5,playout=-1", "playout is '-1', expected a whole number from 0"),
        ("random:5", "Player 'random:5' takes no options, expected 'random'"),
        ("perfect:fast", "'fast' is no option"),
        ("perfect:layout=8ply", "expected 'perfect' or 'perfect:delay'"),
        ("python:bots", "names no class, expected 'python:MODULE:CLASS'"),
        ("python:my bots:Bot", "names no class"),
        ("python:bots:Bot,limit=0", "limit is '0', expected a number from 0.01"),
        ("alphazero", "There is no player 'alphazero'"),
    ],
)
def test_what_cannot_be_read_is_refused_in_a_sentence(text: str, message: str) -> None:
    with pytest.raises(PlayerError) as raised:
        parse_player(text)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"iterations": 0}, "iterations is 0, expected 1 to 10000000"),
        ({"iterations": MAX_ITERATIONS + 1}, "iterations is 10000001, expected 1 to 10000000"),
        ({"iterations": 5, "c": -0.1}, "c is -0.1, expected 0 to"),
        ({"iterations": 5, "c": float("nan")}, "c is nan, expected 0 to"),
        ({"iterations": 5, "playout": -1}, "playout is -1, expected 0 to 10000"),
        ({"iterations": 5, "final": "best"}, "final is 'best', expected average or visits"),
        ({"iterations": 5, "simultaneous": "no"}, "expected decoupled or sequential"),
    ],
)
def test_what_the_engine_cannot_do_is_refused_without_text_too(
    fields: dict[str, Any], message: str
) -> None:
    with pytest.raises(PlayerError) as raised:
        UctSpec(**fields)
    assert message in str(raised.value)


@pytest.mark.parametrize("text", ["python:m:C,a=x\n\x1b[31my", "uct:10\x00", "random\ufffe"])
def test_what_no_picture_and_no_terminal_can_show_is_no_player(text: str) -> None:
    with pytest.raises(PlayerError, match=r"characters that cannot be printed, expected") as told:
        parse_player(text)
    assert str(told.value).isprintable()

"""The stream of random numbers of one match."""

import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plymill.errors import GameError
from plymill.games import Stream

WORDS = st.integers(0, 2**64 - 1)
MASK = 2**64 - 1


def at(*words: int) -> Stream:
    """A stream in a state of its own."""
    rebuild, _ = Stream(0).__reduce__()
    stream = rebuild(words)
    assert isinstance(stream, Stream)
    return stream


def rotated(x: int, k: int) -> int:
    return (x << k | x >> (64 - k)) & MASK


def slow_xoshiro(s: list[int]) -> int:
    """xoshiro256++ as its authors describe it, on numbers of any size."""
    result = (rotated((s[0] + s[3]) & MASK, 23) + s[0]) & MASK
    t = s[1] << 17 & MASK
    s[2] ^= s[0]
    s[3] ^= s[1]
    s[1] ^= s[2]
    s[0] ^= s[3]
    s[2] ^= t
    s[3] = rotated(s[3], 45)
    return result


def test_the_first_numbers_after_1_2_3_4_are_the_published_ones() -> None:
    stream = at(1, 2, 3, 4)
    assert [stream.next64() for _ in range(6)] == [
        41943041,
        58720359,
        3588806011781223,
        3591011842654386,
        9228616714210784205,
        9973669472204895162,
    ]


@given(WORDS, WORDS, WORDS)
def test_the_numbers_are_those_of_the_generator(seed: int, cell: int, match: int) -> None:
    stream = Stream(seed, cell, match)
    words = list(stream.words)
    assert [stream.next64() for _ in range(20)] == [slow_xoshiro(words) for _ in range(20)]
    assert stream.words == tuple(words)


def test_the_numbers_of_a_match_stay_what_they_were() -> None:
    """Whoever changes the seeding changes every match that was ever played."""
    assert Stream(1, 2, 3).next64() == 8873892774034796177


@given(st.sets(st.tuples(WORDS, WORDS, WORDS), min_size=2, max_size=5))
def test_every_match_has_a_stream_of_its_own(names: set[tuple[int, int, int]]) -> None:
    assert len({Stream(*name).words for name in names}) == len(names)


def test_neighbouring_matches_have_nothing_in_common() -> None:
    firsts = {
        Stream(seed, cell, match).next64()
        for seed in range(10)
        for cell in range(10)
        for match in range(100)
    }
    assert len(firsts) == 10_000
    assert abs(sum(first >> 63 for first in firsts) - 5_000) < 250


@given(WORDS, st.integers(1, 2**32 - 1))
def test_below_is_the_upper_half_of_one_draw_scaled(seed: int, n: int) -> None:
    stream, same = Stream(seed), Stream(seed)
    number = stream.below(n)
    assert number == (same.next64() >> 32) * n >> 32
    assert 0 <= number < n
    assert stream == same


@given(WORDS)
def test_copies_go_on_alike_and_apart(seed: int) -> None:
    stream = Stream(seed, 1, 2)
    stream.next64()
    for other in (stream.copy(), pickle.loads(pickle.dumps(stream))):
        assert other == stream
        number = other.next64()
        assert other != stream
        assert stream.copy().next64() == number


def test_a_stream_is_no_key_and_no_number() -> None:
    with pytest.raises(TypeError):
        hash(Stream(1))
    other: Any = 1
    assert Stream(1) != other
    assert "Stream at" in repr(Stream(1))


@pytest.mark.parametrize(
    ("numbers", "says"),
    [
        ((-1,), "the seed is -1, expected 0 to"),
        ((0, 2**64), f"the cell is {2**64}, expected 0 to"),
        ((0, 0, -5), "the match is -5, expected 0 to"),
    ],
)
def test_numbers_out_of_range_are_refused(numbers: tuple[int, ...], says: str) -> None:
    with pytest.raises(GameError, match=says):
        Stream(*numbers)


@pytest.mark.parametrize("n", [0, -1, 2**32])
def test_a_number_below_nothing_is_refused(n: int) -> None:
    with pytest.raises(GameError, match=f"below {n} was asked for, expected 1 to"):
        Stream(0).below(n)


def test_a_seed_that_is_no_whole_number_is_not_rounded() -> None:
    number: Any = 1.5
    with pytest.raises(TypeError):
        Stream(number)

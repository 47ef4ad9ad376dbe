"""Random playouts: each game's own against the generic one, which plays any game by its moves."""

import argparse

from _harness import Comparison, parser, seconds, show
from plymill.games import State, Stream, game_names, open_game


def main() -> None:
    """Plays both ways from the start of every game; the ends have to be the same."""
    command = parser(__doc__)
    command.add_argument("--playouts", type=int, default=20_000, help="playouts of each game")
    options = command.parse_args()
    show(measure(options), as_json=options.json)


def measure(options: argparse.Namespace) -> Comparison:
    """Nanoseconds a playout of Connect Four on 7x6; those of the other games beside them."""
    count, compared = options.playouts, 0
    own: dict[str, float] = {}
    generic: dict[str, float] = {}
    for name in game_names():
        start = open_game(name).start()
        compared += compare(start, count // 10)
        own[name] = nanoseconds(start, count, generic=False)
        generic[name] = nanoseconds(start, count, generic=True)
    plies = mean_stones("connect4-7x6", count // 10)
    return Comparison(
        claim="A random playout of Connect Four from the empty board",
        ours=own["connect4-7x6"],
        peer=generic["connect4-7x6"],
        unit="ns",
        larger_is_better=False,
        checked=compared,
        extra={
            "ns_a_ply": round(own["connect4-7x6"] / plies, 2),
            "own_ns": {name: round(figure) for name, figure in own.items()},
            "generic_ns": {name: round(figure) for name, figure in generic.items()},
        },
    )


def compare(start: State, count: int) -> int:
    """Plays with equal numbers both ways; the number of ends, which have to be equal."""
    own, generic = Stream(2), Stream(2)
    for _ in range(count):
        assert start.playout(own) == start.playout(generic, generic=True), "ends differ"
    assert own == generic, "not as many numbers were drawn"
    return count


def nanoseconds(start: State, count: int, *, generic: bool) -> float:
    """The time of one playout."""
    took = seconds(lambda: start.mean_goals(Stream(1), count, generic=generic), repeat=20)
    return 1e9 * took / count


def mean_stones(name: str, count: int) -> float:
    """The mean number of stones at the end of a match of a drop game."""
    start, stream = open_game(name).start(), Stream(1)
    return sum(start.playout(stream).words[1].bit_count() for _ in range(count)) / count


if __name__ == "__main__":
    main()

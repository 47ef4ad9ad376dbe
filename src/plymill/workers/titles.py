"""What a run is about, in a line, from the fields of its stored spec."""

from collections.abc import Callable, Mapping
from typing import Any


def title_of(spec: Mapping[str, Any]) -> str:
    """The job in a line, as far as its spec can be read."""
    kind = spec.get("kind", "unknown")
    try:
        return _TITLES[kind](spec) if kind in _TITLES else str(kind)
    except (KeyError, TypeError, IndexError, ValueError):
        return str(kind)


def _book(spec: Mapping[str, Any]) -> str:
    after = f" after {spec['opening']}" if spec["opening"] else ""
    kind = "with distances" if spec["distances"] else "outcomes only"
    return f"book of the positions with {spec['ply']} stones{after}, {kind}"


def _grid(spec: Mapping[str, Any]) -> str:
    axes = [f"{axis[0]} to {axis[-1]}" for axis in (spec["first"], spec["second"])]
    until = f", until {spec['until']}" if spec["until"] is not None else ""
    return (
        f"grid of {spec['game']}, {axes[0]} against {axes[1]} iterations, "
        f"{spec['samples']:,} samples{until}"
    )


_TITLES: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "book": _book,
    "grid": _grid,
    "duel": lambda spec: f"duel of {spec['game']}, {spec['player_a']} against {spec['player_b']}",
    "pool": lambda spec: f"pool of {spec['game']}, {len(spec['players'])} players",
}

"""What came out of a match job, in sentences; from the results of its stages alone."""

from collections.abc import Mapping
from typing import Any

from plymill.matches.rounds import MAX_SAMPLES


def outcome_lines(stages: Mapping[str, Any]) -> list[str]:
    """What came out, in a few lines."""
    lines = [*_verdict(stages["duel"])] if "duel" in stages else []
    cells = stages["cells"]
    if "pool" in stages:
        lines += [_rating(place, row) for place, row in enumerate(stages["pool"]["ratings"], 1)]
    elif "duel" not in stages:
        lines.append(
            f"First player: {cells['wins']:,} wins, {cells['draws']:,} draws, "
            f"{cells['losses']:,} losses in {cells['cells']:,} cells."
        )
    if cells.get("wide"):
        lines.append(
            f"The interval is wider than {cells['until']} in {cells['wide']:,} cells: none gets "
            f"more than {MAX_SAMPLES:,} matches, nor any in which most of them fail."
        )
    return lines


def _verdict(duel: Mapping[str, Any]) -> list[str]:
    a, b = duel["player_a"], duel["player_b"]
    low, high = (f"{elo:g}" for elo in duel["hypotheses"])
    said = {
        "H1": f"H1 is accepted: {a} is ahead of {b} by {high} Elo rather than by {low}",
        "H0": f"H0 is accepted: {a} is ahead of {b} by {low} Elo rather than by {high}",
        "open": f"Undecided whether {a} is ahead of {b} by {low} Elo or by {high}",
    }[duel["verdict"]]
    lower, upper = duel["bounds"]
    void = f", {duel['void']:,} void ones left out" if duel["void"] else ""
    lines = [
        f"{said} ({duel['model']} Elo; LLR {duel['llr']:.2f} within {lower:.2f} to {upper:.2f} "
        f"after {duel['pairs']:,} pairs{void})."
    ]
    if "elo" in duel:
        score, elo = duel["score"], duel["elo"]
        lines.append(
            f"Score of {a}: {score['mean']:.1%}; Elo {_signed(elo['mean'], duel)}, 95% interval "
            f"{_signed(elo['low'], duel)} to {_signed(elo['high'], duel)}; likelihood to be the "
            f"better one {duel['superiority']:.1%}."
        )
    return lines


def _signed(elo: float | None, duel: Mapping[str, Any]) -> str:
    """JSON knows no infinity: its sign is that of the score above one half."""
    if elo is not None:
        return f"{elo:+.1f}"
    return "+infinity" if duel["score"]["mean"] > 0.5 else "-infinity"


def _rating(place: int, row: Mapping[str, Any]) -> str:
    elo = row["elo"]
    if elo is None:
        return f"  -. {row['player']}  no match counted"
    return (
        f"{place:>3}. {row['player']}  Elo {elo['mean']:+.0f} "
        f"({elo['low']:+.0f} to {elo['high']:+.0f}), {row['points']:g} of {row['matches']:,}"
    )

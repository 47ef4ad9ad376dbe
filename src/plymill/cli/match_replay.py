"""``plymill match replay``: a match of a run, played again move by move."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from plymill.cli.options import DEFAULT_STORE, Json, RunId, Store

if TYPE_CHECKING:
    from plymill.games import Game, State
    from plymill.workers.match_look import PlayedRun, Replay

MatchId = Annotated[
    str, Parameter(name="ID", help="The match, CELL:MATCH, as the column id of matches.parquet.")
]


def replay(
    run: RunId, match: MatchId, /, *, store: Store = DEFAULT_STORE, json: Json = False
) -> int:
    """Play a match of a run again, show it move by move, and say whether it is the same.

    Beside each move stands what its player expected of it: its mean goal, 0 to 100. Exit code 1 if
    the match is not the same.
    """
    from plymill.cli.output import say_json
    from plymill.cli.patience import patience
    from plymill.cli.sources import require_store
    from plymill.workers import match_look

    require_store(store, there=True)
    cell, number = match_look.parse_match_id(match)
    found = match_look.open_run(store, run)
    with patience(f"Playing match {match}"):
        again = match_look.replay(found, cell, number)
    if json:
        say_json(_as_json(found, again))
    else:
        _show(found, again)
    return 0 if again.same else 1


def _show(run: "PlayedRun", replay: "Replay") -> None:
    from plymill.cli.output import say

    game, record = run.spec.rules, replay.again.record
    cell = run.spec.cells[record.cell]
    sides = game.players
    say(
        f"Match {record.id} of {run.spec.run_id}: {game.name}, {cell.first} ({sides[0]}) against "
        f"{cell.second} ({sides[1]})"
    )
    say()
    say(str(game.start()))
    for ply in _plies(game, replay):
        say()
        opening = " (opening)" if ply["opening"] else ""
        said = ", ".join(_move(sides[side], *move) for side, move in ply["moves"].items())
        say(f"{ply['ply']}. {said}{opening}")
        say(str(ply["after"]))
    say()
    if replay.again.fault:
        say(f"The match ends here: {replay.again.fault}")
    else:
        goals = (record.first_goal, record.second_goal)
        say(", ".join(f"{name} {goal}" for name, goal in zip(sides, goals, strict=True)) + " goals")
    say(_verdict(run, replay))


def _move(side: str, move: str, value: float | None) -> str:
    return f"{side} plays {move}" + (f", expects {100 * value:.1f}" if value is not None else "")


def _verdict(run: "PlayedRun", replay: "Replay") -> str:
    if replay.same:
        return "It is the same as in the run: moves, estimates and goals."
    native = all(
        side.text.partition(":")[0] != "python"
        for side in run.spec.sides(run.spec.cells[replay.recorded.cell])
    )
    where = _first_difference(replay)
    why = "" if native else " A player of your own need not play alike twice."
    return f"It is not the same as in the run: {where}.{why}"


def _first_difference(replay: "Replay") -> str:
    recorded, again = replay.recorded, replay.again.record
    pairs = enumerate(zip(recorded.moves, again.moves, strict=False), start=1)
    for place, (old, new) in pairs:
        if old != new:
            return f"the first other move is number {place}"
    if len(recorded.moves) != len(again.moves):
        return f"it has {len(again.moves)} moves instead of {len(recorded.moves)}"
    if recorded.status != again.status:
        return f"it ended as '{again.status.text}' instead of '{recorded.status.text}'"
    return "the moves are, but not all estimates"


def _plies(game: "Game", replay: "Replay") -> Iterator[dict[str, Any]]:
    """Number, moves with estimates by side, and the position after each ply."""
    from plymill.matches.moves import plies
    from plymill.matches.records import NO_VALUE

    record, place = replay.again.record, 0
    for number, (state, codes) in enumerate(plies(game, record.moves), start=1):
        sides = (0, 1) if len(codes) == 2 else (state.status,)
        values = record.values[place : place + len(codes)]
        moves = {
            side: (_text(state, code, side), None if value == NO_VALUE else value / 10_000)
            for side, code, value in zip(sides, codes, values, strict=True)
        }
        opening = place < len(replay.opening)
        place += len(codes)
        yield {"ply": number, "moves": moves, "opening": opening, "after": state.play(*codes)}


def _text(state: "State", code: int, side: int) -> str:
    return state.move_text(code, side)


def _as_json(run: "PlayedRun", replay: "Replay") -> dict[str, Any]:
    game, record = run.spec.rules, replay.again.record
    cell = run.spec.cells[record.cell]
    return {
        "run_id": run.spec.run_id,
        "id": record.id,
        "game": game.name,
        "first": cell.first,
        "second": cell.second,
        "same": replay.same,
        "difference": None if replay.same else _first_difference(replay),
        "status": record.status.text,
        "fault": replay.again.fault or None,
        "goals": [record.first_goal, record.second_goal],
        "plies": [
            {
                "ply": ply["ply"],
                "moves": [
                    {"player": game.players[side], "move": move, "value": value}
                    for side, (move, value) in ply["moves"].items()
                ],
                "opening": ply["opening"],
            }
            for ply in _plies(game, replay)
        ],
    }

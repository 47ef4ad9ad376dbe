"""What failed in a match job, and why: for its last lines, and for those who look closer."""

import json
import re
from collections import Counter

from plymill.cluster import Plan, RunStore
from plymill.cluster.storage.store import PROVENANCE
from plymill.matches.errors import MatchError
from plymill.matches.records import Matches, Status
from plymill.workers.match_results import Attempts
from plymill.workers.match_spec import MatchJob

FAILURES = "failures.json"
_KINDS = {
    Status.FIRST_RAISED: "raised",
    Status.SECOND_RAISED: "raised",
    Status.FIRST_ILLEGAL: "moved illegally",
    Status.SECOND_ILLEGAL: "moved illegally",
    Status.FIRST_HUNG: "hung",
    Status.SECOND_HUNG: "hung",
}
_SECOND = (Status.SECOND_RAISED, Status.SECOND_ILLEGAL, Status.SECOND_HUNG)
#: Where objects lie in memory differs from process to process: ``<Bot object at 0x7f31c2a0>``.
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}")


def failures_json(attempts: Attempts) -> bytes:
    """What went wrong, attempt by attempt, as it goes into the provenance."""
    failures = [
        {"match": match_id, "worker": attempts.workers[unit], "fault": fault, "details": details}
        for unit, match_id, fault, details in attempts.faults
    ]
    return (json.dumps(failures, indent=2) + "\n").encode()


def failed_text(spec: MatchJob, matches: Matches, attempts: Attempts) -> str:
    """How many matches failed at both attempts and why, in words; empty if none did.

    Args:
        spec: the job.
        matches: those that belong to the result, the last attempts at each.
        attempts: all that was played.
    """
    failed = matches.take(~matches.played)
    if not len(failed):
        return ""
    counts: Counter[tuple[str, str]] = Counter()
    for record in failed:
        cell = spec.cells[record.cell]
        player = cell.second if record.status in _SECOND else cell.first
        counts[player, _KINDS[record.status]] += 1
    reasons = [f"{player} {kind} in {count:,}" for (player, kind), count in sorted(counts.items())]
    does = "does" if len(failed) == 1 else "do"
    return (
        f"{len(failed):,} of {len(matches):,} matches failed at both attempts and {does} not "
        f"count: {', '.join(reasons)}. {_first_fault(failed, attempts)}"
    )


def give_up(store: RunStore, plan: Plan, attempts: Attempts) -> MatchError:
    """The error for a duel in which nothing counts, whose results are removed.

    They would stay in the way once the player is mended. What went wrong is kept.
    """
    store.files.write(f"{PROVENANCE}/{FAILURES}", failures_json(attempts))
    store.write_plan(plan.first(min((r.units for r in plan.rounds), default=len(plan.units))))
    for unit in plan.units:
        store.discard_unit(unit)
    kept = store.files.place(f"{PROVENANCE}/{FAILURES}")
    failed = attempts.matches.take(~attempts.matches.played)
    return MatchError(
        f"The duel ends without a result: in each of its {len(attempts.matches) // 2:,} pairs a "
        f"match failed at both attempts. {_first_fault(failed, attempts)} All of them are in "
        f"{kept}; the same command again plays anew."
    )


def _first_fault(failed: Matches, attempts: Attempts) -> str:
    """The fault of the first of these matches, at the last attempt, as a sentence."""
    match_id = next(iter(failed.sorted())).id
    faults = [fault for _, of, fault, _ in attempts.faults if of == match_id]
    fault = _ADDRESS.sub("0x...", faults[-1]) if faults else "it is not known why."
    return f"The first fault, in match {match_id}: {fault.removesuffix('.')}."

"""When a book does not come out sound: which unit is at fault, who solved it, and what is next.

A unit that is proven wrong is discarded with all that stages have made of it, so that the same
command solves it anew. As after an audit (``docs/decisions/0013-audit.md``), whoever solved it is
not trusted any more: what else he solved goes as well, unless every position of the book was
compared with a reference and only that unit's differ.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from plymill.books import BookContentError, Check, Report, Scope
from plymill.cluster import CorruptFileError, Receipt, RunFailedError, StageContext, Unit
from plymill.cluster.storage.store import ARTIFACTS
from plymill.workers.book_spec import BookJob

Keys = npt.NDArray[np.uint64]
SolveKeys = Callable[[Keys], npt.NDArray[np.int8]]

_JUDGED = 20  # positions of a unit that are solved again when it is in doubt
_NAMED = 3  # units that a sentence names
_OURSELVES = "plymill itself is. Please report it, with the job:"


@dataclass(frozen=True, slots=True)
class Culprit:
    """A unit that is at fault. ``says`` goes on after its name: "has the value ..."."""

    unit: Unit
    receipt: Receipt
    says: str

    def __str__(self) -> str:
        who = f"{self.receipt.worker} on {self.receipt.host} (process {self.receipt.pid})"
        return f"unit {self.unit.name}, solved by {who}, {self.says}"


def read_finished(context: StageContext, unit: Unit) -> dict[str, Any]:
    """The result of a unit, which was there and sound when the session began.

    Raises:
        RunFailedError: it is so no more.
    """
    try:
        return context.store.read_unit(unit)[0]
    except (CorruptFileError, FileNotFoundError) as error:
        reason = str(error) if isinstance(error, CorruptFileError) else "its file is missing."
        raise RunFailedError(
            f"The result of unit {unit.name} is lost since it was finished: {reason} Run the same "
            "command again to solve it anew."
        ) from error


def merge_failure(spec: BookJob, context: StageContext, error: BookContentError) -> RunFailedError:
    """What follows from units that cannot be merged into the book."""
    what = f"The units cannot be merged into the book {spec.stem(spec.ply)}"
    if culprits := list(_misfits(spec, context)):
        return _discard(what, context, culprits, only=False)
    context.store.files.delete("plan.json")
    return RunFailedError(
        f"{what}, though each holds what it was given: {_gist(error)}. The plan is at fault and "
        "is discarded: run the same command again to plan anew and solve what differs."
    )


def validation_failure(
    spec: BookJob, context: StageContext, report: Report, solve_keys: SolveKeys
) -> RunFailedError:
    """What follows from checks of the main book that found faults.

    Args:
        spec: the job.
        context: the stage's.
        report: what the checks found.
        solve_keys: the judge: solves positions with an empty table.
    """
    found = _faults(report).replace(f"{context.scratch}/", "")
    what = f"The book {spec.stem(spec.ply)} is not sound: {found}"
    keys = [fault.keys for check in report.checks for fault in check.faults]
    doubtful = np.unique(np.concatenate(keys))
    if culprits := list(_wrong(context, doubtful, solve_keys)):
        everything = any(c.compared >= context.plan.items for c in report.checks if _is_against(c))
        return _discard(what, context, culprits, only=everything)
    holders = _holders(context, doubtful)
    return RunFailedError(
        f"{what}. Solved again, these positions have the values of the units that hold them"
        f"{holders}: {_who_else(spec, context, report)}"
    )


def _who_else(spec: BookJob, context: StageContext, report: Report) -> str:
    """Who is at fault when no unit is, and what to do about it."""
    failed = [check for check in report.checks if not check.ok]
    if failed[0] is report.checks[0]:
        return f"{_OURSELVES} {spec.canonical_json}"
    if any(map(_is_against, failed)):
        return (
            f"the reference is at fault, not the book in {context.store.files.place(ARTIFACTS)}. "
            "To go without it, start the job without the reference, as a run of its own."
        )
    return (
        "the machine that solved the sample computes unreliably. Run the same command again, on "
        "another machine if that is possible."
    )


def _is_against(check: Check) -> bool:
    return " against " in check.name


def derived_failure(spec: BookJob, ply: int, report: Report) -> RunFailedError:
    """What follows from checks of a derived book that found faults."""
    return RunFailedError(
        f"The book {spec.stem(ply)} is not sound: {_faults(report)}. The book that it is derived "
        f"from passed its checks, so that no unit is at fault: {_OURSELVES} {spec.canonical_json}"
    )


def _misfits(spec: BookJob, context: StageContext) -> Iterator[Culprit]:
    """Units whose result is none for their input: other positions, or impossible values."""
    scope = Scope(ply=spec.ply, distances=spec.distances, opening=spec.opening)
    low, high = scope.value_range
    for unit, arrays, receipt in _results(context):
        given = np.sort(context.store.read_input(unit)["keys"])
        keys, scores = arrays["keys"], arrays["scores"]
        if not np.array_equal(keys, given):
            odd = np.concatenate((np.setdiff1d(keys, given), np.setdiff1d(given, keys)))
            example = f", such as key {odd[0]}" if len(odd) else ""
            yield Culprit(unit, receipt, f"holds other positions than it was given{example}")
        elif len(far := np.flatnonzero((scores < low) | (scores > high))):
            says = f"has the value {scores[far[0]]} for key {keys[far[0]]}, beyond {low} to {high}"
            yield Culprit(unit, receipt, says)


def _wrong(context: StageContext, keys: Keys, solve_keys: SolveKeys) -> Iterator[Culprit]:
    """Units with other values than the judge's; some of the positions in doubt are solved."""
    for unit, arrays, receipt in _results(context):
        places = np.flatnonzero(np.isin(arrays["keys"], keys))[:_JUDGED]
        if not len(places):
            continue
        ours, asked = arrays["scores"][places], arrays["keys"][places]
        truth = solve_keys(asked)
        for place in np.flatnonzero(ours != truth)[:1]:
            says = f"has the value {ours[place]} for key {asked[place]}, which is {truth[place]}"
            yield Culprit(unit, receipt, f"{says} when solved again")


def _discard(
    what: str, context: StageContext, culprits: Sequence[Culprit], *, only: bool
) -> RunFailedError:
    """Discard units at fault; if not ``only`` them, all that their workers have solved."""
    at_fault = {culprit.unit.index for culprit in culprits}
    workers = {culprit.receipt.worker for culprit in culprits}
    lost = [
        unit
        for unit, _, receipt in _results(context)
        if unit.index in at_fault or (receipt.worker in workers and not only)
    ]
    for unit in lost:
        context.store.discard_unit(unit)
    named = "; ".join(str(culprit) for culprit in culprits[:_NAMED])
    more = f"; and {len(culprits) - _NAMED} more units" if len(culprits) > _NAMED else ""
    also = "" if only else " with all that the same worker has solved"
    count = "1 unit is" if len(lost) == 1 else f"{len(lost)} units are"
    return RunFailedError(
        f"{what}. At fault: {named}{more}. What is wrong is discarded{also}, {count} to be solved "
        "anew: run the same command again."
    )


def _results(context: StageContext) -> Iterator[tuple[Unit, dict[str, Any], Receipt]]:
    """All results that can be read."""
    for unit in context.plan.units:
        try:
            arrays, receipt = context.store.read_unit(unit)
        except (CorruptFileError, FileNotFoundError):
            continue
        yield unit, arrays, receipt


def _holders(context: StageContext, keys: Keys) -> str:
    """The units that hold these positions, in brackets; nothing if none does."""
    names = [
        unit.name for unit, arrays, _ in _results(context) if np.isin(arrays["keys"], keys).any()
    ]
    rest = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f" ({', '.join(names[:_NAMED])}{rest})" if names else ""


def _faults(report: Report) -> str:
    """What was found, without drawings: kinds, counts, and an example of each."""
    found = [
        f"{check.name}: {fault.count:,} {fault.kind}, such as key {fault.examples[0].key}, "
        f"which {fault.examples[0].note}"
        for check in report.checks
        for fault in check.faults
        if fault.count
    ]
    empty = [f"{check.name}: {check.verdict}" for check in report.checks if not check.compared]
    return "; ".join(found + empty)


def _gist(error: BookContentError) -> str:
    """The line of a merge's report that tells of a fault."""
    lines = str(error).splitlines()
    telling = [line for line in lines if "missing" in line or "unexpected" in line]
    return (telling or lines)[0].rstrip(".:")

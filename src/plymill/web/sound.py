"""What of a store's files can be shown at all: anybody may have written into them.

JSON knows numbers that are none, texts that are no Unicode, and values of any shape; files with
digests may hold them as well, as who alters a file can alter its digest. None of it may keep the
rest from being shown.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeGuard

from pydantic import BaseModel

from plymill.cluster import Plan, RunInfo
from plymill.cluster.progress import Progress

_MOST = 1e15  # of whatever is counted or measured: figures beyond it are no run's
_END_OF_TIME = 253_402_300_800  # the year 10,000, which no date can name
_DEEPEST = 40


def is_figure(value: object) -> TypeGuard[float]:
    """Whether it is a number that something in a run can have: none below 0, and none too large."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _MOST


def time_of(value: object) -> float | None:
    """The time, if it is one that a date can tell."""
    return value if is_figure(value) and value < _END_OF_TIME else None


def plain_of(value: Any, depth: int = 0) -> Any:
    """JSON that can be sent on: what is no Unicode escaped, and null for numbers that are none."""
    if depth > _DEEPEST:
        return None
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {plain_of(key): plain_of(held, depth + 1) for key, held in value.items()}
    return [plain_of(held, depth + 1) for held in value] if isinstance(value, list) else value


def sound_run(run: RunInfo) -> RunInfo:
    """The run without what cannot be shown of its spec, progress and manifest."""
    spec = plain_of(run.spec)
    manifest = None if run.manifest is None else plain_of(run.manifest)
    return replace(run, spec=spec, progress=_progress(run.progress), manifest=manifest)


def sound_plan(plan: Plan | None) -> Plan | None:
    """The plan; None if it has figures or names that no plan has."""
    if plan is None or not plan.item.isprintable():
        return None
    sound = all(
        is_figure(unit.cost) and is_figure(unit.stop) and unit.name.isprintable()
        for unit in plan.units
    )
    return plan if sound else None


def sound_receipts(provenance: Mapping[str, Any] | None) -> list[dict[str, Any]] | None:
    """The receipts of the units that are proper ones; None if there is no provenance."""
    if provenance is None:
        return None
    receipts = mappings_in(provenance.get("units"))
    return [plain_of(receipt) for receipt in receipts if _is_receipt(receipt)]


def mapping_of(value: object) -> dict[str, Any]:
    """The value if it is a mapping, an empty one otherwise."""
    return value if isinstance(value, dict) else {}


def texts_in(value: object) -> list[str]:
    """The texts in a list; none if it is no list."""
    held = value if isinstance(value, list) else []
    return [text for text in held if isinstance(text, str)]


def mappings_in(value: object) -> list[dict[str, Any]]:
    """The mappings in a list; none if it is no list."""
    held = value if isinstance(value, list) else []
    return [item for item in held if isinstance(item, dict)]


def _progress(progress: Progress | None) -> Progress | None:
    """The figures; as of a file that is illegible, none at all if one of them cannot be."""
    if progress is None or not all(is_figure(figure) for figure in _figures(progress)):
        return None
    times = [progress.started, progress.updated, *(time for time, _ in progress.history)]
    if any(time_of(time) is None for time in times):
        return None
    return Progress.model_validate(plain_of(progress.model_dump(mode="python")))


def _figures(value: object) -> Iterable[object]:
    """All numbers in a value."""
    if isinstance(value, int | float):
        yield value
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from _figures(getattr(value, name))
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for held in value:
            yield from _figures(held)


def _is_receipt(receipt: Mapping[str, Any]) -> bool:
    return (
        all(isinstance(receipt.get(name), int) for name in ("unit", "pid"))
        and all(is_figure(receipt.get(name)) for name in ("unit", "pid", "seconds"))
        and all(isinstance(receipt.get(name), str) for name in ("worker", "host"))
        and time_of(receipt.get("finished")) is not None
    )

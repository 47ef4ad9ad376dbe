"""From the files of a run to what is told and shown of it."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any, Literal

from plymill.cluster import Plan, RunInfo, WorkerFigures
from plymill.web.models import (
    Artifact,
    Event,
    EventPage,
    RunDetail,
    RunSummary,
    UnitPage,
    UnitView,
    WorkerView,
)
from plymill.web.reading import UNDER_WAY, StoreReader, side_by_side
from plymill.web.sound import mapping_of, texts_in, time_of
from plymill.workers.titles import title_of

_SILENT = 60.0  # seconds without news after which a run that is not ended is suspect
_LAGS = 0.7  # of the median rate
_STATES: Mapping[str, Literal["waiting", "in flight", "done", "failed"]] = {
    ".": "waiting",
    "w": "in flight",
    "d": "done",
    "q": "failed",
}


def summaries_of(reader: StoreReader) -> list[RunSummary]:
    """All runs in a line each, the one that was heard of last first."""
    return side_by_side(lambda run: summary_of(reader, run), reader.runs())


def summary_of(reader: StoreReader, run: RunInfo) -> RunSummary:
    """A run in a line."""
    return RunSummary.model_validate(_summary(reader, run))


def detail_of(reader: StoreReader, run_id: str) -> RunDetail:
    """All about a run.

    Raises:
        RunNotFoundError: there is no such run.
    """
    run = reader.run(run_id)
    lost = Counter(
        str(event.get("node")) for event in reader.events(run_id) if event["event"] == "worker lost"
    )
    return RunDetail.model_validate(
        _summary(reader, run)
        | {
            "spec": run.spec,
            "summary": _came_out(run),
            "worker_figures": list(_workers(reader, run, lost)),
            "artifacts": artifacts_of(run),
            "history": run.progress.history if run.progress else (),
        }
    )


def artifacts_of(run: RunInfo) -> list[Artifact]:
    """The files that a run made, by name; none until it is finished."""
    files = (run.manifest or {}).get("files", {})
    return [
        Artifact(name=name, url=f"/runs/{run.run_id}/artifacts/{name}", **files[name])
        for name in sorted(files)
    ]


def units_of(reader: StoreReader, run_id: str, *, start: int = 0, limit: int = 0) -> UnitPage:
    """Units of a run in the order of its plan; all of them if ``limit`` is 0.

    Raises:
        RunNotFoundError: there is no such run.
    """
    plan = reader.plan(run_id)
    if plan is None:
        return UnitPage(total=0, units=[])
    letters, agreed = unit_letters(reader, run_id, plan), reader.audited(run_id)
    audited = set(plan.audited)
    stop = start + limit if limit else len(plan.units)
    return UnitPage(
        total=len(plan.units),
        units=[
            UnitView(
                name=unit.name,
                index=unit.index,
                items=unit.items,
                cost=unit.cost,
                state=_STATES.get(letters[unit.index], "waiting"),
                audited="agrees"
                if unit.name in agreed
                else "chosen"
                if unit.index in audited
                else "no",
            )
            for unit in plan.units[start:stop]
        ],
    )


def unit_letters(reader: StoreReader, run_id: str, plan: Plan) -> str:
    """One letter for each unit of the plan, see `Progress.unit_map`."""
    progress = reader.run(run_id).progress
    letters = "" if progress is None else progress.unit_map
    return letters[: len(plan.units)].ljust(len(plan.units), ".")


def events_of(reader: StoreReader, run_id: str, *, start: int = 0, limit: int = 100) -> EventPage:
    """Events of a run, the last ones first.

    Raises:
        RunNotFoundError: there is no such run.
    """
    events = reader.events(run_id)[::-1]
    return EventPage(
        total=len(events),
        events=[
            Event(
                time=time_of(event["time"]),
                event=event["event"],
                details={k: v for k, v in event.items() if k not in ("time", "event")},
            )
            for event in events[start : start + limit]
        ],
    )


def _summary(reader: StoreReader, run: RunInfo) -> dict[str, Any]:
    progress = run.progress
    figures: dict[str, Any] = {} if progress is None else progress.model_dump()
    names = set(RunSummary.model_fields) & set(figures)
    nothing = dict.fromkeys(
        ("items_done", "items_total", "units_done", "units_total", "units_in_flight",
         "units_quarantined", "rate", "rounds"), 0,
    )  # fmt: skip
    words = {"stage": "", "message": "", "item": "items"}
    times: dict[str, Any] = dict.fromkeys(("started", "updated", "eta"))
    return (
        nothing
        | words
        | times
        | {name: figures[name] for name in names}
        | {
            "run_id": run.run_id,
            "kind": str(run.spec.get("kind", "unknown")),
            "title": title_of(run.spec) if run.spec else "its spec was altered",
            "owner": reader.owner(run.run_id),
            "state": reader.state(run),
            "silent": _silence(run, reader.clock()),
            "share": None if progress is None else progress.share,
            "workers": 0 if progress is None else len(progress.workers),
        }
    )


def _silence(run: RunInfo, now: float) -> float | None:
    if run.progress is None or run.state not in UNDER_WAY:
        return None
    silence = now - run.progress.updated
    return silence if silence > _SILENT else None


def _came_out(run: RunInfo) -> list[str]:
    stages = mapping_of((run.manifest or {}).get("stages"))
    summary = mapping_of(stages.get("summary"))
    lines = [*texts_in(summary.get("lines")), *texts_in([summary.get("note")])]
    return [line for line in lines if line]


def _workers(reader: StoreReader, run: RunInfo, lost: Counter[str]) -> Iterator[WorkerView]:
    figures: Sequence[WorkerFigures] = () if run.progress is None else run.progress.workers
    if not figures:
        figures = _of_provenance(reader, run)
    rates = [worker.rate for worker in figures if worker.rate > 0]
    middle = median(rates) if len(rates) > 1 else None
    for worker in figures:
        pace = worker.rate / middle if middle and worker.rate > 0 else None
        yield WorkerView(
            **{
                name: getattr(worker, name) for name in WorkerFigures.model_fields if name != "node"
            },
            pace=pace,
            lags=pace is not None and pace < _LAGS,
            lost=lost[worker.node],
        )


def _of_provenance(reader: StoreReader, run: RunInfo) -> list[WorkerFigures]:
    """The workers of a finished run, from the receipts of its units."""
    receipts, plan = reader.receipts(run.run_id), reader.plan(run.run_id)
    if receipts is None or plan is None:
        return []
    by_worker: dict[str, list[Mapping[str, Any]]] = {}
    for receipt in receipts:
        by_worker.setdefault(receipt["worker"], []).append(receipt)
    found = []
    for name, own in sorted(by_worker.items()):
        seconds = sum(receipt["seconds"] for receipt in own)
        items = sum(plan.units[receipt["unit"]].items for receipt in own)
        found.append(
            WorkerFigures(
                name=name,
                node=name.rpartition("-")[0],
                host=own[0]["host"],
                pid=own[0]["pid"],
                slots=0,
                units=len(own),
                items=items,
                seconds=seconds,
                rate=items / seconds if seconds else 0.0,
            )
        )
    return found

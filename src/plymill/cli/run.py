"""``plymill run``: the runs of a store."""

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from plymill.cli.checks import ARGUMENTS, PARAMETERS
from plymill.cli.options import DEFAULT_STORE, HereWork, Json, RunId, Store

if TYPE_CHECKING:
    from plymill.cluster import RunInfo
    from plymill.cluster.sending.submissions import Submission

app = App(
    name="run",
    group_arguments=ARGUMENTS,
    group_parameters=PARAMETERS,
    help="Look at runs, go on with them, and fetch what they made.",
    help_epilogue="Example: plymill run list",
)

_HERE = HereWork()
_SILENT = 60.0  # seconds without news after which a run that is not ended is suspect
_UNDER_WAY = ("planning", "solving", "finishing")
_TROUBLE = ("warning", "quarantined", "worker lost", "node lost", "damaged file", "discarded")
_EVENTS_SHOWN = 5
_NODE_SHOWN = 8  # digits, of 56
_CANCELLED = "cancelled"


@app.command(name="list", help_epilogue="Example: plymill run list --store s3://bucket/runs")
def list_(*, store: Store = DEFAULT_STORE, json: Json = False) -> int:
    """List the runs of a store."""
    from plymill.cli.output import say, say_json, say_table
    from plymill.cli.patience import patience
    from plymill.cli.sources import require_store
    from plymill.cluster import list_runs

    require_store(store, there=store != DEFAULT_STORE)
    with patience(f"Reading the runs of {store}"):
        runs = list_runs(store)
    if json:
        say_json([_summary(run, store) for run in runs])
    elif not runs:
        say(f"There are no runs in {store}.")
    else:
        rows = [(run.run_id, _state(run, store), _share(run), _title(run)) for run in runs]
        say_table(("run", "state", "done", "job"), rows, right="llr")
    return 0


@app.command(help_epilogue="Example: plymill run show book-1f0c2a3b4d5e")
def show(run: RunId, /, *, store: Store = DEFAULT_STORE, json: Json = False) -> int:
    """Show a run: what it is, how far it is, what went wrong, and what it made."""
    show_run(run, store, json=json)
    return 0


def show_run(run: str, store: str, *, json: bool, last: "Submission | None" = None) -> None:
    """Tell all that a store knows of a run.

    Args:
        run: the run.
        store: where it is kept.
        json: tell it as one JSON object.
        last: the last attempt to drive the run on a cluster; it may not have begun in the store.
    """
    from plymill.cli.output import say, say_json
    from plymill.cli.patience import patience
    from plymill.cli.sources import require_store
    from plymill.cluster import RunNotFoundError, RunStore, load_run

    require_store(store, there=True)
    try:
        with patience(f"Reading {run}"):
            found = load_run(store, run)
            files = RunStore.open(store, run)
            events = files.read_events()
    except RunNotFoundError:
        if last is None:
            raise
        more = " yet" if last.active else "; sending its job again starts it"
        say(f"{run}: nothing in {store}{more}")
        return
    trouble = [event for event in events if event.get("event") in _TROUBLE]
    if json:
        summary = _summary(found, store, last)
        say_json({**summary, "url": files.url, "manifest": found.manifest, "trouble": trouble})
        return
    state = _state(found, store, last)
    say(f"{run}: {state}")
    say(f"  {_title(found)}")
    say(f"  in {files.url}")
    _show_figures(found, driven=found.state in _UNDER_WAY and not _is_left(found, last))
    for event in trouble[-_EVENTS_SHOWN:]:
        say(f"  {_event(event)}")
    _show_next(found, store, last, cancelled=state == _CANCELLED)


def summary_of(run: str, store: str, last: "Submission | None") -> dict[str, Any]:
    """State and figures of a run for a program; see `show_run`."""
    from plymill.cluster import RunNotFoundError, load_run

    try:
        return _summary(load_run(store, run), store, last)
    except RunNotFoundError:
        if last is None:
            raise
        return {"run_id": run, "state": "unknown", "spec": {}, "progress": None}


@app.command(show=False)
def drive(order: Annotated[Path, Parameter(help="What 'plymill submit' has sent.")], /) -> int:
    """Carry out what was sent to a cluster: the command that runs there."""
    from plymill import __version__
    from plymill.cli.output import note
    from plymill.cli.running import drive_run
    from plymill.cluster import RunStore
    from plymill.cluster.sending.submit import note_owner, read_order
    from plymill.workers import spec_from_fields

    fields, store, options = read_order(order)
    spec = spec_from_fields(fields, where=str(order))
    note_owner(RunStore.open(store, spec.run_id), order)
    os.chdir("/")  # the folder that we are in is Ray's, which may make it anew at any time
    note(f"plymill {__version__} from {Path(__file__).parents[1]}")
    return drive_run(spec, store, options)


@app.command(help_epilogue="Example: plymill run resume book-1f0c2a3b4d5e")
def resume(run: RunId, /, *, work: HereWork = _HERE) -> int:
    """Go on with a run where it was interrupted."""
    from plymill.cli.running import carry_out
    from plymill.cli.sources import require_store
    from plymill.cluster import load_run
    from plymill.workers import resume_run

    require_store(work.store, there=True)
    load_run(work.store, run)  # a wrong name is said before Ray starts
    return carry_out(
        run,
        work,
        lambda options, watcher: resume_run(
            run, work.store, options=options, address=work.address, on_progress=watcher
        ),
    )


@app.command(help_epilogue="Example: plymill run download book-1f0c2a3b4d5e --to books")
def download(
    run: RunId,
    /,
    *,
    to: Annotated[
        str | None,
        Parameter(help="The folder to put the files in; named like the run by default."),
    ] = None,
    store: Store = DEFAULT_STORE,
    json: Json = False,
) -> int:
    """Fetch the artefacts of a finished run, each checked against its digest.

    What is there already is not fetched again.
    """
    fetch_run(run, store, run if to is None else to, json=json)
    return 0


def fetch_run(run: str, store: str, folder: str, *, json: bool) -> None:
    """Fetch the artefacts of a run, with a bar on a terminal and a line for each file elsewhere."""
    from plymill.cli.output import say, say_json
    from plymill.cli.patience import fetching
    from plymill.cli.sources import require_folder, require_store
    from plymill.cli.words import plural
    from plymill.cluster import download as fetch
    from plymill.cluster import load_run

    if "://" not in folder:
        require_folder(Path(folder))
    require_store(store, there=True)
    files = (load_run(store, run).manifest or {}).get("files", {})
    kept: list[str] = []
    with fetching(sum(file["bytes"] for file in files.values())) as (on_file, on_there):

        def on_kept(name: str, size: int) -> None:
            kept.append(name)
            on_there(name, size)

        paths = fetch(store, run, folder, on_file=on_file, on_kept=on_kept)
    if json:
        say_json({"run_id": run, "folder": str(folder), "files": [str(path) for path in paths]})
    else:
        there = f", {len(kept):,} of them there already, whole" if kept else ""
        say(f"{plural(len(paths), 'file')} in {folder}{there}")


def _summary(run: "RunInfo", store: str, last: "Submission | None" = None) -> dict[str, Any]:
    progress = None if run.progress is None else run.progress.model_dump(mode="json")
    if progress is not None:
        del progress["unit_map"], progress["history"]
    state = _CANCELLED if _is_cancelled(run, store, last) else run.state
    return {"run_id": run.run_id, "state": state, "spec": run.spec, "progress": progress}


def _silence(run: "RunInfo") -> float:
    """Seconds since a run that should be under way was heard of; 0 if all is well."""
    if run.progress is None or run.state not in _UNDER_WAY:
        return 0.0
    silence = time.time() - run.progress.updated
    return silence if silence > _SILENT else 0.0


def _is_left(run: "RunInfo", last: "Submission | None") -> bool:
    """Whether the driver on the cluster has died without a word in the store, and no other drives.

    A session that began after its end is another driver's.
    """
    if last is None or last.active or run.progress is None or run.state not in _UNDER_WAY:
        return False
    return last.ended is None or run.progress.started <= last.ended


def _is_cancelled(run: "RunInfo", store: str, last: "Submission | None") -> bool:
    """Whether a run that nobody drives was given up; the store is asked of such runs only."""
    from plymill.cluster import RunStore
    from plymill.cluster.sending.submit import is_cancelled

    over = run.state in ("interrupted", "failed", "unknown")
    if not over and not _silence(run) and not _is_left(run, last):
        return False
    return is_cancelled(RunStore.open(store, run.run_id))


def _state(run: "RunInfo", store: str, last: "Submission | None" = None) -> str:
    from plymill.cli.output import program
    from plymill.cli.words import duration

    if _is_cancelled(run, store, last):
        return _CANCELLED
    if _is_left(run, last):
        return f"{run.state}, but its driver is gone; '{program()} resume {run.run_id}' goes on"
    silence = _silence(run)
    return f"{run.state} (silent for {duration(silence)})" if silence else run.state


def _share(run: "RunInfo") -> str:
    share = None if run.progress is None else run.progress.share
    return "-" if share is None else f"{share:.1%}"


def _title(run: "RunInfo") -> str:
    from plymill.workers.titles import title_of

    return title_of(run.spec)


def _show_figures(run: "RunInfo", *, driven: bool) -> None:
    from plymill.cli.output import say
    from plymill.cli.progress import figures

    if run.progress is not None:
        if run.progress.units_total:  # not while it plans
            parts = figures(run.progress)
            for part in parts if driven else [parts[0], parts[2]]:
                say(f"  {part}")
        if run.progress.message and run.state != "interrupted":  # it says no more than the state
            say(f"  {run.progress.message}")
    try:
        _show_manifest(run.manifest or {})
    except (AttributeError, KeyError, TypeError, ValueError):
        say("  manifest.json is not as plymill writes it: somebody has altered it")


def _show_manifest(manifest: Mapping[str, Any]) -> None:
    """What came out; raises whatever a manifest of another shape leads to."""
    from plymill.cli.output import say
    from plymill.cli.words import size

    summary = manifest.get("stages", {}).get("summary", {})
    for line in [*summary.get("lines", ()), summary.get("note")]:
        if line:
            say(f"  {line}")
    for name, file in manifest.get("files", {}).items():
        say(f"  artifacts/{name}  {size(file['bytes'])}")


def _event(event: dict[str, Any]) -> str:
    try:
        moment = time.localtime(event.get("time", 0))
    except (TypeError, ValueError, OverflowError, OSError):  # a line that somebody has altered
        moment = time.localtime(0)
    when = time.strftime("%Y-%m-%d %H:%M:%S", moment)
    if event["event"] == "worker lost":  # whose name begins like that of its node
        rest = f"{event.get('worker')}, {event.get('cause')}"
    else:
        left = {name: v for name, v in event.items() if name not in ("time", "event")}
        if "node" in left:
            left["node"] = str(left["node"])[:_NODE_SHOWN]
        rest = ", ".join(f"{name} {value}" for name, value in left.items())
    return f"{when} {event['event']}: {rest}"


def _show_next(run: "RunInfo", store: str, last: "Submission | None", *, cancelled: bool) -> None:
    from plymill.cli.output import program, say
    from plymill.cli.running import resume_command, store_flag

    if last is not None and run.manifest is not None:
        say(f"To fetch the files: {program()} download {run.run_id} FOLDER{store_flag(store)}")
    elif run.manifest is not None:
        say(f"To fetch the files: {program()} run download {run.run_id}{store_flag(store)}")
    elif cancelled:  # only what is sent to a cluster is ever cancelled
        say(f"To take it up again: {program()} resume {run.run_id}{store_flag(store)}")
    elif run.state in _UNDER_WAY and (last is not None or not _silence(run)):
        return  # it goes on, or it is said already that nobody drives it
    elif last is None:
        say(f"To go on: {resume_command(run.run_id, store)}")
    elif not last.active and last.status != "SUCCEEDED":
        say(f"To go on: {program()} resume {run.run_id}")

"""``plymill run``: the runs of a store."""

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from plymill.cli.checks import ARGUMENTS, PARAMETERS
from plymill.cli.options import DEFAULT_STORE, Json, RunId, Store, TableWork

if TYPE_CHECKING:
    from plymill.cluster import RunInfo

app = App(
    name="run",
    group_arguments=ARGUMENTS,
    group_parameters=PARAMETERS,
    help="Look at runs, go on with them, and fetch what they made.",
    help_epilogue="Example: plymill run list",
)

_HERE = TableWork()
_SILENT = 60.0  # seconds without news after which a run that is not ended is suspect
_UNDER_WAY = ("planning", "solving", "finishing")
_TROUBLE = ("warning", "quarantined", "worker lost", "node lost", "damaged file", "discarded")
_EVENTS_SHOWN = 5


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
        say_json([_summary(run) for run in runs])
    elif not runs:
        say(f"There are no runs in {store}.")
    else:
        rows = [(run.run_id, _state(run), _share(run), _title(run)) for run in runs]
        say_table(("run", "state", "done", "job"), rows, right="llr")
    return 0


@app.command(help_epilogue="Example: plymill run show book-1f0c2a3b4d5e")
def show(run: RunId, /, *, store: Store = DEFAULT_STORE, json: Json = False) -> int:
    """Show a run: what it is, how far it is, what went wrong, and what it made."""
    show_run(run, store, json=json)
    return 0


def show_run(run: str, store: str, *, json: bool, planned: bool = False) -> None:
    """Tell all that a store knows of a run.

    Args:
        run: the run.
        store: where it is kept.
        json: tell it as one JSON object.
        planned: the run was sent to a cluster and may not have begun: then that is told.
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
        if not planned:
            raise
        say(f"{run}: nothing in {store} yet")
        return
    trouble = [event for event in events if event.get("event") in _TROUBLE]
    if json:
        say_json(
            {**_summary(found), "url": files.url, "manifest": found.manifest, "trouble": trouble}
        )
        return
    say(f"{run}: {_state(found)}")
    say(f"  {_title(found)}")
    say(f"  in {files.url}")
    _show_figures(found)
    for event in trouble[-_EVENTS_SHOWN:]:
        say(f"  {_event(event)}")
    _show_next(found, store, sent=planned)


def summary_of(run: str, store: str, *, planned: bool) -> dict[str, Any]:
    """State and figures of a run for a program; see `show_run`."""
    from plymill.cluster import RunNotFoundError, load_run

    try:
        return _summary(load_run(store, run))
    except RunNotFoundError:
        if not planned:
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
def resume(run: RunId, /, *, work: TableWork = _HERE) -> int:
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
        Path | None,
        Parameter(help="The folder to put the files in; named like the run by default."),
    ] = None,
    store: Store = DEFAULT_STORE,
    json: Json = False,
) -> int:
    """Fetch the artefacts of a finished run, each checked against its digest.

    What is there already is not fetched again.
    """
    fetch_run(run, store, Path(run) if to is None else to, json=json)
    return 0


def fetch_run(run: str, store: str, folder: Path, *, json: bool) -> None:
    """Fetch the artefacts of a run, with a bar on a terminal and a line for each file elsewhere."""
    from plymill.cli.output import say, say_json
    from plymill.cli.patience import fetching
    from plymill.cli.sources import require_folder, require_store
    from plymill.cli.words import plural
    from plymill.cluster import download as fetch
    from plymill.cluster import load_run

    require_folder(folder)
    require_store(store, there=True)
    files = (load_run(store, run).manifest or {}).get("files", {})
    with fetching(sum(file["bytes"] for file in files.values())) as on_file:
        paths = fetch(store, run, folder, on_file=on_file)
    if json:
        say_json({"run_id": run, "folder": str(folder), "files": [str(path) for path in paths]})
    else:
        say(f"{plural(len(paths), 'file')} in {folder}")


def _summary(run: "RunInfo") -> dict[str, Any]:
    progress = None if run.progress is None else run.progress.model_dump(mode="json")
    if progress is not None:
        del progress["unit_map"], progress["history"]
    return {"run_id": run.run_id, "state": run.state, "spec": run.spec, "progress": progress}


def _silence(run: "RunInfo") -> float:
    """Seconds since a run that should be under way was heard of; 0 if all is well."""
    if run.progress is None or run.state not in _UNDER_WAY:
        return 0.0
    silence = time.time() - run.progress.updated
    return silence if silence > _SILENT else 0.0


def _state(run: "RunInfo") -> str:
    from plymill.cli.words import duration

    silence = _silence(run)
    return f"{run.state} (silent for {duration(silence)})" if silence else run.state


def _share(run: "RunInfo") -> str:
    share = None if run.progress is None else run.progress.share
    return "-" if share is None else f"{share:.1%}"


def _title(run: "RunInfo") -> str:
    from plymill.workers.titles import title_of

    return title_of(run.spec)


def _show_figures(run: "RunInfo") -> None:
    from plymill.cli.output import say
    from plymill.cli.progress import figures
    from plymill.cli.words import size

    if run.progress is not None and run.progress.units_total:
        parts = figures(run.progress)
        for part in parts if run.state in _UNDER_WAY else [parts[0], parts[2]]:
            say(f"  {part}")
        if run.progress.message:
            say(f"  {run.progress.message}")
    summary = (run.manifest or {}).get("stages", {}).get("summary", {})
    for line in [*summary.get("lines", ()), summary.get("note")]:
        if line:
            say(f"  {line}")
    for name, file in (run.manifest or {}).get("files", {}).items():
        say(f"  artifacts/{name}  {size(file['bytes'])}")


def _event(event: dict[str, Any]) -> str:
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(event.get("time", 0)))
    rest = ", ".join(f"{k} {v}" for k, v in event.items() if k not in ("time", "event"))
    return f"{when} {event['event']}: {rest}"


def _show_next(run: "RunInfo", store: str, *, sent: bool) -> None:
    from plymill.cli.output import program, say
    from plymill.cli.running import resume_command, store_flag

    if sent and run.manifest is not None:
        say(f"To fetch the files: {program()} download {run.run_id} FOLDER{store_flag(store)}")
    elif sent:
        return  # the cluster says whether it goes on
    elif run.manifest is not None:
        say(f"To fetch the files: {program()} run download {run.run_id}{store_flag(store)}")
    elif _silence(run) or run.state not in _UNDER_WAY:
        say(f"To go on: {resume_command(run.run_id, store)}")

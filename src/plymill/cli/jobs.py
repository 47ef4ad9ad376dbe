"""``plymill jobs``, ``status``, ``logs``, ...: the runs that were sent to a cluster."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from plymill.cli.options import (
    DEFAULT_STORE,
    Cluster,
    Json,
    RunId,
    Sending,
    Store,
    TableWork,
)

if TYPE_CHECKING:
    from plymill.cluster.sending.submissions import Submission

_ASKED, _HERE, _SENDING = Cluster(), TableWork(), Sending()
_STOP_SECONDS = 60.0
_PAUSE = 0.5

Yes = Annotated[bool, Parameter(name="--yes", negative="", show_default=False, help="Do not ask.")]


def submit(
    job: Annotated[Path, Parameter(name="JOB", help="A TOML file with the job's fields.")],
    /,
    *,
    work: TableWork = _HERE,
    sending: Sending = _SENDING,
) -> int:
    """Send a job to a cluster, where it goes on without this terminal.

    Sending the same job again is harmless: one that runs goes on, one that has ended is started
    again from where it was.
    """
    from plymill.cli.sending import send
    from plymill.workers import spec_from_toml

    return send(spec_from_toml(job), work, sending)


def jobs(*, cluster: Cluster = _ASKED, json: Json = False) -> int:
    """List the runs that were sent to a cluster."""
    from plymill.cli.output import say, say_json, say_table
    from plymill.cli.sending import connect

    server = connect(cluster.address, allow_insecure=cluster.allow_insecure)
    found = server.submissions()
    if json:
        say_json([_fields(submission) for submission in found])
    elif not found:
        say(f"No runs were sent to the cluster at {server.address}.")
    else:
        rows = [
            (s.name, s.status.lower(), s.owner, f"{s.weight:g}", _since(s), s.store) for s in found
        ]
        say_table(("job", "state", "owner", "weight", "for", "store"), rows, right="lllr")
    return 0


def status(
    run: RunId,
    /,
    *,
    store: Store = DEFAULT_STORE,
    cluster: Cluster = _ASKED,
    json: Json = False,
) -> int:
    """Show how far a run is, from its store, and whether the cluster drives it."""
    from plymill.cli.output import program, say, say_json
    from plymill.cli.run import show_run, summary_of
    from plymill.cli.sending import connect, known_address
    from plymill.cluster.sending.submissions import attempts

    if known_address(cluster.address) is None:
        show_run(run, store, json=json)
        return 0
    server = connect(cluster.address, allow_insecure=cluster.allow_insecure)
    found = attempts(server.submissions(), run)
    where = _store_of(found, store)
    if json:
        jobs_of_run = [_fields(submission) for submission in found]
        say_json({**summary_of(run, where, planned=bool(found)), "jobs": jobs_of_run})
        return 0
    for attempt in found[-1:]:
        say(f"On the cluster at {server.address}: {_words(attempt)}")
    if not found:
        say(f"On the cluster at {server.address}: never sent there")
    show_run(run, where, json=False, planned=bool(found))
    if found and not found[-1].active and found[-1].status != "SUCCEEDED":
        say(f"To go on: {program()} resume {run}")
    return 0


def logs(
    run: RunId,
    /,
    *,
    follow: Annotated[
        bool,
        Parameter(negative="", show_default=False, help="Go on until the run ends."),
    ] = False,
    cluster: Cluster = _ASKED,
) -> int:
    """Show what the driver of a run writes on the cluster."""
    import sys

    from plymill.cli.sending import connect
    from plymill.cluster.sending.submissions import require_attempt

    server = connect(cluster.address, allow_insecure=cluster.allow_insecure)
    attempt = require_attempt(server, run)
    pieces = server.follow(attempt.name) if follow else iter([server.logs(attempt.name)])
    for piece in pieces:
        sys.stdout.write(piece)
        sys.stdout.flush()
    return 0


def stop(
    run: RunId,
    /,
    *,
    cluster: Cluster = _ASKED,
    json: Json = False,
) -> int:
    """Stop a run on the cluster. What is finished is kept; 'plymill resume' goes on."""
    from plymill.cli.output import program, say, say_json

    attempt, ended = _stop(run, cluster)
    if json:
        say_json({"run_id": run, "job": attempt.name, "stopped": ended})
    elif ended:
        say(f"Run {run} is stopped; what is finished is kept.")
        say(f"To go on: {program()} resume {run}")
    else:
        say(f"Run {run} was not running: it is {attempt.status.lower()}.")
    return 0


def cancel(
    run: RunId,
    /,
    *,
    store: Store = DEFAULT_STORE,
    cluster: Cluster = _ASKED,
    json: Json = False,
) -> int:
    """Stop a run for good: sending its job again does not start it any more.

    What is finished is kept; 'plymill resume' takes the run up again, 'plymill delete' removes it.
    """
    from plymill.cli.output import program, say, say_json
    from plymill.cluster import RunStore, load_run
    from plymill.cluster.sending.submit import cancel as give_up

    attempt, _ = _stop(run, cluster)
    where = _store_of([attempt], store)
    load_run(where, run)
    give_up(RunStore.open(where, run))
    if json:
        say_json({"run_id": run, "job": attempt.name, "cancelled": True})
        return 0
    say(f"Run {run} is cancelled; what is finished is kept.")
    say(f"To take it up again: {program()} resume {run}")
    return 0


def resume(run: RunId, /, *, work: TableWork = _HERE, sending: Sending = _SENDING) -> int:
    """Go on with a run on the cluster, from what its store holds."""
    from dataclasses import replace

    from plymill.cli.sending import connect, send
    from plymill.cluster.sending.submissions import attempts
    from plymill.workers.run import stored_spec

    if work.store == DEFAULT_STORE:
        server = connect(work.address, allow_insecure=work.allow_insecure)
        work = replace(work, store=_store_of(attempts(server.submissions(), run), work.store))
    return send(stored_spec(run, work.store), work, sending, again=True)


def download(
    run: RunId,
    destination: Annotated[Path, Parameter(name="DEST", help="The folder to put the files in.")],
    /,
    *,
    store: Store = DEFAULT_STORE,
    cluster: Cluster = _ASKED,
    json: Json = False,
) -> int:
    """Fetch the artefacts of a finished run, several at a time, each checked against its digest.

    What is there already is not fetched again, so that an interrupted download goes on. The cluster
    is asked for the store only if that is not named.
    """
    from plymill.cli.run import fetch_run
    from plymill.cli.sending import connect, known_address
    from plymill.cluster.sending.submissions import attempts

    if store == DEFAULT_STORE and known_address(cluster.address) is not None:
        server = connect(cluster.address, allow_insecure=cluster.allow_insecure)
        store = _store_of(attempts(server.submissions(), run), store)
    fetch_run(run, store, destination, json=json)
    return 0


def delete(
    run: RunId,
    /,
    *,
    store: Store = DEFAULT_STORE,
    cluster: Cluster = _ASKED,
    yes: Yes = False,
    json: Json = False,
) -> int:
    """Remove a run with all its files from the store, and from the cluster's list."""
    from plymill.cli.failures import UsageError
    from plymill.cli.output import confirm, say, say_json
    from plymill.cli.patience import patience
    from plymill.cli.sending import connect, known_address
    from plymill.cli.sources import require_store
    from plymill.cluster import RunStore, load_run
    from plymill.cluster.sending.submissions import attempts
    from plymill.cluster.sending.submit import delete_run

    server, sent = None, []
    if known_address(cluster.address) is not None:
        server = connect(cluster.address, allow_insecure=cluster.allow_insecure)
        sent = attempts(server.submissions(), run)
        store = _store_of(sent, store)
    require_store(store, there=True)
    files = RunStore.open(store, run)
    if not sent and not files.files.list(""):
        load_run(store, run)  # says that there is no such run, and which there are
    question = f"Remove {files.url} with all that is in it, artefacts too?"
    if not yes and not confirm(question):
        raise UsageError("Nothing was removed; --yes removes without a question")
    with patience(f"Removing {files.url}"):
        delete_run(files, server)
    if json:
        say_json({"run_id": run, "store": store, "deleted": True})
    else:
        say(f"Run {run} is removed from {store}.")
    return 0


def _stop(run: str, cluster: Cluster) -> tuple["Submission", bool]:
    """Ask a driver to end and wait for that; the attempt, and whether it was running."""
    from plymill.cli.patience import patience
    from plymill.cli.sending import connect
    from plymill.cluster import ClusterError
    from plymill.cluster.sending.submissions import require_attempt

    server = connect(cluster.address, allow_insecure=cluster.allow_insecure)
    attempt = require_attempt(server, run)
    if not attempt.active or not server.stop(attempt.name):
        return attempt, False
    deadline = time.monotonic() + _STOP_SECONDS
    with patience(f"Stopping {attempt.name}"):
        while require_attempt(server, run).active:
            if time.monotonic() > deadline:
                raise ClusterError(
                    f"Run {run} was asked to stop, but is still running after "
                    f"{_STOP_SECONDS:g} seconds; 'plymill status {run}' tells when it is gone."
                )
            time.sleep(_PAUSE)
    return attempt, True


def _store_of(found: list["Submission"], store: str) -> str:
    """The store that was named, or else the one that the run was sent with."""
    if store != DEFAULT_STORE or not found or not found[-1].store:
        return store
    return found[-1].store


def _words(attempt: "Submission") -> str:
    text = f"{attempt.name} is {attempt.status.lower()}, for {_since(attempt)}"
    owner = f", sent by {attempt.owner}" if attempt.owner else ""
    said = f" ({attempt.message})" if attempt.message and attempt.status == "FAILED" else ""
    return text + owner + said


def _since(attempt: "Submission") -> str:
    from plymill.cli.words import duration

    if attempt.started is None:
        return "-"
    return duration((attempt.ended or time.time()) - attempt.started)


def _fields(attempt: "Submission") -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(attempt)

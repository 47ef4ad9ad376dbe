"""``plymill jobs``, ``status``, ``logs``, ...: the runs that were sent to a cluster."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from plymill.cli.attempts import fields, ran, store_of, words
from plymill.cli.options import (
    DEFAULT_STORE,
    Cluster,
    Json,
    RunId,
    Sending,
    SentWork,
    Store,
)

if TYPE_CHECKING:
    from plymill.cluster.sending.submissions import Submission

_ASKED, _HERE, _SENDING = Cluster(), SentWork(), Sending()
_STOP_SECONDS = 60.0
_PAUSE = 0.5

Yes = Annotated[bool, Parameter(name="--yes", negative="", show_default=False, help="Do not ask.")]


def submit(
    job: Annotated[Path, Parameter(name="JOB", help="A TOML file with the job's fields.")],
    /,
    *,
    work: SentWork = _HERE,
    sending: Sending = _SENDING,
) -> int:
    """Send a job to a cluster, where it goes on without this terminal.

    Sending the same job again is harmless: one that runs goes on, one that has ended is started
    again from where it was.
    """
    from plymill.cli.failures import UsageError
    from plymill.cli.sending import send
    from plymill.cluster.spec import read_toml
    from plymill.workers import spec_from_fields
    from plymill.workers.kinds import SPECS

    found = read_toml(job)
    if "kind" not in found:
        raise UsageError(
            f"{job}: kind is missing, expected one of {', '.join(SPECS)}; add a line such as "
            'kind = "book"'
        )
    return send(spec_from_fields(found, where=str(job)), work, sending)


def jobs(*, cluster: Cluster = _ASKED, json: Json = False) -> int:
    """List the runs that were sent to a cluster."""
    from plymill.cli.output import say, say_json, say_table
    from plymill.cli.sending import connect

    server = connect(cluster.address, allow_insecure=cluster.allow_insecure)
    found = server.submissions()
    if json:
        say_json([fields(submission) for submission in found])
    elif not found:
        say(f"No runs were sent to the cluster at {server.address}.")
    else:
        rows = [
            (s.name, s.status.lower(), s.owner, f"{s.weight:g}", ran(s), s.store) for s in found
        ]
        say_table(("job", "state", "owner", "weight", "ran", "store"), rows, right="lllr")
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
    from plymill.cli.output import say, say_json
    from plymill.cli.run import show_run, summary_of

    found, place = _asked(run, store, cluster)
    where = store_of(found or [], store)
    last = found[-1] if found else None
    if json and place:
        there = None if found is None else [fields(attempt) for attempt in found]
        say_json({**summary_of(run, where, last), "jobs": there})
        return 0
    if last is not None:
        say(f"On the cluster at {place}: {words(last)}")
    elif found is not None and place:
        say(f"On the cluster at {place}: not in its list of jobs")
    show_run(run, where, json=json, last=last)
    return 0


def _asked(run: str, store: str, cluster: Cluster) -> tuple[list["Submission"] | None, str]:
    """The attempts that the cluster knows, and its address; no attempts and "" without a cluster.

    If the store is named, it tells enough for a cluster to be done without: None, after a line.
    """
    from plymill.cli.output import note
    from plymill.cli.sending import connect, known_address
    from plymill.cluster import ClusterError
    from plymill.cluster.sending.submissions import attempts

    address = known_address(cluster.address)
    if address is None:
        return [], ""
    try:
        server = connect(cluster.address, allow_insecure=cluster.allow_insecure)
        return attempts(server.submissions(), run), server.address
    except ClusterError as error:
        if store == DEFAULT_STORE:
            raise
        note(f"plymill: {error}")
        return None, address


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

    from plymill.cli.failures import Stopped
    from plymill.cli.sending import connect
    from plymill.cluster.sending.submissions import require_attempt

    server = connect(cluster.address, allow_insecure=cluster.allow_insecure)
    attempt = require_attempt(server, run)
    pieces = server.follow(attempt.name) if follow else iter([server.logs(attempt.name)])
    try:
        for piece in pieces:
            sys.stdout.write(piece)
            sys.stdout.flush()
    except KeyboardInterrupt:
        if not attempt.active:
            raise
        raise Stopped(f"The run goes on; 'plymill stop {run}' stops it.") from None
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
    from plymill.cli.failures import UsageError
    from plymill.cli.output import program, say, say_json
    from plymill.workers.run import is_finished

    where = _store_to_ask(run, store, cluster)
    if is_finished(run, where):
        raise UsageError(f"Run {run} is done already; '{program()} delete {run}' removes it")
    attempt = _give_up(run, where, cluster)
    if json:
        job = None if attempt is None else attempt.name
        say_json({"run_id": run, "job": job, "cancelled": True})
        return 0
    say(f"Run {run} is cancelled; what is finished is kept.")
    say(f"To take it up again: {program()} resume {run}")
    return 0


def _give_up(run: str, where: str, cluster: Cluster) -> "Submission | None":
    """Mark a run as cancelled, then stop what drives it; the attempt, if the cluster has one.

    The mark comes first, so that it stands whatever the cluster does. Only a run of which the store
    holds nothing yet is stopped before: its driver is just about to begin there.
    """
    from plymill.cli.sending import known_address
    from plymill.cluster import ClusterError, RunNotFoundError, RunStore, load_run
    from plymill.cluster.sending.submissions import NoAttemptError
    from plymill.cluster.sending.submit import cancel as mark

    files = RunStore.open(where, run)
    try:
        load_run(where, run)
    except RunNotFoundError:
        if known_address(cluster.address) is None:
            raise
        attempt = _stop(run, cluster)[0]
        load_run(where, run)
        mark(files)
        return attempt
    mark(files)
    if known_address(cluster.address) is None:
        return None
    try:
        return _stop(run, cluster)[0]
    except NoAttemptError:
        return None
    except ClusterError as error:
        raise ClusterError(
            f"Run {run} is marked as cancelled, but may still run: {error}"
        ) from error


def resume(run: RunId, /, *, work: SentWork = _HERE, sending: Sending = _SENDING) -> int:
    """Go on with a run on the cluster, from what its store holds."""
    from dataclasses import replace

    from plymill.cli.sending import connect, send
    from plymill.cluster.sending.submissions import attempts
    from plymill.workers.run import stored_spec

    if work.store == DEFAULT_STORE:
        server = connect(work.address, allow_insecure=work.allow_insecure)
        work = replace(work, store=store_of(attempts(server.submissions(), run), work.store))
    return send(stored_spec(run, work.store), work, sending, again=True)


def download(
    run: RunId,
    destination: Annotated[str, Parameter(name="DEST", help="The folder to put the files in.")],
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

    fetch_run(run, _store_to_ask(run, store, cluster), destination, json=json)
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
        store = store_of(sent, store)
    require_store(store, there=True)
    files = RunStore.open(store, run)
    if not sent and not files.is_run():
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


def _store_to_ask(run: str, store: str, cluster: Cluster) -> str:
    """The store of a run; the cluster is asked for it only if it is not named."""
    if store != DEFAULT_STORE:
        return store
    found, _ = _asked(run, store, cluster)
    return store_of(found or [], store)

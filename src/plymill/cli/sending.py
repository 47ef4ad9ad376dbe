"""Sending a run to a cluster: what flags stand for, and what is said about it."""

import getpass
import os
import re
import shlex
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from plymill.cli.failures import UsageError
from plymill.cli.options import DEFAULT_STORE, Sending, Work
from plymill.cli.output import note, program, say, say_json

if TYPE_CHECKING:
    from plymill.cluster import JobSpec
    from plymill.cluster.on_ray.jobs import RayJobs
    from plymill.cluster.sending.submit import Shipment

_VARIABLE = re.compile("[A-Za-z_][A-Za-z0-9_]*").fullmatch
_ADDRESSES = ("PLYMILL_ADDRESS", "RAY_API_SERVER_ADDRESS", "RAY_ADDRESS")


def send(
    job: "JobSpec",
    work: Work,
    sending: Sending,
    *,
    reference: Path | None = None,
    again: bool = False,
) -> int:
    """Send a run to the cluster and say how to follow it.

    Args:
        job: what to do.
        work: where, and with what.
        sending: who sends it, and what is shipped.
        reference: the book that the job's result is compared with; goes to the store.
        again: take a run up that was cancelled.
    """
    from plymill.cli.running import options_of
    from plymill.cluster import RunStore
    from plymill.cluster.sending.submit import submit, take_up
    from plymill.workers.run import is_finished, prepare_store

    shipment = shipment_of(sending)
    store = store_for_cluster(work.store)
    if not again:
        prepare_store(job, store, reference)
    if is_finished(job.run_id, store):
        _tell(job.run_id, store, "", "done already", work)
        return 0
    jobs = connect(work.address, allow_insecure=work.allow_insecure)
    sent = submit(
        jobs,
        job,
        store,
        options=options_of(work),
        shipment=shipment,
        tell=lambda text: note(f"plymill: {text} ..."),
    )
    if again:  # and not before: a run that could not be sent is still one that nobody wants
        take_up(RunStore.open(store, job.run_id))
    _tell(job.run_id, store, sent.name, "sent" if sent.new else "running already", work)
    return 0


def connect(address: str | None, *, allow_insecure: bool) -> "RayJobs":
    """The cluster's job server.

    Raises:
        UsageError: nobody said where it is.
        ClusterError: it cannot be used.
    """
    from plymill.cli.patience import patience

    found = require_address(address)
    with patience(f"Asking the cluster at {found}"):
        from plymill.cluster.on_ray.jobs import RayJobs

        return RayJobs(found, allow_insecure=allow_insecure)


def require_address(address: str | None) -> str:
    """The address of the cluster, from the flag or the environment.

    Raises:
        UsageError: there is none.
    """
    found = known_address(address)
    if found is None:
        raise UsageError(
            "Which cluster? Name its job server: --address http://head:8265, or PLYMILL_ADDRESS in "
            "the environment"
        )
    return found


def known_address(address: str | None) -> str | None:
    """The same, or None if there is none."""
    named = (os.environ.get(name) for name in _ADDRESSES)
    return address or next((value for value in named if value), None)


def store_for_cluster(store: str) -> str:
    """The store as every node of a cluster names it.

    Raises:
        UsageError: it is a folder of this machine only.
    """
    if store == DEFAULT_STORE:
        raise UsageError(
            "A run on a cluster needs a store that all its nodes reach: --store s3://bucket/runs "
            "or a folder that is mounted everywhere; PLYMILL_STORE names it once for all"
        )
    return store if "://" in store else str(Path(store).expanduser().absolute())


def shipment_of(sending: Sending) -> "Shipment":
    """What flags say about sending.

    Raises:
        UsageError: one of them is not NAME=VALUE.
    """
    from plymill.cluster.sending.submit import Shipment

    resources = _pairs("--driver-resource", sending.driver_resource)
    return Shipment(
        owner=sending.owner or _owner(),
        wheel=sending.wheel,
        labels=_pairs("--driver-label", sending.driver_label),
        resources={name: _amount(name, value) for name, value in resources.items()},
        environment=_pairs("--env", sending.env, environment=os.environ),
    )


def _pairs(
    flag: str, words: list[str] | None, environment: Mapping[str, str] | None = None
) -> dict[str, str]:
    pairs = {}
    for word in words or ():
        name, mark, value = word.partition("=")
        if not mark and environment is not None and name in environment:
            value, mark = environment[name], "="
        if not name.strip() or not mark or (environment is not None and not _VARIABLE(name)):
            known = " or a variable that is set here" if environment is not None else ""
            raise UsageError(f"{flag} '{word}': expected NAME=VALUE{known}")
        if name in pairs:
            raise UsageError(f"{flag} '{word}': {name} is there twice, expected it once")
        pairs[name] = value
    return pairs


def _amount(name: str, value: str) -> float:
    try:
        amount = float(value)
    except ValueError:
        amount = 0.0
    if not 0 < amount < float("inf"):
        raise UsageError(f"--driver-resource {name}={value}: expected a positive number")
    return amount


def _owner() -> str:
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # no name belongs to our number
        user = str(os.getuid())
    return f"{user}@{socket.gethostname()}"


def _tell(run_id: str, store: str, name: str, state: str, work: Work) -> None:
    if work.json:
        say_json({"run_id": run_id, "submission": name or None, "state": state, "store": store})
        return
    say(
        f"Run {run_id} is {state}." if name in ("", run_id) else f"Run {run_id} is {state}: {name}."
    )
    where = "" if os.environ.get("PLYMILL_STORE") == store else f" --store {shlex.quote(store)}"
    if not name:
        say(f"To fetch the files: {program()} download {run_id} FOLDER{where}")
        return
    say(f"To see how far it is: {program()} status {run_id}{where}")
    say(f"To see what it says:  {program()} logs {run_id} --follow")

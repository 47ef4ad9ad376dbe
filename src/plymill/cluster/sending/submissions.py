"""Runs that are sent to a cluster: what is sent, under which name, and what became of it. No Ray.

A submission is one attempt to drive a run on a cluster. The first is called like the run, the
second ``RUN-2``, and so on: the cluster takes a name once only, so that of two people who submit
the same job at the same moment one starts it and the other is told that it runs.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from plymill.cluster.errors import ClusterError

RUN_KEY, KIND_KEY, OWNER_KEY = "plymill_run", "plymill_kind", "plymill_owner"
STORE_KEY, WEIGHT_KEY = "plymill_store", "plymill_weight"
ACTIVE = ("PENDING", "RUNNING")


class NoAttemptError(ClusterError):
    """A run that was never sent to the cluster, or that it has forgotten."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """What a cluster tells of one attempt to drive a run. Times are seconds since 1970.

    Attributes:
        name: the attempt: ``RUN`` or ``RUN-2``.
        run_id: the run.
        kind: of job.
        owner: who sent it.
        store: the URL of its store, as the cluster sees it.
        weight: its share of the cluster, compared with other runs.
        status: PENDING, RUNNING, STOPPED, SUCCEEDED or FAILED.
        message: what the cluster says about the status.
        started: when it was taken in.
        ended: when its driver was gone.
    """

    name: str
    run_id: str
    kind: str = ""
    owner: str = ""
    store: str = ""
    weight: float = 1.0
    status: str
    message: str = ""
    started: float | None = None
    ended: float | None = None

    @property
    def active(self) -> bool:
        """Whether its driver runs, or waits to be started."""
        return self.status in ACTIVE

    @property
    def attempt(self) -> int:
        """Which attempt it is, counted from 1."""
        _, dash, number = self.name.removeprefix(self.run_id).rpartition("-")
        return int(number) if dash and number.isdigit() else 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is sent to a cluster.

    Attributes:
        name: of the attempt.
        entrypoint: the command that the cluster runs.
        metadata: who sent it, and what it is.
        modules: folders with Python packages that are shipped.
        packages: what pip is to install on the cluster besides.
        folder: its files are there where the command is run.
        environment: variables of the command and of all workers.
        labels: what the labels of the node that runs the command have to be.
        resources: what the command takes of its node.
    """

    name: str
    entrypoint: str
    metadata: Mapping[str, str] = field(default_factory=dict)
    modules: Sequence[Path] = ()
    packages: Sequence[str] = ()
    folder: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    resources: Mapping[str, float] = field(default_factory=dict)


class Jobs(Protocol):
    """The part of a cluster that takes jobs; see `plymill.cluster.on_ray.jobs.RayJobs`."""

    @property
    def address(self) -> str:
        """Where it is, as a person would name it."""

    @property
    def version(self) -> str:
        """The version of Ray that runs there."""

    def submissions(self) -> list[Submission]:
        """All attempts to drive runs of plymill, the oldest first."""

    def submit(self, order: Order) -> bool:
        """Send an order; False if its name is taken."""

    def status(self, name: str) -> str:
        """Status of any job, of plymill or not; an empty string if there is none of this name."""

    def stop(self, name: str) -> bool:
        """Ask a driver to end; False if it has ended already."""

    def delete(self, name: str) -> None:
        """Let the cluster forget an attempt that has ended."""

    def logs(self, name: str) -> str:
        """What the driver has written so far."""

    def follow(self, name: str) -> Iterator[str]:
        """What the driver has written and writes, until it ends."""


def attempts(submissions: Sequence[Submission], run_id: str) -> list[Submission]:
    """The attempts of a run, the last one last."""
    return sorted((s for s in submissions if s.run_id == run_id), key=lambda s: s.attempt)


def require_attempt(jobs: Jobs, run_id: str) -> Submission:
    """The last attempt of a run.

    Raises:
        NoAttemptError: the cluster knows of none; the sentence names the runs that it knows.
    """
    there = jobs.submissions()
    found = attempts(there, run_id)
    if found:
        return found[-1]
    known = sorted({s.run_id for s in there})
    what = f"it knows {', '.join(known)}" if known else "it knows no runs of plymill"
    raise NoAttemptError(f"The cluster at {jobs.address} knows no run '{run_id}'; {what}.")


def next_name(earlier: Sequence[Submission], run_id: str) -> str:
    """The name of the attempt that follows these."""
    last = max((s.attempt for s in earlier), default=0)
    return run_id if last == 0 else f"{run_id}-{last + 1}"

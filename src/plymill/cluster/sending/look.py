"""What a cluster runs: found out before anything is sent there.

A small job of its own (`look_script`) asks every node for its Python, its platform and the packages
that plymill needs. From the answers follows whether plymill's wheel fits, what else has to be
installed, and where the driver is put.
"""

import json
import shlex
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from pydantic import BaseModel, ConfigDict, ValidationError

from plymill.cluster.errors import ClusterError
from plymill.cluster.sending import look_script
from plymill.cluster.sending.submissions import ACTIVE, Jobs, Order

PREFIX = "plymill-look-"
_PATIENCE = 180.0
_LAST_PATIENCE = 5.0  # with a job that is stopped: somebody has pressed Ctrl-C and waits
_PAUSE = 0.3
_NODE_ID = "ray.io/node-id"
_MARKET = "ray.io/market-type"
_SPOT = "spot"
_COMMAND = 'exec "$(command -v python || command -v python3)" look.py'


class NodeLook(BaseModel):
    """One node. ``missing`` are the requirements that it does not meet; ``error``: no answer."""

    model_config = ConfigDict(frozen=True)

    node: str
    head: bool = False
    cpus: float = 0.0
    memory: float = 0.0
    labels: Mapping[str, str] = {}
    host: str = ""
    pid: int = 0
    executable: str = ""
    python: str = ""
    implementation: str = ""
    system: str = ""
    machine: str = ""
    libc: str = ""
    missing: tuple[str, ...] = ()
    error: str = ""

    @property
    def platform(self) -> str:
        """Python and platform, in words."""
        return f"{self.implementation} {self.python} on {self.system} {self.machine}"


class ClusterLook(BaseModel):
    """All nodes that are alive."""

    model_config = ConfigDict(frozen=True)

    ray: str
    nodes: tuple[NodeLook, ...]

    @property
    def missing(self) -> list[str]:
        """The requirements that some node does not meet."""
        return sorted({text for node in self.nodes for text in node.missing})


def look_at(jobs: Jobs, requirements: Sequence[str]) -> ClusterLook:
    """Ask every node of a cluster what it runs.

    Raises:
        ClusterError: the cluster does not answer, or not with what is expected.
    """
    name = f"{PREFIX}{uuid4().hex[:10]}"
    words = shlex.join(["", *requirements]).removeprefix("''")
    try:
        with tempfile.TemporaryDirectory() as folder:  # gone before the job is waited for
            shutil.copyfile(look_script.__file__, Path(folder) / "look.py")
            jobs.submit(Order(name=name, entrypoint=_COMMAND + words, folder=Path(folder)))
        status = _wait(jobs, name)
        logs = jobs.logs(name)
    finally:
        with suppress(ClusterError):
            _remove(jobs, name)
    return _parse(logs, status, jobs.address)


def _wait(jobs: Jobs, name: str) -> str:
    """The status that the job ends with."""
    deadline = time.monotonic() + _PATIENCE
    while (status := jobs.status(name)) in ACTIVE:
        if time.monotonic() > deadline:
            raise ClusterError(
                f"The cluster at {jobs.address} does not start a small job within {_PATIENCE:g} "
                f"seconds: it is {status}; 'ray status' on the head tells what it lacks."
            )
        time.sleep(_PAUSE)
    return status


def _remove(jobs: Jobs, name: str) -> None:
    """Let the cluster forget the job. One that is not over is stopped first: Ray wants it so."""
    if jobs.status(name) in ACTIVE:
        jobs.stop(name)
        deadline = time.monotonic() + _LAST_PATIENCE
        while jobs.status(name) in ACTIVE and time.monotonic() < deadline:
            time.sleep(_PAUSE)
    jobs.delete(name)


def _parse(logs: str, status: str, address: str) -> ClusterLook:
    lines = logs.splitlines()
    found = next((line for line in lines if line.startswith(look_script.MARK)), None)
    if found is None:
        last = next((line.strip() for line in reversed(lines) if line.strip()), "no word")
        raise ClusterError(
            f"The cluster at {address} cannot be looked at: a small job ended as {status}, its "
            f"last words were '{last}'."
        )
    try:
        look = ClusterLook.model_validate(json.loads(found.removeprefix(look_script.MARK)))
    except (ValueError, ValidationError) as error:
        raise ClusterError(f"The cluster at {address} answers with nonsense.") from error
    mute = next((node for node in look.nodes if node.error), None)
    if mute is not None:
        raise ClusterError(
            f"Node {mute.node[:8]} of the cluster at {address} runs no task: {mute.error}."
        )
    return look


def driver_labels(look: ClusterLook) -> dict[str, str]:
    """What the labels of the node have to be that a driver is put on.

    The head has the longest life of all, and is taken if it is there to compute. A head without
    processors is left alone: then any other node will do, but one that is not rented by the minute
    if there is such.
    """
    head = next((node for node in look.nodes if node.head), None)
    others = [node for node in look.nodes if not node.head and node.cpus >= 1]
    if head is None:
        return {}
    if head.cpus >= 1 or not others:
        return {_NODE_ID: head.node}
    labels = {_NODE_ID: f"!{head.node}"}
    markets = {node.labels.get(_MARKET, "") for node in others}
    if _SPOT in markets and markets != {_SPOT}:
        labels[_MARKET] = f"!{_SPOT}"
    return labels


def driver_python(look: ClusterLook, *, installs: bool) -> str:
    """The Python that runs a driver: the nodes' own, or that of an environment made for it."""
    found = {node.executable for node in look.nodes if node.cpus >= 1 or node.head}
    return "python" if installs or len(found) != 1 else found.pop()

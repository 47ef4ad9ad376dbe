"""Submission, lease and shares on a real cluster: a head without processors, and two workers."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from plymill.cluster import RunOptions
from plymill.workers import GridJob
from tests.cli.helpers import run_without_ray

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.cluster]

SCRIPT = Path(__file__).parents[2] / "deploy" / "local-cluster.sh"
PLYMILL = [sys.executable, "-m", "plymill"]
PATIENCE = 180.0

#: A few units of a second each.
SMALL = {
    "game": "tictactoe",
    "first": "10,40",
    "second": "10,40",
    "samples": 400,
    "unit_seconds": 0.5,
}
#: Long enough to be killed: some twenty seconds of one processor.
MEDIUM = {
    "game": "connect4",
    "first": "400,800",
    "second": "400,800",
    "samples": 2000,
    "unit_seconds": 1.0,
}
#: Far more than a test waits for, in units of a second.
LONG = {**SMALL, "game": "connect4", "first": "100,200", "samples": 200_000, "unit_seconds": 1.0}


class Cluster:
    """A cluster, and a laptop that has its address, its token and the store's name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = folder / "store"
        self.store.mkdir()
        self.temporary = tempfile.mkdtemp(prefix="plymill-")  # short: sockets lie in it
        self.env = {
            **os.environ,
            "PLYMILL_CLUSTER_DIR": str(folder / "cluster"),
            "PLYMILL_STORE": str(self.store),
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        }

    def script(self, *words: str) -> str:
        done = subprocess.run(
            [str(SCRIPT), *words], env=self.env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def start(self) -> None:
        self.script("start")
        for line in self.script("env").splitlines():
            name, value = line.removeprefix("export ").split("=", 1)
            self.env[name] = value.strip("'")

    def plymill(self, *words: object, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [*PLYMILL, *map(str, words)],
            env=self.env,
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done

    def submit(self, name: str, fields: dict[str, Any], *words: str) -> str:
        """Send a job from a file; the name of the run."""
        lines = [f"{key} = {json.dumps(value)}" for key, value in fields.items()]
        path = self.folder / f"{name}.toml"
        path.write_text("\n".join(['kind = "grid"', *lines]))
        sent = json.loads(self.plymill("submit", path, "--json", *words).stdout)
        return str(sent["run_id"])

    def jobs(self) -> dict[str, dict[str, Any]]:
        listed = json.loads(self.plymill("jobs", "--json").stdout)
        return {fields["name"]: fields for fields in listed}

    def lease(self, run: str) -> dict[str, Any]:
        """The latest lease of a run; empty before there is one."""
        files = sorted((self.store / run / "lease").glob("*.json"))
        if not files:
            return {}
        fields: dict[str, Any] = json.loads(files[-1].read_text() or "{}")
        return fields

    def events(self, run: str, kind: str) -> list[dict[str, Any]]:
        path = self.store / run / "events.jsonl"
        lines = path.read_text().splitlines() if path.exists() else []
        return [event for line in lines if (event := json.loads(line))["event"] == kind]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    found = Cluster(tmp_path_factory.mktemp("laptop"))
    found.start()
    try:
        yield found
    finally:
        found.script("stop")
        shutil.rmtree(found.temporary, ignore_errors=True)


def wait(what: str, ready: Callable[[], Any]) -> Any:
    """The first answer that is not empty."""
    deadline = time.monotonic() + PATIENCE
    while not (found := ready()):
        assert time.monotonic() < deadline, f"{what} did not come about"
        time.sleep(0.3)
    return found


def test_a_run_is_sent_its_driver_killed_and_what_it_makes_is_the_same(
    cluster: Cluster, tmp_path: Path
) -> None:
    run = cluster.submit("medium", MEDIUM, "--owner", "ann")
    holder = wait("a lease", lambda: cluster.lease(run).get("holder"))
    command = Path(f"/proc/{holder['pid']}/cmdline").read_bytes().split(b"\0")
    assert command[1:5] == [b"-m", b"plymill", b"run", b"drive"]
    assert cluster.jobs()[run]["owner"] == "ann"

    # The same again is harmless; a driver of its own leaves the run alone.
    assert cluster.submit("medium", MEDIUM) == run
    other = cluster.plymill("run", "resume", run, code=2)
    assert other.stderr.splitlines()[-1] == (
        f"plymill: Run {run} is driven by another driver already, process {holder['pid']} on "
        f"{holder['host']}; this one leaves it to that."
    )
    assert list(cluster.jobs()) == [run]

    os.kill(holder["pid"], signal.SIGKILL)
    wait("the end of the driver", lambda: cluster.jobs()[run]["status"] == "FAILED")
    assert not cluster.lease(run)["released"]
    told = cluster.plymill("status", run).stdout
    assert f"exit code -9; 'plymill logs {run}' shows its last words)" in told.splitlines()[0]
    assert f"plymill resume {run}" in told
    assert "time left" not in told, "nobody works on it"
    assert f"Run {run} is sent: {run}-2." in cluster.plymill("resume", run).stdout
    followed = cluster.plymill("logs", run, "--follow").stdout
    assert "runtime_resources/py_modules_files" in followed, "plymill was shipped"
    assert "8,000 matches played" in followed
    wait("success", lambda: cluster.jobs()[f"{run}-2"]["status"] == "SUCCEEDED")
    assert cluster.lease(run)["holder"]["pid"] != holder["pid"]
    assert cluster.lease(run)["released"]
    assert f"{run}: done" in cluster.plymill("status", run).stdout

    cluster.plymill("download", run, tmp_path / "got")
    spec = GridJob.from_fields({"kind": "grid", **MEDIUM})
    assert spec.run_id == run
    run_without_ray(spec, str(tmp_path), options=RunOptions(), address=None, on_progress=None)
    here = (tmp_path / run / "artifacts" / "SHA256SUMS").read_text()
    assert (tmp_path / "got" / "SHA256SUMS").read_text() == here


def test_a_small_run_gets_its_share_of_a_cluster_that_a_long_one_has(cluster: Cluster) -> None:
    long = cluster.submit("long", LONG)
    wait("both workers", lambda: len(cluster.events(long, "worker joined")) == 2)
    small = cluster.submit("other", {**SMALL, "seed": 1})
    wait("the small run's end", lambda: cluster.jobs()[small]["status"] == "SUCCEEDED")
    assert cluster.jobs()[long]["status"] == "RUNNING"
    wait("word of the node", lambda: cluster.events(long, "node given back"))
    (given,) = {event["node"] for event in cluster.events(long, "node given back")}
    joined = cluster.events(small, "worker joined")
    assert {worker["node"] for worker in joined} == {given}
    pids = {worker["pid"] for worker in cluster.events(long, "worker joined")}
    assert joined[0]["pid"] not in pids, "a process of its own"
    wait("the node again", lambda: len(cluster.events(long, "worker joined")) >= 3)

    assert f"Run {long} is stopped" in cluster.plymill("stop", long).stdout
    assert cluster.events(long, "session interrupted"), "it had the time to say so"
    assert cluster.lease(long)["released"]
    cluster.plymill("delete", long, "--yes")
    assert not (cluster.store / long).exists()
    assert long not in cluster.jobs()


def own_mounts() -> bool:
    """Whether a process with mounts of its own can be started here."""
    mount = ["unshare", "--mount", "true"]
    return bool(shutil.which("unshare")) and subprocess.run(mount, check=False).returncode == 0


@pytest.mark.skipif(not own_mounts(), reason="needs the right to mount")
def test_a_node_with_a_store_of_its_own_is_found_before_the_first_unit(cluster: Cluster) -> None:
    """The third worker sees an empty folder where the others see the store."""
    mount = f"mount -t tmpfs none {cluster.store} && exec ray start --block --address $RAY_ADDRESS"
    words = f"{mount} --num-cpus 1 --dashboard-agent-listen-port 0 --temp-dir {cluster.temporary}"
    node = subprocess.Popen(
        ["unshare", "--mount", "sh", "-c", words],
        env=cluster.env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        wait("the third worker", lambda: nodes_of(cluster) == 4)
        run = cluster.submit("third", {**SMALL, "seed": 3})
        wait("the end", lambda: cluster.jobs()[run]["status"] == "FAILED")
        last = cluster.plymill("logs", run).stdout.splitlines()[-1]
        assert last.startswith("plymill: Node ")
        assert f"cannot use the store {cluster.store}/{run}: what the driver writes is not" in last
        assert not cluster.events(run, "plan ready")
        assert "exit code 2" in cluster.plymill("status", run).stdout
    finally:
        os.killpg(node.pid, signal.SIGTERM)
        node.wait()


def nodes_of(cluster: Cluster) -> int:
    """How many nodes of the cluster are alive."""
    request = urllib.request.Request(
        f"{cluster.env['PLYMILL_ADDRESS']}/api/v0/nodes",
        headers={"Authorization": f"Bearer {Path(cluster.env['RAY_AUTH_TOKEN_PATH']).read_text()}"},
    )
    with urllib.request.urlopen(request) as answer:
        found = json.load(answer)["data"]["result"]["result"]
    return sum(node["state"] == "ALIVE" for node in found)


def test_a_wrong_token_is_one_sentence(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cluster.env, "RAY_AUTH_TOKEN", "0" * 64)
    refused = cluster.plymill("jobs", code=2)
    assert "does not accept our token; put the cluster's into RAY_AUTH_TOKEN" in refused.stderr

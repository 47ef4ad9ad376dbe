"""Real Ray with its real autoscaler, whose machines are further nodes on this one."""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.faults import kill, wait_until_gone

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.cluster]

RAY = Path(sys.executable).parent / "ray"
ADDRESS = "127.0.0.1:7398"
ENVIRONMENT = os.environ | {
    "RAY_AUTH_MODE": "disabled",  # the machines that the provider starts get no token
    "RAY_FAKE_CLUSTER": "1",
    "AUTOSCALER_UPDATE_INTERVAL_S": "1",
}
#: What Ray wants to have named in a configuration, even if it is empty.
EMPTY = """cluster_synced_files rsync_exclude rsync_filter initialization_commands setup_commands
    head_setup_commands worker_setup_commands head_start_ray_commands worker_start_ray_commands"""


def configuration(address: str) -> dict[str, object]:
    """One to three machines of a processor each, beside a head that has none."""
    head = {"resources": {"CPU": 0}, "node_config": {}, "max_workers": 0}
    spot = {
        "resources": {"CPU": 1, "object_store_memory": 80_000_000},
        "node_config": {},
        "min_workers": 1,
        "max_workers": 3,
    }
    provider = {
        "type": "fake_multinode",
        "gcs_address": address,
        "head_node_id": f"{'f' * 51}00000",
        "disable_node_updaters": True,
        "disable_launch_config_check": True,
    }
    return {name: [] for name in EMPTY.split()} | {
        "cluster_name": "plymill-test",
        "max_workers": 3,
        "idle_timeout_minutes": 1,
        "upscaling_speed": 100,
        "provider": provider,
        "auth": {},
        "file_mounts": {},
        "head_node_type": "ray.head.default",
        "available_node_types": {"ray.head.default": head, "spot": spot},
        "file_mounts_sync_continuously": False,
    }


#: Two runs that want one and four processors, until there are three machines; then they end.
RUNS = """
import json, sys, time
import ray
from ray._private.ray_constants import AUTOSCALER_RESOURCE_REQUEST_CHANNEL as REQUEST
from ray.experimental.internal_kv import _internal_kv_get
from plymill.cluster.on_ray.nodes import live_nodes
from plymill.cluster.on_ray.shares import RayShares

def machines():
    return {node: 1 for node, offers in live_nodes().items() if offers.get("CPU", 0) >= 1}

def asked_for():
    return len(json.loads(_internal_kv_get(REQUEST) or "[]"))

ray.init(address=sys.argv[1], log_to_driver=False)
first, second = RayShares("first", 1.0), RayShares("second", 1.0)
seen = [len(machines())]
deadline = time.monotonic() + 120
while seen[-1] < 3 and time.monotonic() < deadline:
    first.ask(1, machines(), machines(), {})
    second.ask(4, machines(), machines(), {})
    time.sleep(0.5)
    seen.append(len(machines()))
requests = [asked_for()]
for share in (second, first):
    share.leave()
    requests.append(asked_for())
print(json.dumps({"machines": seen, "requests": requests}))
"""


@pytest.fixture
def autoscaled(tmp_path: Path) -> Iterator[str]:
    """The address of a cluster that grows when it is asked to."""
    config = tmp_path / "cluster.json"
    config.write_text(json.dumps(configuration(ADDRESS)))
    with tempfile.TemporaryDirectory(prefix="plymill-") as folder:  # short: sockets lie in it
        words = ["start", "--head", "--block", f"--port={ADDRESS.rpartition(':')[2]}"]
        options = ["--num-cpus=0", "--object-store-memory=80000000", "--include-dashboard=false"]
        head = subprocess.Popen(
            [str(RAY), *words, *options, f"--temp-dir={folder}", f"--autoscaling-config={config}"],
            env=ENVIRONMENT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            wait_for(head)
            yield ADDRESS
        finally:
            end_all_of(folder)
            head.wait(60)


def wait_for(head: "subprocess.Popen[bytes]") -> None:
    """Until the head listens."""
    host, _, port = ADDRESS.rpartition(":")
    for _ in range(60):
        assert head.poll() is None, "the head has ended"
        with suppress(OSError):
            socket.create_connection((host, int(port)), timeout=1).close()
            return
        time.sleep(1)
    pytest.fail("the head does not listen")


def end_all_of(folder: str) -> None:
    """Kill all processes of a cluster, the machines of the autoscaler among them: each names it."""
    ours = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if folder.encode() in (entry / "cmdline").read_bytes():
                ours.append(int(entry.name))
    for pid in ours:
        with suppress(ProcessLookupError):
            kill(pid)
    wait_until_gone(ours)


def test_a_cluster_grows_while_runs_can_use_more_and_may_shrink_when_they_end(
    autoscaled: str,
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", RUNS, autoscaled],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=True,
        timeout=240,
    )
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["machines"][0] <= 1
    assert said["machines"][-1] == 3
    assert said["requests"] == [5, 1, 0], "what both can use, one alone, and nobody"

"""``deploy/local-cluster.sh``: a cluster of real nodes, a run on it, and nothing left behind."""

import json
import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from plymill.cluster import load_run
from plymill.cluster.metrics import METRICS, Kind

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.cluster]

SCRIPT = Path(__file__).parents[2] / "deploy" / "local-cluster.sh"
#: 2,519 positions in some 60 units.
JOB = ("book", "build", "--opening", "444444", "--validate-sample", "20", "--table-mb", "16")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cluster")


def script(folder: Path, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(SCRIPT), *words],
        env={
            **os.environ,
            "PLYMILL_CLUSTER_DIR": str(folder),
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        },
        capture_output=True,
        text=True,
        check=check,
    )


@pytest.fixture(scope="module")
def cluster(folder: Path) -> Iterator[dict[str, str]]:
    """The environment of a shell that uses the cluster."""
    script(folder, "start")
    try:
        lines = script(folder, "env").stdout.splitlines()
        pairs = (line.removeprefix("export ").split("=", 1) for line in lines)
        yield {**os.environ, **{name: value.strip("'") for name, value in pairs}}
    finally:
        script(folder, "stop")


def sessions(folder: Path) -> dict[str, list[str]]:
    """The processes of each node, by its name."""
    found = {}
    for path in folder.glob("*.session"):
        listed = subprocess.run(
            ["ps", "-o", "pid=", "-s", path.read_text().strip()],
            capture_output=True,
            text=True,
            check=False,
        )
        found[path.stem] = listed.stdout.split()
    return found


def lives(pid: str) -> bool:
    """Whether a process runs; one that has ended may wait for its parent to notice."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def metrics(folder: Path) -> str:
    """What Prometheus would read from all nodes now."""
    temporary = Path((folder / "temporary").read_text().strip())
    found = json.loads((temporary / "prom_metrics_service_discovery.json").read_text())
    texts = []
    for target in found[0]["targets"]:
        try:
            with urllib.request.urlopen(f"http://{target}/metrics", timeout=5) as answer:
                texts.append(answer.read().decode())
        except OSError:
            continue
    return "\n".join(texts)


def test_a_run_on_the_cluster_uses_both_workers_and_tells_its_metrics(
    cluster: dict[str, str], folder: Path, tmp_path: Path
) -> None:
    log = tmp_path / "run.jsonl"
    command = [sys.executable, "-m", "plymill", *JOB, "--store", str(tmp_path / "runs")]
    running = subprocess.Popen(
        [*command, "--address", cluster["RAY_ADDRESS"], "--log-file", str(log), "--json"],
        env=cluster,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    seen: set[str] = set()
    while running.poll() is None:
        seen |= set(re.findall(r"^(ray_plymill_\w+)\{", metrics(folder), re.MULTILINE))
        time.sleep(0.5)  # neither waits for anything: the run decides when the loop ends
    out, err = running.communicate()
    assert running.returncode == 0, err
    result = json.loads(out)
    assert result["complete"]
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    joined = [line for line in lines if line["message"] == "worker joined"]
    assert len({line["node"] for line in joined}) == 2
    assert lines[-1]["message"] == "session done"
    provenance = load_run(str(tmp_path / "runs"), result["run_id"]).provenance
    assert provenance is not None
    assert len({unit["worker"] for unit in provenance["units"]}) == 2
    exported = {
        metric.exported + ("_bucket" if metric.kind is Kind.HISTOGRAM else "") for metric in METRICS
    }
    assert "ray_plymill_units" in seen
    assert {name for name in seen if not name.endswith(("_sum", "_count"))} <= exported


def test_without_the_token_nobody_gets_in(cluster: dict[str, str], folder: Path) -> None:
    dashboard = (folder / "dashboard").read_text().strip()
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(f"{dashboard}/api/jobs/", timeout=30)
    assert refused.value.code in {401, 403}
    assert (folder / "token").stat().st_mode & 0o077 == 0
    request = urllib.request.Request(
        f"{dashboard}/api/jobs/",
        headers={"Authorization": f"Bearer {(folder / 'token').read_text()}"},
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        assert answer.status == 200
    assert cluster["RAY_AUTH_MODE"] == "token"


def test_a_running_cluster_is_told_and_not_started_twice(
    cluster: dict[str, str], folder: Path
) -> None:
    told = script(folder, "status").stdout
    assert cluster["RAY_ADDRESS"] in told
    assert re.findall(r"^  (\S+): runs", told, re.MULTILINE) == ["head", "worker-1", "worker-2"]
    again = script(folder, "start", check=False)
    assert again.returncode == 2
    assert "is running already" in again.stderr


def test_stop_leaves_no_process_and_no_file(cluster: dict[str, str], folder: Path) -> None:
    del cluster
    nodes = sessions(folder)
    assert set(nodes) == {"head", "worker-1", "worker-2"}
    assert all(nodes.values())
    temporary = Path((folder / "temporary").read_text().strip())
    script(folder, "stop")
    assert {pid for pids in nodes.values() for pid in pids if lives(pid)} == set()
    assert not temporary.exists()
    assert list(folder.iterdir()) == []
    assert script(folder, "status", check=False).returncode == 3

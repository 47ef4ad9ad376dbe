"""``deploy/local-cluster.sh``: a cluster of real nodes, a run on it, and nothing left behind."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from plymill.cluster import load_run
from plymill.cluster.metrics import METRICS, Kind

SCRIPT = Path(__file__).parents[2] / "deploy" / "local-cluster.sh"
#: 2,519 positions in some 60 units.
JOB = ("book", "build", "--opening", "444444", "--validate-sample", "20", "--table-mb", "16")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cluster")


def starts_nodes(test: Callable[..., None]) -> Callable[..., None]:
    """Mark a test of the running cluster; the others need no Ray and take no time."""
    for mark in (pytest.mark.ray, pytest.mark.slow, pytest.mark.cluster):
        test = mark(test)
    return test


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
def started(folder: Path) -> Iterator[str]:
    """A cluster, as what was said while it started."""
    said = script(folder, "start").stdout
    try:
        yield said
    finally:
        script(folder, "stop")


@pytest.fixture(scope="module")
def cluster(folder: Path, started: str) -> dict[str, str]:
    """The environment of a shell that uses the cluster."""
    del started
    lines = script(folder, "env").stdout.splitlines()
    pairs = (line.removeprefix("export ").split("=", 1) for line in lines)
    return {**os.environ, **{name: value.strip("'") for name, value in pairs}}


def sessions(folder: Path) -> dict[str, list[str]]:
    """The processes of each node, by its name."""
    found = {}
    for path in folder.glob("*.session"):
        listed = subprocess.run(
            ["ps", "-o", "pid=", "-s", path.read_text().split()[0]],
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


@pytest.mark.parametrize("words", [("--help",), ("start", "--help"), ("add", "-h")])
def test_whoever_asks_for_help_gets_the_usage_and_nothing_starts(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    said = script(tmp_path, *words).stdout
    assert said.startswith("usage: deploy/local-cluster.sh start ")
    assert "local-cluster.sh add " in said
    assert "needs Linux" in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (("add",), "no cluster runs; "),
        (("add", "--nodes", "2"), "there is no option '--nodes'; expected --cpus"),
        (("start", "--size", "3"), "there is no option '--size'; expected --nodes or --cpus"),
        (("start", "--nodes"), "--nodes needs a number"),
    ],
)
def test_what_cannot_be_started_is_told_in_one_line(
    words: tuple[str, ...], fault: str, tmp_path: Path
) -> None:
    done = script(tmp_path, *words, check=False)
    assert done.returncode == 2
    assert re.fullmatch(rf"local-cluster.sh: {re.escape(fault)}.*\n", done.stderr)


@pytest.fixture
def session() -> Iterator[subprocess.Popen[bytes]]:
    """Some session of this machine: its first process has another in it, as that of a node has."""
    with subprocess.Popen(["sh", "-c", "sleep 99 & sleep 99"], start_new_session=True) as process:
        yield process
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def born(pid: int) -> str:
    start = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    return f"{Path('/proc/sys/kernel/random/boot_id').read_text().strip()}:{start}"


@pytest.mark.parametrize("other", ["start", "boot", "nothing"])
def test_a_session_that_has_the_number_of_an_old_one_is_left_alone(
    tmp_path: Path, session: subprocess.Popen[bytes], other: str
) -> None:
    boot, _, start = born(session.pid).partition(":")
    told = {"start": f"{boot}:{int(start) - 1}", "boot": f"another:{start}", "nothing": ""}[other]
    (tmp_path / "head.session").write_text(f"{session.pid} {told}\n")
    assert script(tmp_path, "status", check=False).returncode == 3
    script(tmp_path, "stop")
    assert session.poll() is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("first", ["there", "gone"])
def test_all_of_a_session_of_ours_ends(
    tmp_path: Path, session: subprocess.Popen[bytes], first: str
) -> None:
    (tmp_path / "head.session").write_text(f"{session.pid} {born(session.pid)}\n")
    for name in ("address", "dashboard"):
        (tmp_path / name).write_text("here\n")
    [pids] = sessions(tmp_path).values()
    while len(pids) < 3:  # a shell and what it started
        [pids] = sessions(tmp_path).values()
    if first == "gone":
        session.kill()
        session.wait()
    assert f"head: runs, session {session.pid}" in script(tmp_path, "status").stdout
    script(tmp_path, "stop")
    assert not any(map(lives, pids))


def test_another_system_than_linux_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "uname").write_text("#!/bin/sh\necho Darwin\n")
    (programs / "uname").chmod(0o755)
    with monkeypatch.context() as patched:
        patched.setattr(
            sys, "executable", str(programs / "python")
        )  # its folder is looked in first
        done = script(tmp_path / "state", "start", check=False)
    assert (done.returncode, "it needs Linux" in done.stderr) == (2, True)


@starts_nodes
def test_the_script_says_what_it_starts_and_what_then_runs(started: str) -> None:
    assert re.findall(r"^Starting the node (\S+) ", started, re.MULTILINE) == [
        "head",
        "worker-1",
        "worker-2",
    ]
    assert "A head and 2 workers with 1 processor each: at " in started


@starts_nodes
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


@starts_nodes
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


@starts_nodes
def test_a_running_cluster_is_told_and_not_started_twice(
    cluster: dict[str, str], folder: Path
) -> None:
    told = script(folder, "status").stdout
    assert cluster["RAY_ADDRESS"] in told
    assert re.findall(r"^  (\S+): runs", told, re.MULTILINE) == ["head", "worker-1", "worker-2"]
    again = script(folder, "start", check=False)
    assert again.returncode == 2
    assert "is running already" in again.stderr


@starts_nodes
def test_a_worker_can_be_added_while_the_others_run(cluster: dict[str, str], folder: Path) -> None:
    before = sessions(folder)
    assert "worker-3" not in before
    assert "worker-3 with 2 processors has joined." in script(folder, "add", "--cpus", "2").stdout
    after = sessions(folder)
    assert after["worker-3"]
    assert {name: pids[0] for name, pids in before.items()}.items() <= {
        name: pids[0] for name, pids in after.items()
    }.items()
    look = (
        "import ray; ray.init('auto', log_to_driver=False); print(ray.cluster_resources()['CPU'])"
    )
    seen = subprocess.run(
        [sys.executable, "-c", look], env=cluster, capture_output=True, text=True, check=True
    )
    assert seen.stdout.split()[-1] == "4.0"


@starts_nodes
def test_stop_leaves_no_process_and_no_file(cluster: dict[str, str], folder: Path) -> None:
    del cluster
    nodes = sessions(folder)
    assert {"head", "worker-1", "worker-2"} <= set(nodes)
    assert all(nodes.values())
    temporary = Path((folder / "temporary").read_text().strip())
    script(folder, "stop")
    assert {pid for pids in nodes.values() for pid in pids if lives(pid)} == set()
    assert not temporary.exists()
    assert list(folder.iterdir()) == []
    assert script(folder, "status", check=False).returncode == 3

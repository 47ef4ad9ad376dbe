"""A store with every kind of run, and the page of it: in this process, and in a browser."""

import json
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the page needs the extra 'web'")

from starlette.testclient import TestClient

from plymill.cluster import Coordinator, JobSpec, LocalExecutor, RunOptions, RunStore
from plymill.web import Settings
from plymill.web.app import make_app
from plymill.web.connections import Limits
from plymill.web.server import listen, server_of
from plymill.workers import BookJob, GridJob, PoolJob, make_job

OPENING = "44444422"
LOCAL = "http://127.0.0.1"
TOKEN = "correct-horse-battery"


@dataclass(frozen=True)
class Made:
    """The store and the names of its runs.

    Attributes:
        url: the store.
        book: a finished run with books of 8 and 12 stones.
        grid: a finished grid of tic-tac-toe.
        pool: a finished pool of dots and boxes.
        live: a grid of Connect Four that is being played.
    """

    url: str
    book: str
    grid: str
    pool: str
    live: str

    def store(self, run_id: str) -> RunStore:
        return RunStore.open(self.url, run_id)


def run_here(spec: JobSpec, url: str, nodes: dict[str, int]) -> str:
    """Carry a job out in this process."""
    job = make_job(spec, RunOptions(table_mb=16))
    store = RunStore.open(url, spec.run_id)
    assert Coordinator(job, store, LocalExecutor(job, store, nodes)).run().complete
    return spec.run_id


def grid_job(game: str, **fields: Any) -> GridJob:
    return GridJob.from_fields({"game": game, "first": "10,20,40", "second": "10,20,40", **fields})


def leave_half_done(store: RunStore) -> None:
    """Make a finished run one that is under way: half of its units are there, and no artefacts."""
    plan = store.read_plan()
    progress = store.read_json("progress.json")
    assert plan is not None
    assert progress is not None
    half = len(plan.units) // 2
    for unit in plan.units[half:]:
        store.files.delete(f"units/{unit.name}.zst")
    for name in store.files.list("artifacts"):
        store.files.delete(f"artifacts/{name}")
    now = time.time()
    letters = "d" * half + "wwq" + "." * (len(plan.units) - half - 3)
    workers = [
        worker(name, in_flight, pace)
        for name, in_flight, pace in (("alpha", 1, 1.0), ("beta", 1, 1.1), ("gamma", 0, 0.4))
    ]
    done = plan.units[half - 1].stop
    store.write_json(
        "progress.json",
        progress
        | {
            "state": "solving",
            "started": now - 600,
            "updated": now + 3600,  # it stays under way, however long the tests take
            "units_done": half,
            "units_in_flight": 2,
            "units_quarantined": 1,
            "items_done": done,
            "work_done": progress["work_total"] / 2,
            "rate": done / 600,
            "eta": [540.0, 700.0],
            "unit_map": letters,
            "workers": workers,
            "history": [[now - 600 + 10 * k, done * k // 60] for k in range(61)],
        },
    )
    lost = {"event": "worker lost", "worker": "gamma-1", "node": "gamma", "cause": "it died"}
    begun = store.read_events()[:-3]  # twice: more of them than a run's page shows
    store.write_events([*begun, *begun, {"time": now - 60, **lost}])
    store.write_json("submission.json", {"owner": "marta"})


def worker(name: str, in_flight: int, pace: float) -> dict[str, Any]:
    return {
        "name": f"{name}-1",
        "node": name,
        "host": f"host-{name}",
        "pid": 4711,
        "slots": 2,
        "in_flight": ["00042"] * in_flight,
        "units": 5,
        "items": int(100 * pace),
        "seconds": 100.0,
        "rate": pace,
    }


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """The store. Its page may be looked at by many tests; none of them changes it."""
    url = str(tmp_path_factory.mktemp("page") / "store")
    spec = BookJob(opening=OPENING, unit_size=20, validate_sample=5, audit_fraction=0.2)
    book = run_here(spec, url, {"alpha": 2, "beta": 1})
    with pytest.MonkeyPatch.context() as patch:
        grid = run_here(grid_job("tictactoe", samples=6), url, {"a": 1})
        pool = run_here(
            PoolJob(game="boxes", players=("random", "first-legal"), samples=3), url, {"a": 1}
        )
        patch.setattr("plymill.workers.match_stages.figures_of", lambda spec, matches: {})
        spec_live = grid_job("connect4-7x6", samples=8, unit_seconds=2e-4)
        live = run_here(spec_live, url, {"a": 1})
    leave_half_done(RunStore.open(url, live))
    return Made(url, book, grid, pool, live)


@pytest.fixture(scope="session")
def client(made: Made) -> Iterator[TestClient]:
    """The page without a token, asked from this machine."""
    with client_of(Settings(store=made.url)) as found:
        yield found


@pytest.fixture(scope="session")
def guarded(made: Made) -> Iterator[TestClient]:
    """A page that other machines may reach."""
    with client_of(Settings(store=made.url, host="0.0.0.0", token=TOKEN)) as found:
        yield found


@contextmanager
def client_of(settings: Settings) -> Iterator[TestClient]:
    """A client that follows no redirects."""
    with TestClient(make_app(settings), base_url=LOCAL, follow_redirects=False) as found:
        yield found


@pytest.fixture(scope="session")
def ask(client: TestClient) -> Callable[..., Any]:
    """JSON of an address below the API."""

    def ask(path: str, status: int = 200) -> Any:
        answer = client.get(f"/api/v1{path}")
        assert answer.status_code == status, answer.text
        return json.loads(answer.text)

    return ask


@contextmanager
def served(settings: Settings, limits: Limits | None = None) -> Iterator[str]:
    """A real server in a thread of this process; its address."""
    server = server_of(settings, limits)
    with listen(settings) as sock:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]}, daemon=True)
        thread.start()
        yield f"{LOCAL}:{sock.getsockname()[1]}"
        server.should_exit = True
        thread.join(10)


@contextmanager
def logged() -> Iterator[list[logging.LogRecord]]:
    """What a server that runs already, and the page, write into the log."""
    found: list[logging.LogRecord] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            found.append(record)

    keep = Keep()
    logs = [logging.getLogger(name) for name in ("uvicorn.error", "plymill")]
    for log in logs:
        log.addHandler(keep)
    yield found
    for log in logs:
        log.removeHandler(keep)


@pytest.fixture(scope="session")
def page_url(made: Made) -> Iterator[str]:
    """The address of the page, served for real."""
    with served(Settings(store=made.url, port=0)) as url:
        yield url


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A store that a test may spoil."""
    store = tmp_path / "store"
    store.mkdir()
    return store

"""The real command line, called in this process; runs use the real job system without Ray."""

from pathlib import Path
from typing import Any

import pytest

import plymill.workers
from plymill.cli import main, sending
from tests.cli.helpers import GRID, SMALL_GRID, TINY, Outcome, Plymill, run_without_ray
from tests.cluster.fake_jobs import FakeJobs
from tests.cluster.test_submit import make_wheel


@pytest.fixture
def plymill_(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Plymill:
    """Calls ``plymill`` with words and returns exit code and output."""
    monkeypatch.setattr(plymill.workers, "run_job", run_without_ray)

    def call(*words: object) -> Outcome:
        capfd.readouterr()
        code = main([str(word) for word in words])
        out, err = capfd.readouterr()
        return Outcome(code, out, err)

    return call


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a finished book and a finished grid, made by the command line."""
    folder = tmp_path_factory.mktemp("store")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plymill.workers, "run_job", run_without_ray)
        patch.setattr("plymill.workers.match_stages.figures_of", lambda spec, matches: {})
        assert main(["book", "build", *TINY, "--table-mb", "16", "--store", str(folder)]) == 0
        assert main(["match", "grid", *SMALL_GRID, "--store", str(folder)]) == 0
    return folder


@pytest.fixture(scope="session")
def run_id(store: Path) -> str:
    """The name of the finished run that made a book."""
    return next(path.name for path in store.glob("book-*"))


@pytest.fixture(scope="session")
def grid_id(store: Path) -> str:
    """The name of the finished run of a grid, of which there are no charts."""
    return next(path.name for path in store.glob("grid-*"))


@pytest.fixture(scope="session")
def book(store: Path, run_id: str) -> Path:
    """The finished run's book of 12 stones."""
    return next((store / run_id / "artifacts").glob("*-12ply-*.plymill"))


@pytest.fixture
def jobs(monkeypatch: pytest.MonkeyPatch) -> FakeJobs:
    """The cluster that every command speaks to."""
    fake = FakeJobs()

    def connect(address: str | None, *, allow_insecure: bool) -> Any:
        del allow_insecure
        fake.address = sending.require_address(address)
        return fake

    monkeypatch.setattr(sending, "connect", connect)
    for name in ("PLYMILL_STORE", "RAY_ADDRESS", "RAY_API_SERVER_ADDRESS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PLYMILL_ADDRESS", "http://head:8265")
    return fake


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    return make_wheel(tmp_path / "plymill-0.1.0-cp311-cp311-linux_x86_64.whl")


@pytest.fixture
def sent(jobs: FakeJobs, plymill_: Plymill, tmp_path: Path, wheel: Path) -> str:
    """A run that was sent, to the store ``tmp_path/runs``; its name."""
    job = tmp_path / "job.toml"
    job.write_text(GRID)
    done = plymill_("submit", job, "--store", tmp_path / "runs", "--wheel", wheel, "--owner", "ann")
    assert done.code == 0, done.err
    return jobs.orders[0].name

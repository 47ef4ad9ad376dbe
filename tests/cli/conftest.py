"""The real command line, called in this process; runs use the real job system without Ray."""

from pathlib import Path

import pytest

import plymill.workers
from plymill.cli import main
from tests.cli.helpers import TINY, Outcome, Plymill, run_without_ray


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
    """A store with one finished run, made by ``plymill book build``."""
    folder = tmp_path_factory.mktemp("store")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plymill.workers, "run_job", run_without_ray)
        assert main(["book", "build", *TINY, "--table-mb", "16", "--store", str(folder)]) == 0
    return folder


@pytest.fixture(scope="session")
def run_id(store: Path) -> str:
    """The name of the finished run."""
    return next(path.name for path in store.iterdir())


@pytest.fixture(scope="session")
def book(store: Path, run_id: str) -> Path:
    """The finished run's book of 12 stones."""
    return next((store / run_id / "artifacts").glob("*-12ply-*.plymill"))

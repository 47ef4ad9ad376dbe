"""Small opening-book jobs, and what their runs must come out as."""

from collections.abc import Callable
from pathlib import Path

import pytest

from plymill.cluster import Coordinator, LocalExecutor, RunOptions, RunResult, RunStore
from plymill.workers import BookJob, make_job

Artifacts = dict[str, bytes]


def run_here(spec: BookJob, url: str, nodes: dict[str, int] | None = None) -> RunResult:
    """The run in this process, without Ray."""
    job = make_job(spec, RunOptions(table_mb=16))
    store = RunStore.open(url, spec.run_id)
    return Coordinator(job, store, LocalExecutor(job, store, nodes)).run()


def read_artifacts(url: str, run_id: str) -> Artifacts:
    """All artefacts of a run by name."""
    store = RunStore.open(url, run_id)
    return {name: store.files.read(f"artifacts/{name}") for name in store.files.list("artifacts")}


@pytest.fixture(scope="session")
def run_in_process() -> Callable[..., RunResult]:
    return run_here


@pytest.fixture(scope="session")
def artifacts_of() -> Callable[[str, str], Artifacts]:
    return read_artifacts


@pytest.fixture(scope="session")
def tiny() -> BookJob:
    """279 positions, solved in a fraction of a second."""
    return BookJob(opening="44444422", audit_fraction=0.2, validate_sample=20)


@pytest.fixture(scope="session")
def small() -> BookJob:
    """986 positions in 99 units, a few seconds: long enough to be disturbed."""
    return BookJob(opening="4444443", unit_size=10, audit_fraction=0.05, validate_sample=20)


@pytest.fixture(scope="session")
def in_peace(tmp_path_factory: pytest.TempPathFactory) -> Callable[[BookJob], Artifacts]:
    """The artefacts of a job that nothing disturbs."""

    def make(job: BookJob) -> Artifacts:
        url = str(tmp_path_factory.mktemp("peace"))
        assert run_here(job, url).complete
        return read_artifacts(url, job.run_id)

    return make


@pytest.fixture(scope="session")
def undisturbed(in_peace: Callable[[BookJob], Artifacts], small: BookJob) -> Artifacts:
    """The artefacts of the small job, made in peace."""
    return in_peace(small)


@pytest.fixture(scope="session")
def many() -> BookJob:
    """279 positions in 28 units."""
    return BookJob(opening="44444422", unit_size=10, audit_fraction=0.2, validate_sample=20)


@pytest.fixture(scope="session")
def peaceful(in_peace: Callable[[BookJob], Artifacts], many: BookJob) -> Artifacts:
    """The artefacts of that job, made in peace."""
    return in_peace(many)


@pytest.fixture(scope="session")
def published() -> Callable[[str], Path]:
    """The path of a published book by its layout."""
    assets = pytest.importorskip(
        "bitbully_databases", reason="the published books come with the bitbully-databases package"
    )
    names = {"8ply": "book_8ply.dat", "12ply-dist": "book_12ply_distances.dat"}
    return lambda layout: Path(assets.__file__).parent / "assets" / names[layout]


@pytest.fixture
def without_charts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawing takes seconds, and says nothing about who plays what."""
    monkeypatch.setattr("plymill.workers.match_stages.figures_of", lambda spec, matches: {})

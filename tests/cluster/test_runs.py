"""Listing, loading and downloading runs of a store."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from plymill.cluster import (
    Coordinator,
    CorruptFileError,
    LocalExecutor,
    RunNotFoundError,
    RunStore,
    download,
    list_runs,
    load_run,
)


@pytest.fixture
def finished(make_job: Callable[..., Any], tmp_path: Path) -> tuple[str, str]:
    """A store with one finished run, and the run's name."""
    job = make_job()
    url = str(tmp_path / "store")
    store = RunStore.open(url, job.spec.run_id)
    Coordinator(job, store, LocalExecutor(job, store)).run()
    return url, job.spec.run_id


def test_a_finished_run_is_listed_with_spec_progress_and_manifest(
    finished: tuple[str, str],
) -> None:
    url, run_id = finished
    Path(url, "notes").mkdir()
    (info,) = list_runs(url)
    assert info == load_run(url, run_id)
    assert info.state == "done"
    assert info.spec["count"] == 200
    assert info.manifest is not None
    assert set(info.manifest["files"]) == {"total.txt", "words.txt"}
    assert info.provenance is not None
    assert len(info.provenance["units"]) == 20


def test_an_empty_store_has_no_runs(tmp_path: Path) -> None:
    assert list_runs(str(tmp_path)) == []


def test_a_run_that_is_not_there_is_named_with_those_that_are(finished: tuple[str, str]) -> None:
    url, run_id = finished
    with pytest.raises(RunNotFoundError, match=f"no run 'book-1' in .*; it holds {run_id}"):
        load_run(url, "book-1")


def test_download_brings_every_artefact_and_checks_it(
    finished: tuple[str, str], tmp_path: Path
) -> None:
    url, run_id = finished
    target = tmp_path / "here"
    seen: list[str] = []
    paths = download(url, run_id, target, on_file=lambda name, size: seen.append(name))
    assert {path.name for path in paths} == {
        "SHA256SUMS",
        "manifest.json",
        "total.txt",
        "words.txt",
    }
    for line in (target / "SHA256SUMS").read_text().splitlines():
        digest, _, name = line.partition("  ")
        assert hashlib.sha256((target / name).read_bytes()).hexdigest() == digest
    assert sorted(seen) == ["manifest.json", "total.txt", "words.txt"]


def test_download_goes_on_where_it_stopped_and_mends_what_is_damaged(
    finished: tuple[str, str], tmp_path: Path
) -> None:
    url, run_id = finished
    download(url, run_id, tmp_path / "here")
    untouched = (tmp_path / "here/words.txt").stat().st_mtime_ns
    (tmp_path / "here/total.txt").write_text("half")
    download(url, run_id, tmp_path / "here")
    assert (tmp_path / "here/words.txt").stat().st_mtime_ns == untouched
    assert (tmp_path / "here/total.txt").read_text() == "2646700\n"


def test_download_refuses_an_artefact_that_was_altered(
    finished: tuple[str, str], tmp_path: Path
) -> None:
    url, run_id = finished
    Path(url, run_id, "artifacts/total.txt").write_text("0\n")
    with pytest.raises(CorruptFileError, match=r"total\.txt is not what SHA256SUMS says"):
        download(url, run_id, tmp_path / "here")


def test_download_of_an_unfinished_run_is_refused(
    make_job: Callable[..., Any], tmp_path: Path
) -> None:
    job = make_job()
    RunStore.open(str(tmp_path), job.spec.run_id).write_spec(job.spec)
    with pytest.raises(RunNotFoundError, match="is not finished"):
        download(str(tmp_path), job.spec.run_id, tmp_path / "here")


@pytest.mark.parametrize("data", [b"", b"[]", b"\xff", b"{}", b"[" * 100_000])
def test_a_run_whose_spec_was_altered_is_listed_as_damaged_and_explained(
    finished: tuple[str, str], tmp_path: Path, data: bytes
) -> None:
    url, run_id = finished
    Path(url, run_id, "spec.json").write_bytes(data)
    (info,) = list_runs(url)
    assert (info.run_id, info.state, info.spec) == (run_id, "damaged", {})
    with pytest.raises(CorruptFileError, match=r"spec\.json is altered"):
        load_run(url, run_id)
    with pytest.raises(CorruptFileError, match=r"spec\.json is altered"):
        download(url, run_id, tmp_path / "here")


@pytest.mark.parametrize("data", [b"", b"[]", b"\xff", b"{}", b'{"files": {"x": {}}}'])
def test_an_altered_manifest_is_not_shown(finished: tuple[str, str], data: bytes) -> None:
    url, run_id = finished
    Path(url, run_id, "artifacts/manifest.json").write_bytes(data)
    assert load_run(url, run_id).manifest is None


@pytest.mark.parametrize(
    "line",
    [
        "",
        "\xff",
        "no digest",
        f"{'0' * 64}  ../../stolen",
        f"{'0' * 64}  /etc/x",
        f"{'0' * 64}  ..",
    ],
)
def test_check_sums_that_were_altered_lead_nowhere(
    finished: tuple[str, str], tmp_path: Path, line: str
) -> None:
    url, run_id = finished
    Path(url, run_id, "artifacts/SHA256SUMS").write_bytes(line.encode("latin-1"))
    with pytest.raises(CorruptFileError, match="SHA256SUMS is cut short or altered"):
        download(url, run_id, tmp_path / "here")
    assert not (tmp_path / "here").exists()


def test_download_names_an_artefact_that_is_missing(
    finished: tuple[str, str], tmp_path: Path
) -> None:
    url, run_id = finished
    Path(url, run_id, "artifacts/total.txt").unlink()
    with pytest.raises(CorruptFileError, match=r"total\.txt is missing"):
        download(url, run_id, tmp_path / "here")

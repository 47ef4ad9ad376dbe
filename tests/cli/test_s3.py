"""The same commands with an S3 store, served by moto."""

import json
from pathlib import Path

import pytest

from tests.cli.helpers import TINY, Plymill


@pytest.mark.slow
def test_a_run_is_built_listed_and_fetched_through_s3(
    plymill_: Plymill, bucket: str, tmp_path: Path
) -> None:
    store = f"{bucket}/runs"
    built = plymill_("book", "build", *TINY, "--unit-size", 100, "--store", store)
    assert built.code == 0
    fetch = next(line for line in built.out.splitlines() if line.startswith("To fetch them:"))
    (run,) = json.loads(plymill_("run", "list", "--store", store, "--json").out)
    assert fetch == f"To fetch them: plymill run download {run['run_id']} --store {store}"
    assert plymill_(*fetch.partition("plymill ")[2].split(), "--to", tmp_path).code == 0
    (book,) = tmp_path.glob("*-12ply-*.plymill")
    assert plymill_("book", "verify", book).code == 0


@pytest.mark.parametrize(
    "command",
    [
        ("book", "build", *TINY),
        ("run", "list"),
        ("run", "show", "book-1"),
        ("run", "resume", "book-1"),
        ("run", "download", "book-1"),
    ],
    ids=lambda command: command[1],
)
def test_a_bucket_that_is_not_there_is_one_sentence(
    plymill_: Plymill, bucket: str, command: tuple[str, ...]
) -> None:
    del bucket
    done = plymill_(*command, "--store", "s3://nowhere/runs")
    assert done.code == 2
    assert done.out == ""
    assert "Traceback" not in done.err
    assert done.err.count("plymill: ") == 1
    line = done.err.splitlines()[-1]
    assert line.startswith("plymill: There is no bucket 'nowhere', which s3://nowhere/runs")

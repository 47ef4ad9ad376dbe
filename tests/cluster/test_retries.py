"""Asking again while a store is away: how long, how often, and for what."""

import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from plymill.cluster import ArrowFiles, RunStore, StoreError
from plymill.cluster.errors import StoreAwayError
from plymill.cluster.storage import buckets
from plymill.cluster.storage.retries import Patience, is_transient
from tests.faults import FlakyS3

AWAY = "When uploading: AWS Error NETWORK_CONNECTION during PutObject operation: curlCode: 7"


class Time:
    """A clock that goes on only while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.pauses: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds

    def patience(self, seconds: float) -> Patience:
        return Patience(seconds, clock=lambda: self.now, sleep=self.sleep)


def failing(times: int, error: Exception) -> Callable[[], str]:
    """A request that fails so often, then succeeds."""
    left = [times]

    def request() -> str:
        left[0] -= 1
        if left[0] >= 0:
            raise error
        return "answer"

    return request


def test_it_is_asked_again_at_growing_intervals_until_it_answers() -> None:
    time = Time()
    assert time.patience(180).ask(failing(8, OSError(AWAY))) == "answer"
    assert len(time.pauses) == 8
    assert all(0.25 <= pause <= 10 for pause in time.pauses)
    assert time.pauses[5] > time.pauses[0], "at the latest after 2**5 times the pause"


def test_the_limit_is_one_for_all_attempts_and_the_last_error_is_told() -> None:
    time = Time()
    with pytest.raises(OSError, match="NETWORK_CONNECTION") as caught:
        time.patience(60).ask(failing(1000, OSError(AWAY)))
    assert 60 <= time.now - 1000 <= 70
    times = len(time.pauses) + 1
    assert caught.value.__notes__ == [f"asked {times} times in {time.now - 1000:.0f} seconds"]


def test_who_has_waited_in_vain_waits_no_more_until_something_succeeds() -> None:
    time = Time()
    patience = time.patience(60)
    with pytest.raises(OSError, match="NETWORK"):
        patience.ask(failing(1000, OSError(AWAY)))
    given_up = time.now
    with pytest.raises(OSError, match="NETWORK"):
        patience.ask(failing(1000, OSError(AWAY)))
    assert time.now == given_up
    patience.ask(failing(0, OSError(AWAY)))
    assert patience.ask(failing(3, OSError(AWAY))) == "answer"
    assert time.now > given_up


def test_an_attempt_that_takes_longer_than_the_patience_is_the_last() -> None:
    time = Time()

    def slow() -> None:
        time.now += 6
        raise OSError(AWAY)

    with pytest.raises(OSError, match="NETWORK") as caught:
        time.patience(5).ask(slow)
    assert time.pauses == []
    assert not hasattr(caught.value, "__notes__")


@pytest.mark.parametrize(
    ("error", "transient"),
    [
        (OSError(AWAY), True),
        (OSError("AWS Error SLOW_DOWN during ListObjectsV2 operation: slower"), True),
        (OSError("AWS Error SERVICE_UNAVAILABLE during PutObject operation"), True),
        (OSError("AWS Error INTERNAL_FAILURE during PutObject operation"), True),
        (OSError("AWS Error UNKNOWN (HTTP status 503) during HeadObject operation"), True),
        (OSError("AWS Error UNKNOWN (HTTP status 429) during HeadObject operation"), True),
        (StoreAwayError("Cannot reach the store"), True),
        (OSError("AWS Error UNKNOWN (HTTP status 400) during HeadObject operation"), False),
        (OSError("AWS Error ACCESS_DENIED during PutObject operation: 503"), False),
        (OSError("AWS Error NO_SUCH_BUCKET during PutObject operation"), False),
        (StoreError("There is no bucket 'x'"), False),
        (OSError(28, "No space left on device"), False),
        (FileNotFoundError(2, "No such file"), False),
        (ValueError(AWAY), False),
    ],
)
def test_what_waiting_may_mend_is_told_from_what_it_cannot(
    error: Exception, transient: bool
) -> None:
    assert is_transient(error) is transient


def test_what_waiting_cannot_mend_is_asked_once() -> None:
    time = Time()
    with pytest.raises(OSError, match="ACCESS_DENIED"):
        time.patience(60).ask(failing(1, OSError("AWS Error ACCESS_DENIED during PutObject")))
    assert time.pauses == []


# --- an S3 server that fails ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def server() -> Iterator[FlakyS3]:
    with FlakyS3.met_by_all() as server:
        yield server


@pytest.fixture
def s3(server: FlakyS3) -> Iterator[FlakyS3]:
    """A server that serves well, with a bucket that this process has met."""
    ArrowFiles(server.url).list("")
    yield server
    server.calm()


@pytest.mark.parametrize("status", [500, 503, 429])
def test_every_third_request_fails_and_nobody_notices(s3: FlakyS3, status: int) -> None:
    # Some of the files are shorter than the error that is sent in their place: then Arrow takes it
    # for a failure of its own, and does not ask again.
    files = ArrowFiles(f"{s3.url}/third-{status}")
    s3.fail_every(3, status)
    before = s3.failed
    for index in range(5):
        files.write(f"units/{index}.zst", b"%d" % index)
    assert files.list("units") == [f"{index}.zst" for index in range(5)]
    assert [files.read(f"units/{index}.zst") for index in range(5)] == [
        b"0",
        b"1",
        b"2",
        b"3",
        b"4",
    ]
    files.delete("units/0.zst")
    assert not files.exists("units/0.zst")
    assert s3.failed - before >= 5


def test_a_permission_that_is_missing_is_told_at_once(s3: FlakyS3) -> None:
    files = ArrowFiles(f"{s3.url}/denied").patient(3600)
    s3.fail_every(1, 403)
    before = s3.requests
    with pytest.raises(
        StoreError, match=r"^Cannot write s3://.*/denied/x: .*ACCESS_DENIED"
    ) as told:
        files.write("x", b"1")
    assert s3.requests - before == 1
    assert not isinstance(told.value, StoreAwayError)
    assert "\n" not in str(told.value)


def test_a_bucket_that_is_removed_meanwhile_is_told_at_once(s3: FlakyS3) -> None:
    files = ArrowFiles(f"{s3.url}/removed").patient(3600)
    s3.fail_every(1, 404)
    before = s3.requests
    with pytest.raises(StoreError, match="NO_SUCH_BUCKET"):
        files.write("x", b"1")
    assert s3.requests - before == 1


@pytest.mark.slow
def test_a_server_that_is_away_for_longer_than_arrow_asks_is_waited_for(s3: FlakyS3) -> None:
    """As long as somebody has patience; whoever has none says so in one sentence."""
    files = ArrowFiles(f"{s3.url}/away")
    elsewhere: RunStore = pickle.loads(pickle.dumps(RunStore(files, "run-1").patient(60)))
    buckets._met.clear()  # as in a new process, which has to meet the bucket first
    s3.gone()
    with ThreadPoolExecutor() as pool:
        written = pool.submit(elsewhere.files.write, "x", b"1")
        with pytest.raises(StoreAwayError, match=r"^Cannot reach the store s3://.*connect") as told:
            files.read("run-1/x")  # at a first meeting nobody has patience
        assert "\n" not in str(told.value)
        buckets._met.add(f"{s3.url}?")
        with pytest.raises(StoreAwayError, match=r"^Cannot read .*/x: .*; asked \d times in \d+ s"):
            files.patient(7).read("run-1/x")
        assert not written.done()
        s3.back()
        written.result(60)
    assert files.read("run-1/x") == b"1"

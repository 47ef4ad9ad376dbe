"""What tests of several rooms share."""

import signal
from collections.abc import Callable, Iterator
from functools import cache
from uuid import uuid4

import pytest

from tests.other_boards import OtherBoard

# A shell that starts something in the background lets it ignore Ctrl-C, and all that this starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)  # before xdist looks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tell xdist which tests have to follow each other in one process.

    These are the tests of a module, which share its fixtures; those that share a plymill compiled
    for another board; and all that start Ray, as each of them wants the whole machine.
    """
    for item in items:
        group = item.path.name
        if item.get_closest_marker("ray"):
            group = "ray"
        elif "other_board" in getattr(item, "fixturenames", ()):
            group = "other boards"
        item.add_marker(pytest.mark.xdist_group(group))


@pytest.fixture(scope="session")
def other_board(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int, int], OtherBoard]:
    """Gives plymill compiled for so many columns and rows, once a session: that takes a minute."""
    return cache(
        lambda width, height: OtherBoard(
            tmp_path_factory.mktemp(f"board{width}x{height}"), width, height
        )
    )


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    """The URL of an empty bucket on an S3 server of this module's own, served by moto.

    Address and credentials are in the environment, where all processes that a test starts find
    them. The bucket has a name of its own, as moto's servers of one process share their data.
    """
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    name = f"books-{uuid4().hex[:8]}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        patch.setenv("AWS_ACCESS_KEY_ID", "test")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        boto3.client("s3").create_bucket(Bucket=name)
        yield f"s3://{name}"
    server.stop()

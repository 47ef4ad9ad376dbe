"""What ``plymill serve`` says; the page has its own tests."""

import socket

import pytest

from plymill.cli.serve import _tell
from plymill.web import Settings


@pytest.mark.parametrize(
    ("host", "shown"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("::1", "[::1]"),
        ("0.0.0.0", socket.gethostname()),
        ("::", socket.gethostname()),
        ("10.0.0.7", "10.0.0.7"),
    ],
)
def test_the_address_is_one_that_a_visitor_can_open(
    capsys: pytest.CaptureFixture[str], host: str, shown: str
) -> None:
    _tell(Settings(store="runs", host=host, token="a-token-of-this-test"), 8300)
    assert f" is at http://{shown}:8300/ (" in capsys.readouterr().err

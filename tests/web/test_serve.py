"""``plymill serve`` as a person starts it."""

import importlib.util
import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from plymill.cli import main
from tests.web.conftest import Made


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """The sentence with which a command line is refused."""
    assert main(["serve", *words]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("plymill: ")
    assert told.err.count("\n") == 1
    return told.err


def test_other_machines_are_not_let_in_without_a_token(
    capsys: pytest.CaptureFixture[str], made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PLYMILL_PAGE_TOKEN", raising=False)
    told = refused(capsys, "--store", made.url, "--host", "0.0.0.0")
    assert "needs a token" in told
    assert "--token" in told


def test_a_short_token_is_refused(capsys: pytest.CaptureFixture[str], made: Made) -> None:
    assert "at least 16" in refused(capsys, "--store", made.url, "--token", "short")


def test_a_store_that_is_not_there_is_told(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    assert "does not exist" in refused(capsys, "--store", str(folder / "none"))


def test_a_port_that_is_taken_is_told(capsys: pytest.CaptureFixture[str], made: Made) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert "in use" in refused(capsys, "--store", made.url, "--port", port)


@pytest.mark.parametrize(
    "words", [("--port", "99999"), ("--port", "x"), ("--host", "no.such.host.invalid")]
)
def test_addresses_that_are_none_are_told(
    capsys: pytest.CaptureFixture[str], made: Made, words: tuple[str, str]
) -> None:
    refused(capsys, "--store", made.url, "--token", "x" * 20, *words)


def test_without_the_packages_one_sentence_says_how_to_get_them(
    capsys: pytest.CaptureFixture[str], made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        "plymill.cli.serve.find_spec", lambda name: None if name == "jinja2" else find(name)
    )
    told = refused(capsys, "--store", made.url)
    assert "needs jinja2" in told
    assert "pip install 'plymill[web]'" in told


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_real_process_serves_and_ends_quietly(made: Made, number: signal.Signals) -> None:
    token = "a-token-of-the-environment"
    process = subprocess.Popen(
        [sys.executable, "-m", "plymill", "serve", "--store", made.url, "--port", "0"],
        stderr=subprocess.PIPE,
        env=os.environ | {"PLYMILL_PAGE_TOKEN": token},
        text=True,
    )
    assert process.stderr is not None
    said = process.stderr.readline()
    address = re.search(r"http://127\.0\.0\.1:\d+/", said)
    assert address, said
    assert token not in said
    request = urllib.request.Request(
        f"{address[0]}api/v1/runs", headers={"Authorization": f"Bearer {token}"}
    )
    with urllib.request.urlopen(request) as answer:
        assert "server" not in {name.lower() for name in answer.headers}
        assert len(json.load(answer)) == 4
    process.send_signal(number)
    assert process.wait(10) == 130
    assert process.stderr.read() == "plymill: The page is closed; runs go on.\n"


def test_the_page_loads_no_ray(made: Made) -> None:
    code = (
        "import sys\n"
        "from starlette.testclient import TestClient\n"
        "from plymill.web import Settings\n"
        "from plymill.web.app import make_app\n"
        f"app = make_app(Settings(store={made.url!r}))\n"
        "client = TestClient(app, base_url='http://localhost')\n"
        f"book, grid = {made.book!r}, {made.grid!r}\n"
        "for path in ('/runs', f'/runs/{book}', f'/books/{book}', f'/matches/{grid}'):\n"
        "    assert client.get(path).status_code == 200\n"
        "sys.exit('ray' in sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)

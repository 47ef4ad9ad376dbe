"""Where it listens, what a browser is told, and what is refused before anybody looks at it."""

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from plymill.web import ServeError, Settings
from tests.web.conftest import TOKEN, Made, client_of

PAGES = ["/runs", "/books", "/matches", "/api", "/api/v1/runs", "/static/page.css", "/nothing"]


# --- binding --------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org", "8.8.8.8", ""])
def test_other_machines_need_a_token(host: str) -> None:
    with pytest.raises(ServeError, match="needs a token"):
        Settings(store="runs", host=host)
    assert Settings(store="runs", host=host, token=TOKEN).token == TOKEN


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.0.0.2"])
def test_this_machine_needs_none(host: str) -> None:
    assert Settings(store="runs", host=host).token is None


@pytest.mark.parametrize(
    "token", ["", "short", "fifteen-letters", "with a blank in it", "ümläute-und-mehr"]
)
def test_a_token_has_to_be_a_good_one(token: str) -> None:
    with pytest.raises(ServeError, match="token"):
        Settings(store="runs", token=token)


def test_a_token_is_not_shown_by_accident() -> None:
    assert TOKEN not in repr(Settings(store="runs", token=TOKEN))


# --- headers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PAGES)
def test_every_answer_tells_the_browser_to_be_strict(client: TestClient, path: str) -> None:
    headers = client.get(path).headers
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert "http" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cross-origin-resource-policy"] == "same-origin"


def test_refusals_are_as_strict(guarded: TestClient) -> None:
    for path in ("/runs", "/api/v1/runs", f"/runs?{'x' * 5000}"):
        assert "default-src 'none'" in guarded.get(path).headers["content-security-policy"]


def test_no_template_has_what_the_policy_forbids_or_another_origin() -> None:
    import plymill.web

    folder = Path(plymill.web.__file__).parent / "templates"
    for path in folder.rglob("*.html"):
        text = path.read_text()
        for forbidden in (
            "style=",
            "<style",
            "onclick",
            "onload",
            "hx-on",
            "http://",
            "https://",
            "//cdn",
        ):
            assert forbidden not in text, f"{path.name}: {forbidden}"
        assert text.count("<script") == text.count("<script src=")


# --- limits ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8300", "127.0.0.1.evil.example", "", "10.0.0.1"]
)
def test_names_that_were_pointed_here_get_nothing(client: TestClient, host: str) -> None:
    answer = client.get("/api/v1/runs", headers={"host": host})
    assert answer.status_code == 421


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8300", "127.0.0.1:1", "[::1]:8300"])
def test_names_of_this_machine_are_fine(client: TestClient, host: str) -> None:
    assert client.get("/api/v1/runs", headers={"host": host}).status_code == 200


def test_long_addresses_and_large_bodies_are_refused(client: TestClient, made: Made) -> None:
    assert client.get(f"/runs?{'x' * 5000}").status_code == 414
    where = f"/api/v1/books/{made.book}/positions"
    assert client.post(where, content=b"x" * 2_000_000).status_code == 413
    pieces = (b"x" * 100_000 for _ in range(20))  # whose length is not told beforehand
    assert client.post(where, content=pieces).status_code == 413
    for length in ("x", "9" * 5000):
        answer = client.post(where, content=b"{}", headers={"content-length": length})
        assert answer.status_code == 413


def test_who_is_refused_is_not_listened_to_any_longer(
    client: TestClient, guarded: TestClient, made: Made
) -> None:
    where = f"/api/v1/books/{made.book}/positions"
    refused = [
        client.get(f"/runs?{'x' * 5000}"),
        client.post(where, content=b"x" * 2_000_000),
        client.post(where, content=(b"x" * 100_000 for _ in range(20))),
        client.get("/runs", headers={"host": ""}),
        guarded.post(where, content=b"{}"),
        guarded.post("/runs", content=b"{}"),
    ]
    for answer in refused:
        assert answer.headers["connection"] == "close"
    assert "connection" not in guarded.get("/runs").headers


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "POST"])
def test_nothing_can_be_changed(client: TestClient, made: Made, method: str) -> None:
    def files() -> dict[Path, int]:
        return {path: path.stat().st_mtime_ns for path in Path(made.url).rglob("*")}

    before = files()
    for path in ("/runs", f"/runs/{made.book}", f"/api/v1/runs/{made.book}", "/api/v1/runs"):
        assert client.request(method, path).status_code == 405
    assert files() == before


# --- paths ----------------------------------------------------------------------------------------

WAYS_OUT = [
    "..%2F..%2F..%2Fetc%2Fpasswd",
    "%2e%2e/%2e%2e/etc/passwd",
    "....//etc/passwd",
    "%2Fetc%2Fpasswd",
    "file:%2F%2F%2Fetc%2Fpasswd",
    "http:%2F%2Fevil.example%2Fx",
    "s3:%2F%2Fbucket%2Fkey",
    "..%5C..%5Cetc%5Cpasswd",
    "%00",
    "spec.json",
    "..%2Fspec.json",
    "manifest.json%00.svg",
]


@pytest.mark.parametrize("way", WAYS_OUT)
def test_no_address_leads_out_of_the_artefacts(client: TestClient, made: Made, way: str) -> None:
    for path in (f"/runs/{made.book}/artifacts/{way}", f"/runs/{way}", f"/runs/{way}/report",
                 f"/books/{way}", f"/matches/{way}", f"/static/{way}", f"/api/v1/runs/{way}/units",
                 f"/api/v1/runs/{way}/artifacts"):  # fmt: skip
        answer = client.get(path)
        assert answer.status_code in (404, 307), path
        assert "root:" not in answer.text


def test_an_artefact_that_was_made_a_link_is_not_served(folder: Path, made: Made) -> None:
    import shutil

    shutil.copytree(Path(made.url) / made.book, folder / made.book)
    artifacts = folder / made.book / "artifacts"
    victim = next(artifacts.glob("*-12ply-*.plymill"))
    victim.unlink()
    victim.symlink_to("/etc/passwd")
    with client_of(Settings(store=str(folder))) as client:
        answer = client.get(f"/runs/{made.book}/artifacts/{victim.name}")
        assert answer.status_code == 404
        assert "root:" not in answer.text
        assert client.get(f"/books/{made.book}").status_code == 404


@pytest.mark.parametrize(
    "name",
    ["../spec.json", "/etc/passwd", "sub/x.plymill", 'x"; y=z.json', "..", "a\r\nb: c", ".x"],
)
def test_a_manifest_that_names_other_files_is_not_believed(
    folder: Path, made: Made, name: str
) -> None:
    """Whoever can write it can write the check sums as well."""
    import hashlib
    import json

    run = folder / made.book
    (run / "artifacts").mkdir(parents=True)
    (run / "spec.json").write_bytes((Path(made.url) / made.book / "spec.json").read_bytes())
    entry = {"bytes": 3, "sha256": "0" * 64}
    text = json.dumps({"files": {name: entry, "good.json": entry, "bad.json": {"bytes": "x"}}})
    (run / "artifacts" / "manifest.json").write_text(text)
    digest = hashlib.sha256(text.encode()).hexdigest()
    (run / "artifacts" / "SHA256SUMS").write_text(f"{digest}  manifest.json\n")
    with client_of(Settings(store=str(folder))) as client:
        files = client.get(f"/api/v1/runs/{made.book}/artifacts").json()
        assert [file["name"] for file in files] == ["good.json"]
        assert client.get(f"/runs/{made.book}").status_code == 200
        assert client.get("/books").status_code == 200

"""Who gets in, what a browser is told, and what is refused before anybody looks at it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from plymill.web import ServeError, Settings
from plymill.web.security import COOKIE, SESSION_SECONDS, is_session, new_session, same
from tests.web.conftest import Made, client_of

TOKEN = "correct-horse-battery"
PAGES = ["/runs", "/books", "/matches", "/api", "/api/v1/runs", "/static/page.css", "/nothing"]


@pytest.fixture(scope="module")
def guarded(made: Made) -> Iterator[TestClient]:
    """A page that other machines may reach."""
    with client_of(Settings(store=made.url, host="0.0.0.0", token=TOKEN)) as found:
        yield found


@pytest.fixture(autouse=True)
def no_cookies(guarded: TestClient) -> Iterator[None]:
    guarded.cookies.clear()
    yield
    guarded.cookies.clear()


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


# --- tokens ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/api/v1/runs", "/api/v1/openapi.json", "/api/v1/nothing"])
def test_programs_say_the_token(guarded: TestClient, path: str) -> None:
    for said in (None, "Bearer wrong", f"Basic {TOKEN}", f"Bearer {TOKEN}x", "Bearer ümläut"):
        headers = {} if said is None else {b"authorization": said.encode()}
        refused = guarded.get(path, headers=headers)
        assert refused.status_code == 401
        assert refused.headers["www-authenticate"] == "Bearer"
        assert "Bearer TOKEN" in refused.json()["error"]
    answer = guarded.get(path, headers={"authorization": f"Bearer {TOKEN}"})
    assert answer.status_code in (200, 404)


@pytest.mark.parametrize(
    "path", ["/", "/runs", "/books/x?moves=44", "/runs/x/artifacts/y", "/nothing"]
)
def test_people_are_shown_where_to_log_in(guarded: TestClient, path: str) -> None:
    refused = guarded.get(path)
    assert refused.status_code == 303
    assert refused.headers["location"].startswith("/login?next=%2F")


def test_htmx_is_sent_to_the_login_page(guarded: TestClient) -> None:
    refused = guarded.get("/live/runs", headers={"hx-request": "true"})
    assert (refused.status_code, refused.headers["hx-redirect"]) == (
        401,
        "/login?next=%2Flive%2Fruns",
    )


def test_who_logs_in_gets_a_cookie_that_scripts_cannot_read(guarded: TestClient) -> None:
    entered = guarded.post("/login", data={"token": TOKEN, "next": "/books?x=1"})
    assert (entered.status_code, entered.headers["location"]) == (303, "/books?x=1")
    cookie = entered.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert TOKEN not in cookie
    assert guarded.get("/runs").status_code == 200
    left = guarded.post("/logout")
    assert left.headers["location"] == "/login"
    assert guarded.get("/runs").status_code == 303


def test_behind_https_the_cookie_is_for_https_only(made: Made) -> None:
    settings = Settings(store=made.url, token=TOKEN)
    with client_of(settings) as client:
        client.base_url = "https://page.example"
        assert (
            "secure" in client.post("/login", data={"token": TOKEN}).headers["set-cookie"].lower()
        )


def test_a_wrong_token_is_told_and_sets_nothing(guarded: TestClient) -> None:
    for data in ({"token": "wrong"}, {"token": ""}, {}, {"token": TOKEN[:-1]}):
        refused = guarded.post("/login", data=data)
        assert refused.status_code == 401
        assert "This is not the token." in refused.text
        assert "set-cookie" not in refused.headers


ELSEWHERE = [
    "https://evil.example",
    "//evil.example",
    "/\\evil.example",
    "evil",
    "javascript:alert(1)",
    "/runs\r\nset-cookie: a=b",
    "",
]


@pytest.mark.parametrize("goal", ELSEWHERE)
def test_logging_in_leads_nowhere_else(guarded: TestClient, goal: str) -> None:
    entered = guarded.post("/login", data={"token": TOKEN, "next": goal})
    assert entered.headers["location"] == "/runs"
    assert "evil" not in guarded.get("/login", params={"next": goal}).text.replace("/evil", "")


def test_a_session_ends_and_cannot_be_made_up() -> None:
    now = 1e9
    cookie = new_session(TOKEN, now)
    assert is_session(cookie, TOKEN, now + 10)
    assert not is_session(cookie, TOKEN, now + SESSION_SECONDS + 1)
    assert not is_session(cookie, TOKEN, now - 10)
    assert not is_session(cookie, TOKEN + "x", now)
    since, _, signature = cookie.partition(".")
    for other in (
        f"{int(since) + 1}.{signature}",
        f"{since}.",
        since,
        "",
        ".",
        "x.y",
        "²." + signature,
    ):
        assert not is_session(other, TOKEN, now)


@pytest.mark.parametrize(
    "cookie", [f"{COOKIE}=1.2", f"{COOKIE}={TOKEN}", "a;;;=\x01", f"{COOKIE}="]
)
def test_a_made_up_cookie_lets_nobody_in(guarded: TestClient, cookie: str) -> None:
    assert guarded.get("/runs", headers={"cookie": cookie}).status_code == 303


@pytest.mark.parametrize(
    "value", [b"\xff\xfe", "\N{SNOWMAN}".encode(), b"\xed\xa0\x80", b"a.\xff", b'"\\377.\\000"']
)
def test_bytes_that_are_no_letters_let_nobody_in(guarded: TestClient, value: bytes) -> None:
    cookie = {b"cookie": COOKIE.encode() + b"=" + value}
    assert guarded.get("/runs", headers=cookie).status_code == 303
    for scheme in (b"Bearer ", b"Basic ", b""):
        answer = guarded.get("/api/v1/runs", headers={b"authorization": scheme + value})
        assert answer.status_code == 401
    assert guarded.post("/login", content=b"token=" + value).status_code == 401


@pytest.mark.parametrize("text", ["\ud800", "\N{SNOWMAN}", "\0"])
def test_any_text_can_be_compared_with_the_token(text: str) -> None:
    assert not same(text, TOKEN)
    assert not is_session(f"{text}.{text}", TOKEN, 1e9)


def test_without_a_token_there_is_nothing_to_log_in_to(client: TestClient) -> None:
    assert client.get("/login?next=/books").headers["location"] == "/books"
    assert client.post("/login", data={"token": "x"}).headers["location"] == "/runs"


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
    before = sorted(Path(made.url).rglob("*"))
    for path in ("/runs", f"/runs/{made.book}", f"/api/v1/runs/{made.book}", "/api/v1/runs"):
        assert client.request(method, path).status_code == 405
    assert sorted(Path(made.url).rglob("*")) == before


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


def test_time_tells_nothing_new() -> None:
    """Not a measurement: the comparison is the library's constant-time one."""
    from plymill.web import security

    assert "compare_digest" in security.same.__code__.co_names

"""Who gets in, and what is told to those who do not."""

import re
from collections.abc import Iterator
from html import escape
from urllib.parse import unquote

import pytest
from starlette.testclient import TestClient

from plymill._version import __version__
from plymill.web import Settings
from plymill.web.security import COOKIE, SESSION_SECONDS, is_session, new_session, same
from tests.web.conftest import TOKEN, Made, client_of


@pytest.fixture(autouse=True)
def no_cookies(guarded: TestClient) -> Iterator[None]:
    guarded.cookies.clear()
    yield
    guarded.cookies.clear()


# --- tokens and cookies ---------------------------------------------------------------------------


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
    where, _, goal = refused.headers["location"].partition("?next=")
    assert (where, unquote(goal)) == ("/login", path)


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
    assert "secure" not in cookie, "the page itself speaks HTTP"
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
def test_logging_in_leads_nowhere_else(guarded: TestClient, client: TestClient, goal: str) -> None:
    form = guarded.get("/login", params={"next": goal})
    assert goals_of(form.text) == ["/runs"]
    refused = guarded.post("/login", data={"token": "wrong", "next": goal})
    assert goals_of(refused.text) == ["/runs"]
    entered = guarded.post("/login", data={"token": TOKEN, "next": goal})
    assert entered.headers["location"] == "/runs"
    for answer in (  # of a page without a token
        client.get("/login", params={"next": goal}),
        client.post("/login", data={"token": "", "next": goal}),
    ):
        assert (answer.status_code, answer.headers["location"]) == (303, "/runs")


def test_logging_in_leads_where_the_visitor_wanted_to_go(
    guarded: TestClient, client: TestClient
) -> None:
    for goal in ("/books", "/books/x?moves=44&y=%2F"):
        assert goals_of(guarded.get("/login", params={"next": goal}).text) == [escape(goal)]
        for page in (guarded, client):
            entered = page.post("/login", data={"token": TOKEN, "next": goal})
            assert entered.headers["location"] == goal
        assert client.get("/login", params={"next": goal}).headers["location"] == goal


def goals_of(html: str) -> list[str]:
    """Where the form of the login page leads to."""
    return re.findall(r'name="next" value="([^"]*)"', html)


@pytest.mark.parametrize(
    "body",
    [
        b"token=wrong" + b"&a=b" * 8,
        b"&".join([b"token=" + TOKEN.encode()] + [b"next=/books"] * 8),
        b"&" * 4000,
        b"=&" * 2000,
        b"%00=%ff&token=%ed%a0%80&next=%ed%a0%80",
        b"\0\xff\xfe",
        b'{"token": "x"}',
        b"",
    ],
    ids=["nine", "nine with the token", "blank", "nameless", "no letters", "bytes", "json", "none"],
)
@pytest.mark.parametrize(
    "kind",
    ["application/x-www-form-urlencoded; charset=utf-7", "multipart/form-data", "\xff/;;=", ""],
)
def test_a_form_that_is_none_of_ours_lets_nobody_in(
    guarded: TestClient, body: bytes, kind: str
) -> None:
    headers = {b"content-type": kind.encode("latin-1")}
    refused = guarded.post("/login", content=body, headers=headers)
    assert refused.status_code == 401
    assert "This is not the token." in refused.text
    assert goals_of(refused.text) in (["/runs"], ["/books"])
    assert "set-cookie" not in refused.headers


# --- strangers ------------------------------------------------------------------------------------


def test_strangers_are_not_told_where_the_store_is(guarded: TestClient, made: Made) -> None:
    """Nor which version this is: what they may see without a token is the same everywhere."""
    strangers = [
        guarded.get("/login"),
        guarded.get("/login/nothing"),
        guarded.get("/login?next=%2Fbooks", headers={"hx-request": "true"}),
        guarded.post("/login", data={"token": "wrong"}),
        guarded.put("/login"),
        guarded.get("/static/nothing"),
        guarded.get("/static/nothing", headers={"authorization": "Bearer wrong"}),
        guarded.get("/static/%2e%2e/page.py"),
        guarded.get("/runs"),
        guarded.get("/api/v1/runs"),
    ]
    facts = (made.url, f"plymill {__version__}", "<footer", "Log out")
    for answer in strangers:
        assert [fact for fact in facts if fact in answer.text] == [], answer.url
    guarded.post("/login", data={"token": TOKEN})
    for path in ("/runs", "/static/nothing"):
        assert [fact for fact in facts if fact not in guarded.get(path).text] == []


def test_who_needs_no_token_is_told_where_the_store_is(client: TestClient, made: Made) -> None:
    text = client.get("/runs").text
    assert made.url in text
    assert f"plymill {__version__}" in text
    assert "Log out" not in text


# --- sessions -------------------------------------------------------------------------------------


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


def test_time_tells_nothing_new() -> None:
    """Not a measurement: the comparison is the library's constant-time one."""
    from plymill.web import security

    assert "compare_digest" in security.same.__code__.co_names

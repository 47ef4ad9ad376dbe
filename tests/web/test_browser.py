"""The page in a real browser: with mouse, keys and a screen reader's rules, light and dark."""

import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright", reason="these tests need pytest-playwright")

from playwright.sync_api import Browser, Page, expect

from tests.web.conftest import OPENING, Made

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
SIZES = {"phone": (390, 844), "desktop": (1280, 900)}
AXE = (Path(__file__).parent / "axe" / "axe.min.js").read_text(encoding="utf-8")
#: Where to put pictures of the pages, for the documentation; nowhere if it is not set.
PICTURES = os.environ.get("PLYMILL_PICTURES")


@pytest.fixture(scope="session")
def browser_type_launch_args() -> dict[str, Any]:
    """The browser of the system, if there is one."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip(f"no browser is installed, expected one of {', '.join(BROWSERS)}")
    return {"executable_path": found, "args": list(FLAGS)}


ANYWHERE = [
    "phone-dark",
    "desktop-light",
    pytest.param("phone-light", marks=pytest.mark.slow),
    pytest.param("desktop-dark", marks=pytest.mark.slow),
]


@pytest.fixture(params=ANYWHERE)
def anywhere(request: pytest.FixtureRequest, browser: Browser, page_url: str) -> Iterator[Page]:
    """A page on a phone and on a desk, light and dark; nothing may go wrong in it."""
    size, scheme = request.param.split("-")
    yield from _open(browser, page_url, size, scheme)


@pytest.fixture
def desk(browser: Browser, page_url: str) -> Iterator[Page]:
    """A page on a desk."""
    yield from _open(browser, page_url, "desktop", "light")


def _open(browser: Browser, url: str, size: str, scheme: Any) -> Iterator[Page]:
    width, height = SIZES[size]
    context = browser.new_context(
        base_url=url, viewport={"width": width, "height": height}, color_scheme=scheme
    )
    page = context.new_page()
    faults: list[str] = []
    asked: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
    page.on("request", lambda request: asked.append(request.url))
    yield page
    context.close()
    assert faults == []
    assert [address for address in asked if not address.startswith(url)] == []


def addresses(made: Made) -> dict[str, str]:
    """A page of each kind."""
    return {
        "runs": "/runs",
        "run": f"/runs/{made.live}",
        "run-done": f"/runs/{made.book}",
        "events": f"/runs/{made.book}/events",
        "books": "/books",
        "book": f"/books/{made.book}?moves={OPENING}1",
        "book-over": f"/books/{made.book}?moves=1212121",
        "book-unknown": f"/books/{made.book}?moves=44",
        "line": f"/books/{made.book}/line?moves={OPENING}",
        "matches": "/matches",
        "chart": f"/matches/{made.grid}",
        "chart-live": f"/matches/{made.live}",
        "pool": f"/matches/{made.pool}",
        "cell": f"/matches/{made.grid}/cells/0",
        "match": f"/matches/{made.grid}/8:0?ply=4",
        "boxes": f"/matches/{made.pool}/0:0?ply=20",
        "api": "/api",
    }


def violations(page: Page) -> list[str]:
    """What axe-core finds wrong; it is put in by the browser itself, past the page's policy."""
    page.evaluate(f"() => {{ {AXE} }}")
    found = page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{fault['id']}: {node['html'][:200]} {json.dumps(node['any'][:1])[:300]}"
        for fault in found["violations"]
        for node in fault["nodes"]
    ]


@pytest.mark.parametrize("name", addresses(Made("", "b", "g", "p", "l")))
def test_axe_finds_nothing_and_nothing_is_wider_than_the_window(
    anywhere: Page, made: Made, name: str, request: pytest.FixtureRequest
) -> None:
    anywhere.goto(addresses(made)[name])
    expect(anywhere.locator("h1").first).to_be_visible()
    assert violations(anywhere) == []
    wide, window = anywhere.evaluate("() => [document.documentElement.scrollWidth, innerWidth]")
    assert wide <= window
    if PICTURES:
        which = request.node.callspec.id.replace("[", "")
        anywhere.screenshot(path=f"{PICTURES}/{name}-{which}.png", full_page=True)


def test_the_login_page_is_as_good(browser: Browser, made: Made) -> None:
    from plymill.web import Settings
    from tests.web.conftest import served

    token = "correct-horse-battery"
    with served(Settings(store=made.url, port=0, token=token)) as url:
        context = browser.new_context(base_url=url)
        page = context.new_page()
        page.goto("/books")
        assert violations(page) == []
        page.keyboard.type("wrong")  # the field has the focus
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_contain_text("not the token")
        assert violations(page) == []
        page.get_by_label("Token").fill(token)
        page.get_by_role("button", name="Log in").click()
        expect(page).to_have_url(f"{url}/books")
        cookies = context.cookies()
        assert [(c["httpOnly"], c["sameSite"]) for c in cookies] == [(True, "Lax")]
        page.get_by_role("button", name="Log out").click()
        expect(page).to_have_url(f"{url}/login")
        context.close()


# --- books ----------------------------------------------------------------------------------------


def test_columns_are_clicked_and_every_position_has_an_address(desk: Page, made: Made) -> None:
    desk.goto(f"/books/{made.book}")
    desk.get_by_role("link", name="Column 1:").click()
    expect(desk).to_have_url(f"{_base(desk)}/books/{made.book}?moves={OPENING}1")
    expect(desk.locator(".cell.last")).to_have_count(1)
    verdict = desk.locator("h1").inner_text()
    desk.get_by_role("link", name="Best move", exact=True).click()
    expect(desk.locator("#moves")).not_to_have_value(f"{OPENING}1")
    desk.go_back()
    expect(desk.locator("#moves")).to_have_value(f"{OPENING}1")
    expect(desk.locator("h1")).to_have_text(verdict)
    desk.reload()
    expect(desk.locator("h1")).to_have_text(verdict)


def test_the_explorer_is_walked_with_keys(desk: Page, made: Made) -> None:
    desk.goto(f"/books/{made.book}")
    field = desk.locator("#moves")
    desk.keyboard.press("1")
    expect(field).to_have_value(f"{OPENING}1")
    expect(desk.locator("#said")).to_contain_text("to move")
    desk.keyboard.press("f")
    expect(field).to_have_value("444444667")
    desk.keyboard.press("f")
    desk.keyboard.press("Backspace")
    expect(field).to_have_value(OPENING)
    desk.keyboard.press("b")
    expect(field).not_to_have_value(OPENING)
    field.fill(OPENING)
    field.press("1")  # whoever types moves plays none
    expect(desk.locator(".cell.last")).to_have_count(1)
    field.press("Enter")
    expect(desk).to_have_url(f"{_base(desk)}/books/{made.book}?moves={OPENING}1")


def test_columns_are_reached_by_tab_and_the_focus_stays(desk: Page, made: Made) -> None:
    desk.goto(f"/books/{made.book}")
    desk.keyboard.press("Tab")
    expect(desk.get_by_role("link", name="Skip to the content")).to_be_focused()
    desk.keyboard.press("Enter")
    names = []
    for _ in range(5):
        desk.keyboard.press("Tab")
        names.append(desk.evaluate("() => document.activeElement.id"))
    assert names[-3:] == ["column-1", "column-2", "column-3"]
    desk.keyboard.press("Enter")
    expect(desk.locator("#moves")).to_have_value(f"{OPENING}3")
    expect(desk.locator("#column-3")).to_be_focused()


def test_moves_are_looked_up_and_mistakes_are_told(desk: Page, made: Made) -> None:
    desk.goto(f"/books/{made.book}")
    field = desk.get_by_label("Moves, columns 1 to 7")
    field.fill("99")
    field.press("Enter")
    expect(desk.get_by_role("alert").filter(has_text="9")).to_be_visible()
    assert violations(desk) == []
    desk.locator("#moves").fill(f"{OPENING}7")
    desk.get_by_role("button", name="Look up").click()
    expect(desk.get_by_role("alert")).to_have_count(0)
    expect(desk.locator("h1")).to_have_text(re.compile("Draw|Player [12] wins"))
    desk.get_by_role("link", name="Show a best line").click()
    expect(desk.locator("ol.line a").first).to_be_visible()


def test_without_scripts_links_and_forms_do_the_same(
    browser: Browser, page_url: str, made: Made
) -> None:
    context = browser.new_context(base_url=page_url, java_script_enabled=False)
    page = context.new_page()
    page.goto(f"/books/{made.book}")
    page.get_by_role("link", name="Column 1:").click()
    expect(page.locator("#moves")).to_have_value(f"{OPENING}1")
    page.locator("#moves").fill(OPENING)
    page.get_by_role("button", name="Look up").click()
    expect(page.locator("#moves")).to_have_value(OPENING)
    context.close()


# --- runs and matches -----------------------------------------------------------------------------


def test_a_run_goes_on_before_ones_eyes(desk: Page, made: Made) -> None:
    store = made.store(made.live)
    before = store.read_json("progress.json")
    assert before is not None
    desk.goto(f"/runs/{made.live}")
    link = desk.locator("#all-events")
    link.focus()
    try:
        store.write_json("progress.json", before | {"message": "all is well"})
        expect(desk.get_by_text("all is well")).to_be_visible(timeout=10_000)
        expect(link).to_be_focused()
    finally:
        store.write_json("progress.json", before)


def test_while_the_server_is_away_the_page_says_so(desk: Page) -> None:
    desk.goto("/runs")
    expect(desk.locator("#unreachable")).to_be_hidden()
    desk.evaluate("() => document.body.dispatchEvent(new Event('htmx:sendError', {bubbles: true}))")
    expect(desk.locator("#unreachable")).to_be_visible()


def test_from_the_chart_to_a_match_on_the_board(desk: Page, made: Made) -> None:
    desk.goto("/matches")
    desk.get_by_role("link", name="Grid of tictactoe").click()
    desk.locator("#cell-4").click()
    desk.get_by_role("link", name="4:0").click()
    stones = desk.locator(".board .cell.first, .board .cell.second")
    count = stones.count()
    assert count >= 5
    desk.keyboard.press("Home")
    expect(stones).to_have_count(0)
    desk.keyboard.press("ArrowRight")
    desk.keyboard.press("ArrowRight")
    expect(stones).to_have_count(2)
    expect(desk.locator("#said")).to_contain_text("Ply 2")
    desk.locator("#ply-4").click()
    expect(stones).to_have_count(4)
    expect(desk.locator("#ply-4")).to_have_attribute("aria-current", "step")
    desk.keyboard.press("End")
    expect(stones).to_have_count(count)


def test_the_boxed_charts_of_a_run_draw_themselves(
    browser: Browser, page_url: str, made: Made
) -> None:
    context = browser.new_context(base_url=page_url)
    page = context.new_page()
    page.goto(f"/runs/{made.grid}/artifacts/charts.html?show=1")
    expect(page.locator("svg, canvas").first).to_be_visible(timeout=15_000)
    assert page.evaluate("() => origin") == "null"
    context.close()


def _base(page: Page) -> str:
    return page.url.partition("/books")[0]

"""The pages as HTML, without a browser."""

import time
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from plymill.cluster import RunStore
from plymill.cluster.sending.submit import cancel
from plymill.web import Settings
from tests.web.conftest import OPENING, Made, client_of

PART = {"hx-request": "true"}


class _Links(HTMLParser):
    """The addresses that a page leads to."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del tag
        for name, value in attrs:
            if name in ("href", "src", "hx-get", "action") and value:
                self.found.append(value)
            if name == "id" and value:
                self.ids.append(value)


def read(client: TestClient, path: str, **headers: str) -> tuple[str, _Links]:
    answer = client.get(path, headers=headers)
    assert answer.status_code == 200, path
    links = _Links()
    links.feed(answer.text)
    return answer.text, links


def test_every_link_leads_somewhere_on_this_page(client: TestClient, made: Made) -> None:
    """From the front door on; of positions and plies only some, as there is no end of them."""
    waiting = ["/runs", "/books", "/matches", "/api", f"/matches/{made.grid}/0:0"]
    seen: set[str] = set()
    while waiting and len(seen) < 250:
        path = waiting.pop()
        if path in seen or path.startswith("#"):
            continue
        seen.add(path)
        assert path.startswith("/"), f"{path} is elsewhere"
        answer = client.get(path)
        assert answer.status_code in (200, 204, 303, 405), path
        if (
            answer.headers.get("content-type", "").startswith("text/html")
            and "sandbox" not in (answer.headers["content-security-policy"])
        ):
            links = _Links()
            links.feed(answer.text)
            assert len(links.ids) == len(set(links.ids)), f"{path} has an id twice"
            new = [link.partition("#")[0] for link in links.found]
            waiting += [
                link for link in new if link and "?moves=" not in link and "?ply=" not in link
            ]
    assert len(seen) > 60


def test_the_front_door_leads_to_the_runs(client: TestClient) -> None:
    assert client.get("/").headers["location"] == "/runs"


def test_the_list_of_runs_tells_what_is_asked_for(client: TestClient, made: Made) -> None:
    text, _ = read(client, "/runs")
    for words in (
        "marta",
        "solving",
        "9 min to 11 min 40 s",
        made.live,
        "Grid of tictactoe",
        "100.0%",
    ):
        assert words in text


def test_an_unchanged_part_is_not_sent_again(client: TestClient) -> None:
    _, links = read(client, "/runs")
    (again,) = [link for link in links.found if link.startswith("/live/")]
    assert client.get(again, headers=PART).status_code == 204
    other = client.get("/live/runs?seen=other", headers=PART)
    assert other.status_code == 200
    assert "<html" not in other.text
    assert again in other.text


def test_only_what_is_under_way_is_asked_for_again(client: TestClient, made: Made) -> None:
    for path in (f"/runs/{made.live}", f"/matches/{made.live}"):
        assert "/live" in read(client, path)[0]
    for path in (f"/runs/{made.book}", f"/matches/{made.grid}"):
        assert "/live" not in read(client, path)[0]


def test_a_run_shows_map_curve_workers_events_spec_and_files(
    client: TestClient, made: Made
) -> None:
    text, _ = read(client, f"/runs/{made.live}")
    assert "2 in flight, " in text
    assert "1 failed" in text
    assert "<strong>lags</strong>" in text
    assert "worker lost" in text
    assert 'class="area"' in text
    text, _ = read(client, f"/runs/{made.book}")
    manifest = made.store(made.book).read_json("artifacts/manifest.json")
    assert manifest is not None
    for name, facts in manifest["files"].items():
        assert name in text
        assert facts["sha256"] in text
    assert "audit_fraction" in text


def test_a_run_that_changes_is_shown_changed(folder: Path, made: Made) -> None:
    store = RunStore.open(str(folder), made.live)
    _copy(Path(made.url) / made.live, folder / made.live)
    with client_of(Settings(store=str(folder))) as client:
        _, links = read(client, f"/runs/{made.live}")
        (again,) = [link for link in links.found if link.startswith("/live/")]
        assert client.get(again, headers=PART).status_code == 204
        progress = store.read_json("progress.json")
        assert progress is not None
        store.write_json("progress.json", progress | {"items_done": progress["items_done"] + 3})
        time.sleep(1.1)
        changed = client.get(again, headers=PART)
        assert changed.status_code == 200
        assert f"{progress['items_done'] + 3:,}<small>" in changed.text


def test_a_silent_run_is_called_silent(folder: Path, made: Made) -> None:
    _copy(Path(made.url) / made.live, folder / made.live)
    store = RunStore.open(str(folder), made.live)
    progress = store.read_json("progress.json")
    assert progress is not None
    store.write_json("progress.json", progress | {"updated": time.time() - 7200})
    with client_of(Settings(store=str(folder))) as client:
        assert "solving, silent for 2 h" in client.get("/runs").text


def test_a_run_that_nobody_wants_is_called_cancelled(folder: Path, made: Made) -> None:
    _copy(Path(made.url) / made.live, folder / made.live)
    store = RunStore.open(str(folder), made.live)
    progress = store.read_json("progress.json")
    assert progress is not None
    store.write_json("progress.json", progress | {"state": "interrupted"})
    cancel(store)
    with client_of(Settings(store=str(folder))) as client:
        assert client.get("/api/v1/runs").json()[0]["state"] == "cancelled"


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("spec.json", "{}"),
        ("progress.json", "{"),
        ("plan.json", "{}"),
        ("events.jsonl", "\0\nno\n{}"),
        ("artifacts/manifest.json", "{}"),
        ("artifacts/SHA256SUMS", "../../etc/passwd"),
        ("provenance.json", "[]"),
    ],
)
def test_damaged_files_are_shown_as_far_as_they_go(
    folder: Path, made: Made, file: str, text: str
) -> None:
    _copy(Path(made.url) / made.book, folder / made.book)
    (folder / made.book / file).write_text(text)
    with client_of(Settings(store=str(folder))) as client:
        for path in ("/runs", "/books", "/matches", f"/runs/{made.book}", "/api/v1/runs",
                     f"/api/v1/runs/{made.book}/units", f"/runs/{made.book}/events"):  # fmt: skip
            assert client.get(path).status_code == 200, path


def test_an_empty_store_says_what_would_fill_it(folder: Path) -> None:
    with client_of(Settings(store=str(folder))) as client:
        for path, command in (
            ("/runs", "book build"),
            ("/books", "book build"),
            ("/matches", "match grid"),
        ):
            assert f"plymill {command}" in client.get(path).text


def test_what_is_at_fault_is_told_in_a_sentence(client: TestClient, made: Made) -> None:
    for path in (
        "/nothing",
        "/runs/book-0123456789ab",
        "/runs/x",
        f"/books/{made.grid}",
        f"/matches/{made.book}",
    ):
        answer = client.get(path)
        assert answer.status_code == 404
        assert "<h1>Not Found</h1>" in answer.text


def test_names_from_the_store_are_text_and_nothing_else(folder: Path, made: Made) -> None:
    _copy(Path(made.url) / made.live, folder / made.live)
    store = RunStore.open(str(folder), made.live)
    evil = "<script>alert(1)</script>\"'"
    progress: dict[str, Any] = store.read_json("progress.json") or {}
    for worker in progress["workers"]:
        worker |= {"name": evil, "host": evil}
    store.write_json("progress.json", progress | {"message": evil, "item": evil})
    store.write_events([{"time": 1.0, "event": evil, evil: evil}])
    store.write_json("submission.json", {"owner": evil})
    with client_of(Settings(store=str(folder))) as client:
        for path in ("/runs", f"/runs/{made.live}", f"/runs/{made.live}/events", "/matches"):
            text = client.get(path).text
            assert "<script>alert" not in text
            assert "alert(1)" in text or path == "/matches"


# --- files that a run made ------------------------------------------------------------------------


def test_pages_and_pictures_of_a_run_are_shown_in_a_box(client: TestClient, made: Made) -> None:
    files = {f["name"]: f["url"] for f in client.get(f"/api/v1/runs/{made.grid}/artifacts").json()}
    for name, url in files.items():
        kept = client.get(url)
        assert kept.headers["content-disposition"] == f'attachment; filename="{name}"'
    page = client.get(files["charts.html"], params={"show": 1})
    policy = page.headers["content-security-policy"]
    assert policy.startswith("sandbox allow-scripts; default-src 'none'")
    assert "allow-same-origin" not in policy
    assert "connect-src" not in policy, "default-src forbids to connect"
    picture = client.get(
        next(u for n, u in files.items() if n.endswith(".svg")), params={"show": 1}
    )
    assert picture.headers["content-type"] == "image/svg+xml"
    assert picture.headers["content-security-policy"].startswith("sandbox;")
    report = client.get(f"/runs/{made.book}/report")
    assert report.headers["content-security-policy"].startswith("sandbox")
    assert "Opening book" in report.text


# --- books ----------------------------------------------------------------------------------------


def test_the_explorer_begins_at_the_books_opening(client: TestClient, made: Made) -> None:
    text, _ = read(client, f"/books/{made.book}")
    assert f'value="{OPENING}"' in text


def test_a_position_has_an_address_and_its_moves_lead_on(client: TestClient, made: Made) -> None:
    text, links = read(client, f"/books/{made.book}?moves={OPENING}1")
    told = client.get(f"/api/v1/books/{made.book}/position?moves={OPENING}1").json()
    for column, value in told["columns"].items():
        if value is None:
            assert f"?moves={OPENING}1{column}" not in "".join(links.found)
        else:
            assert f"/books/{made.book}?moves={OPENING}1{column}" in links.found
            assert f"Column {column}: {value['words']}" in text
    assert f"/books/{made.book}?moves={OPENING}" in links.found, "back"
    flipped = "".join(str(8 - int(move)) for move in f"{OPENING}1")
    assert f"/books/{made.book}?moves={flipped}" in links.found, "flipped"


def test_the_flipped_board_has_the_mirrored_values(client: TestClient, made: Made) -> None:
    def scores(moves: str) -> list[Any]:
        told = client.get(f"/api/v1/books/{made.book}/position?moves={moves}").json()
        return [value and value["score"] for value in told["columns"].values()]

    assert scores(f"{OPENING}12") == scores("44444466" + "76")[::-1]


def test_htmx_gets_the_part_and_the_history_the_whole(client: TestClient, made: Made) -> None:
    path = f"/books/{made.book}?moves={OPENING}"
    assert "<html" in client.get(path).text
    part = client.get(path, headers=PART)
    assert "<html" not in part.text
    assert part.headers["vary"] == "HX-Request"
    whole = client.get(path, headers=PART | {"hx-history-restore-request": "true"})
    assert "<html" in whole.text


@pytest.mark.parametrize("moves", ["9", "4444444", "abc", "<script>", "1" * 60])
def test_moves_that_are_none_are_told_beside_the_field(
    client: TestClient, made: Made, moves: str
) -> None:
    answer = client.get(f"/books/{made.book}", params={"moves": moves})
    assert answer.status_code == 422
    assert 'role="alert"' in answer.text
    assert "<script>" not in answer.text
    assert (
        client.get(f"/books/{made.book}", params={"moves": moves}, headers=PART).status_code == 200
    )


def test_blanks_between_moves_do_not_matter(client: TestClient, made: Made) -> None:
    assert f'value="{OPENING}"' in client.get(f"/books/{made.book}?moves=4444+44+22").text


def test_a_best_line_leads_to_the_end_of_the_game(client: TestClient, made: Made) -> None:
    text, links = read(client, f"/books/{made.book}/line?moves={OPENING}")
    told = client.get(f"/api/v1/books/{made.book}/position?moves={OPENING}").json()
    steps = [link.partition("?moves=")[2] for link in links.found if "?moves=" in link][1:]
    assert len(steps) == (told["value"]["plies"] or 42 - told["ply"])
    for before, after in pairwise(steps):
        answer = client.get(f"/api/v1/books/{made.book}/position?moves={before}").json()
        assert int(after[-1]) in answer["best"]
    end = client.get(f"/api/v1/books/{made.book}/position?moves={steps[-1]}").json()
    assert end["to_move"] is None
    words = end["value"]["words"]
    assert f"{words[:1].upper()}{words[1:]} after {end['ply']} stones." in text


# --- matches --------------------------------------------------------------------------------------


def test_the_chart_has_a_link_for_each_cell_that_was_played(client: TestClient, made: Made) -> None:
    text, links = read(client, f"/matches/{made.grid}")
    cells = client.get(f"/api/v1/matches/{made.grid}").json()["cells"]
    for cell in cells:
        assert f"/matches/{made.grid}/cells/{cell['cell']}" in links.found
        assert f">{cell['mean_goal']:.0f}</a>" in text


def test_units_that_come_in_are_shown(folder: Path, made: Made) -> None:
    _copy(Path(made.url) / made.live, folder / made.live)
    store = RunStore.open(str(folder), made.live)
    plan = store.read_plan()
    assert plan is not None
    last = plan.units[len(plan.units) // 2 - 1]
    data = store.files.read(f"units/{last.name}.zst")
    store.files.delete(f"units/{last.name}.zst")
    with client_of(Settings(store=str(folder))) as client:
        before = client.get(f"/api/v1/matches/{made.live}").json()
        store.files.write(f"units/{last.name}.zst", data)
        time.sleep(2.1)
        after = client.get(f"/api/v1/matches/{made.live}").json()
        assert after["matches"] == before["matches"] + last.items
        store.files.write(f"units/{plan.units[0].name}.zst", b"cut short")
        fresh = client_of(Settings(store=str(folder)))
        with fresh as other:
            damaged = other.get(f"/api/v1/matches/{made.live}").json()
            assert damaged["units_read"] == after["units_read"] - 1


@pytest.mark.parametrize("ply", [0, 1, 3, 99, -5])
def test_a_match_is_shown_at_any_ply(client: TestClient, made: Made, ply: int) -> None:
    match = client.get(f"/api/v1/matches/{made.grid}/0:0").json()
    text, _ = read(client, f"/matches/{made.grid}/0:0?ply={ply}")
    shown = max(0, min(ply, match["plies"]))
    assert f"{shown} of {match['plies']}" in text
    assert text.count('class="cell first') + text.count('class="cell second') == shown


def test_boards_of_other_games_are_drawn(client: TestClient, made: Made) -> None:
    text, _ = read(client, f"/matches/{made.pool}/0:0")
    assert 'class="dots"' in text
    assert "boxes: " in text
    cells = client.get(f"/api/v1/matches/{made.live}").json()["cells"]
    played = next(cell["cell"] for cell in cells if cell["matches"])
    (match,) = client.get(f"/api/v1/matches/{made.live}/cells/{played}?limit=1").json()["matches"]
    text, _ = read(client, f"/matches/{made.live}/{match['id']}")
    assert "board match discs" in text


def _copy(source: Path, target: Path) -> None:
    import shutil

    shutil.copytree(source, target)

"""The JSON API: the same data as the pages, checked against the store itself."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from plymill.books import open_book
from plymill.games import Position, open_game
from plymill.solver import Solver
from plymill.workers.match_results import read_attempts
from tests.web.conftest import OPENING, Made

Ask = Callable[..., Any]
NOBODY = "book-0123456789ab"


def test_runs_are_told_with_what_they_are_about_and_how_far_they_are(ask: Ask, made: Made) -> None:
    runs = {run["run_id"]: run for run in ask("/runs")}
    assert set(runs) == {made.book, made.grid, made.pool, made.live}
    book, live = runs[made.book], runs[made.live]
    assert (book["kind"], book["state"], book["share"], book["owner"]) == (
        "book",
        "done",
        1.0,
        None,
    )
    assert (live["kind"], live["state"], live["owner"]) == ("grid", "solving", "marta")
    assert live["eta"] == [540.0, 700.0]
    assert live["workers"] == 3
    assert 0 < live["items_done"] < live["items_total"]
    assert next(iter(runs)) == made.live, "the one that was heard of last comes first"


def test_a_run_tells_spec_workers_and_artefacts(ask: Ask, made: Made) -> None:
    run = ask(f"/runs/{made.book}")
    assert run["spec"]["opening"] == OPENING
    assert sum(worker["items"] for worker in run["worker_figures"]) == run["items_total"]
    assert run["artifacts"] == ask(f"/runs/{made.book}/artifacts")
    assert {file["name"].rpartition(".")[2] for file in run["artifacts"]} >= {"plymill", "json"}


def test_the_worker_that_lags_is_named_and_so_is_what_it_lost(ask: Ask, made: Made) -> None:
    figures = {worker["name"]: worker for worker in ask(f"/runs/{made.live}")["worker_figures"]}
    assert [name for name, worker in figures.items() if worker["lags"]] == ["gamma-1"]
    assert figures["gamma-1"]["lost"] == 1
    assert figures["alpha-1"]["pace"] == 1.0


def test_units_are_told_with_their_state_and_audits(ask: Ask, made: Made) -> None:
    plan = made.store(made.book).read_plan()
    assert plan is not None
    page = ask(f"/runs/{made.book}/units")
    assert page["total"] == len(plan.units) == len(page["units"])
    assert {unit["state"] for unit in page["units"]} == {"done"}
    audited = [unit["index"] for unit in page["units"] if unit["audited"] == "agrees"]
    assert audited == list(plan.audited)
    live = ask(f"/runs/{made.live}/units")["units"]
    assert {unit["state"] for unit in live} == {"done", "in flight", "failed", "waiting"}
    some = ask(f"/runs/{made.book}/units?start=2&limit=3")
    assert [unit["index"] for unit in some["units"]] == [2, 3, 4]


def test_events_are_told_the_last_first(ask: Ask, made: Made) -> None:
    stored = made.store(made.book).read_events()
    page = ask(f"/runs/{made.book}/events?limit=5")
    assert page["total"] == len(stored)
    assert [event["event"] for event in page["events"]] == [e["event"] for e in stored[::-1][:5]]


def test_artefacts_come_as_they_are(ask: Ask, client: TestClient, made: Made) -> None:
    for file in ask(f"/runs/{made.book}/artifacts"):
        answer = client.get(file["url"])
        stored = made.store(made.book).files.read(f"artifacts/{file['name']}")
        assert answer.content == stored
        assert len(answer.content) == file["bytes"]
        assert answer.headers["etag"] == f'"{file["sha256"]}"'
        assert answer.headers["content-disposition"].startswith("attachment")


@pytest.mark.parametrize("path", ["", "/units", "/events", "/artifacts"])
def test_a_run_that_is_not_there_is_404_in_a_sentence(ask: Ask, path: str) -> None:
    assert ask(f"/runs/{NOBODY}{path}", 404) == {"error": "There is no such run in the store."}


@pytest.mark.parametrize("query", ["start=-1", "limit=0", "limit=10001", "limit=x"])
def test_what_cannot_be_told_is_422_in_a_sentence(ask: Ask, made: Made, query: str) -> None:
    error = ask(f"/runs/{made.book}/units?{query}", 422)["error"]
    assert error.startswith(query.partition("=")[0])
    assert error.endswith(".")


# --- books ----------------------------------------------------------------------------------------


def test_books_are_listed_with_what_they_hold(ask: Ask, made: Made) -> None:
    (shelf,) = ask("/books")
    assert (shelf["run_id"], shelf["opening"]) == (made.book, OPENING)
    assert [book["ply"] for book in shelf["books"]] == [8, 12]


def test_a_position_is_answered_as_the_book_does(ask: Ask, made: Made) -> None:
    folder = Path(made.url) / made.book / "artifacts"
    with open_book(next(folder.glob("*-12ply-*.plymill"))) as book:
        for extra in ("", "1", "16", "167"):
            answer = ask(f"/books/{made.book}/position?moves={OPENING}{extra}")
            values = book.moves(Position(OPENING + extra))
            assert [v and v["score"] for v in answer["columns"].values()] == values
            assert answer["source"] == "book"
            best = max(value for value in values if value is not None)
            assert answer["best"] == [c for c, value in enumerate(values, 1) if value == best]


@pytest.mark.parametrize("extra", ["7116", "711656", "71165651"])
def test_at_and_below_the_books_ply_positions_are_solved(ask: Ask, made: Made, extra: str) -> None:
    answer = ask(f"/books/{made.book}/position?moves={OPENING}{extra}")
    scores = Solver(16).scores(OPENING + extra)
    assert [v and v["score"] for v in answer["columns"].values()] == scores
    assert answer["source"] == "solver"
    assert "solved" in answer["reason"].lower()


def test_before_its_opening_a_book_says_where_it_begins(ask: Ask, made: Made) -> None:
    answer = ask(f"/books/{made.book}/position?moves=44")
    assert (answer["source"], answer["value"], answer["best"]) == ("none", None, [])
    assert answer["reason"].endswith(f"begins after {OPENING}.")


def test_a_game_that_is_over_is_told_by_the_rules(ask: Ask, made: Made) -> None:
    answer = ask(f"/books/{made.book}/position?moves=1212121")
    assert (answer["source"], answer["to_move"]) == ("rules", None)
    assert answer["value"]["words"] == "player 1 has won"


@pytest.mark.parametrize("moves", ["8", "x", "1111111", "0", "12121211", "\uff14"])
def test_moves_that_are_none_are_told(ask: Ask, made: Made, moves: str) -> None:
    assert ask(f"/books/{made.book}/position?moves={moves}", 422)["error"].endswith(".")


@pytest.mark.parametrize("moves", [r"\ud800", r"4\ud8004", r"\u0000\u001b[2J", r"\u202e44"])
def test_moves_that_are_no_text_are_told_escaped(
    client: TestClient, made: Made, moves: str
) -> None:
    """JSON can hold halves of characters, which no answer can be made of."""
    where = f"/api/v1/books/{made.book}/positions"
    asked = f'{{"positions": ["{moves}", "444"]}}'
    answer = client.post(where, content=asked, headers={"content-type": "application/json"})
    assert answer.status_code == 200
    fault, _ = answer.json()["answers"]
    assert fault["moves"].isprintable()
    assert fault["error"].isprintable()


def test_many_positions_in_one_request(client: TestClient, made: Made) -> None:
    asked = [f"{OPENING}1", "xyz", OPENING, f"{OPENING}711656"]
    where = f"/api/v1/books/{made.book}/positions"
    answers = client.post(where, json={"positions": asked}).json()["answers"]
    assert [answer["moves"] for answer in answers] == asked
    assert "error" in answers[1]
    assert [answers[k].get("source") for k in (0, 2, 3)] == ["book", "book", "none"]
    solved = client.post(where, json={"positions": asked, "solve": True}).json()["answers"]
    assert solved[3]["source"] == "solver"
    for body, word in (
        ({"positions": ["4"] * 1001}, "positions"),
        ({"positions": ["4"] * 51, "solve": True}, "at most 50"),
        ({"positions": "4"}, "positions"),
        ({}, "positions"),
        ([], "request"),
    ):
        refused = client.post(where, json=body)
        assert refused.status_code == 422
        assert word in refused.json()["error"]
    assert (
        client.post(where, content=b"{", headers={"content-type": "application/json"}).status_code
        == 422
    )


# --- matches --------------------------------------------------------------------------------------


def test_cells_are_summed_up_while_the_run_goes_on(ask: Ask, made: Made) -> None:
    page = ask(f"/matches/{made.live}")
    assert 0 < page["units_read"] < page["units_planned"]
    assert page["matches"] == sum(cell["matches"] for cell in page["cells"])
    assert len(page["cells"]) == 9
    done = ask(f"/matches/{made.grid}")
    assert done["matches"] == 54
    assert all(cell["wins"] + cell["draws"] + cell["losses"] == 6 for cell in done["cells"])


def test_matches_are_those_of_the_units(ask: Ask, made: Made) -> None:
    store = made.store(made.grid)
    plan = store.read_plan()
    assert plan is not None
    records = [r for r in read_attempts(store, plan.units, moves=True).matches if r.cell == 4]
    page = ask(f"/matches/{made.grid}/cells/4")
    assert page["total"] == len(records) == len(page["matches"])
    game = open_game("tictactoe")
    for record, told in zip(records, page["matches"], strict=True):
        match = ask(f"/matches/{made.grid}/{record.id}")
        assert match["goals"] == told["goals"] == [record.first_goal, record.second_goal]
        state = game.after(told["moves"])
        assert state.goals == (record.first_goal, record.second_goal)
        told_values = [move["value"] for ply in match["plies_played"] for move in ply["moves"]]
        assert told_values == [None if v == 65535 else v / 10_000 for v in record.values]
    some = ask(f"/matches/{made.grid}/cells/4?start=4&limit=5")
    assert [match["match"] for match in some["matches"]] == [4, 5]


@pytest.mark.parametrize("path", ["cells/9", "cells/-1", "0:99", "9:0", "x", "0:", ":0", "0:0:0",
                                  "4294967296:0", "9999999999:9999999999"])  # fmt: skip
def test_matches_that_are_not_there_are_404(ask: Ask, made: Made, path: str) -> None:
    assert ask(f"/matches/{made.grid}/{path}", 404)["error"].endswith(".")


def test_a_book_plays_no_matches_and_a_grid_has_no_books(ask: Ask, made: Made) -> None:
    assert "expected a run of matches" in ask(f"/matches/{made.book}", 404)["error"]
    assert "no books" in ask(f"/books/{made.grid}/position", 404)["error"]


# --- the description ------------------------------------------------------------------------------


def test_the_api_describes_itself(ask: Ask, client: TestClient) -> None:
    description = ask("/openapi.json")
    assert description["openapi"].startswith("3.")
    assert len(description["paths"]) == 11
    assert all(path.startswith("/api/v1/") for path in description["paths"])
    page = client.get("/api").text
    for path in description["paths"]:
        assert f"<code>{path}</code>" in page
    for name in ("RunSummary", "PositionAnswer", "MatchDetail"):
        assert f'id="{name}"' in page


def test_what_is_nowhere_is_404_in_json(ask: Ask) -> None:
    assert ask("/nothing", 404) == {"error": "There is nothing at this address."}

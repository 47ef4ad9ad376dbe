"""Specs of match jobs: what makes no sense is refused, what means the same is the same job."""

from pathlib import Path
from typing import Any

import pytest

from plymill.cluster import JobSpec, SpecError
from plymill.workers import DuelJob, GridJob, PoolJob, spec_from_toml

GRID: dict[str, Any] = {"game": "tictactoe", "first": "10..40", "second": [10, 20]}
DUEL: dict[str, Any] = {"game": "connect4", "player_a": "uct:20", "player_b": "random"}
POOL: dict[str, Any] = {"game": "tictactoe", "players": ["uct:20", "random"]}

FAULTS: list[tuple[type[JobSpec], dict[str, Any], str]] = [
    (GridJob, {**GRID, "game": "chess"}, "game: there is no game 'chess', expected one of"),
    (GridJob, {**GRID, "game": 7}, "game: .*got 7"),
    (GridJob, {**GRID, "first": "10..30"}, "first: .*such as 10..20"),
    (GridJob, {**GRID, "first": "ten"}, "first: iterations 'ten': expected a list"),
    (GridJob, {**GRID, "first": []}, "first: "),
    (GridJob, {**GRID, "first": [20, 10]}, "first: .*expected ascending numbers"),
    (GridJob, {**GRID, "second": [10.5]}, "second.*got 10.5"),
    (GridJob, {**GRID, "second": [True]}, "second.*got [Tt]rue"),
    (GridJob, {**GRID, "second": 10}, "second: .*got 10"),
    (GridJob, {**GRID, "options": "speed=9"}, "options: .*no option 'speed'"),
    (GridJob, {**GRID, "samples": 0}, "samples: .*got 0"),
    (
        GridJob,
        {**GRID, "first": "1..512", "second": "1..512", "samples": 1_000_000},
        "expected 10,000,000 matches at most, got 1,000,000 in each of 100 cells",
    ),
    (GridJob, {**GRID, "until": 0.0}, "until: .*from 0.001 to 1, got 0.0"),
    (GridJob, {**GRID, "seed": -1}, "seed: .*got -1"),
    (GridJob, {**GRID, "seed": 2**64}, "seed: "),
    (GridJob, {**GRID, "unit_seconds": 0}, "unit_seconds: .*got 0"),
    (GridJob, {**GRID, "audit_fraction": 2}, "audit_fraction: .*got 2"),
    (GridJob, {**GRID, "sample": 5}, "there is no field 'sample'"),
    (GridJob, {"game": "tictactoe"}, "the field 'first' is missing"),
    (DuelJob, {**DUEL, "player_a": "uct"}, "player_a: .*number of iterations"),
    (DuelJob, {**DUEL, "player_b": "deep-blue"}, "player_b: There is no player 'deep-blue'"),
    (DuelJob, {**DUEL, "elo0": 30}, "SPRT: expected elo0 less than elo1, got 30"),
    (DuelJob, {**DUEL, "elo1": 1e9}, "SPRT: elo1: expected logistic Elo from -1000 to 1000, got 1"),
    (DuelJob, {**DUEL, "elo0": -1001}, "SPRT: elo0: expected logistic Elo .*got -1001"),
    (DuelJob, {**DUEL, "model": "normalized", "elo1": 201}, "expected normalized Elo from -200"),
    (DuelJob, {**DUEL, "alpha": 0.7}, "SPRT: alpha: .*got 0.7"),
    (DuelJob, {**DUEL, "model": "glicko"}, "model: .*got 'glicko'"),
    (DuelJob, {**DUEL, "max_pairs": 0}, "max_pairs: .*got 0"),
    (DuelJob, {**DUEL, "openings": ["44", "9"]}, "openings, line 2: .*"),
    (DuelJob, {**DUEL, "openings": ["1212121"]}, "openings, line 1: .*ends the game"),
    (DuelJob, {**DUEL, "openings": ["44"], "opening_plies": 2}, "opening_plies: .*none beside"),
    (DuelJob, {**DUEL, "opening_plies": -1}, "opening_plies: .*got -1"),
    (DuelJob, {**DUEL, "game": "chess"}, "there is no game 'chess'"),
    (DuelJob, {**DUEL, "game": None}, "game: "),
    (DuelJob, {**DUEL, "game": "tictactoe", "player_b": "perfect"}, "plays connect4-7x6 only"),
    (PoolJob, {**POOL, "players": ["random"]}, "players: "),
    (PoolJob, {**POOL, "players": "random"}, "players: .*got 'random'"),
    (PoolJob, {**POOL, "players": ["uct:9", "uct:9,c=1.4142135623730951"]}, "'uct:9' twice"),
]


NUMBERS: list[tuple[type[JobSpec], dict[str, Any], str]] = [
    *((GridJob, GRID, name) for name in ("until", "audit_fraction", "unit_seconds", "samples")),
    *((DuelJob, DUEL, name) for name in ("elo0", "elo1", "alpha", "beta", "opening_margin")),
    *((DuelJob, DUEL, name) for name in ("max_pairs", "opening_plies", "opening_count", "seed")),
    (PoolJob, POOL, "samples"),
]


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf"), 1e300, -1e300])
@pytest.mark.parametrize(
    ("kind", "fields", "name"), NUMBERS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_what_is_no_number_or_out_of_all_range_is_refused_in_one_sentence(
    kind: type[JobSpec], fields: dict[str, Any], name: str, number: float
) -> None:
    with pytest.raises(SpecError, match=f"^the flags: .*{name}: .*expected .*got .*\\.$") as caught:
        kind.from_fields({**fields, name: number}, where="the flags")
    said = str(caught.value)
    assert "\n" not in said
    assert "nput" not in said, "no words of the library that checks it"
    with pytest.raises(SpecError):
        kind.from_fields({**fields, name: number, "model": "normalized"}, where="the flags")


@pytest.mark.parametrize(("kind", "fields", "expected"), FAULTS)
def test_a_job_that_makes_no_sense_is_refused_in_one_sentence(
    kind: type[JobSpec], fields: dict[str, Any], expected: str
) -> None:
    with pytest.raises(SpecError, match=f"^the flags: .*{expected}") as caught:
        kind.from_fields(fields, where="the flags")
    assert "\n" not in str(caught.value)


def test_what_means_the_same_is_the_same_job() -> None:
    grid = GridJob.from_fields(GRID)
    assert grid.first == (10, 20, 40)
    same = {"game": "tictactoe", "first": [10, 20, 40], "second": "10,20"}
    assert GridJob.from_fields(same).run_id == grid.run_id
    assert GridJob.from_fields({**GRID, "options": "final=average"}).run_id == grid.run_id
    assert GridJob.from_fields({**GRID, "options": "final=visits"}).run_id != grid.run_id
    assert GridJob.from_fields({**GRID, "seed": 1}).run_id != grid.run_id
    duel = DuelJob.from_fields(DUEL)
    assert duel.game == "connect4-7x6"
    assert DuelJob.from_fields({**DUEL, "game": "connect4-7x6"}).run_id == duel.run_id
    assert DuelJob.from_fields({**DUEL, "elo0": 0}).run_id == duel.run_id
    assert duel.run_id.startswith("duel-")


def test_cells_are_numbered_row_by_row() -> None:
    cells = GridJob.from_fields(GRID).cells
    assert [(cell.row, cell.column) for cell in cells] == [
        (10, 10), (10, 20), (20, 10), (20, 20), (40, 10), (40, 20)
    ]  # fmt: skip
    assert [cell.index for cell in cells] == list(range(6))
    pool = PoolJob.from_fields({**POOL, "players": ["uct:20", "random", "first-legal"]})
    assert [(cell.first, cell.second) for cell in pool.cells][:3] == [
        ("uct:20", "random"),
        ("uct:20", "first-legal"),
        ("random", "uct:20"),
    ]
    duel = DuelJob.from_fields(DUEL)
    assert [(cell.first, cell.second) for cell in duel.cells] == [
        ("uct:20", "random"),
        ("random", "uct:20"),
    ]


def test_a_toml_file_names_the_kind(tmp_path: Path) -> None:
    path = tmp_path / "job.toml"
    path.write_text('kind = "grid"\ngame = "tictactoe"\nfirst = "10..40"\nsecond = [10, 20]\n')
    assert spec_from_toml(path) == GridJob.from_fields(GRID)
    path.write_text(
        'kind = "duel"\ngame = "connect4"\nplayer_a = "uct:20"\nplayer_b = "random"\nelo1 = 20\n'
    )
    assert spec_from_toml(path) == DuelJob.from_fields(DUEL)

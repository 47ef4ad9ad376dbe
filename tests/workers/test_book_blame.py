"""A book that does not come out sound: the unit at fault is named, discarded, and solved anew."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plymill.books import ArrayBook, convert_book, derive, open_book
from plymill.cluster import Receipt, RunFailedError, RunResult, RunStore
from plymill.cluster.storage.unitfile import arrays_digest
from plymill.workers import BookJob, book_stages, with_reference
from plymill.workers.book_stages import REFERENCE, merge_units

RunHere = Callable[..., RunResult]
ArtifactsOf = Callable[[str, str], dict[str, bytes]]
Arrays = dict[str, Any]

TWO = {"a": 1, "b": 1}
PLAIN = BookJob(opening="44444422", audit_fraction=0, validate_sample=279)


class Run:
    """A finished run of two workers, whose units can be altered behind its back."""

    def __init__(self, spec: BookJob, url: str, run_in_process: RunHere) -> None:
        self.spec, self.url, self._run = spec, url, run_in_process
        self.store = RunStore.open(url, spec.run_id)
        assert self.again().complete
        self.artifacts = self.files()
        plan = self.store.read_plan()
        assert plan is not None
        self.units = plan.units

    def again(self) -> RunResult:
        return self._run(self.spec, self.url, TWO)

    def files(self) -> dict[str, bytes]:
        names = self.store.files.list("artifacts")
        return {name: self.store.files.read(f"artifacts/{name}") for name in names}

    def receipt(self, index: int) -> Receipt:
        return self.store.read_unit(self.units[index])[1]

    def alter(self, index: int, change: Callable[[Arrays], Arrays]) -> None:
        """Write another result, with a digest that fits it; what stages have made is forgotten."""
        arrays, receipt = self.store.read_unit(self.units[index])
        wrong = change({name: array.copy() for name, array in arrays.items()})
        receipt = replace(receipt, digest=arrays_digest(wrong))
        self.store.discard_unit(self.units[index])
        self.store.write_unit(self.units[index], wrong, receipt)
        self.forget()

    def forget(self) -> None:
        for record in self.store.files.list("stages"):
            self.store.files.delete(f"stages/{record}")

    def fails(self) -> str:
        with pytest.raises(RunFailedError) as caught:
            self.again()
        return str(caught.value)

    def solved_by(self, worker: str) -> set[str]:
        return {u.name for u in self.units if self.receipt(u.index).worker == worker}

    def is_mended(self, anew: set[str]) -> None:
        """The same command again solves these units and no others, and all is well."""
        left = {unit.name for unit in self.units} - anew
        assert self.store.finished_units() == left
        assert self.again().complete
        assert self.files() == self.artifacts


@pytest.fixture
def run(tmp_path: Path, run_in_process: RunHere) -> Run:
    return Run(PLAIN, str(tmp_path), run_in_process)


def wrong_score(arrays: Arrays) -> Arrays:
    arrays["scores"][0] = 1 if arrays["scores"][0] != 1 else 2
    return arrays


def test_a_wrong_score_that_a_sample_finds_costs_its_worker_all_he_has_solved(run: Run) -> None:
    run.alter(3, wrong_score)
    culprit = run.receipt(3)
    theirs = run.solved_by(culprit.worker)
    assert theirs < {unit.name for unit in run.units}, "the other has solved something as well"
    said = run.fails()
    assert f"unit 00003, solved by {culprit.worker} on {culprit.host} " in said
    assert f"(process {culprit.pid}), has the value " in said
    assert "random sample (seed 0) solved again: 1 differing, such as key " in said
    assert "when solved again" in said
    assert said.endswith(f"{len(theirs)} units are to be solved anew: run the same command again.")
    assert "\n" not in said
    run.is_mended(theirs)


def reference_of(run: Run, path: Path, change: Callable[[Any], None]) -> BookJob:
    """The same job, compared with its own book after a change of values."""
    (name,) = [name for name in run.artifacts if "12ply" in name and name.endswith(".plymill")]
    book_path = path / name
    book_path.write_bytes(run.artifacts[name])
    with open_book(book_path) as book:
        keys, values = book[:]
        values = values.copy()
        change(values)
        convert_book(ArrayBook(keys, values, book.scope), path / "reference")
    return with_reference(run.spec, path / "reference", "plymill")


def test_a_wrong_score_that_a_whole_reference_finds_costs_its_unit_only(
    run: Run, tmp_path: Path, run_in_process: RunHere
) -> None:
    spec = reference_of(run, tmp_path, lambda values: None)
    RunStore.open(run.url, spec.run_id).files.write(
        REFERENCE, (tmp_path / "reference").read_bytes()
    )
    compared = Run(spec, run.url, run_in_process)
    compared.alter(2, wrong_score)
    compared.alter(5, wrong_score)
    said = compared.fails()
    assert "scores against reference: 2 differing, such as key " in said
    assert "unit 00002, solved by " in said
    assert "; unit 00005, solved by " in said
    assert said.endswith("discarded, 2 units are to be solved anew: run the same command again.")
    compared.is_mended({"00002", "00005"})


def test_a_wrong_reference_is_named_as_such_and_no_unit_is_lost(
    run: Run, tmp_path: Path, run_in_process: RunHere
) -> None:
    def change(values: Any) -> None:
        values[7] = 1 if values[7] != 1 else 2

    spec = reference_of(run, tmp_path, change)
    store = RunStore.open(run.url, spec.run_id)
    store.files.write(REFERENCE, (tmp_path / "reference").read_bytes())
    with pytest.raises(RunFailedError) as caught:
        run_in_process(spec, run.url, TWO)
    said = str(caught.value)
    assert "scores against reference: 1 differing" in said
    assert "the reference is at fault, not the book in " in said
    assert "start the job without the reference" in said
    keys = open_book(tmp_path / "reference")[:][0]
    holder = next(u for u in run.units if keys[7] in run.store.read_unit(u)[0]["keys"])
    assert f"the units that hold them ({holder.name})" in said
    assert len(store.finished_units()) == len(run.units)


def test_a_unit_with_positions_of_another_contradicts_it_and_is_named(run: Run) -> None:
    others = run.store.read_unit(run.units[6])[0]
    run.alter(4, lambda _: {"keys": others["keys"], "scores": -others["scores"]})
    theirs = run.solved_by(run.receipt(4).worker)
    said = run.fails()
    assert said.startswith("The units cannot be merged into the book connect4-12ply-dist-after-")
    assert "unit 00004, solved by " in said
    assert "holds other positions than it was given, such as key " in said
    assert "unit 00006, solved" not in said
    run.is_mended(theirs)


def test_a_unit_that_lacks_a_position_is_named(run: Run) -> None:
    run.alter(1, lambda arrays: {name: array[1:] for name, array in arrays.items()})
    theirs = run.solved_by(run.receipt(1).worker)
    assert "unit 00001, solved by " in run.fails()
    run.is_mended(theirs)


def test_a_value_that_no_position_can_have_is_named(run: Run) -> None:
    def change(arrays: Arrays) -> Arrays:
        arrays["scores"][2] = 99
        return arrays

    run.alter(8, change)
    theirs = run.solved_by(run.receipt(8).worker)
    said = run.fails()
    assert "unit 00008, solved by " in said
    assert "has the value 99 for key " in said
    assert ", beyond -15 to " in said
    run.is_mended(theirs)


def test_a_plan_that_leaves_positions_out_is_made_anew(run: Run) -> None:
    plan = run.store.read_plan()
    assert plan is not None
    run.store.write_plan(plan.model_copy(update={"units": plan.units[:-1]}))
    run.forget()
    said = run.fails()
    assert "positions are missing" in said
    assert "The plan is at fault and is discarded: run the same command again" in said
    run.is_mended(set())


@pytest.mark.parametrize("damage", ["cut short", "missing"])
def test_a_result_that_is_lost_after_the_session_began_is_named(
    run: Run, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = "units/00005.zst"

    def lose(spec: BookJob, context: Any) -> dict[str, Any]:
        data = run.store.files.read(path)
        run.store.files.delete(path)
        if damage == "cut short":
            run.store.files.write(path, data[:-9])
        return merge_units(spec, context)

    run.forget()
    with monkeypatch.context() as patch:
        patch.setattr("plymill.workers.book_stages.merge_units", lose)
        said = run.fails()
    assert said.startswith("The result of unit 00005 is lost since it was finished: ")
    assert damage in said
    assert said.endswith("Run the same command again to solve it anew.")
    assert run.again().complete
    assert run.files() == run.artifacts


def test_a_derived_book_that_is_not_sound_is_nobodys_fault_but_ours(
    tmp_path: Path, run_in_process: RunHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = PLAIN.model_copy(update={"derive": (10,)})
    run = Run(spec, str(tmp_path), run_in_process)

    def wrong(book: Any, ply: int) -> ArrayBook:
        derived = derive(book, ply)
        return ArrayBook(derived.keys[1:], derived.values[1:], derived.scope)

    run.forget()
    monkeypatch.setattr("plymill.workers.book_stages.derive", wrong)
    said = run.fails()
    assert "10ply-dist-after-44444422 is not sound: the book alone: 1 missing, such as key " in said
    assert "no unit is at fault: plymill itself is. Please report it, with the job: {" in said
    assert len(run.store.finished_units()) == len(run.units)


def test_a_sample_that_differs_only_once_is_the_machines_fault(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    solve = book_stages._solve_scores
    calls: list[int] = []

    def flaky(keys: Any) -> Any:
        calls.append(len(keys))
        scores = solve(keys)
        return scores + (np.arange(len(keys)) == 4).astype(np.int8) if len(calls) == 1 else scores

    run.forget()
    monkeypatch.setattr("plymill.workers.book_stages._solve_scores", flaky)
    said = run.fails()
    assert "1 differing" in said
    assert "the machine that solved the sample computes unreliably. Run the same command" in said
    assert len(calls) == 2
    run.is_mended(set())

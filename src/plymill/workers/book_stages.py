"""From finished units to books: merge, derive, pack, validate."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from plymill.books import (
    Book,
    BookContentError,
    Scope,
    convert_book,
    derive,
    merge_to_file,
    open_book,
    outcomes,
    validate,
)
from plymill.books.book import Block
from plymill.cluster import Stage, StageContext, Unit
from plymill.cluster.storage.store import ARTIFACTS
from plymill.solver import Solver, enumerate_ply
from plymill.workers.book_blame import (
    derived_failure,
    merge_failure,
    read_finished,
    validation_failure,
)
from plymill.workers.book_spec import BookJob

REFERENCE = "input/reference"
_SAMPLE_TABLE_MB = 256


def book_stages(spec: BookJob) -> tuple[Stage, ...]:
    """The finishing stages of an opening-book job, in order."""
    return (
        Stage("merge", lambda context: merge_units(spec, context)),
        Stage("derive", lambda context: derive_books(spec, context)),
        Stage("pack", lambda context: pack_layouts(spec, context)),
        Stage("validate", lambda context: validate_books(spec, context)),
    )


def merge_units(spec: BookJob, context: StageContext) -> dict[str, Any]:
    """All units into one book; every position of the ply must be there exactly once.

    Raises:
        RunFailedError: they do not fit together; the sentence says which unit is at fault.
    """
    scope = Scope(ply=spec.ply, distances=spec.distances, opening=spec.opening)
    path = context.scratch / f"{spec.stem(spec.ply)}.plymill"
    sources = {f"unit {u.name}": _blocks(context, u) for u in context.plan.units}
    expected = enumerate_ply(spec.ply, spec.opening)
    try:
        report = merge_to_file(path, scope, sources, expected=[expected])
    except BookContentError as error:
        raise merge_failure(spec, context, error) from error
    context.publish(path.name, path.read_bytes())
    with open_book(path) as book:
        return {"ply": spec.ply, "positions": report.positions, "values": _distribution(book)}


def derive_books(spec: BookJob, context: StageContext) -> dict[str, Any]:
    """The books of lower plies, by backward induction."""
    results = {}
    with _fetch(context, spec.stem(spec.ply)) as book:
        for ply in spec.derive:
            derived = derive(book, ply)
            results[str(ply)] = {"positions": len(derived), "values": _distribution(derived)}
            if not len(derived):  # whoever moves there wins at once
                continue
            path = context.scratch / f"{spec.stem(ply)}.plymill"
            convert_book(derived, path)
            context.publish(path.name, path.read_bytes())
    return results


def pack_layouts(spec: BookJob, context: StageContext) -> dict[str, Any]:
    """The published layouts that were asked for."""
    results = {}
    for layout in sorted(set(spec.layouts) - {"plymill"}):
        ply = int(layout.partition("ply")[0])
        with _fetch(context, spec.stem(ply)) as book:
            source = book if layout.endswith("-dist") or not book.distances else outcomes(book)
            name = f"{spec.stem(ply).replace('-dist', '')}.{layout}.dat"
            path = context.scratch / name
            results[name] = {"layout": layout, "records": convert_book(source, path, layout)}
            context.publish(name, path.read_bytes())
    return results


def validate_books(spec: BookJob, context: StageContext) -> dict[str, Any]:
    """Check each book against itself, a sample solved again, and the reference if there is one.

    Raises:
        RunFailedError: a check found a fault; the sentence says which unit it comes from, or who
            else is at fault.
    """
    results = {}
    derived = [ply for ply in spec.derive if context.earlier["derive"][str(ply)]["positions"]]
    for ply in (spec.ply, *derived):
        with _fetch(context, spec.stem(ply)) as book:
            main = ply == spec.ply
            against = _reference(spec, context) if main else []
            solve_keys = _solve_scores if spec.distances else _solve_outcomes
            report = validate(
                book,
                against=against,
                sample=spec.validate_sample if main else 0,
                solve_keys=solve_keys,
                seed=spec.seed,
            )
            if not report.ok and main:
                raise validation_failure(spec, context, report, solve_keys)
            if not report.ok:
                raise derived_failure(spec, ply, report)
            # The report names files by their path, which differs from run to run.
            text = report.to_json().replace(f"{context.scratch}/", "")
            results[str(ply)] = json.loads(text)
    context.publish("validation.json", (json.dumps(results, indent=2) + "\n").encode())
    return results


def _solve_scores(keys: Any) -> Any:
    return Solver(table_mb=_SAMPLE_TABLE_MB).score_many(keys)


def _solve_outcomes(keys: Any) -> Any:
    return Solver(table_mb=_SAMPLE_TABLE_MB).score_many(keys, outcomes=True)


def _blocks(context: StageContext, unit: Unit) -> Iterator[Block]:
    arrays = read_finished(context, unit)
    yield arrays["keys"], arrays["scores"]


def _fetch(context: StageContext, stem: str) -> Book:
    path = context.scratch / f"{stem}.plymill"
    path.write_bytes(context.store.files.read(f"{ARTIFACTS}/{path.name}"))
    return open_book(path)


def _reference(spec: BookJob, context: StageContext) -> list[Book]:
    if spec.reference_sha256 is None:
        return []
    path = Path(context.scratch / "reference")
    path.write_bytes(context.store.files.read(REFERENCE))
    return [open_book(path, spec.reference_layout)]


def _distribution(book: Book) -> Mapping[str, int]:
    """How many positions have each value, side-to-move view, by value."""
    counts: dict[int, int] = {}
    for start in range(0, len(book), 1 << 20):
        values, sizes = np.unique(book[start : start + (1 << 20)][1], return_counts=True)
        for value, size in zip(values.tolist(), sizes.tolist(), strict=True):
            counts[value] = counts.get(value, 0) + size
    return {str(value): counts[value] for value in sorted(counts)}

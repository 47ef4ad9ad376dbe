"""``plymill book build``: solve all positions of a ply and make books of them."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter, validators

from plymill.cli.options import Layout, MaybeSending, TableWork

if TYPE_CHECKING:
    from plymill.workers import BookJob

_HERE, _STAY = TableWork(), MaybeSending()


def build(
    *,
    spec: Annotated[
        Path | None,
        Parameter(help="A TOML file with the job's fields; flags given as well take precedence."),
    ] = None,
    ply: Annotated[
        int | None, Parameter(help="Number of stones of every position; 12 if left out.")
    ] = None,
    opening: Annotated[
        str | None, Parameter(help="Only positions that follow these moves, such as 444444.")
    ] = None,
    distances: Annotated[
        bool | None,
        Parameter(
            negative="--outcomes",
            help="Solve for distances (the default), or for win, draw and loss only.",
        ),
    ] = None,
    layouts: Annotated[
        list[Layout] | None,
        Parameter(
            negative="",
            help="A layout to write besides plymill's own; may be given several times.",
        ),
    ] = None,
    derive: Annotated[
        list[int] | None,
        Parameter(
            negative="--no-derive",
            help="A lower ply to derive a book of; may be given several times; 8 if left out.",
        ),
    ] = None,
    against: Annotated[
        str | None,
        Parameter(help="A book to compare every value with: a file, or published:12ply-dist."),
    ] = None,
    against_layout: Annotated[Layout | None, Parameter(help="How that book is laid out.")] = None,
    audit_fraction: Annotated[
        float | None,
        Parameter(help="Share of the units solved again by another worker; 0.01 if left out."),
    ] = None,
    validate_sample: Annotated[
        int | None,
        Parameter(help="How many positions of the book are solved again; 200 if left out."),
    ] = None,
    unit_size: Annotated[
        int | None,
        Parameter(
            validator=validators.Number(gte=1),
            help="Positions in a unit of work; half a minute's worth if left out.",
        ),
    ] = None,
    seed: Annotated[
        int | None, Parameter(help="Chooses the units that are audited, and the sample.")
    ] = None,
    work: TableWork = _HERE,
    sending: MaybeSending = _STAY,
) -> int:
    """Solve all undecided positions of a ply, exactly, and make an opening book of them.

    The same command again goes on where it was interrupted. The result depends on the job alone,
    never on --threads, --table-mb, --address or how often it was interrupted.
    """
    from plymill.cli.running import carry_out
    from plymill.cli.sending import send
    from plymill.cli.sources import require_store
    from plymill.workers import run_job

    fields = {
        "ply": ply,
        "opening": opening,
        "distances": distances,
        "layouts": layouts,
        "derive": derive,
        "audit_fraction": audit_fraction,
        "validate_sample": validate_sample,
        "unit_size": unit_size,
        "seed": seed,
    }
    require_store(work.store, there=False)
    job = _job(spec, {name: value for name, value in fields.items() if value is not None})
    job, reference = _with_reference(job, against, against_layout)
    if sending.submit:
        return send(job, work, sending, reference=reference)
    return carry_out(
        job.run_id,
        work,
        lambda options, watcher: run_job(
            job,
            work.store,
            options=options,
            address=work.address,
            on_progress=watcher,
            reference=reference,
        ),
    )


def _job(spec: Path | None, flags: dict[str, Any]) -> "BookJob":
    from plymill.workers import BookJob

    if spec is not None:
        return BookJob.from_toml(spec, **flags)
    return BookJob.from_fields(flags, where="The flags")


def _with_reference(
    job: "BookJob", against: str | None, layout: Layout | None
) -> tuple["BookJob", Path | None]:
    from plymill.books import open_book
    from plymill.cli.sources import locate
    from plymill.workers import with_reference

    if against is None:
        return job, None
    path, stated = locate(against, layout)
    if stated is None:  # plymill's own files say what they are; the error names the others' choice
        with open_book(path):
            stated = "plymill"
    return with_reference(job, path, stated), path

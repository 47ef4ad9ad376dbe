"""``plymill match grid``, ``duel`` and ``pool``: play many matches, and say what came out."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from plymill.cli.options import MaybeSending, Work

if TYPE_CHECKING:
    from plymill.workers import MatchJob

_HERE, _STAY = Work(), MaybeSending()

Spec = Annotated[
    Path | None,
    Parameter(help="A TOML file with the job's fields; flags given as well take precedence."),
]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Common:
    """Flags of all match jobs, named like the fields of their specs."""

    game: Annotated[
        str | None,
        Parameter(help="The game, such as connect4-8x6 or tictactoe; a wrong name lists them all."),
    ] = None
    seed: Annotated[
        int | None,
        Parameter(help="All random numbers of all matches follow from it; 0 if left out."),
    ] = None
    audit_fraction: Annotated[
        float | None,
        Parameter(help="Share of the units played again by another worker; 0.01 if left out."),
    ] = None
    unit_seconds: Annotated[
        float | None,
        Parameter(help="Estimated seconds in a unit of work; half a minute or less if left out."),
    ] = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Openings:
    """Flags of jobs with openings."""

    openings: Annotated[
        list[str] | None,
        Parameter(
            negative="", help="An opening, as the game writes moves; may be given several times."
        ),
    ] = None
    opening_plies: Annotated[
        int | None,
        Parameter(
            help="Plies of random openings; 0 for the initial position; by default 4 in a duel or "
            "pool of a long game that has as many balanced ones."
        ),
    ] = None
    opening_count: Annotated[
        int | None, Parameter(help="How many random openings; 64 if left out.")
    ] = None
    opening_margin: Annotated[
        float | None,
        Parameter(
            help="How far from one half a judge's estimate of a random opening may be; 0.1 if left "
            "out."
        ),
    ] = None


_COMMON, _OPENINGS = Common(), Openings()


def grid(
    *,
    spec: Spec = None,
    first: Annotated[
        str | None,
        Parameter(help="Iterations of the first player: 10,20,50, or 10..5120 to double."),
    ] = None,
    second: Annotated[str | None, Parameter(help="Iterations of the second player.")] = None,
    options: Annotated[
        str | None,
        Parameter(help="Further options of all players, such as c=1.0,final=visits."),
    ] = None,
    samples: Annotated[int | None, Parameter(help="Matches in each cell; 100 if left out.")] = None,
    until: Annotated[
        float | None,
        Parameter(
            help="Go on sampling cells whose 95% interval of the mean goal, from 0 to 1, is wider "
            "than this."
        ),
    ] = None,
    common: Common = _COMMON,
    work: Work = _HERE,
    sending: MaybeSending = _STAY,
) -> int:
    """Play UCT against UCT with fixed numbers of iterations a move: a cell for each pair.

    The same command again goes on where it was interrupted. The result depends on the job alone,
    never on --threads, --address or how often it was interrupted.
    """
    fields = {
        "first": first,
        "second": second,
        "options": options,
        "samples": samples,
        "until": until,
    }
    return _play("grid", spec, fields | asdict(common), work, sending)


def duel(
    *,
    spec: Spec = None,
    player_a: Annotated[
        str | None, Parameter(help="The player of whom it is asked, such as uct:1000,c=1.0.")
    ] = None,
    player_b: Annotated[str | None, Parameter(help="His opponent.")] = None,
    elo0: Annotated[
        float | None, Parameter(help="Difference under the hypothesis H0; 0 if left out.")
    ] = None,
    elo1: Annotated[
        float | None, Parameter(help="Difference under the hypothesis H1; 20 if left out.")
    ] = None,
    alpha: Annotated[
        float | None, Parameter(help="Risk to accept H1 where H0 is true; 0.05 if left out.")
    ] = None,
    beta: Annotated[
        float | None, Parameter(help="Risk to accept H0 where H1 is true; 0.05 if left out.")
    ] = None,
    model: Annotated[
        Literal["logistic", "normalized"] | None,
        Parameter(help="What kind of Elo the differences are; logistic if left out."),
    ] = None,
    pentanomial: Annotated[
        bool | None,
        Parameter(
            negative="--trinomial",
            help="Count pairs with the same opening (the default), or single matches.",
        ),
    ] = None,
    max_pairs: Annotated[
        int | None, Parameter(help="Pairs after which it ends undecided; 10,000 if left out.")
    ] = None,
    openings: Openings = _OPENINGS,
    common: Common = _COMMON,
    work: Work = _HERE,
    sending: MaybeSending = _STAY,
) -> int:
    """Does A beat B? Pairs of matches with both colours, until a sequential test has decided."""
    fields = {
        "player_a": player_a,
        "player_b": player_b,
        "elo0": elo0,
        "elo1": elo1,
        "alpha": alpha,
        "beta": beta,
        "model": model,
        "pentanomial": pentanomial,
        "max_pairs": max_pairs,
    }
    return _play("duel", spec, fields | asdict(openings) | asdict(common), work, sending)


def pool(
    *,
    spec: Spec = None,
    players: Annotated[
        list[str] | None,
        Parameter(negative="", help="A player, such as uct:1000; to be given for each of them."),
    ] = None,
    samples: Annotated[
        int | None, Parameter(help="Matches of each pair with each colour; 100 if left out.")
    ] = None,
    openings: Openings = _OPENINGS,
    common: Common = _COMMON,
    work: Work = _HERE,
    sending: MaybeSending = _STAY,
) -> int:
    """Everybody against everybody: ratings with intervals, and the cross table."""
    fields = {"players": players, "samples": samples}
    return _play("pool", spec, fields | asdict(openings) | asdict(common), work, sending)


def _play(
    kind: str, spec: Path | None, fields: dict[str, Any], work: Work, sending: MaybeSending
) -> int:
    from plymill.cli.running import carry_out
    from plymill.cli.sending import send
    from plymill.cli.sources import require_store
    from plymill.workers import run_job

    require_store(work.store, there=False)
    job = _job(kind, spec, {name: value for name, value in fields.items() if value is not None})
    if sending.submit:
        return send(job, work, sending)
    return carry_out(
        job.run_id,
        work,
        lambda options, watcher: run_job(
            job, work.store, options=options, address=work.address, on_progress=watcher
        ),
    )


def _job(kind: str, spec: Path | None, flags: dict[str, Any]) -> "MatchJob":
    from plymill.workers import DuelJob, GridJob, PoolJob

    kinds: dict[str, type[MatchJob]] = {"grid": GridJob, "duel": DuelJob, "pool": PoolJob}
    if spec is not None:
        return kinds[kind].from_toml(spec, **flags)
    return kinds[kind].from_fields(flags, where="The flags")

"""What all commands that carry out runs share: watching a run, and telling how it ended."""

import shlex
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from plymill.cli.failures import FAILED
from plymill.cli.options import DEFAULT_STORE, TableWork, Work
from plymill.cli.output import note, program, say, say_json
from plymill.cli.sources import shown
from plymill.cli.words import duration, plural

if TYPE_CHECKING:
    from plymill.cli.progress import Watcher
    from plymill.cluster import JobSpec, RunOptions, RunResult

Start = Callable[["RunOptions", "Watcher"], "RunResult"]


def carry_out(run_id: str, work: Work, start: Start) -> int:
    """Start a run, show its progress, and tell what came out.

    Raises:
        RunInterruptedError: it was stopped; the sentence tells how to go on.
    """
    from plymill.cli.progress import watching
    from plymill.cluster import RunInterruptedError

    try:
        with watching(run_id) as watcher:
            result = start(options_of(work), watcher)
    except (KeyboardInterrupt, RunInterruptedError):
        raise RunInterruptedError(
            f"Run {run_id} is stopped; what is finished is kept, and "
            f"'{resume_command(run_id, work.store)}' goes on"
        ) from None
    artifacts = _artifacts(result)
    if work.json:
        say_json(as_json(result, artifacts))
    else:
        _tell(result, artifacts, work.store)
    return _ending(result)


def _ending(result: "RunResult") -> int:
    """The exit code, after a word about what is not as it should be."""
    if result.complete:
        _warn(result)
        return 0
    units = plural(len(result.quarantined), "unit")
    note(f"plymill: {units} could not be solved, so that run {result.run_id} is not complete.")
    return FAILED


def drive_run(job: "JobSpec", store: str, options: "RunOptions") -> int:
    """Carry a run out on the cluster that this process was started on.

    All is said before the connection ends: with it, Ray may remove what was sent to the cluster,
    this module and the folder that we are in.
    """
    from plymill.cli.progress import PlainLines
    from plymill.cluster import RunInterruptedError
    from plymill.cluster.on_ray.session import ray_session
    from plymill.workers import run_job

    with ray_session("auto", allow_insecure=options.allow_insecure):
        try:
            result = run_job(job, store, options=options, address="auto", on_progress=PlainLines())
        except RunInterruptedError:
            raise RunInterruptedError(
                f"Run {job.run_id} is stopped; what is finished is kept, and "
                f"'plymill resume {job.run_id}' goes on"
            ) from None
        _tell(result, _artifacts(result), store)
        return _ending(result)


def options_of(work: Work) -> "RunOptions":
    """The options that flags stand for."""
    from plymill.cluster import RunOptions

    return RunOptions(
        threads=work.threads,
        table_mb=work.table_mb if isinstance(work, TableWork) else None,
        weight=work.weight,
        allow_insecure=work.allow_insecure,
        log_file=work.log_file,
        log_level=work.log_level,
    )


def resume_command(run_id: str, store: str) -> str:
    """The command that goes on with a run."""
    return f"{program()} run resume {run_id}{store_flag(store)}"


def store_flag(store: str) -> str:
    """The flag that names a store, with a blank before it; nothing for the default."""
    return "" if store == DEFAULT_STORE else f" --store {shlex.quote(store)}"


def as_json(result: "RunResult", artifacts: list[str]) -> dict[str, Any]:
    """The end of a run for a program."""
    progress = result.progress
    return {
        "run_id": result.run_id,
        "url": result.url,
        "complete": result.complete,
        "quarantined": dict(result.quarantined),
        "items": progress.items_done,
        "items_resumed": progress.items_resumed,
        "seconds": round(progress.seconds, 3),
        "artifacts": artifacts,
        "stages": dict(result.stages),
    }


def _artifacts(result: "RunResult") -> list[str]:
    from plymill.cluster import ArrowFiles

    if not result.complete:
        return []
    files = ArrowFiles(result.url)
    return [files.place(f"artifacts/{name}") for name in files.list("artifacts")]


def _tell(result: "RunResult", artifacts: list[str], store: str) -> None:
    progress = result.progress
    spent = duration(progress.seconds)
    before = f", {progress.items_resumed:,} of them earlier" if progress.items_resumed else ""
    verb = "solved" if progress.item == "positions" else "played"
    done = f"{progress.items_done:,} {progress.item} {verb}{before}"
    say(f"Run {result.run_id}: {done}, {spent}.")
    for name, reason in result.quarantined.items():
        say(f"  unit {name} is quarantined: {reason}")
    if not result.complete:
        say(f"Running it again tries them again: {resume_command(result.run_id, store)}")
        return
    for ply, report in result.stages.get("validate", {}).items():
        _tell_checks(ply, report)
    for line in result.stages.get("summary", {}).get("lines", ()):
        say(f"  {line}")
    say()
    say(f"Artefacts in {shown(result.url)}/artifacts:")
    for path in artifacts:
        say(f"  {path.rpartition('/')[2]}")
    say(f"Charts and tables: {shown(result.url)}/report.html")
    say()
    _tell_question(result, artifacts, store)


def _warn(result: "RunResult") -> None:
    """What a person should know of a run that is complete."""
    said = result.stages.get("summary", {}).get("note")
    if said:
        note(f"plymill: {said}")


def _tell_checks(ply: str, report: Mapping[str, Any]) -> None:
    for check in report["checks"]:
        compared = plural(check["compared"], "position")
        say(f"  {check['verdict']}: {ply} stones, {check['name']}, {compared} compared")


def _tell_question(result: "RunResult", artifacts: list[str], store: str) -> None:
    from plymill.cluster import load_run

    if "://" in store:
        say(f"To fetch them: {program()} run download {result.run_id}{store_flag(store)}")
        return
    if any(path.endswith("matches.parquet") for path in artifacts):
        words = f"match replay {result.run_id} 0:0{store_flag(store)}"
        say(f"To see a match again: {program()} {words}")
        return
    books = [path for path in artifacts if path.endswith(".plymill")]
    if not books:
        return
    spec = load_run(store, result.run_id).spec
    name = f"-{spec['ply']}ply"
    book = next(path for path in books if name in path)
    name = shlex.quote(shown(book))
    say(f"To ask the book: {program()} book query {name} {spec['opening'] or '4453'}")

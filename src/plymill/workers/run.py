"""Running a job on Ray, from here: what the command line calls."""

import _thread
import hashlib
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from plymill.books import open_book
from plymill.cluster import (
    Coordinator,
    CorruptFileError,
    Job,
    JobSpec,
    Progress,
    RunNotFoundError,
    RunOptions,
    RunResult,
    RunStore,
    SpecError,
)
from plymill.cluster.driving import Driving, driving
from plymill.cluster.logs import Logging, log_to
from plymill.cluster.metrics import Metering
from plymill.cluster.runs import load_run
from plymill.cluster.sending.submit import is_cancelled
from plymill.cluster.storage.retries import PATIENCE
from plymill.errors import told
from plymill.workers.actor import UnitActor
from plymill.workers.book_spec import BookJob, Layout
from plymill.workers.book_stages import REFERENCE
from plymill.workers.kinds import make_job, spec_from_fields
from plymill.workers.match_run import MatchRun


def run_job(
    spec: JobSpec,
    store_url: str,
    *,
    options: RunOptions | None = None,
    address: str | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    reference: str | Path | None = None,
) -> RunResult:
    """Carry a job out, or go on with it where it was interrupted, and wait for its end.

    Args:
        spec: what to do.
        store_url: a folder, ``s3://bucket/path`` or ``gs://bucket/path``; all nodes must reach it.
        options: threads and table size.
        address: of a Ray cluster; None starts Ray on this machine.
        on_progress: called twice a second at most, and at every change of state.
        reference: the book that the spec's ``reference_sha256`` names; needed the first time only.

    Raises:
        RunInterruptedError: on Ctrl-C or SIGTERM (exit code 130); the same call goes on later.
        RunFailedError: the run cannot go on (exit code 1).
        RunTakenError: another driver drives it (exit code 2).
        PlymillError: the spec, a player, the store or the cluster is at fault (exit code 2).
    """
    options = options or RunOptions()
    with log_to(options.log_file, options.log_level):  # what cannot be written to is told at once
        return _drive(
            spec,
            store_url,
            options=options,
            address=address,
            on_progress=on_progress,
            reference=reference,
        )


def _drive(
    spec: JobSpec,
    store_url: str,
    *,
    options: RunOptions,
    address: str | None,
    on_progress: Callable[[Progress], None] | None,
    reference: str | Path | None,
) -> RunResult:
    from plymill.cluster.on_ray.session import ray_session

    store = RunStore.open(store_url, spec.run_id)
    job = make_job(spec, options)
    if address is None and isinstance(job, MatchRun) and not is_finished(spec.run_id, store_url):
        job.try_out(_teller(store, on_progress))  # what is at fault here is so before Ray starts
    ray = ray_session(address, threads=options.threads, allow_insecure=options.allow_insecure)
    with ExitStack() as stack:
        if address is not None:  # a cluster that refuses us leaves nothing in the store
            stack.enter_context(ray)
        store.write_spec(spec)
        _store_reference(spec, store, reference)
        held = stack.enter_context(
            driving(store, on_lost=_interruption(), tell=_teller(store, on_progress))
        )
        if address is None:
            stack.enter_context(ray)
        return _coordinate(job, store, held, options, on_progress, shared=address is not None)


def _coordinate(
    job: Job,
    store: RunStore,
    held: Driving,
    options: RunOptions,
    on_progress: Callable[[Progress], None] | None,
    *,
    shared: bool,
) -> RunResult:
    """Carry a run out that is ours to drive, on the Ray that we are connected to."""
    from plymill.cluster.on_ray.executor import RayExecutor
    from plymill.cluster.on_ray.metrics import RaySink
    from plymill.cluster.on_ray.session import log_file
    from plymill.cluster.on_ray.shares import RayShares

    run_id = store.run_id
    shares = RayShares(store.url, options.weight) if shared else None
    patient = store.patient(PATIENCE)  # the lease has a rhythm of its own
    coordinator = Coordinator(
        job,
        patient,
        RayExecutor(job, patient, UnitActor, threads=options.threads, shares=shares),
        options=options,
        on_progress=on_progress,
        watchers=(Logging(run_id), Metering(run_id, RaySink())),
        mine=lambda: not held.lost,
    )
    try:
        beside_ray = None if options.log_file else log_file(run_id)
        with log_to(beside_ray, options.log_level):
            return coordinator.run()
    finally:
        if shares is not None:
            shares.leave()


def _interruption() -> Callable[[], None]:
    """What wakes a driver from whatever it waits for, as Ctrl-C would."""
    if threading.current_thread() is threading.main_thread():
        return _thread.interrupt_main
    return lambda: None


def _teller(
    store: RunStore, on_progress: Callable[[Progress], None] | None
) -> Callable[[str], None]:
    """Shows a sentence as the progress of a run that is not driven yet."""
    started = time.time()

    def tell(text: str) -> None:
        if on_progress is not None:
            on_progress(
                Progress(
                    run_id=store.run_id,
                    state="waiting",
                    message=text,
                    started=started,
                    updated=time.time(),
                )
            )

    return tell


def resume_run(
    run_id: str,
    store_url: str,
    *,
    options: RunOptions | None = None,
    address: str | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> RunResult:
    """Go on with a run that is in the store; see `run_job`.

    Raises:
        RunNotFoundError: there is no such run.
        CorruptFileError: its spec was altered.
        SpecError: its spec is another one to this version of plymill.
    """
    spec = stored_spec(run_id, store_url)
    return run_job(spec, store_url, options=options, address=address, on_progress=on_progress)


def stored_spec(run_id: str, store_url: str) -> JobSpec:
    """The spec of a run that is in the store.

    Raises:
        RunNotFoundError: there is no such run.
        CorruptFileError: its spec was altered.
        SpecError: its spec is another one to this version of plymill.
    """
    where = f"{store_url}/{run_id}/spec.json"
    spec = spec_from_fields(load_run(store_url, run_id).spec, where=where)
    if spec.run_id != run_id:
        raise SpecError(
            f"{where} was written by another version of plymill: to this one it describes the run "
            f"{spec.run_id}, expected {run_id}."
        )
    return spec


def prepare_store(spec: JobSpec, store_url: str, reference: str | Path | None) -> None:
    """See what the store says of a run before it is sent to a cluster.

    A reference book is put there. A store that is a folder on the cluster only is not looked into.

    Raises:
        SpecError: the run was cancelled.
        StoreError: the store cannot be reached.
    """
    store = RunStore.open(store_url, spec.run_id)
    if reference is not None:
        store.write_spec(spec)
        _store_reference(spec, store, reference)
    if is_cancelled(store) and not is_finished(spec.run_id, store_url):
        raise SpecError(
            f"Run {spec.run_id} was cancelled; 'plymill resume {spec.run_id}' takes it up again."
        )


def is_finished(run_id: str, store_url: str) -> bool:
    """Whether a run is in the store with all that it was to make."""
    try:
        info = load_run(store_url, run_id)
    except (RunNotFoundError, CorruptFileError):
        return False
    return info.state == "done" and info.manifest is not None


def with_reference(spec: BookJob, path: str | Path, layout: Layout) -> BookJob:
    """The same job, whose finished book is compared with the book at ``path``.

    Raises:
        SpecError: the file cannot be read, or holds positions that the job does not make.
        BookFormatError: it is no book of this layout.
    """
    with open_book(path, layout) as book:
        comparable = book.opening.startswith(spec.opening) or spec.opening.startswith(book.opening)
        if book.ply != spec.ply or not comparable:
            raise SpecError(
                f"{path} holds positions of ply {book.ply} after '{book.opening}', expected a book "
                f"to compare with of ply {spec.ply} after '{spec.opening}'."
            )
    digest = hashlib.sha256(_read(path)).hexdigest()
    return spec.model_copy(update={"reference_sha256": digest, "reference_layout": layout})


def _store_reference(spec: JobSpec, store: RunStore, path: str | Path | None) -> None:
    """Put the reference book among the run's inputs, where every worker reaches it."""
    expected = spec.reference_sha256 if isinstance(spec, BookJob) else None
    if expected is None or store.is_intact(REFERENCE, expected):
        return
    if path is None:
        place = store.files.place(REFERENCE)
        raise SpecError(f"The run compares with a book that {place} does not hold.")
    data = _read(path)
    if hashlib.sha256(data).hexdigest() != expected:
        raise SpecError(f"{path} is not the reference that the job names: its digest differs.")
    store.files.write(REFERENCE, data)


def _read(path: str | Path) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise SpecError(f"{path}: cannot read the reference book: {told(error)}.") from None

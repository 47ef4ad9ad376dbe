"""Sending a run to a cluster, so that it goes on when the person who sent it goes home."""

import json
import shlex
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plymill.cluster.driving import require_undriven
from plymill.cluster.errors import ClusterError, RunTakenError, SpecError, StoreError
from plymill.cluster.sending.look import driver_labels, driver_python, look_at
from plymill.cluster.sending.submissions import (
    KIND_KEY,
    OWNER_KEY,
    RUN_KEY,
    STORE_KEY,
    WEIGHT_KEY,
    Jobs,
    Order,
    Submission,
    attempts,
    next_name,
)
from plymill.cluster.sending.wheels import (
    Wheel,
    installed_wheel,
    open_wheel,
    require_fit,
    to_install,
)
from plymill.cluster.spec import JobSpec, RunOptions
from plymill.cluster.storage.store import RunStore
from plymill.errors import told

ORDER_FILE = "job.json"
CANCELLED = "cancelled.json"
SUBMISSION = "submission.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shipment:
    """How a run is sent.

    Attributes:
        owner: who sends it.
        wheel: the wheel to ship; what is installed here if None.
        labels: what the labels of the driver's node have to be; chosen if empty.
        resources: what the driver takes of its node.
        environment: variables of the driver and of all workers.
    """

    owner: str
    wheel: Path | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    resources: Mapping[str, float] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Sent:
    """What came of sending a run: the attempt that drives it, and whether that is a new one."""

    name: str
    new: bool


def submit(
    jobs: Jobs,
    spec: JobSpec,
    store_url: str,
    *,
    options: RunOptions,
    shipment: Shipment,
    tell: Callable[[str], None] = lambda text: None,
) -> Sent:
    """Send a run to a cluster, unless it is running there.

    Args:
        jobs: the cluster.
        spec: what to do; it travels by value.
        store_url: the store, as the nodes of the cluster name it.
        options: threads, table size and weight.
        shipment: who sends it, with what.
        tell: called with a line about each step.

    Raises:
        ClusterError: the cluster cannot run it; nothing was started then.
    """
    run_id = spec.run_id
    earlier = attempts(jobs.submissions(), run_id)
    active = next((a for a in reversed(earlier) if a.active), None)
    if active is not None:
        _require_same_store(active, store_url, jobs.address)
        return Sent(active.name, new=False)
    wheel = installed_wheel() if shipment.wheel is None else open_wheel(shipment.wheel)
    tell(f"looking at the cluster at {jobs.address}")
    look = look_at(jobs, wheel.requires)
    require_fit(wheel, look, jobs.address)
    packages = to_install(wheel, look)
    name = next_name(earlier, run_id)
    tell(f"sending plymill {wheel.version} as {name}")
    with tempfile.TemporaryDirectory() as folder:
        order = Order(
            name=name,
            entrypoint=_entrypoint(driver_python(look, installs=bool(packages))),
            metadata=_metadata(spec, store_url, options, shipment),
            modules=[_unpacked(wheel, Path(folder))],
            packages=packages,
            folder=_order_folder(Path(folder), spec, store_url, options, shipment.owner),
            environment=shipment.environment,
            labels=shipment.labels or ({} if shipment.resources else driver_labels(look)),
            resources=shipment.resources,
        )
        new = jobs.submit(order)
    return Sent(name, new=new)


def read_order(path: Path) -> tuple[Mapping[str, Any], str, RunOptions]:
    """What a driver is to do: the spec's fields, the store, the options.

    Raises:
        SpecError: the file is not what `submit` writes.
    """
    try:
        fields = json.loads(path.read_text(encoding="utf-8-sig"))
        return fields["spec"], fields["store"], RunOptions.model_validate(fields["options"])
    except OSError as error:
        raise SpecError(f"{path}: cannot read what is to be done: {told(error)}.") from error
    except (ValueError, KeyError, TypeError) as error:
        raise SpecError(f"{path} is no order of 'plymill submit'.") from error


def note_owner(store: RunStore, order: Path) -> None:
    """Note in the store who sent the run: the page tells it while no cluster does."""
    owner = json.loads(order.read_text(encoding="utf-8-sig")).get("owner", "")
    if owner:
        store.write_json(SUBMISSION, {"owner": owner})


def owner_of(store: RunStore) -> str | None:
    """Who sent the run, if that is known."""
    owner = (store.read_json(SUBMISSION) or {}).get("owner")
    return owner if isinstance(owner, str) and owner else None


def cancel(store: RunStore) -> None:
    """Note in the store that nobody wants the run any more."""
    store.write_json(CANCELLED, {"cancelled": True})


def is_cancelled(store: RunStore) -> bool:
    """Whether the run was given up."""
    return store.files.exists(CANCELLED)


def take_up(store: RunStore) -> None:
    """Forget that the run was given up."""
    store.files.delete(CANCELLED)


def delete_run(store: RunStore, jobs: Jobs | None) -> int:
    """Remove all files of a run, and let the cluster forget its attempts; how many of these.

    Raises:
        ClusterError: it is running, on this cluster or anywhere else.
    """
    found: list[Submission] = []
    if jobs is not None:
        found = attempts(jobs.submissions(), store.run_id)
        active = next((a for a in found if a.active), None)
        if active is not None:
            raise ClusterError(
                f"Run {store.run_id} is {active.status.lower()} on the cluster at {jobs.address}; "
                f"'plymill stop {store.run_id}' stops it."
            )
    try:
        require_undriven(store)
    except RunTakenError as error:
        raise ClusterError(
            f"{error} Stop it before: 'plymill stop {store.run_id}', or Ctrl-C where it runs."
        ) from None
    if jobs is not None:
        for attempt in found:
            with suppress(ClusterError):
                jobs.delete(attempt.name)
    store.files.delete_all()
    return len(found)


def _require_same_store(active: Submission, store_url: str, address: str) -> None:
    if active.store and active.store != store_url:
        raise StoreError(
            f"Run {active.run_id} is running on the cluster at {address} already, for the store "
            f"{active.store}; expected that one, not {store_url}."
        )


def _metadata(
    spec: JobSpec, store_url: str, options: RunOptions, shipment: Shipment
) -> dict[str, str]:
    return {
        RUN_KEY: spec.run_id,
        KIND_KEY: spec.kind,
        OWNER_KEY: shipment.owner,
        STORE_KEY: store_url,
        WEIGHT_KEY: f"{options.weight:g}",
    }


def _entrypoint(python: str) -> str:
    return f"exec {shlex.quote(python)} -m plymill run drive {ORDER_FILE}"


def _unpacked(wheel: Wheel, folder: Path) -> Path:
    target = folder / "modules"
    target.mkdir()
    return wheel.unpack(target)


def _order_folder(
    folder: Path, spec: JobSpec, store_url: str, options: RunOptions, owner: str
) -> Path:
    target = folder / "order"
    target.mkdir()
    fields = {
        "spec": spec.model_dump(mode="json"),
        "store": store_url,
        "options": options.model_dump(mode="json"),
        "owner": owner,
    }
    (target / ORDER_FILE).write_text(json.dumps(fields, sort_keys=True), encoding="utf-8")
    return target

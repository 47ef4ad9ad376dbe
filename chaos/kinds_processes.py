"""Faults of processes: workers, nodes, drivers, the whole cluster."""

import signal
import time
from random import Random
from typing import Any

from chaos.kinds import Kind, Strike
from chaos.session import Session
from chaos.strikes import FaultMissedError, end, is_gone, run_out_of_memory, stop
from tests.faults import resume_worker

_NOTICED_WITHIN = 120.0


def _victim(session: Session, random: Random) -> Any:
    return random.choice(sorted(session.watch.living, key=lambda worker: worker.name))


def kill_worker(session: Session, random: Random) -> Strike:
    """SIGKILL."""
    victim = _victim(session, random)
    end(victim.pid)
    return Strike(f"worker process {victim.pid}")


def starve_worker(session: Session, random: Random) -> Strike:
    """The kernel kills it for want of memory."""
    victim = _victim(session, random)
    run_out_of_memory(victim.pid)
    return Strike(f"worker process {victim.pid}")


def pause_worker(session: Session, random: Random) -> Strike:
    """SIGSTOP, and SIGCONT after some seconds."""
    victim = _victim(session, random)
    seconds = random.uniform(3, 8)
    stop(victim.pid)
    try:
        session.pass_time(seconds)
    finally:
        resume_worker(victim.pid)
    return Strike(f"worker process {victim.pid}, for {seconds:.1f} s")


def stop_worker(session: Session, random: Random) -> Strike:
    """SIGSTOP, for good."""
    victim = _victim(session, random)
    stop(victim.pid)
    return Strike(
        f"worker process {victim.pid}, for good",
        set(victim.in_flight),
        whole=lambda: (
            is_gone(victim.pid) and len(session.watch.living) >= session.place.nodes.count
        ),
        undo=lambda: resume_worker(victim.pid),
    )


def kill_node(session: Session, random: Random) -> Strike:
    """All processes of a node die at once, and another node joins."""
    nodes = session.place.nodes
    victim = _victim(session, random)
    pids = nodes.kill(victim.node)
    if not is_gone(victim.pid):
        raise FaultMissedError(f"worker {victim.pid} has survived its node")
    new = nodes.add()
    since = time.monotonic()

    def noticed() -> bool:
        gone = victim.node not in nodes.alive()
        if not gone and time.monotonic() - since > _NOTICED_WITHIN:
            raise FaultMissedError(f"node {victim.node[:8]} still counts as alive")
        return gone

    what = f"node {victim.node[:8]} ({len(pids)} processes); {new[:8]} joined"
    return Strike(what, over=noticed)


def kill_driver(session: Session, random: Random) -> Strike:
    """SIGKILL; the person starts it again."""
    del random
    pid = session.driver.pid
    end(pid)
    return Strike(f"driver process {pid}")


def start_second_driver(session: Session, random: Random) -> Strike:
    """Another driver for the same run has to say that there is one, and leave."""
    del random
    first = session.driver
    second = session.new_driver()
    try:
        session.wait(lambda: second.poll() is not None, "the second driver leaves")
    finally:
        if second.poll() is None:
            end(second.pid)
    said = session.said()
    if second.returncode != 2 or "is driven by another driver" not in said:
        raise FaultMissedError(f"the second driver ended with {second.returncode}: {said}")
    if session.driver is not first:
        raise FaultMissedError("the first driver did not outlive the second")
    return Strike(f"second driver, process {second.pid}, left")


def replace_cluster(session: Session, random: Random) -> Strike:
    """The head dies with its GCS and all nodes; another cluster is started."""
    del random
    nodes = session.place.nodes
    gcs = nodes.gcs
    pids = nodes.destroy()
    if gcs not in pids or not is_gone(gcs):
        raise FaultMissedError(f"the GCS, process {gcs}, was not killed")
    session.wait(
        lambda: session.driver.poll() is not None,
        "the driver ends after its cluster",
        start_again=False,
    )
    nodes.start()
    return Strike(f"GCS process {gcs} and all nodes ({len(pids)} processes)")


def end_driver(session: Session) -> None:
    """End the driver in peace, as a person would who wants to go on later."""
    session.stop_driver(signal.SIGTERM)


KINDS = {
    "worker killed": Kind(kill_worker, "SIGKILL of a worker's process"),
    "worker out of memory": Kind(
        starve_worker, "the kernel kills a worker for want of memory", needs_memory_limit=True
    ),
    "worker paused": Kind(pause_worker, "SIGSTOP of a worker for three to eight seconds"),
    "worker stopped": Kind(stop_worker, "SIGSTOP of a worker, for good"),
    "node killed": Kind(kill_node, "SIGKILL of a node's processes; another node joins"),
    "driver killed": Kind(kill_driver, "SIGKILL of the driver"),
    "second driver": Kind(start_second_driver, "another driver is started for the run"),
    "cluster replaced": Kind(
        replace_cluster, "SIGKILL of the GCS, the head and all nodes; another cluster is started"
    ),
}

"""Connecting to a Ray cluster, or starting one on this machine.

A cluster that plymill starts asks for a token: a fresh one each time, known to its own processes
only, through their environment. A cluster that it joins has to ask for one, too; see `tokens`.
"""

import logging
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from plymill.cluster.errors import ClusterError
from plymill.cluster.sending.tokens import (
    NO_TOKEN,
    OPEN_CLUSTER,
    prepare_client,
    protect_own_cluster,
)

OBJECT_STORE_BYTES = 100 * 2**20  # plans, receipts and arguments: everything big goes to the store


_KNOCK_SECONDS = 10.0


def processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def ray_session(
    address: str | None, *, threads: int | None = None, allow_insecure: bool = False
) -> Iterator[None]:
    """Connect to ``address``, or to a new local Ray with ``threads`` processors if it is None.

    A connection that is there already is used and left open. While the session lasts, SIGTERM, with
    which systems end a process, does what Ctrl-C does.

    Raises:
        ClusterError: the cluster cannot be reached or started, wants another token, or wants none
            and ``allow_insecure`` is not set.
    """
    if address is None:
        protect_own_cluster()
    else:
        # With a token, Ray 2.60 joins a cluster that asks for none, and then starts no actor there.
        is_open = allow_insecure and _is_plain(address) and not _turns_away(address, {})
        prepare_client(allow_insecure=allow_insecure, with_token=not is_open)
    import ray

    from plymill.cluster.on_ray.health import keep_off_standard_output

    keep_off_standard_output()
    if ray.is_initialized():
        with _sigterm_like_ctrl_c():
            yield
        return
    with _sigterm_like_ctrl_c() as hear:
        try:
            _start(address, threads=threads, allow_insecure=allow_insecure)
            hear()
            yield
        finally:
            ray.shutdown()


def _start(address: str | None, *, threads: int | None, allow_insecure: bool) -> None:
    import ray
    from ray._private import ray_constants

    # Else Ray answers SIGTERM with the trace of its threads: no help to those who ask for an end.
    ray_constants.RAY_DISABLE_FAILURE_SIGNAL_HANDLER = True
    try:
        if address is None:
            ray.init(
                address="local",
                num_cpus=threads or processors(),
                object_store_memory=OBJECT_STORE_BYTES,
                include_dashboard=False,
                log_to_driver=False,
                logging_level=logging.ERROR,
            )
        else:
            _knock(address)
            _require_welcome(address)
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
            if not allow_insecure and _is_open(ray.get_runtime_context().gcs_address):
                ray.shutdown()
                raise ClusterError(OPEN_CLUSTER.format(address=address))
    except ClusterError:
        raise
    except SystemExit:  # this is what Ray makes of SIGTERM while it starts
        raise KeyboardInterrupt from None
    except ray.exceptions.AuthenticationError as error:
        raise ClusterError(NO_TOKEN.format(address=address)) from error
    except Exception as error:  # Ray raises bare ones, too, as when its raylet dies at the start
        where = f"reach the Ray cluster at '{address}'" if address else "start Ray on this machine"
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise ClusterError(f"Cannot {where}: {reason}") from error


def log_file(run_id: str) -> Path | None:
    """Where a run's driver logs if nobody says otherwise: beside Ray's own logs on this machine."""
    from ray._private.worker import _global_node  # Ray tells the folder nowhere else

    folder = None if _global_node is None else _global_node.get_logs_dir_path()
    return Path(folder) / f"plymill-{run_id}.jsonl" if folder and Path(folder).is_dir() else None


@contextmanager
def _sigterm_like_ctrl_c() -> Iterator[Callable[[], None]]:
    """Ray's own handlers would end the process without a word in the store.

    What is yielded is to be called once Ray has started: it has set a handler of its own then. A
    caller who hears SIGTERM in a way of his own goes on to do so.
    """
    if threading.current_thread() is not threading.main_thread():  # Python hears signals there only
        yield lambda: None
        return
    before = signal.getsignal(signal.SIGTERM)
    mine = before if callable(before) else signal.default_int_handler

    def hear() -> None:
        signal.signal(signal.SIGTERM, mine)

    hear()
    try:
        yield hear
    finally:
        signal.signal(signal.SIGTERM, before or signal.SIG_DFL)


def _knock(address: str) -> None:
    """Fail within seconds where nobody listens; Ray itself tries for minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if colon and port.isdigit():
        socket.create_connection((host, int(port)), timeout=_KNOCK_SECONDS).close()


def _require_welcome(address: str) -> None:
    """See that the cluster accepts our token; Ray itself tries for long, and then names the raylet.

    Only where the address is that of the head's process for all others, HOST:PORT.
    """
    from ray._private.authentication.http_token_authentication import (
        get_auth_headers_if_auth_enabled as header_of_ray,
    )

    if _is_plain(address) and _turns_away(address, header_of_ray({})):
        raise ClusterError(NO_TOKEN.format(address=address))


def _is_plain(address: str) -> bool:
    """Whether it is HOST:PORT: that of the GCS itself."""
    _, colon, port = address.rpartition(":")
    return "://" not in address and bool(colon) and port.isdigit()


def _is_open(gcs_address: str) -> bool:
    """Whether the cluster answers somebody who brings no token."""
    return not _turns_away(gcs_address, {})


def _turns_away(gcs_address: str, header: Mapping[str, str]) -> bool:
    import grpc

    with grpc.insecure_channel(gcs_address) as channel:
        ask = channel.unary_unary("/ray.rpc.NodeInfoGcsService/CheckAlive")
        try:
            ask(b"", timeout=_KNOCK_SECONDS, metadata=list(header.items()))
        except grpc.RpcError as error:
            return bool(error.code() == grpc.StatusCode.UNAUTHENTICATED)
    return False

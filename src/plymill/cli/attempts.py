"""What is said of the attempts to drive a run on a cluster."""

import time
from typing import TYPE_CHECKING, Any

from plymill.cli.options import DEFAULT_STORE

if TYPE_CHECKING:
    from plymill.cluster.sending.submissions import Submission

_ENDS = {"STOPPED": "was stopped", "FAILED": "failed", "SUCCEEDED": "was done"}
_NODE_DIED = "its node has died"
_LOG = "last available logs"
_LONGEST = 200


def store_of(found: list["Submission"], store: str) -> str:
    """The store that was named, or else the one that the run was sent with."""
    if store != DEFAULT_STORE or not found or not found[-1].store:
        return store
    return found[-1].store


def words(attempt: "Submission") -> str:
    """Whether an attempt goes on, how long it took, whose it is, and what went wrong."""
    owner = f", sent by {attempt.owner}" if attempt.owner else ""
    if attempt.active:
        so_far = "" if attempt.started is None else f" for {ran(attempt)} so far"
        return f"{attempt.name} is {attempt.status.lower()}{so_far}{owner}"
    end = _ENDS.get(attempt.status, f"ended as {attempt.status.lower()}")
    took = "" if attempt.started is None else f"ran {ran(attempt)}, then "
    fault = _fault(attempt) if attempt.status == "FAILED" else ""
    return f"{attempt.name} {took}{end}{owner}{fault}"


def ran(attempt: "Submission") -> str:
    """How long an attempt took, or has taken so far."""
    from plymill.cli.words import duration

    if attempt.started is None:
        return "-"
    return duration((attempt.ended or time.time()) - attempt.started)


def fields(attempt: "Submission") -> dict[str, Any]:
    """An attempt for a program: all that the cluster tells."""
    from dataclasses import asdict

    return asdict(attempt)


def _fault(attempt: "Submission") -> str:
    """What the cluster says about a failure, but for the end of the log that it adds."""
    if _NODE_DIED in attempt.message:
        return " (the node of its driver is gone)"
    text, log, _ = attempt.message.partition(_LOG)
    text = text.rstrip(" ,.")
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]} ..."
    more = f"'plymill logs {attempt.run_id}' shows its last words" if log else ""
    told = "; ".join(part for part in (text, more) if part)
    return f" ({told})" if told else ""

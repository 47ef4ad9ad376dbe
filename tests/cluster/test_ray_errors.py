"""What Ray raises, told apart. Needs the package, starts no cluster."""

from typing import Any

import pytest
from ray import exceptions
from ray.core.generated import common_pb2

from plymill.cluster.machine.events import LossCause
from plymill.cluster.on_ray.outcomes import loss_cause

re: Any = exceptions  # neither these constructors nor the messages are annotated
pb: Any = common_pb2


def died(**context: object) -> Any:
    return re.ActorDiedError(
        pb.ActorDiedErrorContext(actor_id=b"\0" * 16, error_message="it died", **context)
    )


PREEMPTED = died(
    node_death_info=pb.NodeDeathInfo(reason=pb.NodeDeathInfo.AUTOSCALER_DRAIN_PREEMPTED)
)
NOT_STARTED = re.ActorDiedError()
NOT_STARTED._actor_init_failed = True


@pytest.mark.parametrize(
    ("error", "node_alive", "cause"),
    [
        (died(), True, LossCause.CRASHED),
        (died(), False, LossCause.NODE_LOST),
        (PREEMPTED, True, LossCause.NODE_LOST),
        (NOT_STARTED, True, LossCause.NOT_STARTED),
        (re.OutOfMemoryError("low"), True, LossCause.OUT_OF_MEMORY),
        (re.NodeDiedError("gone"), True, LossCause.NODE_LOST),
        (re.LocalRayletDiedError(), True, LossCause.NODE_LOST),
        (re.ActorUnavailableError("away", None), True, LossCause.UNREACHABLE),
        (re.ActorUnavailableError("away", None), False, LossCause.NODE_LOST),
        (re.ActorUnschedulableError("no room"), True, LossCause.NOT_STARTED),
        (re.ActorUnschedulableError("no node"), False, LossCause.NODE_LOST),
        (re.WorkerCrashedError(), True, LossCause.CRASHED),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else str(value),
)
def test_the_cause_of_a_loss_follows_from_error_and_node(
    error: Any, node_alive: bool, cause: LossCause
) -> None:
    assert loss_cause(error, node_alive=node_alive) is cause

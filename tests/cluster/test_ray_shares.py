"""When a driver asks for its share of a cluster. Needs the package of Ray, starts no cluster."""

from collections.abc import Mapping
from typing import Any

import pytest
import ray

from plymill.cluster.on_ray.shares import RayShares

OFFERS = {"a": 2, "b": 2}


class LedgerActor:
    """Gives each run one slot of the first node, and keeps what was wanted."""

    def __init__(self) -> None:
        self.wanted: list[int] = []

    @property
    def report(self) -> "LedgerActor":
        return self

    def remote(self, run: str, fields: Mapping[str, Any], nodes: dict[str, int]) -> dict[str, int]:
        del run, nodes
        self.wanted.append(fields["wanted"])
        return {"a": 1}


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, which the test may change."""
    time = [1000.0]
    monkeypatch.setattr("plymill.cluster.on_ray.shares.time.monotonic", lambda: time[0])
    monkeypatch.setattr(ray, "get", lambda ref, **_: ref)
    return time


def test_a_run_asks_at_once_when_it_can_use_more_and_else_every_two_seconds(
    now: list[float],
) -> None:
    shares, ledger = RayShares("run", 1.0), LedgerActor()
    shares._actor = ledger

    def ask(wanted: int, offers: dict[str, int] = OFFERS) -> None:
        assert shares.ask(wanted, OFFERS, offers, {}) == {"a": 1}

    ask(1)  # it plans
    ask(1)
    assert ledger.wanted == [1]
    ask(99)  # the plan is ready
    ask(98)
    ask(3)  # fewer can wait, and more units than there are slots make no difference
    ask(120)
    assert ledger.wanted == [1, 99]
    now[0] += 2.0
    ask(97)
    assert ledger.wanted == [1, 99, 97]
    ask(97, {"a": 2})  # a node that cannot be used any more
    ask(0, {"a": 2})  # nothing is left
    assert ledger.wanted == [1, 99, 97, 97, 0]

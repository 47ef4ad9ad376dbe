"""When a driver asks for its share of a cluster, and what the autoscaler is asked for.

Needs the package of Ray, starts no cluster.
"""

from collections.abc import Mapping
from typing import Any

import pytest
import ray

from plymill.cluster.on_ray import shares as ray_shares
from plymill.cluster.on_ray.shares import RayShares, SharesActor
from plymill.cluster.shares import SILENCE

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


# --- the autoscaler -------------------------------------------------------------------------------


class Autoscaler:
    """Keeps what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[int] = []
        self.away = False

    def request_resources(self, *, num_cpus: int) -> None:
        if self.away:
            raise RuntimeError("nobody answers")
        self.asked.append(num_cpus)


@pytest.fixture
def autoscaler(monkeypatch: pytest.MonkeyPatch) -> Autoscaler:
    there = Autoscaler()
    monkeypatch.setattr(ray_shares, "autoscaler", there)
    monkeypatch.setattr(ray_shares, "_TELL_EVERY", 1e6)  # the test tells
    return there


def report(actor: SharesActor, wanted: int) -> None:
    actor.report("run", {"weight": 1.0, "wanted": wanted, "offers": {}, "holding": {}}, {})


def test_what_runs_want_is_asked_for_when_it_changes(
    now: list[float], autoscaler: Autoscaler
) -> None:
    actor = SharesActor()
    for wanted in (7, 7, 9):
        report(actor, wanted)
        now[0] += 30
        actor._tell_again()
    actor.leave("run")
    assert autoscaler.asked == [7, 9, 0]


def test_an_actor_that_takes_the_place_of_another_withdraws_what_that_asked_for(
    now: list[float], autoscaler: Autoscaler
) -> None:
    """The runs have ended with the first actor; others would have reported within the minute."""
    actor = SharesActor()
    now[0] += SILENCE
    actor._tell_again()
    assert autoscaler.asked == []
    for _ in range(3):
        now[0] += 20
        actor._tell_again()
    assert autoscaler.asked == [0]


def test_what_could_not_be_asked_for_is_asked_for_again_but_not_at_every_report(
    now: list[float], autoscaler: Autoscaler
) -> None:
    actor = SharesActor()
    report(actor, 7)
    autoscaler.away = True
    actor.leave("run")
    autoscaler.away = False
    actor.leave("run")
    assert autoscaler.asked == [7]
    now[0] += SILENCE + 20
    actor._tell_again()
    actor._tell_again()
    assert autoscaler.asked == [7, 0]

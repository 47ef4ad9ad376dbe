"""The ledger of a cluster's runs (see `shares`), kept by an actor that all their drivers ask.

The actor has no processor of its own and belongs to no run. It remembers nothing that matters: if
it is lost, with its node, the next driver that asks starts another, and all report again.

It also tells Ray's autoscaler, where there is one, how many processors all runs together can use.
Workers are placed on nodes that are there, which by itself asks for no others.
"""

import logging
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import ray
from ray import exceptions as re
from ray.autoscaler import sdk as autoscaler

from plymill.cluster.shares import SILENCE, Claim, Ledger, Slots

_log = logging.getLogger(__name__)
_NAME, _NAMESPACE = "plymill-shares-1", "plymill"  # the number is that of what is said to it
_EVERY = 2.0
_ANSWER_SECONDS = 10.0
_TELL_EVERY = 20.0  # seconds; runs that were killed are forgotten meanwhile
_MOST_ASKED = 4096  # processors: the request names each


class SharesActor:
    """A ledger with a clock; arguments are plain, as drivers of other versions ask, too."""

    def __init__(self) -> None:
        self._ledger = Ledger()
        self._lock = threading.Lock()
        self._began = time.monotonic()
        self._tried = 0  # what was asked for last, perhaps in vain
        self._asked_for: int | None = None  # what stands; None is not known
        threading.Thread(target=self._keep_telling, daemon=True).start()

    def report(self, run: str, fields: dict[str, Any], nodes: dict[str, int]) -> Slots:
        """See `Ledger.report`."""
        claim = Claim(
            weight=fields["weight"],
            wanted=fields["wanted"],
            offers=fields["offers"],
            holding=fields["holding"],
        )
        with self._lock:
            slots = self._ledger.report(run, claim, nodes, time.monotonic())
        self._tell_autoscaler()
        return slots

    def leave(self, run: str) -> None:
        """See `Ledger.leave`."""
        with self._lock:
            self._ledger.leave(run)
        self._tell_autoscaler()

    def _keep_telling(self) -> None:
        while True:
            time.sleep(_TELL_EVERY)
            self._tell_again()

    def _tell_again(self) -> None:
        self._tell_autoscaler(again=time.monotonic() - self._began > SILENCE)

    def _tell_autoscaler(self, *, again: bool = False) -> None:
        """Ask for what is wanted, if that has changed; what is asked for stands until then.

        ``again``: also if it is not known to stand. Asking may have failed; and an actor that takes
        the place of another does not know what that asked for, perhaps for runs that have ended
        since. It waits until all runs have had the time to report.
        """
        with self._lock:
            wanted = min(self._ledger.wanted(time.monotonic()), _MOST_ASKED)
            if wanted == (self._asked_for if again else self._tried):
                return
            self._tried = wanted
            try:
                autoscaler.request_resources(num_cpus=wanted)
            except Exception:  # of whatever kind: sharing goes on without more nodes
                _log.exception("the autoscaler cannot be asked")
                self._asked_for = None
            else:
                self._asked_for = wanted


class RayShares:
    """What one run may use of the cluster.

    Args:
        run: names the run among all of the cluster, of whatever store.
        weight: its share, compared with other runs.
    """

    def __init__(self, run: str, weight: float) -> None:
        self._run = run
        self._weight = weight
        self._actor: Any = None
        self._asked = float("-inf")
        self._allotted: Slots | None = None
        self._offered: Slots = {}
        self._wanted = self._usable = 0

    def ask(
        self,
        wanted: int,
        nodes: Mapping[str, int],
        offers: Mapping[str, int],
        holding: Mapping[str, int],
    ) -> Slots:
        """How many slots of each node the run may use; asks every two seconds, or for more.

        Where nobody answers, all stays as it was; a run that never had an answer takes all.

        Args:
            wanted: how many it can use.
            nodes: all slots of the cluster.
            offers: how many the run can use of each node.
            holding: how many it has.
        """
        now = time.monotonic()
        usable = min(wanted, sum(offers.values()))
        more = usable > self._usable  # as when a plan is ready
        news = offers.keys() != self._offered.keys() or more or (wanted > 0) != (self._wanted > 0)
        if not news and now - self._asked < _EVERY:
            return self._within(offers)
        self._asked, self._wanted, self._usable = now, wanted, usable
        self._offered = dict(offers)
        fields = {
            "weight": self._weight,
            "wanted": wanted,
            "offers": dict(offers),
            "holding": dict(holding),
        }
        try:
            actor = self._get()
            answer = actor.report.remote(self._run, fields, dict(nodes))
            self._allotted = ray.get(answer, timeout=_ANSWER_SECONDS)
        except (re.RayError, ValueError) as error:
            _log.warning("nobody tells how the cluster is shared: %s", error)
            self._actor = None
        return self._within(offers)

    def leave(self) -> None:
        """Let the others have all."""
        if self._actor is not None:
            with suppress(re.RayError):
                ray.get(self._actor.leave.remote(self._run), timeout=_ANSWER_SECONDS)

    def _within(self, offers: Mapping[str, int]) -> Slots:
        if self._allotted is None:
            return dict(offers)
        return {n: min(s, offers[n]) for n, s in self._allotted.items() if n in offers}

    def _get(self) -> Any:
        if self._actor is None:
            actor: Any = ray.remote(SharesActor)
            self._actor = actor.options(
                name=_NAME,
                namespace=_NAMESPACE,
                get_if_exists=True,
                lifetime="detached",
                num_cpus=0,
                max_restarts=-1,
                max_task_retries=-1,
            ).remote()
        return self._actor

"""How several runs share one cluster: by weight, and so that none is left without.

A slot is a processor of a node. Slots are dealt out one after the other, each to the run that has
least for its weight; a run that has none comes first. So a run gets its share to within one slot,
a run that wants less leaves the rest to the others, and a small run need not wait for a long one:
it gets its first slot as soon as a unit ends there.

Where there are fewer slots than runs they take turns: the run that was served least for its weight
comes first, for a `TURN`.

Everything here is a function of what runs report; there is no clock and no Ray.
"""

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, field

SILENCE = 60.0  # seconds after which a run that reports nothing is forgotten
TURN = 120.0

Slots = dict[str, int]  # how many on each node


@dataclass(frozen=True, slots=True)
class Claim:
    """What a run reports.

    Attributes:
        weight: its share, compared with other runs.
        wanted: how many slots it can use at most.
        offers: how many it can use on each node.
        holding: how many it has there now.
    """

    weight: float
    wanted: int
    offers: Mapping[str, int]
    holding: Mapping[str, int] = field(default_factory=dict)

    @property
    def usable(self) -> int:
        """How many slots it could be given."""
        return min(self.wanted, sum(self.offers.values()))


def deal(
    capacity: int, claims: Mapping[str, Claim], served: Mapping[str, float] | None = None
) -> Slots:
    """How many slots each run gets.

    Args:
        capacity: how many there are.
        claims: what the runs report, by run.
        served: what each run has had so far for its weight; decides where there are too few.
    """
    served = served or {}
    shares = dict.fromkeys(claims, 0)
    queue = [
        (False, served.get(run, 0.0), -claim.weight, run)
        for run, claim in claims.items()
        if claim.usable > 0
    ]
    heapq.heapify(queue)
    for _ in range(capacity):
        if not queue:
            break
        *_, run = heapq.heappop(queue)
        shares[run] += 1
        claim = claims[run]
        if shares[run] < claim.usable:
            heapq.heappush(queue, (True, (shares[run] + 0.5) / claim.weight, -claim.weight, run))
    return shares


def allot(
    nodes: Mapping[str, int], claims: Mapping[str, Claim], served: Mapping[str, float] | None = None
) -> dict[str, Slots]:
    """Which slots each run gets: how many on each node.

    A run keeps what it has as far as its share goes, whole nodes first, since what its workers have
    in memory is worth keeping. What nobody wants stays with the run that has it.

    Args:
        nodes: how many slots each has.
        claims: what the runs report, by run.
        served: see `deal`.
    """
    shares = deal(sum(nodes.values()), claims, served)
    table = _Table(claims, dict(nodes), {run: {} for run in claims})
    for run in sorted(claims):  # what they have
        held = claims[run].holding
        for node in sorted(held, key=lambda n: (-held[n], n)):
            table.give(run, node, min(held[node], shares[run] - table.total(run)))
    for run in sorted(claims, key=lambda r: (table.total(r) - shares[r], r)):  # what they lack
        table.fill(run, shares[run])
    for run in sorted(claims):  # what others cannot use
        table.fill(run, claims[run].usable)
    for run in sorted(claims):  # what nobody wants
        for node, count in sorted(claims[run].holding.items()):
            table.give(run, node, count - table.given[run].get(node, 0))
    return table.given


@dataclass(slots=True)
class _Table:
    """Slots while they are given out."""

    claims: Mapping[str, Claim]
    free: Slots
    given: dict[str, Slots]

    def total(self, run: str) -> int:
        """How many slots the run has by now."""
        return sum(self.given[run].values())

    def fill(self, run: str, share: int) -> None:
        """Give a run up to its share, on as few nodes as possible, new ones first."""
        mine, offers = self.given[run], self.claims[run].offers
        room = {node: min(free, offers.get(node, 0)) for node, free in self.free.items()}
        for node in sorted(room, key=lambda n: (n in mine, -room[n], n)):
            self.give(run, node, share - self.total(run))

    def give(self, run: str, node: str, count: int) -> None:
        """Give a run this many more slots of a node, as far as there are and it can use them."""
        mine = self.given[run]
        there = mine.get(node, 0)
        room = self.claims[run].offers.get(node, 0) - there
        count = min(count, self.free.get(node, 0), room)
        if count > 0:
            mine[node] = there + count
            self.free[node] -= count


@dataclass(slots=True)
class _Entry:
    claim: Claim
    heard: float
    served: float


class Ledger:
    """Who has reported what, and when. Times are seconds of any one clock that never goes back."""

    def __init__(self) -> None:
        self._entries: dict[str, _Entry] = {}
        self._nodes: dict[str, int] = {}
        self._order: dict[str, float] = {}
        self._ordered = float("-inf")

    @property
    def runs(self) -> list[str]:
        """The runs that share the cluster."""
        return sorted(self._entries)

    def report(self, run: str, claim: Claim, nodes: Mapping[str, int], now: float) -> Slots:
        """Note what a run reports; what it may use from now on.

        Args:
            run: the run.
            claim: what it wants and has.
            nodes: the nodes that it sees, with all their slots.
            now: the time.
        """
        self._nodes = dict(nodes)
        self._forget(now)
        known = self._entries.get(run)
        if known is None:
            # Whoever comes has been served like the others: neither does he get what he missed.
            least = min((entry.served for entry in self._entries.values()), default=0.0)
            self._entries[run] = _Entry(claim, now, least)
        else:
            had = sum(known.claim.holding.values())
            known.served += had * (now - known.heard) / claim.weight
            known.claim, known.heard = claim, now
        if now - self._ordered >= TURN or self._order.keys() != self._entries.keys():
            self._ordered = now
            self._order = {name: entry.served for name, entry in self._entries.items()}
        claims = {name: entry.claim for name, entry in self._entries.items()}
        return allot(self._nodes, claims, self._order)[run]

    def wanted(self, now: float) -> int:
        """How many slots all runs together can use: what the cluster could grow to."""
        self._forget(now)
        return sum(entry.claim.wanted for entry in self._entries.values())

    def leave(self, run: str) -> None:
        """A run has ended."""
        self._entries.pop(run, None)

    def _forget(self, now: float) -> None:
        for run in [r for r, entry in self._entries.items() if now - entry.heard > SILENCE]:
            del self._entries[run]

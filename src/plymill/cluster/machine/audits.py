"""Which finished units still need a second opinion, and what follows from the opinions.

Rules:

* An audited unit needs two workers that agree. A worker other than the first solves it again; only
  when nobody else is there and nothing else is to do, the same one does, with a cold table.
* If the two disagree and a third worker is there, the third is the judge; otherwise the auditor
  is. Whoever differs from the judge is not trusted any more.
"""

from collections.abc import Collection, Iterable

from plymill.cluster.machine.attempts import Attempts, Task


class Audits:
    """The opinions on each audited unit: ``(worker, digest)``, the solver's own first.

    Args:
        audited: the units that need a second opinion.
        attempts: which audits have failed where, and which must run alone.
    """

    def __init__(self, audited: Iterable[int], attempts: Attempts) -> None:
        self._audited = frozenset(audited)
        self._attempts = attempts
        self._opinions: dict[int, list[tuple[str, str]]] = {}
        self._due: list[int] = []
        self._given_out: set[int] = set()

    @property
    def due(self) -> int:
        """How many units wait for an auditor."""
        return len(self._due)

    def replan(self, kept: int, audited: Iterable[int]) -> None:
        """Units from ``kept`` on are other ones than before; ``audited`` are those of all."""
        self._audited = frozenset(audited)
        for unit in [unit for unit in self._opinions if unit >= kept]:
            self.forget(unit)

    def holds(self, unit: int) -> bool:
        """Whether the unit is one of the audited and has a result."""
        return unit in self._opinions

    def solved(self, unit: int, worker: str, digest: str) -> None:
        """A unit has a result; if it is one of the audited, it now waits for an auditor."""
        if unit in self._audited:
            self._opinions[unit] = [(worker, digest)]
            self._make_due(unit)

    def forget(self, unit: int) -> None:
        """The unit's result does not count any more."""
        self._opinions.pop(unit, None)
        if unit in self._due:
            self._due.remove(unit)

    def take(
        self, worker: str, others: Collection[str], *, alone: bool, barred: Collection[Task] = ()
    ) -> int | None:
        """A unit that ``worker`` should audit now.

        Args:
            worker: who is free.
            others: the other workers there are; one of them is preferred to whoever has solved
                the unit, audited it, or failed to.
            alone: whether an audit that must run alone may be given out.
            barred: units that ``worker`` is at, though nobody waits for it: no second time.
        """
        for unit in self._due:
            task = Task(unit, audit=True)
            seen = {name for name, _ in self._opinions[unit]} | set(self._attempts.failed_on(task))
            allowed = worker not in seen or seen.issuperset(others)
            allowed = allowed and Task(unit) not in barred
            if allowed and (alone or not self._attempts.must_run_alone(task)):
                self._due.remove(unit)
                self._given_out.add(unit)
                return unit
        return None

    def is_new_to(self, worker: str, unit: int) -> bool:
        """Whether ``worker`` has given no opinion on the unit yet, and has not failed to."""
        seen = {name for name, _ in self._opinions.get(unit, ())}
        return worker not in seen | set(self._attempts.failed_on(Task(unit, audit=True)))

    def put_back(self, unit: int) -> None:
        """The audit was not carried out; it waits again."""
        self._given_out.discard(unit)
        if self.holds(unit):
            self._make_due(unit)

    def opinion(
        self, unit: int, worker: str, digest: str, workers: Collection[str]
    ) -> frozenset[str]:
        """Record a further opinion and judge; ``workers`` are those who could give a third.

        Returns:
            Those who are not trusted any more; nobody when all agree, when the result does not
            count any more, or when a third opinion is to be heard first.
        """
        self._given_out.discard(unit)
        if not self.holds(unit):
            return frozenset()
        if unit in self._due:
            self._due.remove(unit)
        opinions = self._opinions[unit]
        opinions.append((worker, digest))
        wrong = frozenset(name for name, other in opinions if other != digest)
        if wrong and len(opinions) == 2 and set(workers) - {name for name, _ in opinions}:
            self._make_due(unit)
            return frozenset()
        return wrong

    def reopen(self, worker: str) -> None:
        """``worker`` is not trusted: what it confirmed waits for another auditor."""
        for unit, opinions in self._opinions.items():
            if any(name == worker for name, _ in opinions[1:]):
                del opinions[1:]
                self._make_due(unit)

    def _make_due(self, unit: int) -> None:
        if unit not in self._due and unit not in self._given_out:
            self._due.append(unit)

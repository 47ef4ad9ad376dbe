"""UCT as plainly as it can be written: the truth that the compiled engine is measured against.

A node for every edge that was tried, textbook formula, no arrays, no tables. It draws from the
match's stream in the order that docs/players.md states.
"""

from dataclasses import dataclass, field
from math import log, sqrt

from plymill.games.game import State
from plymill.games.random import Stream
from plymill.players import Choice, UctSpec

BOTH, OVER = 2, -1


@dataclass
class Arm:
    """A move that was tried."""

    move: int
    visits: int = 0
    total: int = 0  # sum of goals

    @property
    def average(self) -> float:
        return self.total / (100 * self.visits)


@dataclass
class Bandit:
    """The decision of one player in one node."""

    untried: list[int]
    arms: list[Arm] = field(default_factory=list)  # in the order of their first try

    def pick(self, c: float, stream: Stream) -> Arm:
        if self.untried:
            self.arms.append(Arm(self.untried.pop(stream.below(len(self.untried)))))
            return self.arms[-1]
        visits = sum(arm.visits for arm in self.arms)

        def value(arm: Arm) -> float:
            if c == 0:  # equal averages need not be equal here: as the engine computes them
                return sqrt(1 / arm.visits) * (arm.total * sqrt(1 / arm.visits))
            return arm.average + c * sqrt(log(visits) / arm.visits)

        # max() takes the first of equals: the earliest tried.
        return max(self.arms, key=value)


class Node:
    """A position; with ``pending``, half of a simultaneous move is already settled."""

    def __init__(
        self, state: State, searcher: int, sequential: bool, pending: dict[int, int]
    ) -> None:
        self.state = state
        self.pending = pending
        movers = [player for player in (0, 1) if state.status in (player, BOTH)]
        if sequential and state.status == BOTH:
            movers = [1 - searcher] if pending else [searcher]
        self.bandits = {player: Bandit(state.moves(player)) for player in movers}
        self.children: dict[tuple[int, ...], Node] = {}


class ReferencePlayer:
    """The player that ``spec`` describes, slowly."""

    def __init__(self, spec: UctSpec) -> None:
        self.spec = spec
        self.sequential = spec.simultaneous == "sequential"

    def begin(self, side: int, stream: Stream) -> None:
        self.side = side
        self.stream = stream
        self.root: Node | None = None

    def choose(self, state: State) -> Choice:
        if self.root is None or not self.spec.reuse:
            self.root = self._node(state, {})
        for _ in range(self.spec.iterations):
            self._iterate(self.root)
        arms = self.root.bandits[self.side].arms
        if self.spec.final == "visits":
            best = [arm for arm in arms if arm.visits == max(a.visits for a in arms)]
        else:
            # As fractions, so that 1/2 equals 2/4.
            best = [a for a in arms if all(a.total * b.visits >= b.total * a.visits for b in arms)]
        best.sort(key=lambda arm: arm.move)
        chosen = best[self.stream.below(len(best))]
        return Choice(chosen.move, chosen.average)

    def observe(self, moves: tuple[int, ...]) -> None:
        if self.root is None:
            return
        if self.sequential and len(moves) == 2:
            half = self.root.children.get((moves[self.side],))
            child = half and half.children.get((moves[1 - self.side],))
        else:
            child = self.root.children.get(moves)
        # A node that was visited once keeps no statistics.
        visited = child and any(bandit.arms for bandit in child.bandits.values())
        self.root = child if visited else None

    def close(self) -> None:
        pass

    def statistics(self) -> list[tuple[int, int, int]]:
        assert self.root is not None
        return [(arm.move, arm.visits, arm.total) for arm in self.root.bandits[self.side].arms]

    def _node(self, state: State, pending: dict[int, int]) -> Node:
        return Node(state, self.side, self.sequential, pending)

    def _iterate(self, root: Node) -> None:
        node, path, added = root, [], False
        while not added and node.state.status != OVER:
            arms = {
                player: bandit.pick(self.spec.c, self.stream)
                for player, bandit in node.bandits.items()
            }
            path.append(arms)
            moves = tuple(arm.move for arm in arms.values())
            if moves not in node.children:
                node.children[moves] = self._child(node, {p: arm.move for p, arm in arms.items()})
                added = True
            node = node.children[moves]
        goals = self._playout(node.state, node.pending)
        for arms in path:
            for player, arm in arms.items():
                arm.visits += 1
                arm.total += goals[player]

    def _child(self, node: Node, moves: dict[int, int]) -> Node:
        if self.sequential and node.state.status == BOTH and not node.pending:
            return self._node(node.state, moves)
        both = moves | node.pending
        return self._node(node.state.play(*(both[player] for player in sorted(both))), {})

    def _playout(self, state: State, pending: dict[int, int]) -> tuple[int, int]:
        if pending:
            state = self._random_ply(state, pending)
        plies = 0
        while state.status != OVER:
            if self.spec.playout and plies == self.spec.playout:
                return 50, 50
            state = self._random_ply(state, {})
            plies += 1
        return state.goals

    def _random_ply(self, state: State, pending: dict[int, int]) -> State:
        movers = [player for player in (0, 1) if state.status in (player, BOTH)]
        moves = [pending[p] if p in pending else self._random_move(state, p) for p in movers]
        return state.play(*moves)

    def _random_move(self, state: State, player: int) -> int:
        legal = state.moves(player)
        if self.spec.wincheck and state.status != BOTH:
            for move in legal:
                after = state.play(move)
                if after.status == OVER and after.goals[player] == 100:
                    return move
        return legal[self.stream.below(len(legal))]

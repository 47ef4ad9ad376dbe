"""A small interpreter of the Game Description Language: plays a rule sheet as it is written.

Atoms are strings, terms are tuples. A question is a term in which None stands for anything; its
answers are the ground terms that follow from the rules and from what is true and done. Answers are
remembered: for ever if they depend on no state.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.games.reference.slow import Moves, SlowState

Term = Any  # str, or a tuple of terms; None in a question
Bindings = dict[str, Term]
Rule = tuple[Term, tuple[Term, ...]]

SHEETS = Path(__file__).parents[4] / "shared" / "reference" / "kif"
STATES = {"true", "does", "init"}


def parse(text: str) -> list[Term]:
    """The terms of a rule sheet, without its comments."""
    stack: list[list[Term]] = [[]]
    for token in re.findall(r"[()]|[^\s()]+", re.sub(r";.*", "", text.lower())):
        if token == "(":
            stack.append([])
        elif token == ")":
            done = tuple(stack.pop())
            stack[-1].append(done)
        else:
            stack[-1].append(token)
    (terms,) = stack
    return terms


def name(term: Term) -> str:
    return term if isinstance(term, str) else str(term[0])


def filled(term: Term, bindings: Bindings) -> Term:
    """The term with its variables replaced, None for those without a value."""
    if isinstance(term, tuple):
        return tuple(filled(part, bindings) for part in term)
    return bindings.get(term) if isinstance(term, str) and term.startswith("?") else term


def matched(pattern: Term, term: Term, bindings: Bindings) -> Bindings | None:
    """The bindings with which a pattern is the term; None in the term binds nothing."""
    if term is None:
        return bindings
    if isinstance(pattern, str) and pattern.startswith("?"):
        known = bindings.get(pattern)
        if known is None:
            return {**bindings, pattern: term}
        return bindings if known == term else None
    if isinstance(pattern, str) or isinstance(term, str):
        return bindings if pattern == term else None
    if len(pattern) != len(term):
        return None
    for part, other in zip(pattern, term, strict=True):
        extended = matched(part, other, bindings)
        if extended is None:
            return None
        bindings = extended
    return bindings


class Sheet:
    """The rules of one game."""

    def __init__(self, text: str) -> None:
        self.rules: dict[str, list[Rule]] = defaultdict(list)
        for term in parse(text):
            head, body = (term[1], term[2:]) if name(term) == "<=" else (term, ())
            self.rules[name(head)].append((head, body))
        self.remembered: dict[Term, list[Term]] = {}
        self.dynamic = self._depending(STATES)

    def _depending(self, names: set[str]) -> set[str]:
        """The relations that depend on these, directly or not."""
        found = set(names)
        while True:
            more = {
                relation
                for relation, rules in self.rules.items()
                if relation not in found and any(self._named(b) & found for _, b in rules)
            }
            if not more:
                return found
            found |= more

    def _named(self, body: Term) -> set[str]:
        if isinstance(body, str):
            return {body}
        return {word for part in body for word in self._named(part)}

    @cached_property
    def roles(self) -> tuple[str, str]:
        first, second = (term[1] for term, _ in self.rules["role"])
        return first, second

    def start(self) -> "SheetState":
        initial = Question(self, {})
        return SheetState(self, frozenset(term[1] for term in initial.ask(("init", None))))


class Question:
    """What follows from a sheet in one situation."""

    def __init__(self, sheet: Sheet, facts: dict[str, list[Term]]) -> None:
        self.sheet = sheet
        self.facts = facts
        self.remembered: dict[Term, list[Term]] = {}

    def ask(self, question: Term) -> list[Term]:
        """All ground terms that answer a question, each once."""
        relation = name(question)
        dynamic = relation in self.sheet.dynamic
        memory = self.remembered if dynamic else self.sheet.remembered
        if question not in memory:
            memory[question] = list(dict.fromkeys(self._answers(question, relation)))
        return memory[question]

    def _answers(self, question: Term, relation: str) -> Iterator[Term]:
        for fact in self.facts.get(relation, ()):
            if matched(fact, question, {}) is not None:
                yield fact
        for head, body in self.sheet.rules[relation]:
            bindings = matched(head, question, {})
            if bindings is not None:
                for proved in self._prove(body, bindings):
                    yield filled(head, proved)

    def _prove(self, body: tuple[Term, ...], bindings: Bindings) -> Iterator[Bindings]:
        if not body:
            yield bindings
            return
        for extended in self._prove_one(body[0], bindings):
            yield from self._prove(body[1:], extended)

    def _prove_one(self, literal: Term, bindings: Bindings) -> Iterator[Bindings]:
        relation = name(literal)
        if relation == "not":
            if next(self._prove_one(literal[1], bindings), None) is None:
                yield bindings
        elif relation == "distinct":
            left, right = (filled(part, bindings) for part in literal[1:])
            if left != right:
                yield bindings
        elif relation == "or":
            for alternative in literal[1:]:
                yield from self._prove_one(alternative, bindings)
        else:
            for answer in self.ask(filled(literal, bindings)):
                extended = matched(literal, answer, bindings)
                if extended is not None:
                    yield extended


class SheetState(SlowState):
    """A position of a game that is played by its sheet."""

    def __init__(self, sheet: Sheet, truths: frozenset[Term]) -> None:
        self.sheet = sheet
        self.facts = {"true": [("true", truth) for truth in sorted(truths, key=str)]}
        self.question = Question(sheet, self.facts)

    def legal(self, player: int) -> list[str]:
        moves = [m for *_, m in self.question.ask(("legal", self.sheet.roles[player], None))]
        return [f"( {' '.join(move)} )" for move in moves if move != "noop"]

    def key(self) -> str:
        return str(self.facts)

    def after(self, moves: Moves) -> "SheetState":
        done = [parse(move)[0] if move else "noop" for move in moves]
        does = [("does", role, move) for role, move in zip(self.sheet.roles, done, strict=True)]
        then = Question(self.sheet, {**self.facts, "does": does})
        return SheetState(self.sheet, frozenset(truth for _, truth in then.ask(("next", None))))

    def over(self) -> bool:
        return bool(self.question.ask("terminal"))

    def goals(self) -> tuple[int, int]:
        first, second = (
            {int(goal) for *_, goal in self.question.ask(("goal", role, None))}
            for role in self.sheet.roles
        )
        (mine,), (others,) = first, second
        return mine, others

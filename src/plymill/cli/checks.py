"""What is wrong with the words of a command whichever command it is: seen before it runs."""

import math
from collections.abc import Iterable, Mapping

from cyclopts import UNSET, Argument, ArgumentCollection, CycloptsError, Group

#: Where no text at all says something: a game from its beginning, players as they are.
_MAY_BE_EMPTY = frozenset({"MOVES", "--opening", "--openings", "--options"})

_SENDING = ("--submit",)
_CLUSTER = ("--submit", "--address")

#: Flags that do nothing without one of others, in commands that have the first of these.
_NEEDS: Mapping[str, tuple[str, ...]] = {
    "--wheel": _SENDING,
    "--owner": _SENDING,
    "--driver-label": _SENDING,
    "--driver-resource": _SENDING,
    "--env": _SENDING,
    "--weight": _CLUSTER,
    "--allow-insecure": _CLUSTER,
    "--against-layout": ("--against",),
    "--seed": ("--sample",),
    "--layout": ("--book",),
    "--force": ("--chart",),
    "--game": ("--published",),
}


def check_words(arguments: ArgumentCollection) -> None:
    """See that every word says something, and that no flag is without effect.

    Raises:
        CycloptsError: one does not.
    """
    given = {argument.name: argument for argument in arguments if argument.has_tokens}
    for argument in given.values():
        _check_texts(argument)
        _check_numbers(argument)
    there = {argument.name for argument in arguments}
    for name, needed in _NEEDS.items():
        if name in given and needed[0] in there and not any(other in given for other in needed):
            raise CycloptsError(msg=f"{name} does nothing without {' or '.join(needed)}.")


def _check_texts(argument: Argument) -> None:
    if argument.name in _MAY_BE_EMPTY:
        return
    for token in argument.tokens:
        if token.implicit_value is UNSET and not token.value.strip():  # no flag such as --json
            # What the environment sets is in no word of the command.
            name = argument.name if token.source == "cli" else token.keyword or argument.name
            raise CycloptsError(msg=f"{name} is empty, expected a value.")


def _check_numbers(argument: Argument) -> None:
    values = argument.value if isinstance(argument.value, Iterable) else [argument.value]
    for value in values:
        if isinstance(value, float) and not math.isfinite(value):
            raise CycloptsError(msg=f"{argument.name} is {value}, expected a finite number.")


#: The groups of the words without and with a name, which are checked: for every `App`.
ARGUMENTS = Group("Arguments", validator=check_words)
PARAMETERS = Group("Parameters", validator=check_words)

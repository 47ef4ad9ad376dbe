"""What is wrong with the fields of a job, in the words of those who write them."""

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import ValidationError

_LONGEST = 80

#: What was expected, by pydantic's name of the fault, from its figures.
_EXPECTED: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "int_type": lambda _: "a whole number",
    "int_from_float": lambda _: "a whole number",
    "float_type": lambda _: "a number",
    "finite_number": lambda _: "a finite number",
    "string_type": lambda _: "a text",
    "bool_type": lambda _: "true or false",
    "tuple_type": lambda _: "a list",
    "literal_error": lambda figures: str(figures["expected"]),
    "greater_than": lambda figures: f"more than {figures['gt']:,}",
    "greater_than_equal": lambda figures: f"at least {figures['ge']:,}",
    "less_than": lambda figures: f"less than {figures['lt']:,}",
    "less_than_equal": lambda figures: f"at most {figures['le']:,}",
    "too_short": lambda figures: f"a list of at least {figures['min_length']:,}",
    "too_long": lambda figures: f"a list of at most {figures['max_length']:,}",
    "string_pattern_mismatch": lambda figures: f"a text of the form {figures['pattern']}",
}


def first_fault(error: ValidationError) -> str:
    """One sentence that names the first field at fault, what was expected, and its value."""
    fault = error.errors(include_url=False)[0]
    field = _place(fault["loc"])
    match fault["type"]:
        case "extra_forbidden":
            return f"there is no field '{field}'."
        case "missing":
            return f"the field '{field}' is missing."
        case "value_error":
            said = str(fault["ctx"]["error"])
            names_it = not field or said.startswith((f"{field}:", f"{field}, "))
            return said if names_it else f"{field}: {said}"
    words = _EXPECTED.get(fault["type"])
    expected = "another value" if words is None else words(fault.get("ctx", {}))
    return f"{field}: expected {expected}, got {_shown(fault['input'])}."


def _place(loc: tuple[int | str, ...]) -> str:
    """A field; an entry of a list is counted from 1."""
    return ", ".join(f"entry {part + 1}" if isinstance(part, int) else part for part in loc)


def _shown(value: Any) -> str:
    """A value as files write it, shortened."""
    match value:
        case bool():
            text = str(value).lower()
        case list() | tuple():
            text = f"[{', '.join(map(_shown, value))}]"
        case _:
            text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."

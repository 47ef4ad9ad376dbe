"""Figures in words: times, ranges, sizes."""

_MINUTE = 60
_HOUR = 60 * _MINUTE
_DAY = 24 * _HOUR
_SIZES = ("bytes", "kB", "MB", "GB", "TB")


def printable(text: str) -> str:
    """The text with every character escaped that cannot be shown, such as those of a terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def duration(seconds: float) -> str:
    """A time in its two largest units: ``12 s``, ``3 min 20 s``, ``2 h 5 min``, ``4 d 1 h``."""
    whole = max(0, round(seconds))
    for size, name, part, small in (
        (_DAY, "d", _HOUR, "h"),
        (_HOUR, "h", _MINUTE, "min"),
        (_MINUTE, "min", 1, "s"),
    ):
        if whole >= size:
            rest = whole % size // part
            return f"{whole // size} {name}" + (f" {rest} {small}" if rest else "")
    return f"{whole} s"


def time_range(eta: tuple[float, float] | None) -> str:
    """The time left as a range: ``2 min to 3 min 10 s``; ``unknown`` before there is one."""
    if eta is None:
        return "unknown"
    low, high = duration(eta[0]), duration(eta[1])
    return low if low == high else f"{low} to {high}"


def rate(items_a_second: float) -> str:
    """A rate with three digits at least: ``1,234``, ``56.7``, ``0.123``."""
    if items_a_second >= 100:
        return f"{items_a_second:,.0f}"
    return f"{items_a_second:.3g}"


def size(count: int) -> str:
    """A number of bytes: ``312 bytes``, ``4.9 MB``."""
    value = float(count)
    for name in _SIZES:
        if value < 1000 or name == _SIZES[-1]:
            return f"{count} {name}" if name == "bytes" else f"{value:.3g} {name}"
        value /= 1000
    raise AssertionError("the last size takes all")


def plural(count: int, noun: str) -> str:
    """``1 unit``, ``2,000 units``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"

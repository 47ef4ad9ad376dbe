"""What can go wrong with books, each in one sentence that a person can act on."""

from plymill.errors import PlymillError


class NotInBookError(PlymillError, KeyError):
    """The book tells nothing of a position: another number of stones, another opening, a gap."""

    def __str__(self) -> str:
        # KeyError would show the repr of its argument, quotes and all.
        return str(self.args[0])


class BookFormatError(PlymillError, ValueError):
    """A file that is no book, is damaged, or is of a kind that was not stated."""


class BookContentError(PlymillError, ValueError):
    """Positions or values that do not belong into the book that is being made of them."""

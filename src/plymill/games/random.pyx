"""The random numbers of one match, for Python. Generator and seeding stand in ``random.h``."""

cimport cython

from operator import index

from plymill.errors import GameError


@cython.final
cdef class Stream:
    """A stream of random numbers of its own for every (seed, cell, match): xoshiro256++.

    The numbers are the same on every machine, and do not depend on what other streams gave.

    Args:
        seed: the seed of a whole job, 0 to 2**64 - 1, as are the other two.
        cell: which pair of players of the job.
        match: which of their matches.

    Raises:
        GameError: a number out of range.
    """

    def __init__(self, seed, cell=0, match=0):
        names = {"seed": index(seed), "cell": index(cell), "match": index(match)}
        for name, number in names.items():
            if not 0 <= number < 1 << 64:
                raise GameError(f"the {name} is {number}, expected 0 to 2**64 - 1")
        random_start(&self.data, seed, cell, match)

    def next64(self):
        """The next 64 bits, as a number from 0 to 2**64 - 1."""
        return random_next(&self.data)

    def below(self, n):
        """A number from 0 to ``n - 1``, all equally likely; takes one draw, for ``n`` = 1 too.

        Raises:
            GameError: ``n`` is not from 1 to 2**32 - 1.
        """
        n = index(n)
        if not 1 <= n < 1 << 32:
            raise GameError(f"a random number below {n} was asked for, expected 1 to 2**32 - 1")
        return random_below(&self.data, n)

    @property
    def words(self):
        """The four words of state, which tell all numbers to come."""
        return tuple(self.data.s[i] for i in range(4))

    def copy(self):
        """A stream that will give the same numbers, apart from this one."""
        return _rebuild(self.words)

    def __eq__(self, other):
        if not isinstance(other, Stream):
            return NotImplemented
        return self.words == other.words

    __hash__ = None  # drawing changes it

    def __repr__(self):
        return f"<Stream at {self.words}>"

    def __reduce__(self):
        return (_rebuild, (self.words,))


def _rebuild(words):
    cdef Stream stream = Stream.__new__(Stream)
    for i in range(4):
        stream.data.s[i] = words[i]
    return stream

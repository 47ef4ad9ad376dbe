"""What can go wrong with a run, said in one sentence each."""

from plymill.errors import PlymillError


class SpecError(PlymillError, ValueError):
    """A job that is not described well: an unknown field, a value out of range, a bad file."""


class StoreError(PlymillError, OSError):
    """A store that cannot be opened, read or written."""


class StoreAwayError(StoreError):
    """A store that does not answer, or answers with errors of its own; it may be back later."""


class StoreFullError(StoreError):
    """A store without room for one more file."""


class CorruptFileError(PlymillError, ValueError):
    """A file of the store that is cut short, altered, or belongs to something else."""


class ConflictError(PlymillError, RuntimeError):
    """A unit that has two results: one is stored, and a worker has got another."""


class RunNotFoundError(PlymillError, KeyError):
    """A run that the store does not hold."""

    def __str__(self) -> str:
        return str(self.args[0])


class ClusterError(PlymillError, RuntimeError):
    """A Ray cluster that cannot be reached or has no room for the workers asked for."""


class RunTakenError(ClusterError):
    """A run that another driver drives; nothing is wrong with it."""


class RunFailedError(PlymillError, RuntimeError):
    """A run that cannot go on; what is finished stays in the store."""


class RunInterruptedError(PlymillError):
    """A run stopped by the person who watches it; running it again goes on from the store."""

import numpy as np
import numpy.typing as npt

from plymill.books.scope import Scope

def values_above(
    keys: npt.NDArray[np.uint64],
    values: npt.NDArray[np.int8],
    scope: Scope,
    roots: npt.NDArray[np.uint64],
) -> npt.NDArray[np.int8] | None: ...

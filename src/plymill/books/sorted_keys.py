"""Sets of positions as ascending arrays of keys."""

import numpy as np
import numpy.typing as npt

Keys = npt.NDArray[np.uint64]
Values = npt.NDArray[np.int8]
Found = npt.NDArray[np.bool_]


def find_sorted(table: Keys, values: Values, keys: Keys) -> tuple[Values, Found]:
    """The values beside those entries of an ascending table that equal the keys; 0 for others."""
    if not len(table):
        return np.zeros(len(keys), dtype=np.int8), np.zeros(len(keys), dtype=np.bool_)
    # Ascending needles walk the table instead of jumping about in it.
    order = np.argsort(keys)
    places = np.empty(len(keys), dtype=np.intp)
    places[order] = np.searchsorted(table, keys[order])
    places[places == len(table)] = 0
    found = table[places] == keys
    return np.where(found, values[places], np.int8(0)), found


def difference(keys: Keys, others: Keys) -> Keys:
    """The keys that are not among the others; both ascending."""
    if not len(others):
        return keys
    places = np.minimum(np.searchsorted(others, keys), len(others) - 1)
    missing: Found = others[places] != keys
    return keys[missing]

"""Lengthening an array within a kernel that does not know how much it will find."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.table.kernels.tiers import kernel

Number = TypeVar("Number", bound=np.generic)


# Compiled: called by kernels. To compile a copy into a slice takes two seconds, a loop hardly any.
@kernel
def lengthened(array: NDArray[Number], length: int) -> NDArray[Number]:
    """Return an array of so many elements that begins with those of another."""
    longer = np.empty(length, array.dtype)
    for place in range(len(array)):
        longer[place] = array[place]
    return longer

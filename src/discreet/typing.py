"""The names of array types in the whole package; comments beside a use give its shape."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Ints32 = NDArray[np.int32]
AnyInts = NDArray[np.integer]
Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Bools = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]  # hashes, curve keys, packed bits or bytes

CellNumbers = NDArray[np.uint32]  # of the distinct texts of a file that is being read
Codes = NDArray[np.int32]  # numbers of values in a column's dictionary
StopFlag = NDArray[np.uint8]  # (1,) not 0 once the work must end
GroupOfRow = NDArray[np.int32]  # (rows,) 0 … groups − 1 without gaps, −1 for a suppressed row
PersonHashes = NDArray[np.uint64]  # (people, 2) the keyed hash of each person

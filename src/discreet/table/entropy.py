"""Secret entropy: the source of the order of published rows and of the numbers of groups.

A seed can be guessed, and an attacker who guesses it could draw the same order again and so put
every published row back in its place in the source. So no order and no group number depends on the
seed: it makes the method reproducible and nothing else.
"""

from __future__ import annotations

import os
import secrets

import numpy as np

FIXED_ORDER = "DISCREET_INSECURE_FIXED_ORDER"
WARNING = (
    f"{FIXED_ORDER} is set: orders and group numbers follow from the seed, and an attacker who "
    "guesses it can restore the order of the source. For tests only; never publish such a release."
)


def fixed_order() -> bool:
    """Return whether orders follow from the seed, as tests of exact files need it."""
    return os.environ.get(FIXED_ORDER) == "1"


def secret_generator() -> np.random.Generator:
    """A generator that cannot be repeated: Philox with 128 bits of the system's entropy."""
    return np.random.Generator(np.random.Philox(key=secrets.randbits(128)))

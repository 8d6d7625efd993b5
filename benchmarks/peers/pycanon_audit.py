"""k, ℓ, entropy ℓ, (c, ℓ) and t of a release by pycanon: prints the seconds, reading left out."""

import json
import sys
import time

import pandas as pd
from pycanon import anonymity

path, sensitive, *quasi_identifiers = sys.argv[1:]
frame = pd.read_csv(path, dtype=str)
started = time.perf_counter()
figures = [
    anonymity.k_anonymity(frame, quasi_identifiers),
    anonymity.l_diversity(frame, quasi_identifiers, [sensitive]),
    anonymity.entropy_l_diversity(frame, quasi_identifiers, [sensitive]),
    anonymity.recursive_c_l_diversity(frame, quasi_identifiers, [sensitive]),
    anonymity.t_closeness(frame, quasi_identifiers, [sensitive]),
]
print(json.dumps({"seconds": time.perf_counter() - started, "found": str(figures)}))

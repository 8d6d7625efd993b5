"""Mondrian of anonypy on a CSV file: prints the seconds. Runs in the peers' environment."""

import json
import sys
import time

import anonypy
import pandas as pd

path, rows, k, numeric, *columns = sys.argv[1:]
frame = pd.read_csv(path).head(int(rows))
for name in columns:
    if name not in numeric.split(","):
        frame[name] = frame[name].astype("category")
*quasi_identifiers, sensitive = columns
started = time.perf_counter()
preserver = anonypy.Preserver(frame[columns], quasi_identifiers, sensitive)
found = preserver.anonymize_k_anonymity(k=int(k))
print(json.dumps({"seconds": time.perf_counter() - started, "lines": len(found)}))

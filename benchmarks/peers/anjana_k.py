"""k-anonymity of anjana with hierarchies on a CSV file: prints the seconds."""

import json
import sys
import time

import pandas as pd
from anjana.anonymity import k_anonymity

path, rows, k, folder, *columns = sys.argv[1:]
frame = pd.read_csv(path, dtype=str).head(int(rows))
hierarchies = {
    name: dict(pd.read_csv(f"{folder}/{name}.csv", sep=";", header=None, dtype=str))
    for name in columns
}
started = time.perf_counter()
found = k_anonymity(frame, [], columns, int(k), 0, hierarchies)
print(json.dumps({"seconds": time.perf_counter() - started, "rows": len(found)}))

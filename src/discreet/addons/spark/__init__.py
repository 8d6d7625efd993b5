"""The Spark engine: reading, counting, running parts, writing and auditing on a cluster."""

from importlib.util import find_spec

from discreet.errors import InputError

if any(find_spec(needed) is None for needed in ("pyspark", "pandas")):
    raise InputError("The engine 'spark' needs PySpark. Install it: pip install 'discreet[spark]'.")

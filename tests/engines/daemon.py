"""The daemon that forks the workers of a test's session, with what they import already there.

Each worker would import it anew, and the daemon searches all of it for garbage after every task.
Sessions of ``test_cluster.py`` have Spark's own daemon.
"""

from __future__ import annotations

import gc

import pyspark.worker  # noqa: F401
from pyspark.daemon import manager

import discreet.addons.spark.spark_engine  # noqa: F401

gc.freeze()
if __name__ == "__main__":
    manager()

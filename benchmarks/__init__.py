"""The benchmark suite: ``make bench``, or ``python -m benchmarks --quick`` for two minutes."""

"""One table in memory, looked at again and again: what an interactive page asks of it."""

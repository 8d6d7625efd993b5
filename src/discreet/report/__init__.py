"""The report that a person reads."""

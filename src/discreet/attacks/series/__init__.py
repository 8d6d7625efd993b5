"""Attacks on several releases of the same persons."""

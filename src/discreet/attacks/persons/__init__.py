"""Attacks on persons with several published rows."""

"""Hierarchies of standard classifications, built from the codes in a column."""

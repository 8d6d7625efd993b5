"""Roles, the coded table, equivalence classes and their counts."""

"""Attackers who know how the method forms groups and cells."""

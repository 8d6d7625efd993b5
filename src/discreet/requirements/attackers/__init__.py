"""Attackers who know some quasi-identifiers of a target, not all, and what holds for each."""

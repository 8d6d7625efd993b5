"""Generalization hierarchies: levels as code→code arrays, their builders, and the lattice."""

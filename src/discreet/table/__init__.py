"""The coded table: roles, columns as codes, equivalence classes and their counts."""

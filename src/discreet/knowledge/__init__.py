"""External knowledge: which labels a set of terms discloses, and who is in the population."""

"""External knowledge: which sensitive labels a set of terms discloses."""

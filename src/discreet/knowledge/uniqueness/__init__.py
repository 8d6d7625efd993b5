"""How many unique rows of a sample are unique in its population: estimates and their intervals."""

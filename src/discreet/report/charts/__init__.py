"""Charts as values, and how they are drawn."""

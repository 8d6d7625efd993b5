"""A page for each result."""

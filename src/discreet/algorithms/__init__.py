"""How to get there: one paper a file."""

"""How to get there: a folder for each method, its files the steps in the order they run."""

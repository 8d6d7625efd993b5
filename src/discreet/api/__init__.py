"""The verbs, one file each: what a user of the library calls."""

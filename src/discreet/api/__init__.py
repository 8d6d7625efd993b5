"""The functions that a user of the library calls, one file each."""

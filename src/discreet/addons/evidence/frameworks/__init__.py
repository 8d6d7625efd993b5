"""The structure of each framework's document, one file each."""

"""The kinds of release, a folder each."""

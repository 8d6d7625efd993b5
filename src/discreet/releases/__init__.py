"""The kinds of release: their tables, manifest, audit and explanation."""

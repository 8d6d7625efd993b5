"""Pages in other languages: one catalogue each, keyed by the English sentence."""

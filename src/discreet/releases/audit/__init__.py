"""The audit: one file for each kind of check."""

"""The job: what the columns are, what is required, by which method, and where the release goes."""

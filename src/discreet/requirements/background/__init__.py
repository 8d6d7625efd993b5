"""Models that the papers describe as background, each in one file."""

"""What "private" means: requirements as pure functions of class counts, one family a file."""

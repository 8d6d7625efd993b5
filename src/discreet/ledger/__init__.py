"""What was published before, kept by the publisher and never published."""

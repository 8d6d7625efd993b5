"""Where a job runs when one machine does not hold its table."""

"""The same job where the data is: reading, counting, running parts, writing, auditing on Spark."""

"""The job: the roles of the columns, the requirements, the method, and the output."""

"""Tables that stay where they are: a database counts its rows and returns the counts."""

"""Two tables without a link: quasi-identifiers, and the sensitive rows."""

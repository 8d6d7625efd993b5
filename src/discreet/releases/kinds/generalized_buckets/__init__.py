"""Groups with numbers, generalized quasi-identifiers and sensitive rows of their own."""

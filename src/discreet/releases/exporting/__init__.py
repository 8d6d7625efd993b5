"""Tables of a release in formats of other programs, and a codebook of them."""

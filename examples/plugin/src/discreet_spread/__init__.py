"""A least standard deviation for discreet, and an attack on numeric sensitive attributes."""

"""(k,e)-anonymity for discreet, and an attack on numeric sensitive attributes."""

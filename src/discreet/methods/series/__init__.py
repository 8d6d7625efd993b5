"""Methods that publish the same persons again.

``m_invariance`` and ``rho_different`` are the methods; ``beliefs`` computes what an attacker who
has all releases of a series believes.
"""

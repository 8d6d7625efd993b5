"""m-invariance: the same sensitive values around a person in all releases (Xiao and Tao, 2007).

Steps in the order in which they run, as in the paper, all in ``m_invariance``:

1. Division (``SignatureBook``): the signature with which each person was published before.
2. Balancing: join persons whose value changed, add new rows, then counterfeits.
3. Assignment: give new rows a signature (``shared.different_values``).
4. Split: cut each bucket into groups along the Hilbert curve.
"""

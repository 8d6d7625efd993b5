"""Quasi-sensitive attributes: generalize, then remove terms (Shi, Xiong and Fung, 2010).

Steps in the order in which they run:

1. ``quasi_sensitive``: phase 1, groups by Mondrian (section 3.1), and which of them fail the
   principles of section 2.2.
2. ``removal``: phase 2, search every failing group, groups in parallel (section 3.1).
3. ``outcomes``: what each row can become when terms are removed, at the cost of section 2.3.
4. ``state``: the posterior of a group while outcomes are chosen.
5. ``search``: choose an outcome for each row by a greedy, then by branch and bound (ours).
"""

"""Tables of any tool beside their original: attacks, measures and comparisons.

Where cells were changed, attackers guess, by the criteria of the Article 29 Working Party (WP 216)
and in the way of Giomi et al. (2023), "A unified framework for quantifying privacy risk in
synthetic data": each success with that of a guess without the table, with that on persons who are
not in it, and with intervals.
"""

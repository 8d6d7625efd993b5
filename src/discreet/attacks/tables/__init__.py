"""Attackers against a table of any tool whose cells were changed, beside its original.

Success rates of attackers who make a guess, by the criteria of the Article 29 Working Party
(WP 216) and in the way of Giomi et al. (2023), "A unified framework for quantifying privacy risk
in synthetic data": each with the success of a guess without the table, with that on persons who
are not in it, and with intervals.
"""

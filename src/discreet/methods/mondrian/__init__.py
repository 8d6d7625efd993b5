"""Mondrian: cut the table into ever smaller regions (LeFevre, DeWitt and Ramakrishnan, 2006).

Steps in the order in which they run:

1. ``units``: compress rows to units, and judge regions by the counts of their units.
2. ``regions``: how wide each attribute is in each region (choose_dimension); cuts at medians or at
   the children of a hierarchy's node (LeFevre, DeWitt and Ramakrishnan, "Workload-aware
   anonymization", 2006).
3. ``mondrian``: make the cuts whose pieces all pass, and begin again with the pieces.
4. ``shared.tight_cells``: the summary statistic of each class.
"""

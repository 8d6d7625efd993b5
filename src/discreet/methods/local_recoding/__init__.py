"""Local recoding by prices: every class its own cells, near the least loss. Ours.

Steps in the order in which they run:

1. ``hulls``: units of equal rows, their groups, and what a row costs in a generalized tuple.
2. ``requirement_check``: the rows and values that every group must have.
3. ``candidates``: the generalized tuples that could be published.
4. ``greedy``: choose candidates by regret, in rounds of rising cost; ``nearest_groups`` takes in
   the last rows.
5. ``repair``: make groups pass what ``requirement_check`` finds failing.

``member_clusters`` replaces steps 3 and 4 for
tables of many quasi-identifiers; ``local_recoding`` runs them.
"""

"""Local recoding by prices: every class its own cells, near the least loss. Ours.

Steps in the order in which they run:

1. ``hulls``: units of equal rows, and what a row costs in a generalized tuple.
2. ``group_needs``: the rows and values that every group must have.
3. ``blocks``: cut tables of very many distinct tuples.
4. ``candidates``: the generalized tuples that could be published.
5. ``dual_prices``: a price for each row, and the lower bound on the loss that prices prove.
6. ``rounds``: choose candidates with ``greedy``, in rounds of rising cost; ``remaining_rows``
   places the last rows.
7. ``repair``: make groups pass what ``requirement_check`` finds failing; ``nearest_groups`` finds
   the groups to join.
8. ``neighbourhood_search``: dissolve neighbouring groups and group their rows again.

``unit_groups`` holds groups between the steps; ``local_recoding`` runs them.
"""

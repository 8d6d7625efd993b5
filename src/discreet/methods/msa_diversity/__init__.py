"""MSA-diversity: no value fills more than 1/ℓ of a group (Abdalaal, 2012, chapter 5).

Steps in the order in which they run:

1. ``share_bounds``: what the requirements ask of groups, and whether it is feasible (section 5.4).
2. ``shared.hilbert``: quasi-identifiers to one dimension (section 5.5.1).
3. ``group_forming``: form SA-distinct groups along the curve or in blocks (section 5.5.2), from
   stacks of rows with equal sensitive values (ours).
4. ``unplaced_rows``: place the remaining rows in near groups (section 5.5.2, extended), then with
   the groups that ``donors`` finds anywhere (ours).
5. ``exchanges``: exchange members of near groups for less loss (ours).

``diverse_groups`` has the kernels of all steps; ``msa_diversity`` runs them.
"""

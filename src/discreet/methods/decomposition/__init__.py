"""Decomposition (Ye, Liu, Lv and Feng, 2009), and Anatomy (Xiao and Tao, 2006).

Steps in the order in which they run:

1. ``targets``: the primary attribute and how many values each attribute needs in a group
   (section 5.1).
2. ``nearby_groups``: cut the Hilbert curve into blocks without reading sensitive values (ours).
3. ``bucket_index``, ``bucket_groups``: the largest-ℓ procedure and its penalty (section 4).
4. ``residual_rows``: place the rows that remain when groups are formed (section 4).
5. ``noise``: fill the sets of each group with values that the published rows support
   (section 5.2, narrower than there); ``linkable_noise``: the paper's own rule, as an option.
6. ``row_exchange``: exchange rows between groups where that saves noise (ours).
7. ``group_merging``: merge groups that no noise can fill (ours).
8. ``noise_support``: noise that an assignment of all persons to all rows can use (ours).

``decomposition`` runs them all (section 5.3); ``anatomy`` runs steps 2 to 4 for one attribute.
"""

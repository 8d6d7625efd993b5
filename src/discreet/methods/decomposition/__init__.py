"""Decomposition (Ye, Liu, Lv and Feng, 2009), and Anatomy (Xiao and Tao, 2006).

Steps in the order in which they run:

1. ``targets``: the primary attribute and how many values each attribute needs in a group
   (section 5.1).
2. ``group_forming``: the largest-ℓ procedure and its penalty, in blocks of near rows where these
   are preferred (ours), and the rows that remain (section 4).
3. ``noise``: fill the sets of each group with values that the published rows support
   (section 5.2, narrower than there); the paper's own rule, as an option.
4. ``group_merging``: exchange rows between groups where that saves noise, then
   merge groups that no noise can fill (ours).
5. ``insider``: longer lists and larger groups where T^S and the groups together tell more than 1/ℓ
   (ours).
6. ``noise_support``: noise that an assignment of all persons to all rows can use (ours).

``decomposition`` runs them all (section 5.3); ``anatomy`` runs step 2 for one attribute.
"""

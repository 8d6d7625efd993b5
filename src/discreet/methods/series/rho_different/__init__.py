"""ρ-different: no attacker with all releases believes a value above ρ (Abdalaal, 2012, 4.3).

Steps in the order in which they run; the paper's estimates are replaced by exact beliefs:

1. ``families``: the persons whose beliefs depend on each other, and which of them are published,
   also where they are too many to enumerate.
2. ``shapes``: families that are alike are decided once.
3. ``completion``: the counterfeits with which each family is published.
4. ``rho_different``: group persons who were never published before (first release, section 4.3),
   run the steps, and number groups and counterfeits.
"""

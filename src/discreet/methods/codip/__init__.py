"""CODIP: several tables about the same persons (Fang, Ashrafi and Ng, 2011).

Steps in the order in which they run:

1. ``recoder``: how the quasi-identifiers of a table are recoded; ``codip`` chooses one of
   ``node_table``, which judges every full-domain recoding once for every sensitive attribute
   (CheckPlan, figure 2), and ``local_projections``, which cuts each table by Mondrian, or
   forms groups along a curve where these lose less (ours).
2. ``plans``: which sensitive attributes share a table; all plans (section 3), or those of the
   greedy CODIP* (section 5, figure 4).
3. ``codip``: check each plan against the association loss Γα and the information exposure Γβ
   (section 4), and make the tables of the first that passes.
4. ``frontier``: for ``explore``, what every number of tables loses and exposes (section 7.1).
"""

"""Tiny tables through every kind of release: each belief that an attack calls within the guarantee
is compared with the share of all worlds of the published files.

A world gives each person one published sensitive row, or several, such that the files could have
been published; where rows are suppressed, it also says whose. ``python -m tests.worlds --releases
50000`` runs the driver, ``--replay NUMBER`` one case of it. A case is made from its number alone.

Of decompositions, only ``link-through-sensitive-table`` can be within a guarantee, with
``conditional-l-diversity`` and for the readers ``pair`` and ``row``; these weigh rows of the
sensitive table, not worlds, and are compared with their definitions. ``set-homogeneity`` and the
reader ``matching`` are never within one; ``matching`` is compared with all worlds where no two
persons have the same quasi-identifiers. A finding within a guarantee that nothing enumerates fails.
"""

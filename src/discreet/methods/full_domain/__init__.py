"""Full-domain generalization: one level of its hierarchy for every column, at least cost.

Steps in the order in which they run:

1. ``shared.distinct_tuples``: the distinct tuples of quasi-identifiers, with their counts.
2. ``lattice_search``: choose the node of ``shared.lattice`` to examine next (ours, in place of the
   walk over subsets of LeFevre, DeWitt and Ramakrishnan, 2005).
3. ``shared.frequency_sets``: roll up the counts to a node (LeFevre et al., 2005).
4. ``recodings``: judge the node; requirements are those of Machanavajjhala et al., 2006,
   section 5, and Li, Li and Venkatasubramanian, 2007.
5. ``costs``: the cost of the nodes that pass.
"""

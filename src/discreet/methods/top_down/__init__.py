"""Top-down specialization for attackers with limited knowledge (Mohammed and others, 2009).

Steps in the order in which they run:

1. ``TaxonomyCuts``: all cells of a column begin as ``*``; the next candidate is the cell whose
   specialization removes most of the information loss (section 5, Score).
2. ``key_counts``: count the groups of every combination of columns that the children would make.
3. ``top_down``: specialize to the children whose groups all pass; the others keep the cell.
4. ``item_removal``: remove items from sets for k^m-anonymity (Terrovitis and others, 2008).
"""

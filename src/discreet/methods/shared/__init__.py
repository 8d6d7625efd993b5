"""Steps that several methods use.

- ``distinct_tuples``, ``frequency_sets``, ``lattice``: counts of full-domain recodings.
- ``hilbert``: quasi-identifiers in one dimension; ``different_values``: groups along that curve.
- ``grouped_rows``, ``tight_cells``: from numbered groups to published cells.
- ``infeasibility``: what a method says where no release meets the requirements.
"""

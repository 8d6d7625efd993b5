"""How much is done or held at once: sizes at which work is cut into parts or done in another way.

Ways that differ by such a size give the same results, unless it says that something is left out.
"""

IN_CACHE = 2**16  # numbers that are worked on at once, so that they stay in the processor's cache
AT_ONCE = 2**21  # entries that are laid out, or looked up in a table: 16 MB for each array
TABLE_CELLS = 2**24  # cells of a table with a place for each combination; above, it is left out
MOST_ENTRIES = 2**26  # entries that are listed; above, what needs them is left out, and says so
FIGURE_ROWS = 100_000  # rows above which figures that take as long as a method are left out
SAMPLE = 2_000  # persons who are drawn where all would take too long

"""How much is done or held at once: sizes at which work is cut into parts or done in another way.

Ways that differ by such a size give the same results, unless it says that something is left out.
"""

IN_CACHE = 2**16  # numbers that are worked on at once, so that they stay in the processor's cache
AT_ONCE = 2**21  # entries that are laid out, or looked up in a table: 16 MB for each array
BYTES_AT_ONCE = 2**24  # of a file that are read, compared or sent in one piece
TABLE_CELLS = 2**24  # cells of a table with a place for each combination; above, it is left out
MOST_ENTRIES = 2**26  # entries that are listed; above, what needs them is left out, and says so
MOST_STEPS = 5_000_000  # steps of a search, or combinations held, that are worth a figure
MOST_STATES = 20_000  # states, dealings or components that are listed one by one
# Rows above which figures that take as long as a method are left out, and rows of an engine that
# are brought to this machine for figures and attacks.
FIGURE_ROWS = 100_000
LOOKED_AT = 5_000  # rows that decide what is worth a look at all rows
SAMPLE = 2_000  # persons, rows or worlds that are drawn where all would take too long
BEYOND = 2**62  # above all counts and sizes; a key below it stays in 64 bits

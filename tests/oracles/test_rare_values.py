"""What a lifted or masked cell gives away, by enumeration of all tables that fit it.

The attacker knows the domain, the algorithm and every published cell of one sensitive attribute.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import factorial, prod
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from discreet.errors import InfeasibleError
from discreet.job.parts import Attribute
from discreet.pipeline.rare_values import GONE, MASKED, UNCHANGED, Values, fates_of, recode
from discreet.table.coded_table import Column
from discreet.table.roles import Role, ValueType

TREE = {"A": ["a1", "a2"], "B": ["b1", "b2"]}
DOMAIN = ["a1", "a2", "b1", "b2"]
Counts = tuple[int, ...]  # of each value of the domain


def counts_of(rows: int, values: int) -> Iterator[Counts]:
    """Yield every way to give each value of a domain a number of rows."""
    if values == 1:
        yield (rows,)
        return
    for first in range(rows + 1):
        for rest in counts_of(rows - first, values - 1):
            yield (first, *rest)


def column_of(counts: Counts, domain: Sequence[str]) -> Column:
    present = [value for value, count in zip(domain, counts, strict=True) if count]
    text = pl.Series("s", present, dtype=pl.String)
    codes = np.repeat(np.arange(len(present)), [count for count in counts if count])
    return Column("s", Role.SENSITIVE, ValueType.TEXT, codes.astype(np.int32), text, text)


def attribute_of(mode: str) -> Attribute:
    tree = {"tree": TREE} if mode in ("auto", "lift") else None
    return Attribute.model_validate(
        {"role": "sensitive", "rare": mode, "masked_at_most": 1, "hierarchy": tree}
    )


def cells_of(counts: Counts, domain: Sequence[str], mode: str, least: int) -> list[str] | None:
    """Return the cell of each value of the domain that occurs; None where rows are suppressed."""
    column, attribute = column_of(counts, domain), attribute_of(mode)
    hierarchy = None
    if attribute.hierarchy is not None:
        hierarchy = attribute.hierarchy.build(column, Path())
    values = Values.of(column, None)
    fate = fates_of(column, values, least, hierarchy, attribute, row_cost=10**6)
    if (fate == GONE).any():
        return None
    assert set(fate) <= {MASKED, UNCHANGED, 1}
    recoded = recode(column, fate, hierarchy).column
    _, first = np.unique(column.codes, return_index=True)
    return [str(recoded.text[int(recoded.codes[row])]) for row in first]


def published(counts: Counts, cells: Sequence[str]) -> tuple[tuple[str, int], ...]:
    found: dict[str, int] = defaultdict(int)
    present = [count for count in counts if count]
    for count, cell in zip(present, cells, strict=True):
        found[cell] += count
    return tuple(sorted(found.items()))


@pytest.mark.parametrize("mode", ["mask", "lift", "auto"])
@pytest.mark.parametrize(("rows", "least"), [(5, 2), (7, 2), (6, 3), (9, 3)])
def test_each_treated_cell_leaves_l_values_possible(mode: str, rows: int, least: int) -> None:
    worlds = defaultdict(list)
    for counts in counts_of(rows, len(DOMAIN)):
        try:
            cells = cells_of(counts, DOMAIN, mode, least)
        except InfeasibleError:  # fewer values than l
            continue
        if cells is not None:
            worlds[published(counts, cells)].append((counts, cells))
    treated = 0
    for shown, behind in worlds.items():
        for cell, size in shown:
            if cell in DOMAIN:
                assert size >= least
                continue
            treated += 1
            possible = set()
            for counts, cells in behind:
                present = [value for value, count in zip(DOMAIN, counts, strict=True) if count]
                of_cell = {v for v, own in zip(present, cells, strict=True) if own == cell}
                # by the counts as well: l values, and none that is rare above 1/l
                assert len(of_cell) >= least
                for value in of_cell:
                    count = counts[DOMAIN.index(value)]
                    assert count >= least or Fraction(count, size) <= Fraction(1, least)
                possible |= of_cell
            assert len(possible) >= least
    assert treated


def test_masking_rare_values_alone_would_reveal_them() -> None:
    """One rare value behind '*': the domain minus what is published is that value."""
    counts = (1, 3, 3, 3)
    shown = {value for value, count in zip(DOMAIN, counts, strict=True) if count >= 2}
    assert set(DOMAIN) - shown == {"a1"}
    assert cells_of(counts, DOMAIN, "mask", 2) == ["*", "*", "b1", "b2"]


def test_a_label_takes_in_a_sibling_or_rises() -> None:
    assert cells_of((1, 1, 4, 4), DOMAIN, "lift", 2) == ["A", "A", "b1", "b2"]
    # alone below A: a2, which is rarer than the cells that '*' would need, goes with it
    assert cells_of((1, 3, 4, 4), DOMAIN, "lift", 2) == ["A", "A", "b1", "b2"]
    assert cells_of((0, 9, 1, 1), DOMAIN, "lift", 2) == ["a2", "B", "B"]


def test_beliefs_of_an_attacker_who_knows_the_domain_alone() -> None:
    """Every assignment of values to rows is as likely: the mean over all worlds of a release."""
    rows, least = 6, 2
    worlds = defaultdict(list)
    for counts in counts_of(rows, len(DOMAIN)):
        cells = cells_of(counts, DOMAIN, "auto", least) if max(counts) < rows else None
        if cells is not None:
            ways = factorial(rows) // prod(factorial(count) for count in counts)
            worlds[published(counts, cells)].append((counts, cells, ways))
    for shown, behind in worlds.items():
        for cell, size in shown:
            if cell in DOMAIN:
                continue
            belief: dict[str, Fraction] = defaultdict(Fraction)
            total = sum(ways for _, _, ways in behind)
            for counts, cells, ways in behind:
                present = [value for value, count in zip(DOMAIN, counts, strict=True) if count]
                for value, own in zip(present, cells, strict=True):
                    if own == cell:
                        count = counts[DOMAIN.index(value)]
                        belief[value] += Fraction(ways * count, total * size)
            assert sum(belief.values()) == 1
            assert len(belief) >= least
            assert max(belief.values()) < 1

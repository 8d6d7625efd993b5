"""Li and Ye: generalize quasi-identifiers top-down, then mask sensitive values that fall short.

Li and Ye, "Privacy protection on multiple sensitive attributes", as Abdalaal (2012, section
3.3) describes it.

=============  ================================================================================
paper          here
=============  ================================================================================
α-QI           ``alpha_qi``: distinct combinations of sensitive values in a class, at least
α-SA           ``alpha_sa``: distinct values of an attribute in a class; else it is masked there
first phase    median splits of the widest attribute while both halves keep α-QI
second phase   ``*`` for all values of the attribute in the class
=============  ================================================================================

The paper leaves open of what α-QI counts the distinct values; in its example both classes have two
distinct combinations, and one attribute with a single value each, which the second phase masks.

What is not covered: any bound on probability. One value may fill nearly the whole class.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from experiments.rivals.gal import median_parts, places_of
from experiments.rivals.manifest_entries import LiYeEntry
from numpy.typing import NDArray
from pydantic import Field

from discreet.errors import InfeasibleError, InputError
from discreet.methods.base import Generalized, Method, Task
from discreet.methods.manifest_entry import MethodEntry
from discreet.methods.shared.grouped_rows import (
    cells_of_groups,
    count_groups,
    merged_where_equal,
    require_all,
)
from discreet.methods.shared.infeasibility import NOTHING_LEFT
from discreet.requirements.exact_ratios import by_class
from discreet.table.classes import classes_of


class LiYe(Method):
    """Split while classes keep α-QI combinations; mask attributes with fewer than α-SA values."""

    name: ClassVar[str] = "li-ye"
    entry: ClassVar[type[MethodEntry]] = LiYeEntry

    alpha_qi: int = Field(
        ge=1, description="Least number of distinct sensitive combinations in a class."
    )
    alpha_sa: int = Field(
        ge=1,
        description="Least number of distinct values of an attribute in a class; "
        "below it the attribute is masked.",
    )

    def run(self, task: Task) -> Generalized:
        """The classes, or InfeasibleError where the whole table has too few combinations."""
        table = task.table
        if not table.rows or not table.sensitive:
            raise InputError("li-ye: the table needs at least one row and one sensitive attribute.")
        combinations = classes_of(table.sensitive, table.rows)
        if combinations.count < self.alpha_qi:
            raise InfeasibleError(
                f"li-ye: the table has {combinations.count} distinct combinations of sensitive "
                "values. "
                + (f"Ask for alpha_qi = {combinations.count} at most." if combinations.count > 1
                   else NOTHING_LEFT),
                [{"requirement": self.name, "parameters": self.parameters(),
                  "feasible": {"alpha_qi": combinations.count} if combinations.count > 1 else {}}],
            )  # fmt: skip

        def safe(rows: NDArray[np.int64]) -> bool:
            return len(np.unique(combinations.class_of_row[rows])) >= self.alpha_qi

        group_of_row = median_parts(places_of(task), safe, give_up=False)
        group_of_row = merged_where_equal(task, group_of_row)  # a mask covers all of a class
        remedies = ("use msa-diversity or mondrian, which aim at them",)
        require_all(task, group_of_row, "li-ye: its classes do not meet all requirements", remedies)
        counts = count_groups(task, group_of_row)
        masked, masked_cells, shares = {}, {}, {}
        for column in table.sensitive:
            values = counts.values[column.name]
            short = np.diff(values.start) < self.alpha_sa
            if not short.all():  # of what stays; how masked values were spread is not to be told
                greatest = by_class(np.maximum, values.count, values) / counts.size
                shares[column.name] = float(greatest[~short].max())
            if short.any():
                masked[column.name] = short
                masked_cells[column.name] = int(counts.size[short].sum())
        facts = {
            "groups": counts.classes,
            "masked_cells": masked_cells,
            "greatest_share": shares,
        }
        cells = cells_of_groups(task, group_of_row)
        return Generalized(group_of_row, cells, facts, masked=masked)

"""Gal and others: top-down splits while every part keeps k rows and a minimum cover of ℓ values.

Gal, Chen and Gangopadhyay, "A privacy protection model for patient data with multiple sensitive
attributes", as Abdalaal (2012, section 3.4) describes it: to delete all rows of a
group, at least ℓ distinct values, of any attributes together, have to be deleted.

======================  =====================================================================
paper                   here
======================  =====================================================================
ℓ-diversity             ``covered_by``: no ℓ − 1 values occur in all rows of the part
widest range            ``place``: the part's span on the scale of ``hilbert.scale_of_values``
excluded tuples         ``halves: suppress``; no row with ``halves: both-safe``
======================  =====================================================================

What is not covered: any bound on probability. A value may fill nearly the whole of a part;
``greatest_share`` in the manifest says how much it does. Parts are cut at the median of the
attribute with the widest range that allows it; ``suppress`` first looks for a cut with two safe
halves and else gives up the unsafe half of the widest cut that has a safe one.

Cost: each test of a part tries at most d^(ℓ−1) covers, most parts none, because ℓ rows without a
common value settle it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Literal

import numpy as np
from experiments.rivals.manifest_entries import GalEntry
from numpy.typing import NDArray
from pydantic import Field

from discreet.errors import InfeasibleError, InputError
from discreet.methods.base import Generalized, Method, Task
from discreet.methods.manifest_entry import MethodEntry
from discreet.methods.shared.grouped_rows import cells_of_groups, greatest_share, require_all
from discreet.methods.shared.hilbert import scale_of_values
from discreet.methods.shared.infeasibility import NOTHING_LEFT
from discreet.table.kernels import kernel
from discreet.typing import Ints


class Gal(Method):
    """Split while every part keeps k rows and needs ℓ values to be emptied."""

    name: ClassVar[str] = "gal"
    entry: ClassVar[type[MethodEntry]] = GalEntry

    l: int = Field(ge=1, description="Least number of values that empty a part.")  # noqa: E741
    k: int | None = Field(
        default=None, ge=1, description="Least number of rows in a part; by default l."
    )
    halves: Literal["both-safe", "suppress"] = Field(
        default="both-safe", description="Whether a split may suppress an unsafe half."
    )

    def run(self, task: Task) -> Generalized:
        """The parts, or InfeasibleError where the whole table is not safe."""
        table = task.table
        if not table.rows or not table.sensitive:
            raise InputError("gal: the table needs at least one row and one sensitive attribute.")
        values = np.stack([column.codes for column in table.sensitive], axis=1)
        if not self._safe(values):
            most = max(ell for ell in range(self.l) if not covered_by(values, ell - 1))
            raise InfeasibleError(
                f"gal: the whole table has {table.rows} rows, and {most} values empty it. "
                + (f"Ask for l = {most} and k = {table.rows} at most." if most > 1
                   else NOTHING_LEFT),
                [{"requirement": self.name, "parameters": self.parameters(),
                  "feasible": {"l": most, "k": table.rows} if most > 1 else {}}],
            )  # fmt: skip
        group_of_row = median_parts(
            places_of(task),
            lambda rows: self._safe(values[rows]),
            give_up=self.halves == "suppress",
        )
        remedies = ("use msa-diversity or mondrian, which aim at them",)
        require_all(task, group_of_row, "gal: its parts do not meet all requirements", remedies)
        facts = {
            "groups": int(group_of_row.max()) + 1,
            "suppressed_rows": int((group_of_row < 0).sum()),
            "greatest_share": greatest_share(task, group_of_row),
        }
        return Generalized(group_of_row, cells_of_groups(task, group_of_row), facts)

    def _safe(self, values: NDArray[np.int32]) -> bool:
        return len(values) >= (self.k or self.l) and not covered_by(values, self.l - 1)


def places_of(task: Task) -> NDArray[np.float64]:
    """Where every row lies on the scale of each quasi-identifier; (rows, quasi-identifiers)."""
    columns = task.table.quasi_identifiers
    place = np.empty((task.table.rows, len(columns)))
    for number, column in enumerate(columns):
        scale = scale_of_values(column, task.hierarchies.get(column.name))
        place[:, number] = scale[column.codes]
    return place


def median_parts(
    place: NDArray[np.float64], safe: Callable[[Ints], bool], *, give_up: bool
) -> NDArray[np.int32]:
    """Split everyone at medians while halves are safe; the part of each row, −1 if given up."""
    group_of_row = np.full(len(place), -1, np.int32)
    waiting, count = [np.arange(len(place))], 0
    while waiting:
        part = waiting.pop()
        halves = _halves(part, place, safe, give_up)
        if halves is None:
            group_of_row[part] = count
            count += 1
        else:
            waiting += halves
    return group_of_row


def _halves(
    part: Ints, place: NDArray[np.float64], safe: Callable[[Ints], bool], give_up: bool
) -> list[Ints] | None:
    """The halves to go on with, of the widest attribute that allows it; None where none does."""
    spans = np.ptp(place[part], axis=0)
    one_safe: list[Ints] | None = None
    for column in np.argsort(-spans, kind="stable"):
        if spans[column] == 0:
            break
        below = _below_median(place[part, column])
        halves = [part[below], part[~below]]
        kept = [half for half in halves if safe(half)]
        if len(kept) == 2:
            return halves
        if len(kept) == 1 and one_safe is None:
            one_safe = kept
    return one_safe if give_up else None


def _below_median(places: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Up to and with the median, but never everyone."""
    middle = np.sort(places)[(len(places) - 1) // 2]
    below: NDArray[np.bool_] = places <= middle
    return below if not below.all() else places < middle


def covered_by(values: NDArray[np.int32], count: int) -> bool:
    """Whether some ``count`` values, of any attributes, occur in all rows: each has one of them."""
    if count < 0:
        return False
    if count == 0:
        return len(values) == 0
    return bool(_covered(np.ascontiguousarray(values), count))


# Compiled: a depth-first search for every cut that is tried.
@kernel
def _covered(values: NDArray[np.int32], count: int) -> bool:
    """Depth first: the first row that is not covered must have one of its values chosen."""
    rows, attributes = values.shape
    chosen_attribute = np.empty(count, np.int64)
    chosen_value = np.empty(count, np.int64)
    branch_row = np.empty(count, np.int64)
    depth = 0
    attribute = 0
    while True:
        row = 0
        while row < rows:  # the first row without a chosen value
            has_one = False
            for i in range(depth):
                if values[row, chosen_attribute[i]] == chosen_value[i]:
                    has_one = True
                    break
            if not has_one:
                break
            row += 1
        if row == rows:
            return True
        if depth < count:
            branch_row[depth] = row
            chosen_attribute[depth] = 0
            chosen_value[depth] = values[row, 0]
            depth += 1
            continue
        while depth > 0:  # the next branch, or back
            attribute = chosen_attribute[depth - 1] + 1
            if attribute < attributes:
                chosen_attribute[depth - 1] = attribute
                chosen_value[depth - 1] = values[branch_row[depth - 1], attribute]
                break
            depth -= 1
        if depth == 0:
            return False

"""Rare values of sensitive attributes are lifted, masked or suppressed before any method.

A value is *rare* at l if fewer than l persons have it. It would decide the groups of everybody, and
an attacker who knows it finds its row in a published sensitive table. Each value has one fate:

- *unchanged*;
- *lifted*: replaced by the label of a node above it in the attribute's hierarchy;
- *masked*: replaced by ``*``;
- *suppressed*: its rows are removed.

A cell must not reveal a value by being lifted or masked. Assume an attacker who knows the values of
the source, how many persons have each, and the fate of each. A cell x that stands for a set V(x) of
values is *safe* at l if

1. V(x) has at least l values, and
2. no rare value is that of more than 1/l of the persons with x.

All assignments of the values of V(x) to the rows with x fit what this attacker knows. So by 1 at
least l values are possible for every cell x, and by 2 the belief in a rare one is at most 1/l. A
``*`` with too few values or persons behind it therefore takes in the next rarest values, a label
the next rarest below its node. Fates belong to values, not to rows: a value that is published
somewhere is never behind a label or ``*``, so cells that differ stand for different values, and a
group with l different cells has l different values.

Suppressed rows are noticed where quasi-identifiers are exact: a person who is missing has a rare
value. Rows with other values are removed with them, so that no rare value is that of more than 1/l
of the persons removed. They are drawn from a generator that the whole table seeds: an audit with
the original draws the same, and an attacker who lacks the table cannot.

With ``rare_rows``, rows whose cells of all sensitive attributes fewer than l persons share are
suppressed as well, and values are lifted further where these rows would be too many. Of a missing
person this tells that the row was rare, not which of its values is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import NamedTuple

import numpy as np
import polars as pl

from discreet.errors import InfeasibleError, InputError, JobError
from discreet.hierarchies.cells import SUPPRESSED
from discreet.hierarchies.hierarchy import Hierarchy, Level, level_from_groups
from discreet.job.model import Job
from discreet.job.parts import Attribute
from discreet.pipeline.read import SourceRows
from discreet.requirements.judge import covered
from discreet.table.classes import group_codes
from discreet.table.coded_table import CodedTable, Column
from discreet.table.kernels.lists import distinct_values
from discreet.table.persons import Persons
from discreet.table.rare_values import RareCounts, RareTreatment
from discreet.table.roles import Distance, ValueType
from discreet.typing import Bools, Ints

UNCHANGED = 0  # the fate of a value; a lifted one has the number of its level
MASKED = -1
GONE = -2  # its rows are suppressed
LEAST = 2  # where no requirement and no parameter of the method says how many


@dataclass(frozen=True, eq=False)
class Values:
    """The values of one column, and who has them."""

    rows: Ints  # (values,) rows with each
    persons: Ints  # (values,) persons with each
    pairs: tuple[Ints, Ints] | None  # distinct (person, value), where a person may have several

    @classmethod
    def of(cls, column: Column, persons: Persons | None) -> Values:
        """Return the values of a column, of which a person may have several."""
        if persons is None:
            return cls(column.counts, column.counts, None)
        key = distinct_values(persons.number * column.cardinality + column.codes)
        person, value = np.divmod(key, column.cardinality)
        return cls(column.counts, np.bincount(value, minlength=column.cardinality), (person, value))

    def persons_with(self, chosen: Ints) -> int:
        """Return how many persons have one of some values."""
        if self.pairs is None:
            return int(self.persons[chosen].sum())
        person, value = self.pairs
        return len(distinct_values(person[np.isin(value, chosen)]))


class Cover(NamedTuple):
    """A cell that may stand for some values."""

    values: Ints  # whose fate it becomes
    level: int  # of the hierarchy; MASKED for '*'
    loss: float  # of one cell

    def cost(self, values: Values) -> float:
        """Return its loss over all rows."""
        return float(values.rows[self.values].sum()) * self.loss


def least_persons(job: Job, name: str) -> int:
    """Return the l of an attribute: the largest that the job asks for, else 2."""
    roles = {column: attribute.role for column, attribute in job.attributes.items()}
    covering = [one for one in job.requirements if name in covered(one, roles)]
    parts = [*covering, *(getattr(one, "inner", None) for one in covering), job.method]
    asked = [getattr(part, key, None) for part in parts for key in ("l", "m")]
    numbers = [one.get(name) if isinstance(one, Mapping) else one for one in asked]
    return max([LEAST, *(ceil(number) for number in numbers if isinstance(number, int | float))])


def fates_of(
    column: Column,
    values: Values,
    least: int,
    hierarchy: Hierarchy | None,
    attribute: Attribute,
    row_cost: int,
    lifted_below: int = 0,
) -> Ints:
    """Decide the fate of each value of a column, by the least loss that its attribute allows.

    ``row_cost`` is what a suppressed row loses, in cells. Values that fewer than ``lifted_below``
    persons have are lifted too, where the hierarchy allows it.
    """
    fate = np.zeros(column.cardinality, np.int64)
    rare = values.persons < least
    if attribute.rare == "suppress":
        fate[rare] = GONE
        return fate
    lifts = attribute.rare in ("auto", "lift")
    levels = _Levels(column, values, least, hierarchy if lifts else None, fate)
    levels.wanted = values.persons < max(least, lifted_below)
    for number in range(1, levels.height + 1):  # bottom up: only as far as needed
        for node in levels.nodes_with_rare(number):
            here = levels.cover(number, node)
            if here is None:
                continue
            inside = levels.undecided(number, node)
            if here.cost(values) <= levels.cost_above(number, inside):
                fate[here.values] = number
    levels.wanted = rare
    inside = np.flatnonzero(rare & (fate == UNCHANGED))
    star = levels.cover(MASKED, 0) if len(inside) else None
    most = attribute.masked_limit * len(column.codes)
    if star is not None and values.rows[star.values].sum() <= most:
        fate[star.values] = MASKED
    elif len(inside) and attribute.rare != "auto":
        raise InfeasibleError(_unmasked(column, least, len(inside), values, star, attribute))
    elif len(inside):
        fate[inside] = GONE
    if attribute.rare == "auto" and not lifted_below:
        _suppress_where_cheaper(fate, rare, values, levels, least, row_cost)
    return fate


class _Levels:
    """The cells that undecided rare values could become, level by level."""

    def __init__(
        self,
        column: Column,
        values: Values,
        least: int,
        hierarchy: Hierarchy | None,
        fate: Ints,
    ) -> None:
        self.values, self.least, self.fate = values, least, fate
        self.rare = self.wanted = values.persons < least  # wanted: to be lifted or masked
        self.levels: Sequence[Level] = () if hierarchy is None else hierarchy.levels
        self.height = len(self.levels) - 1
        known = set(column.text.to_list())
        # A label that is also a value of the source could be taken for it.
        self.usable = [
            np.array(
                [label not in known and label not in (None, SUPPRESSED) for label in one.labels]
            )
            for one in self.levels
        ]

    def below(self, number: int, node: int) -> Bools:
        """Return the values below a node; all below ``*``."""
        if number == MASKED:
            return np.ones(len(self.rare), bool)
        return np.asarray(self.levels[number].node_of_leaf == node)

    def undecided(self, number: int, node: int) -> Ints:
        """Return the rare values below a node that have no fate yet."""
        return np.flatnonzero(self.below(number, node) & self.wanted & (self.fate == UNCHANGED))

    def nodes_with_rare(self, number: int) -> list[int]:
        """Return the nodes of a level with undecided rare values below."""
        nodes = self.levels[number].node_of_leaf[self.wanted & (self.fate == UNCHANGED)]
        return [int(node) for node in np.unique(nodes) if self.usable[number][node]]

    def loss(self, number: int, node: int) -> float:
        return 1.0 if number == MASKED else float(self.levels[number].loss[node])

    def cover(self, number: int, node: int) -> Cover | None:
        """Return the undecided rare values below a node, with the rarest others that they need."""
        together = self.undecided(number, node)
        others = [] if self.safe(together) else self._others(number, node)
        while not self.safe(together):
            if not others:
                return None
            together = np.concatenate((together, others.pop(0)))
        return Cover(together, number, self.loss(number, node))

    def _others(self, number: int, node: int) -> list[Ints]:
        """Return what a cell can take in, the rarest first: a value, or all of a lower label."""
        below = self.below(number, node)
        units = np.flatnonzero(below & ~self.wanted & (self.fate == UNCHANGED)).reshape(-1, 1)
        labels: dict[tuple[int, int], list[int]] = {}
        for value in np.flatnonzero(below & (self.fate > UNCHANGED)).tolist():
            level = int(self.fate[value])
            place = int(self.levels[level].node_of_leaf[value])
            labels.setdefault((level, place), []).append(value)
        all_units = [*units, *(np.array(unit) for unit in labels.values())]
        return sorted(all_units, key=lambda unit: int(self.values.rows[unit].sum()))

    def safe(self, together: Ints) -> bool:
        """Return whether a cell may stand for some values, by the definition above."""
        rare = together[self.rare[together]]
        needed = self.least * int(self.values.persons[rare].max(initial=0))
        return len(together) >= self.least and self.values.persons_with(together) >= needed

    def cost_above(self, number: int, inside: Ints) -> float:
        """Return the least loss of some rare values if they are lifted further, or masked.

        Other values that a cell takes in are charged by the share of the rows that need them.
        """
        places = [
            (above, int(self.levels[above].node_of_leaf[inside[0]]))
            for above in range(number + 1, self.height + 1)
        ]
        places = [(above, node) for above, node in places if self.usable[above][node]]
        least = float("inf")
        for above, node in (*places, (MASKED, 0)):
            cover = self.cover(above, node)
            if cover is not None:
                needing = float(self.values.rows[self.undecided(above, node)].sum())
                share = float(self.values.rows[inside].sum()) / needing
                least = min(least, cover.cost(self.values) * share)
        return least


def _suppress_where_cheaper(
    fate: Ints, rare: Bools, values: Values, levels: _Levels, least: int, row_cost: int
) -> None:
    """Suppress rare values whose cell loses more than their rows and those removed with them."""
    cells = [(MASKED, 0)]
    for number in range(1, levels.height + 1):
        nodes = levels.levels[number].node_of_leaf[fate == number]
        cells += [(number, int(node)) for node in np.unique(nodes)]
    for number, node in cells:
        chosen = np.flatnonzero(levels.below(number, node) & (fate == number))
        inside = chosen[rare[chosen]]
        if not len(inside):
            continue
        lost = max(int(values.rows[inside].sum()), least * int(values.persons[inside].max()))
        if lost * row_cost < Cover(chosen, number, levels.loss(number, node)).cost(values):
            fate[chosen] = UNCHANGED
            fate[inside] = GONE


def _unmasked(
    column: Column,
    least: int,
    rare: int,
    values: Values,
    star: Cover | None,
    attribute: Attribute,
) -> str:
    place = f"attributes.{column.name}.rare"
    finding = f"{rare:,} of {column.cardinality:,} values have fewer than {least} persons"
    if star is None:
        return (
            f"{place}: {finding}, and too few others are left for '*' to hide which value a cell "
            f"has: at least {least} values must share it. Use 'rare: auto' or 'rare: suppress'."
        )
    cells = int(values.rows[star.values].sum())
    return (
        f"{place}: {finding}. Masking them, with what '*' needs to hide which value a cell has, "
        f"takes {cells:,} of {len(column.codes):,} cells ({cells / len(column.codes):.1%}); "
        f"'masked_at_most' allows {attribute.masked_limit:.1%}. Raise it, use 'rare: auto', or "
        "add a hierarchy."
    )


class Suppressed(NamedTuple):
    """Rows to remove, by the attribute whose rare values they have or hide."""

    rows: Mapping[str, Bools]

    @property
    def all(self) -> Bools:
        """Whether each row is removed."""
        return np.asarray(np.logical_or.reduce(list(self.rows.values())))


def suppressed_rows(
    table: CodedTable, fates: Mapping[str, Ints], least: Mapping[str, int], persons: Persons | None
) -> Suppressed | None:
    """Return the rows with suppressed values, and others that hide them; None if there are none."""
    by_name = {}
    for name, fate in fates.items():
        column = table[name]
        gone = (fate == GONE)[column.codes]
        if not gone.any():
            continue
        values = Values.of(column, persons)
        number = np.arange(table.rows) if persons is None else persons.number
        needed = least[name] * int(values.persons[fate == GONE].max())
        hiding = len(distinct_values(number[gone]))
        draw = np.random.default_rng(_seed_of(table)).permutation(table.rows)
        others = draw[~np.isin(number[draw], number[gone])]
        _, first = np.unique(number[others], return_index=True)  # a row of each person
        if needed - hiding > len(first):
            raise InfeasibleError(
                f"attributes.{name}.rare: too few persons have another value to hide which persons "
                f"have one of the {int((fate == GONE).sum()):,} suppressed values. Add a hierarchy "
                "along which values are lifted, or give the column the role 'drop'."
            )
        gone[others[np.sort(first)][: max(needed - hiding, 0)]] = True
        by_name[name] = gone
    return Suppressed(by_name) if by_name else None


def _seed_of(table: CodedTable) -> int:
    """Return a seed that depends on every cell of a table."""
    digest = hashlib.blake2b(digest_size=16)
    for column in table:
        digest.update(np.ascontiguousarray(column.codes).tobytes())
    return int.from_bytes(digest.digest(), "little")


class RecodedColumn(NamedTuple):
    """A column whose rare values were lifted or masked, and what follows from it."""

    column: Column
    hierarchy: Hierarchy | None
    marks: Bools | None  # (values,) which are sensitive
    labels: tuple[str, ...]  # that lifted cells have
    lifted: int  # cells
    masked: int  # cells
    loss: float  # Σ over cells


def recode(
    column: Column, fate: Ints, hierarchy: Hierarchy | None, marks: Bools | None = None
) -> RecodedColumn:
    """Replace lifted and masked values of a column; it is text then, in which cells differ or not.

    A cell is sensitive if it stands for a sensitive value.
    """
    texts: list[str | None] = column.text.to_list()
    lost = np.zeros(len(texts))
    labels = set()
    for value in np.flatnonzero(fate != UNCHANGED).tolist():
        if fate[value] == MASKED:
            texts[value], lost[value] = SUPPRESSED, 1.0
        else:
            assert hierarchy is not None
            level = hierarchy.levels[int(fate[value])]
            node = int(level.node_of_leaf[value])
            texts[value], lost[value] = level.labels[node], float(level.loss[node])
            labels.add(str(texts[value]))
    cells: list[str | None] = [*sorted({text for text in texts if text is not None})]
    cells += [None] if None in texts else []
    place = {text: code for code, text in enumerate(cells)}
    code = np.array([place[text] for text in texts], np.int32)  # (values,) its cell
    first = np.zeros(len(cells), np.int64)  # (cells,) a value behind each
    first[code[::-1]] = np.arange(len(code))[::-1]
    text = pl.Series(column.text.name, cells, dtype=pl.String)
    by_tree = column.distance is Distance.HIERARCHICAL
    recoded = replace(
        column,
        type=ValueType.TEXT,
        codes=code[column.codes],
        text=text,
        values=text,
        numbers=None,
        distance=Distance.HIERARCHICAL if by_tree else Distance.EQUAL,
        lost=lost[first],
    )
    marked = None
    if marks is not None:
        marked = np.zeros(len(cells), bool)
        np.logical_or.at(marked, code, marks)
    return RecodedColumn(
        recoded,
        None if hierarchy is None else _recoded_hierarchy(hierarchy, cells, fate[first], first),
        marked,
        tuple(sorted(labels)),
        int(column.counts[fate > 0].sum()),
        int(column.counts[fate == MASKED].sum()),
        float(lost @ column.counts),
    )


def _recoded_hierarchy(
    hierarchy: Hierarchy, cells: Sequence[str | None], fate: Ints, first: Ints
) -> Hierarchy:
    """Return the hierarchy over cells: a label is a leaf below its node, ``*`` is apart from all.

    ``first`` has a value behind each cell, ``fate`` that value's fate.
    """
    levels = []
    for number, level in enumerate(hierarchy.levels):
        apart = (fate > number) | ((fate == MASKED) & (len(set(level.node_of_leaf)) > 1))
        node = level.node_of_leaf[first].astype(np.int64)
        node[apart] = level.nodes + np.flatnonzero(apart)
        used, node_of_leaf = np.unique(node, return_inverse=True)
        alone_in_node = used >= level.nodes  # a node of a cell's own
        known = np.minimum(used, level.nodes - 1)
        names = [
            cells[place - level.nodes] if alone else level.labels[place]
            for place, alone in zip(used.tolist(), alone_in_node.tolist(), strict=True)
        ]
        levels.append(
            Level(
                node_of_leaf.astype(np.int32),
                tuple(names),
                np.where(alone_in_node, 1, level.leaves[known]),
                np.where(alone_in_node, 0.0, level.loss[known]),
            )
        )
    return replace(hierarchy, levels=tuple(levels))


def at_level(column: Column, hierarchy: Hierarchy, number: int) -> tuple[Column, Hierarchy]:
    """Return a column with the labels of a level as its values, and the levels from there on."""
    cells = recode(column, np.full(column.cardinality, number), hierarchy)
    assert cells.hierarchy is not None
    lowest, *upper = cells.hierarchy.levels[number:]
    node = lowest.node_of_leaf
    values = level_from_groups(
        np.arange(len(node), dtype=np.int32),
        cells.column.text.to_list(),
        lowest.leaves[node],
        0,
        lowest.loss[node],
    )
    coarser = replace(
        cells.hierarchy,
        levels=(values, *upper),
        level_names=hierarchy.level_names[number:],
        finest=number,
    )
    return cells.column, coarser


class Treated(NamedTuple):
    """The columns of a source whose rare values were treated."""

    table: CodedTable
    hierarchies: dict[str, Hierarchy]
    marks: dict[str, Bools]
    record: RareTreatment


class Treating:
    """The treatment of rare values: first rows are removed, until none must be, then recoded."""

    def __init__(self, job: Job, source: SourceRows) -> None:
        self.source = source  # the rows that remain
        self._job = job
        self._least = {
            name: least_persons(job, name)
            for name, attribute in job.attributes.items()
            if attribute.rare is not None
        }
        self._before, self._persons_before = source.table, source.row_persons
        self._rows = np.arange(source.table.rows)
        self._suppressed = dict.fromkeys(self._least, 0)
        # Attributes whose values are lifted so that rows of sensitive values are not rare.
        self._jointly = [name for name in self._least if job.attributes[name].rare_rows]
        self._lifted_below = 0
        self._rows_suppressed = 0
        self._fates: dict[str, Ints] = {}
        self._require_supported()

    def suppress(self, table: CodedTable, hierarchies: Mapping[str, Hierarchy]) -> bool:
        """Decide the fates of values, and remove rows that cannot be published; whether any were.

        Fewer rows may make other values rare, so that the fates of all are decided again. Where
        rows must not be rare, values are lifted further until few enough rows are.
        """
        while True:
            self._fates = self._decide(table, hierarchies)
            removed = suppressed_rows(table, self._fates, self._least, self.source.row_persons)
            rare_rows = self._rare_rows(table, hierarchies)
            lost = removed.all | rare_rows if removed is not None else rare_rows
            if not self._lifts_further(table, int(rare_rows.sum()), int(lost.sum())):
                break
            self._lifted_below = 2 * max(self._lifted_below, *self._least.values())
        if not lost.any():
            return False
        for name, rows in {} if removed is None else removed.rows.items():
            self._suppressed[name] += int(rows.sum())
        self._rows_suppressed += int(rare_rows.sum())
        remaining = np.flatnonzero(~lost)
        self.source = rows_of_source(self.source, remaining)
        self._rows = self._rows[remaining]
        self._require_within_limits({})
        if not len(remaining):
            raise InfeasibleError(
                f"attributes.{next(iter(self._least))}.rare: all rows have rare sensitive values. "
                "Add hierarchies along which values are lifted, or drop a column."
            )
        return True

    def _decide(self, table: CodedTable, hierarchies: Mapping[str, Hierarchy]) -> dict[str, Ints]:
        fates = {}
        for name, least in self._least.items():
            attribute = self._job.attributes[name]
            fates[name] = fates_of(
                table[name],
                Values.of(table[name], self.source.row_persons),
                least,
                hierarchies.get(name),
                attribute,
                row_cost=len(table.columns),
                lifted_below=self._lifted_below if attribute.rare_rows else 0,
            )
        return fates

    def _rare_rows(self, table: CodedTable, hierarchies: Mapping[str, Hierarchy]) -> Bools:
        """Return the rows whose cells of sensitive attributes too few persons share together."""
        if not self._jointly:
            return np.zeros(table.rows, bool)
        codes, sizes = [], []
        for column in table.sensitive:
            fate = self._fates.get(column.name)
            if fate is not None and (fate > GONE).any():
                column = recode(
                    column, np.maximum(fate, MASKED), hierarchies.get(column.name)
                ).column
            codes.append(column.codes)
            sizes.append(column.cardinality)
        classes = group_codes(codes, sizes, table.rows)
        persons = self.source.row_persons
        if persons is None:
            size = classes.size
        else:
            key = classes.class_of_row.astype(np.int64) * persons.count + persons.number
            size = np.bincount(distinct_values(key) // persons.count, minlength=classes.count)
        least = max(self._least[name] for name in self._jointly)
        return np.asarray(size[classes.class_of_row] < least)

    def _lifts_further(self, table: CodedTable, rare_rows: int, lost: int) -> bool:
        """Return whether lifting more values may leave few enough rare rows."""
        if not rare_rows:
            return False
        gone = self._before.rows - table.rows + lost
        limit = min(self._job.attributes[name].masked_limit for name in self._jointly)
        most = max(int(table[name].counts.max(initial=0)) for name in self._jointly)
        return gone > limit * self._before.rows and self._lifted_below <= most

    def recoded(
        self,
        table: CodedTable,
        hierarchies: Mapping[str, Hierarchy],
        marks: Mapping[str, Bools],
    ) -> Treated:
        """Lift and mask rare values of the rows that remain."""
        columns, trees, marked = dict(table.columns), dict(hierarchies), dict(marks)
        figures, masked = {}, {}
        gone = self._before.rows - len(self._rows)
        for name, fate in self._fates.items():
            column, source = table[name], self._before[name]
            lifted, loss, labels = 0, 0.0, tuple[str, ...]()
            masked[name] = 0
            if (fate != UNCHANGED).any():
                new = recode(column, fate, hierarchies.get(name), marks.get(name))
                columns[name] = new.column
                lifted, masked[name], loss, labels = new.lifted, new.masked, new.loss, new.labels
                if new.hierarchy is not None:
                    trees[name] = new.hierarchy
                if new.marks is not None:
                    marked[name] = new.marks
            before = Values.of(source, self._persons_before)
            figures[name] = RareCounts(
                least=self._least[name],
                values=source.cardinality,
                rare=int((before.persons < self._least[name]).sum()),
                unchanged=int((fate == UNCHANGED).sum()),
                lifted=lifted,
                masked=masked[name],
                suppressed=self._suppressed[name],
                loss=(loss + gone) / max(self._before.rows, 1),
                labels=labels,
            )
        self._require_within_limits(masked)
        record = RareTreatment(self._before.rows, self._rows, figures, self._rows_suppressed)
        return Treated(replace(table, columns=columns), trees, marked, record)

    def _require_supported(self) -> None:
        """Refuse counted tables, sets, and series, whose values must stay the same."""
        problems = []
        if self._before.weights is not None:
            raise InputError(
                f"attributes.{next(iter(self._least))}.rare: needs the rows of the table, which "
                "are only counted in their place. Export them to a file, or remove 'rare'."
            )
        for name in self._least:
            place = f"attributes.{name}.rare"
            if self._before[name].separator is not None:
                problems.append(
                    f"{place}: the values of a person's rows become a set. Name another rule with "
                    "'collapse:', or use 'min_support', by which rare members share one bit."
                )
            elif self._job.ledger is not None:
                problems.append(
                    f"{place}: a value could be rare in one release of a series and not in the "
                    "next, which would reveal it. Recode the column for all releases alike, by a "
                    "column of the source."
                )
        if problems:
            raise JobError(problems)

    def _require_within_limits(self, masked: Mapping[str, int]) -> None:
        """Refuse to mask or suppress more cells of an attribute than the job allows."""
        for name, suppressed in self._suppressed.items():
            attribute, rows = self._job.attributes[name], self._before.rows
            if attribute.rare_rows:
                suppressed += self._rows_suppressed
            cells = suppressed + masked.get(name, 0)
            if Fraction(cells) > Fraction(attribute.masked_limit) * rows:
                raise InfeasibleError(
                    f"attributes.{name}.rare: rare values cost {cells:,} of {rows:,} cells "
                    f"({cells / rows:.1%}; {suppressed:,} in suppressed rows); 'masked_at_most' "
                    f"allows {attribute.masked_limit:.1%}. Rare is what fewer than "
                    f"{self._least[name]} persons have. Raise the limit, add a hierarchy along "
                    "which values are lifted, or make the column coarser."
                )


def rows_of_source(source: SourceRows, rows: Ints) -> SourceRows:
    """Return some rows of a source, whose dictionaries have the values that remain."""
    table = source.table.take(rows)
    columns = {name: column.occurring() for name, column in table.columns.items()}
    persons = source.row_persons
    if persons is not None:
        _, number = np.unique(persons.number[rows], return_inverse=True)
        persons = Persons(number.astype(np.int64), int(number.max(initial=-1)) + 1, persons.unnamed)
    return replace(
        source,
        table=replace(table, columns=columns),
        row_persons=persons,
        people=None if source.people is None else source.people[rows],
        household=None if source.household is None else source.household[rows],
    )

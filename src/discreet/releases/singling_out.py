"""Singling out: who is unique by the published cells that an attacker may know.

A column with the role ``insensitive`` (``unchanged``) or ``weight`` is published as it is, so an
attacker may know it. For a number m, u(m) is the share of persons who are unique by the published
cells of their quasi-identifiers together with some m unchanged columns, the worst m for the table.
Cells count as they are published: a set or a range is one value.

*Persons.* Without several rows a person, a row is a person. Rows that carry the number of their
person are linked for everybody: a person is unique by the cells of all their rows together.
Where rows of a person are published without a link, files show rows; the publisher, who knows the
persons, counts a person as unique if a key occurs in no other person's rows.

*Exact quasi-identifiers* (buckets, decompositions). Being unique by them is the nature of such a
release: the sensitive values are behind the group, and the guarantee assumes an attacker who knows
it. The harm of an unchanged column is that it finds the row of a person who was hidden among equal
quasi-identifiers, with all its other unchanged values and its group. The verdict therefore counts
u(m) − u(0), the persons whom only unchanged columns make unique.

*Not counted*: sensitive and quasi-sensitive columns, which guarantees and attacks cover, and the
columns that a release makes at random (numbers of groups and persons), which nobody knows.

Uniqueness by quasi-identifiers, by each column and by all columns is counted exactly. The pairs of
columns are counted exactly while ``PAIR_CELLS`` allows it. Beyond, each pair is counted for drawn
persons among all rows with their quasi-identifiers (in classes too large for it, among some of
these rows, which can only overstate), and the result is an interval: below the exact count of the
named pair, above the upper limit of Clopper and Pearson for the worst of all pairs at once.

Intervals of a share that was estimated from targets drawn at random (Clopper, Pearson, 1934).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil

import numpy as np

from discreet import __version__
from discreet.releases.kinds.base import tables_of_rows
from discreet.releases.manifest import Known, Manifest, SinglingOut
from discreet.releases.registry import kind_of
from discreet.statements import Statement
from discreet.table.budgets import SAMPLE
from discreet.table.classes import Classes, classes_of, group_codes, group_lists
from discreet.table.coded_table import CodedTable, Column, Tables
from discreet.table.counts import summed
from discreet.table.kernels.lists import starts_of
from discreet.table.published import GROUP, PERSON
from discreet.table.roles import Unit
from discreet.typing import Bools, Ints

PAIR_CELLS = 1 << 25  # rows times pairs of columns that are counted exactly
NAMED = 5  # columns that matter most
SEED = 0  # of the drawn persons, so that an audit draws the same

Pair = tuple[str, str]


@dataclass(frozen=True)
class UniqueCounts:
    """Unique persons of a table, or of a part that has whole classes; those of parts add up."""

    counted: int = 0
    none: int = 0  # unique by quasi-identifiers alone
    single: Mapping[str, int] = field(default_factory=dict)
    every: int = 0
    pairs: Mapping[Pair, int] = field(default_factory=dict)  # of all persons, or of the drawn ones
    drawn: int = 0  # persons, where pairs are estimated
    group_known: tuple[int, int] = (0, 0)  # by quasi-identifiers, and with all columns

    def __add__(self, other: UniqueCounts) -> UniqueCounts:
        return UniqueCounts(
            self.counted + other.counted,
            self.none + other.none,
            summed(self.single, other.single),
            self.every + other.every,
            summed(self.pairs, other.pairs),
            self.drawn + other.drawn,
            (
                self.group_known[0] + other.group_known[0],
                self.group_known[1] + other.group_known[1],
            ),
        )

    @property
    def worst(self) -> str | None:
        """The column that makes most persons unique; None without unchanged columns."""
        return max(self.single, key=lambda name: self.single[name], default=None)

    def candidates(self) -> list[Pair]:
        """Return the pairs to count exactly: the worst, and the worst with the worst column."""
        if not self.pairs:
            return []
        ranked = sorted(self.pairs, key=lambda pair: -self.pairs[pair])
        beside = next(pair for pair in ranked if self.worst in pair)
        return list(dict.fromkeys([ranked[0], beside]))


def singling_out(
    tables: Tables,
    manifest: Manifest,
    persons: Mapping[str, Ints] | None = None,  # by table: the person of each row
) -> SinglingOut:
    """Return how many persons of a release are unique by what is published.

    Of several tables about the same persons, the one that singles out most. ``persons`` is known
    to the publisher, where a person may have several rows and the files do not link them.
    """
    findings = []
    for name in tables_of_rows(kind_of(manifest.kind), manifest):
        table = tables[name]
        people = People.of(table, manifest, None if persons is None else persons[name])
        counts = count_unique(table, people, exact=exact_pairs(manifest, name))
        pairs = counts.candidates() if counts.drawn else []
        recounted = {pair: unique_by(table, people, pair) for pair in pairs}
        worst = counts.worst
        alone = 0 if worst is None else unique_alone(table, people, worst)
        findings.append(summarize(counts, recounted, alone, manifest, name, people.unit))
    return worst_table(findings)


def worst_table(findings: Sequence[SinglingOut]) -> SinglingOut:
    """Return the finding of the table that singles out most."""
    return max(findings, key=lambda finding: (finding.unique["all"], finding.unchanged))


def exact_pairs(manifest: Manifest, table: str) -> bool:
    """Return whether the pairs of unchanged columns of a table are few enough to count each."""
    entry = manifest.tables[table]
    columns = sum(role.unchanged for role in entry.columns.values())
    return entry.rows * columns * (columns - 1) // 2 <= PAIR_CELLS


@dataclass(frozen=True, eq=False)
class People:
    """The persons behind the rows of a table, and whether an attacker sees who they are."""

    unit: Unit
    of_row: Ints | None = None  # (rows,) from 0 without gaps; None: each row is a person
    count: int = 0
    linked: bool = False  # whether the files say which rows belong to a person

    @classmethod
    def of(cls, table: CodedTable, manifest: Manifest, known: Ints | None = None) -> People:
        """The persons of a table: by their published numbers, or as the publisher knows them."""
        if not manifest.keeps_rows:
            return cls(manifest.unit)
        linked = manifest.keeping.numbered
        number = table[PERSON].codes if linked else known
        if number is None:
            return cls(Unit.ROW)
        numbers, of_row = np.unique(number, return_inverse=True)
        return cls(Unit.PERSON, of_row.astype(np.int64), len(numbers), linked)

    def total(self, table: CodedTable) -> int:
        """Return the number of persons."""
        return table.rows if self.of_row is None else self.count

    def unique(self, keys: Classes) -> Bools:
        """(persons,) Return who is unique by a key of each row."""
        if self.of_row is None:
            alone: Bools = keys.size[keys.class_of_row] == 1
            return alone
        if self.linked:  # the keys of all rows of a person
            order = np.lexsort((keys.class_of_row, self.of_row))
            start = starts_of(np.bincount(self.of_row, minlength=self.count))
            lists = group_lists(start, keys.class_of_row[order], keys.count)
            sole: Bools = lists.size[lists.class_of_row] == 1
            return sole
        is_unique = np.zeros(self.count, bool)
        is_unique[self.of_row[self.sole(keys, self.of_row)]] = True
        return is_unique

    @staticmethod
    def sole(keys: Classes, number: Ints) -> Bools:
        """(rows,) Return the rows whose key all belong to one number."""
        others = number != number[keys.first_row][keys.class_of_row]
        mixed = np.zeros(keys.count, bool)
        mixed[keys.class_of_row[others]] = True
        alone: Bools = ~mixed[keys.class_of_row]
        return alone

    def known_group(self, keys: Classes, group: Ints, weights: Ints | None) -> int:
        """Return how many persons have a key that occurs in one group only."""
        rows = self.sole(keys, group)
        if self.of_row is None:
            return int(rows.sum() if weights is None else weights[rows].sum())
        return len(np.unique(self.of_row[rows]))


def count_unique(
    table: CodedTable, people: People, *, exact: bool, total: int | None = None
) -> UniqueCounts:
    """Count unique persons by quasi-identifiers with each column, each pair, and all columns.

    ``total`` is the number of persons in the whole table, of which a part may be given.
    """
    # Exactly: by quasi-identifiers, with each column, and with all.
    columns, cells = table.insensitive, table.classes
    keys = {column.name: _refined(cells, [column], table) for column in columns}
    every = _refined(cells, columns, table)
    counts = UniqueCounts(
        people.total(table),
        int(people.unique(cells).sum()),
        {name: int(people.unique(key).sum()) for name, key in keys.items()},
        int(people.unique(every).sum()),
        group_known=(0, 0) if GROUP not in table.columns else (
            people.known_group(cells, table[GROUP].codes.astype(np.int64), table.weights),
            people.known_group(every, table[GROUP].codes.astype(np.int64), table.weights),
        ),
    )  # fmt: skip
    if total is None and counts.every in counts.single.values():
        return counts  # no pair can single out more than all columns
    # Pairs: of all persons where these are few enough, else of drawn ones.
    if exact:
        return replace(counts, pairs=_all_pairs(table, people, keys, None))
    share = counts.counted / max(counts.counted if total is None else total, 1)
    rng = np.random.default_rng(SEED)
    part, drawn, people = _drawn(table, people, ceil(SAMPLE * share), rng)
    keys = {c.name: _refined(part.classes, [c], part) for c in part.insensitive}
    return replace(counts, pairs=_all_pairs(part, people, keys, drawn), drawn=len(drawn))


def unique_by(table: CodedTable, people: People, names: Sequence[str]) -> int:
    """Count the persons who are unique by quasi-identifiers and some unchanged columns."""
    keys = _refined(table.classes, [table[name] for name in names], table)
    return int(people.unique(keys).sum())


def unique_alone(table: CodedTable, people: People, name: str) -> int:
    """Count the persons who are unique by one column, without quasi-identifiers."""
    keys = classes_of([table[name]], table.entries, table.weights)
    return int(people.unique(keys).sum())


def _refined(cells: Classes, columns: Sequence[Column], table: CodedTable) -> Classes:
    """Return classes of rows that agree in some columns too."""
    codes = [cells.class_of_row, *(column.codes for column in columns)]
    sizes = [cells.count, *(column.cardinality for column in columns)]
    return group_codes(codes, sizes, table.entries, table.weights)


def _all_pairs(
    table: CodedTable, people: People, keys: Mapping[str, Classes], drawn: Ints | None
) -> dict[Pair, int]:
    """Count who is unique by each pair of columns: all persons, or the drawn ones."""
    counts = {}
    for first, names in _beside(list(keys)):
        key = keys[first]
        if people.of_row is None and drawn is None:  # rows that are unique already stay unique
            rest = np.flatnonzero(key.size[key.class_of_row] > 1)
            part, own_rest = key.class_of_row[rest], table.entries - len(rest)
            weights = None if table.weights is None else table.weights[rest]
            for name in names:
                codes, sizes = [part, table[name].codes[rest]], [key.count, table[name].cardinality]
                pair = group_codes(codes, sizes, len(rest), weights)
                counts[first, name] = own_rest + int((pair.size == 1).sum())
            continue
        for name in names:
            unique = people.unique(_refined(key, [table[name]], table))
            counts[first, name] = int((unique if drawn is None else unique[drawn]).sum())
    return counts


def _beside(names: Sequence[str]) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield each column with those after it."""
    return ((name, names[place + 1 :]) for place, name in enumerate(names))


def _drawn(
    table: CodedTable, people: People, number: int, rng: np.random.Generator
) -> tuple[CodedTable, Ints, People]:
    """Draw persons, with all rows that share quasi-identifiers with them, as a table.

    Return it with the drawn persons, by their numbers in it. If the rows are too many, some that
    belong to no drawn person are left out.
    """
    # Draw persons, each as likely.
    of_row = np.arange(table.entries) if people.of_row is None else people.of_row
    if people.of_row is None:  # an entry may represent several rows
        weights = np.ones(table.entries, np.int64) if table.weights is None else table.weights
        ends = np.cumsum(weights)
        chosen = np.searchsorted(ends, rng.integers(0, ends[-1], number), side="right")
    else:
        chosen = rng.integers(0, people.count, number)
    is_chosen = np.zeros(int(of_row.max()) + 1, bool)
    is_chosen[chosen] = True
    # Others who share quasi-identifiers with them, as many as the budget allows.
    beside = np.zeros(table.classes.count, bool)
    beside[table.classes.class_of_row[is_chosen[of_row]]] = True
    is_near = np.zeros(len(is_chosen), bool)
    is_near[of_row[beside[table.classes.class_of_row]]] = True
    near = np.flatnonzero(is_near & ~is_chosen)
    pairs = len(table.insensitive) * (len(table.insensitive) - 1) // 2
    rows_of_person = table.entries / max(len(is_chosen), 1)
    most = int(PAIR_CELLS / pairs / rows_of_person)
    if len(near) > most:
        near = rng.choice(near, most, replace=False)
    taken = is_chosen
    taken[near] = True
    # All rows of both, as a table.
    rows = np.flatnonzero(taken[of_row])
    numbers = np.cumsum(taken) - 1
    part = table.take(rows)
    drawn_people = replace(people, of_row=numbers[of_row[rows]], count=int(taken.sum()))
    return part, numbers[chosen], people if people.of_row is None else drawn_people


def summarize(
    counts: UniqueCounts,
    recounted: Mapping[Pair, int],  # exact counts of the candidates, where pairs were estimated
    alone: int,  # unique by the worst column without quasi-identifiers
    manifest: Manifest,
    table: str,
    unit: Unit,
) -> SinglingOut:
    """Return the figures of a table from its counts."""
    # The worst column and the worst pair.
    ranked = sorted(counts.single, key=lambda name: -counts.single[name])
    worst = ranked[:1]
    pairs = recounted if counts.drawn else counts.pairs
    two = max(pairs, key=lambda pair: pairs[pair], default=tuple(worst))
    with_one = counts.single[worst[0]] if worst else counts.none
    with_two = pairs[two] if len(two) == 2 else with_one
    # An estimate needs an upper bound, where a pair can add anything.
    at_most, drawn = None, counts.drawn if with_one < counts.every else 0
    if drawn:  # the interval holds for the worst of all pairs, so for each at a higher rate
        rate = 1 - (1 - RATE) * 2 / len(counts.pairs)
        _, high = share_interval(max(counts.pairs.values()), drawn, rate)
        at_most = max(min(ceil(high * counts.counted), counts.every), with_two)
    unique: dict[Known, int] = {
        "0": counts.none, "1": with_one, "2": with_two, "all": counts.every,
    }  # fmt: skip
    columns: dict[Known, list[str]] = {}
    if with_one > counts.none:
        columns["1"] = worst
    if len(two) == 2 and with_two > with_one:
        columns["2"] = list(two)
    kind = kind_of(manifest.kind)
    return SinglingOut(
        table=table,
        unit=unit,
        counted=counts.counted,
        unchanged=len(counts.single),
        exact_cells=not kind.makes_alike,
        unique=unique,
        columns=columns,
        alone=alone if "1" in columns else None,
        most={n: counts.single[n] for n in ranked[:NAMED] if counts.single[n] > counts.none},
        drawn=drawn or None,
        at_most=at_most,
        group_known={"0": counts.group_known[0], "all": counts.group_known[1]}
        if kind.numbers_groups and not kind.makes_alike
        else None,
    )


def misstated_singling_out(tables: Tables, manifest: Manifest, derived: SinglingOut) -> list[str]:
    """Return where a manifest differs from its files.

    Where pairs were estimated, the named pair is counted again, and both intervals must overlap: a
    release that was made in parts drew other persons.
    """
    stated = manifest.singling_out
    if stated is None:
        missing = "the manifest does not state 'singling_out', how unique its files make people"
        return [missing] if manifest.discreet == __version__ else []
    both = [stated, derived]
    # Estimates of other draws differ: compare the named pair and the intervals.
    if all(finding.drawn is not None and finding.at_most is not None for finding in both):
        both = [_without_estimate(finding) for finding in both]
        pair = stated.columns.get("2")
        people = People.of(tables[derived.table], manifest)
        known = set(tables[derived.table].columns)
        if pair is not None and not (
            known.issuperset(pair)
            and unique_by(tables[derived.table], people, pair) == stated.unique["2"]
        ):
            return ["the manifest disagrees with its files at 'singling_out.unique.2'"]
        overlaps = derived.unique["2"] <= (stated.at_most or 0) <= stated.unique["all"]
        if not overlaps:
            return ["the manifest disagrees with its files at 'singling_out.at_most'"]
    if both[0] == both[1]:
        return []
    first, second = (finding.model_dump(mode="json") for finding in both)
    return [
        f"the manifest disagrees with its files at 'singling_out.{name}'"
        for name in first
        if first[name] != second[name]
    ]


def _without_estimate(finding: SinglingOut) -> SinglingOut:
    unique = {**finding.unique, "2": finding.unique["1"]}
    columns = {known: names for known, names in finding.columns.items() if known != "2"}
    nothing = {"unique": unique, "columns": columns, "drawn": None, "at_most": None}
    return finding.model_copy(update=nothing)


def singling_sentences(finding: SinglingOut) -> list[str]:
    """Return how unique published columns make persons; the first sentence says the most."""
    # Exact quasi-identifiers are usual; without unchanged columns nothing else is said.
    units, count = units_of(finding), finding.counted
    none, worst, every = (_share(finding.unique[m], count) for m in ("0", "1", "all"))
    usual: list[str] = []
    if finding.exact_cells:
        usual.append(Statement("singling.exact", share=none, units=units))
    if not finding.unchanged:
        return usual or [Statement("singling.none", share=none, units=units)]
    # The worst column first, then all shares, and how they were found.
    pair, two = _pair(finding), _share_of_two(finding)
    sentences: list[str] = [
        _worst_column(finding, units, worst),
        Statement(
            "singling.shares", units=units, none=none, one=worst, pair=pair, two=two, all=every
        ),
    ]
    if finding.drawn is not None:
        sentences.append(Statement("singling.drawn", drawn=finding.drawn, units=units, rate=RATE))
    if len(finding.most) > 1:
        listed = [Statement("singling.column", column=n, count=c) for n, c in finding.most.items()]
        sentences.append(Statement("singling.most", units=units, columns=listed))
    known = finding.group_known
    if known is not None:
        more = known["all"] - known["0"]
        usual.append(Statement("singling.groups", count=more, units=units))
    return [*sentences, *usual]


def singling_reason(finding: SinglingOut, known: Known) -> str:
    """Return the sentence of a verdict about an attacker who knows so many unchanged columns."""
    first = singling_sentences(finding)[0]
    if known in ("0", "1") or finding.unchanged < 2:
        return first
    if known == "all":
        share = _share(finding.unique["all"], finding.counted)
        return Statement("singling.figure-all", first=first, share=share)
    share, pair = _share_of_two(finding), _pair(finding)
    return Statement("singling.figure-two", first=first, pair=pair, share=share)


def _pair(finding: SinglingOut) -> Statement | str:
    if "2" not in finding.columns:
        return ""
    first, second = finding.columns["2"]
    return Statement("singling.pair", first=first, second=second)


def _share_of_two(finding: SinglingOut) -> Statement:
    low = _share(finding.unique["2"], finding.counted)
    if finding.at_most is None:
        return low
    high = _share(finding.at_most, finding.counted)
    return Statement("singling.interval", low=low, high=high)


def _worst_column(finding: SinglingOut, units: Statement, share: Statement) -> Statement:
    """Return how many columns are unchanged, and how unique the worst of them makes persons."""
    number = {} if finding.unchanged == 1 else {"count": finding.unchanged}
    start = "singling.columns" if number else "singling.one-column"
    if "1" not in finding.columns:
        ending = "-add-none" if number else "-adds-none"
        return Statement(start + ending, units=units, **number)
    (column,) = finding.columns["1"]
    if finding.alone:
        share = _share(finding.alone, finding.counted)
        return Statement(start, column=column, share=share, units=units, **number)
    return Statement(f"{start}-and-cells", column=column, share=share, units=units, **number)


def units_of(finding: SinglingOut) -> Statement:
    """Return the word for what is counted."""
    return Statement(f"unit.{finding.unit.plural}")


def _share(part: int, whole: int) -> Statement:
    """Return a percentage that is 0 or 100 only if it is exact."""
    value = 100 * part / max(whole, 1)
    if 1 <= value <= 99 or part in (0, whole):
        return Statement("singling.share", value=value)
    return Statement("singling.share-tenths", value=min(max(value, 0.1), 99.9))


RATE = 0.95  # at least, of intervals that hold the exact figure
STEPS = 40  # of bisection: more digits than are shown

Interval = tuple[float, float]


def share_interval(successes: int, trials: int, rate: float = RATE) -> Interval:
    """Return the interval of a share, so many of the drawn targets having been counted."""
    if not trials:
        return 0.0, 1.0
    rest = (1 - rate) / 2
    coefficient = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, trials + 1)))])
    coefficient = coefficient[-1] - coefficient - coefficient[::-1]  # ln (trials over k)
    k = np.arange(trials + 1)

    def at_most(most: int, share: float) -> float:
        """Return the chance of at most so many successes."""
        log = coefficient + k * math.log(share) + (trials - k) * math.log1p(-share)
        return float(np.exp(log[: most + 1]).sum())

    low = _crossing(lambda share: at_most(successes - 1, share), 1 - rest) if successes else 0.0
    high = _crossing(lambda share: at_most(successes, share), rest) if successes < trials else 1.0
    return low, high


def _crossing(falling: Callable[[float], float], level: float) -> float:
    """Return where a function that falls from 1 to 0 crosses a level."""
    low, high = 0.0, 1.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if falling(middle) > level else (low, middle)
    return (low + high) / 2

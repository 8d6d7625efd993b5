"""Profile of a table before publication: unique rows, and feasible guarantees.

A profile holds counts and shares only, never a value of the table; of a knowledge table it names
the labels that most rows link to.

Risk by subset: for each set of quasi-identifiers the number of classes, the share of rows that are
alone in theirs, and the average re-identification risk, classes over rows. The table is compressed
to its distinct combinations once; each subset is rolled up from one with a single column more, so
the number of rows matters little. All subsets of up to eight quasi-identifiers are measured; of
more, those up to the largest size that keeps their number within a thousand, and the whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.hierarchies.hierarchy import Hierarchy
from discreet.job.identifying import SEVERAL_ROWS
from discreet.job.proposing.role_judgement import Proposal, suggest_person, suggest_roles
from discreet.job.value_spellings import (
    Spellings,
    nearly_alike,
    nearly_alike_sentence,
    number_spellings,
)
from discreet.knowledge.population_figures import PopulationFigures
from discreet.knowledge.table import Links, terms_of
from discreet.requirements.base import Domain
from discreet.requirements.closeness import TCloseness, distance_from_table
from discreet.requirements.feasibility import (
    entropy_ell,
    least_suppressed,
    permissible_ell,
    value_entropy,
)
from discreet.requirements.mutual_information import mutual_information
from discreet.result import Result
from discreet.table.classes import Classes, classes_of, group_codes
from discreet.table.coded_table import CodedTable, Column
from discreet.table.counts import count_values
from discreet.table.persons import PersonCounts, Persons, persons_of, unique_persons
from discreet.table.roles import Distance, Role
from discreet.table.secrets import Secret, find_secrets
from discreet.typing import Bools, Codes

ALL_SUBSETS = 8  # quasi-identifiers of which every subset is measured
SUBSET_LIMIT = 1000  # subsets beyond that
LARGEST_SIZE = 3  # of a subset, beyond that
MANY_KNOWN = 20  # proposed columns, beyond which an attacker is not assumed to know sensitive ones
ELLS = (2, 3, 4, 5)
MOST_EXPOSED = 10  # labels that are named


@dataclass(frozen=True)
class ColumnProfile:
    """One column."""

    name: str
    role: str
    type: str
    distinct: int  # values, a missing one not counted
    missing: int  # rows
    nearly_alike: int = 0  # values that differ from another only in case, spaces or Unicode form
    number_spellings: Spellings | None = None  # texts that are fewer numbers


@dataclass(frozen=True)
class SubsetRisk:
    """The rows that an attacker with some quasi-identifiers can tell apart."""

    columns: tuple[str, ...]
    classes: int
    unique_share: float  # of rows that are alone in their class
    average_risk: float  # classes over rows


@dataclass(frozen=True)
class SensitiveProfile:
    """The feasible guarantees of one sensitive attribute."""

    name: str
    values: int  # also the largest feasible distinct ℓ; a missing value is one
    largest_share: float  # of the most frequent sensitive value
    l_per: int  # ⌊n / n1⌋, the largest ℓ for which every belief can be kept at 1/ℓ
    entropy_l: float  # exp H, the largest feasible entropy ℓ
    least_suppressed: Mapping[int, float]  # ℓ: the share of rows that p-diversity must suppress
    raw_t: float | None  # of the worst class of the raw quasi-identifiers; one class has 0
    harmless_values: int = 0  # values that the job lets be disclosed: they limit nothing


@dataclass(frozen=True)
class Association:
    """The information that one sensitive attribute reveals about another."""

    first: str
    second: str
    mutual_information: float  # nats
    normalized: float  # over the lesser entropy: 1 where one determines the other


@dataclass(frozen=True)
class LinkProfile:
    """The labels that the terms of a quasi-sensitive attribute disclose by its knowledge table."""

    name: str
    labels: int
    terms: int  # of the knowledge table
    single_rows: int  # link to exactly one label
    unlinked_rows: int  # link to none
    open_rows: int  # have no terms, and link to all labels
    mean_labels: float | None  # of a linked row
    exposed: tuple[tuple[str, int], ...]  # labels with the most rows that link to them alone
    unknown_terms: int  # of the table's terms, in no label
    unknown_rows: int  # that hold such a term
    labels_without_terms: tuple[str, ...]
    doubled_labels: tuple[str, ...]


@dataclass(frozen=True)
class Profile(Result):
    """Columns, uniqueness of rows and feasible guarantees of a table."""

    rows: int
    columns: tuple[ColumnProfile, ...]
    quasi_identifiers: tuple[str, ...]
    risk: SubsetRisk | None  # of all quasi-identifiers together
    subsets: tuple[SubsetRisk, ...]  # by size, the riskiest first
    subset_sizes: tuple[int, ...]  # the sizes of which all subsets were measured
    sensitive: tuple[SensitiveProfile, ...]
    least_suppressed: Mapping[int, float]  # the same for all sensitive attributes at once
    primary: str | None  # the suggested primary attribute: the largest l_per
    associations: tuple[Association, ...]
    proposals: Mapping[str, Proposal] | None  # where roles were not known
    secrets: tuple[Secret, ...] = ()  # sensitive columns that reveal each other
    links: tuple[LinkProfile, ...] = ()  # of quasi-sensitive attributes with a knowledge table
    repeated: tuple[str, ...] = ()  # identifiers that several rows share, with their counts
    counts_rows: bool = False  # whether the job states 'unit: rows'
    person: str | None = None  # the column that identifies persons, where it is a proposal
    persons: PersonCounts | None = None  # of the source, where persons are known
    unique_persons: float | None = None  # share with a class of their own
    population: PopulationFigures | None = None  # the risk of links, where sizes are known
    lone_weights: Mapping[str, int] = field(default_factory=dict)  # rows with a weight of their own
    notices: tuple[str, ...] = ()  # what was not read as it is written

    @property
    def warnings(self) -> list[str]:
        """The reasons why counts of rows or values may differ from those of an attacker."""
        remedy = "The job counts rows." if self.counts_rows else SEVERAL_ROWS
        several = [f"{' '.join(self.repeated)} {remedy}"] if self.repeated else []
        if self.person is not None and self.persons is not None:
            several.append(f"{self.persons.sentence(repr(self.person))} {SEVERAL_ROWS}")
        several += [
            f"Column '{name}': {rows:,} rows have a weight that no other row has. An attacker "
            "who knows the sampling design can tell them apart: publish it rounded ('round: 10')."
            for name, rows in self.lone_weights.items()
            if rows
        ]
        several += [
            f"Column '{column.name}': {column.number_spellings} (such as 1.5 and 1.50). As text "
            "they count as different values. Add 'type: number', or 'type: text' if they are codes."
            for column in self.columns
            if column.number_spellings is not None
        ]
        return [*self.notices, *several] + [
            nearly_alike_sentence(column.name, column.nearly_alike)
            for column in self.columns
            if column.nearly_alike
        ]

    def __str__(self) -> str:
        return str(self._page().text())

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain data."""
        result = asdict(self)
        if self.proposals is not None:
            result["proposals"] = {
                name: proposal.to_dict() for name, proposal in self.proposals.items()
            }
        return result


def profile_table(
    table: CodedTable,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    *,
    roles_known: bool = True,
    links: Mapping[str, Links] | None = None,
    repeated: Sequence[str] = (),
    counts_rows: bool = False,
    persons: PersonCounts | None = None,
    unique: float | None = None,
    further: Sequence[Column] = (),
    population: PopulationFigures | None = None,
    sensitive_values: Mapping[str, Bools] | None = None,
) -> Profile:
    """Profile a table by its columns' roles; ``further`` columns only by themselves.

    ``sensitive_values`` has, by attribute, which values are sensitive where not all are.

    ``persons`` have one row each, unless ``unique`` is the share of them that some row tells apart.

    Where ``roles_known`` is false, roles are proposed: proposed quasi-identifiers and sensitive
    columns count as known to an attacker, and sensitive ones are looked at as such too. Of very
    many columns only the quasi-identifiers count as known.
    """
    # The roles: the job's, or proposed ones.
    proposals = None if roles_known else suggest_roles(table)
    quasi_identifiers, sensitive = table.quasi_identifiers, table.sensitive
    person = None
    if proposals is not None:
        person = suggest_person(table, proposals)
        role_of = {name: proposal.role for name, proposal in proposals.items()}
        sensitive = [column for column in table if role_of[column.name] is Role.SENSITIVE]
        known = [Role.QUASI_IDENTIFIER, Role.SENSITIVE]
        if sum(role in known for role in role_of.values()) > MANY_KNOWN:
            known = known[:1]
        quasi_identifiers = [column for column in table if role_of[column.name] in known]
    # The persons, and how many of them a row tells apart.
    counted = None if person is None else persons_of([person], table.rows)
    if counted is not None:
        unique = share_of_unique(quasi_identifiers, counted)
    elif persons is not None and unique is None:
        unique = _unique_rows(quasi_identifiers, table)
    # What is feasible for each sensitive attribute.
    others = [column for column in quasi_identifiers if column not in sensitive]
    classes = classes_of(others, table.entries, table.weights)
    risks = _subset_risks(quasi_identifiers, table)
    marks = sensitive_values or {}
    profiles = tuple(
        sensitive_profile(c, classes, (hierarchies or {}).get(c.name), marks.get(c.name))
        for c in sensitive
    )
    names = tuple(column.name for column in quasi_identifiers)
    return Profile(
        rows=table.rows,
        columns=tuple(column_profile(column, proposals) for column in (*table, *further)),
        quasi_identifiers=names,
        risk=next((risk for risk in risks if risk.columns == names), None),
        subsets=tuple(sorted(risks, key=lambda r: (len(r.columns), -r.average_risk, r.columns))),
        subset_sizes=_subset_sizes(len(names)),
        sensitive=profiles,
        least_suppressed=_least_suppressed(sensitive, table.rows, marks) if sensitive else {},
        primary=max(profiles, key=lambda s: s.l_per).name if profiles else None,
        associations=tuple(_association(a, b) for a, b in combinations(sensitive, 2)),
        proposals=proposals,
        secrets=tuple(find_secrets(sensitive)),
        links=tuple(_linked(table[name], profiles) for name, profiles in (links or {}).items()),
        repeated=tuple(repeated),
        counts_rows=counts_rows,
        person=None if person is None else person.name,
        persons=persons if counted is None else counted.counts,
        unique_persons=unique,
        population=population,
        lone_weights={
            column.name: int((column.counts == 1).sum())
            for column in (*table.with_role(Role.WEIGHT), *further)
            if column.role is Role.WEIGHT
        },
    )


def share_of_unique(quasi_identifiers: Sequence[Column], persons: Persons) -> float | None:
    """Return the share of persons that the quasi-identifiers of a row tell apart from others."""
    rows = len(persons.number)
    if not rows or not quasi_identifiers:
        return None
    return unique_persons(classes_of(quasi_identifiers, rows), persons) / persons.count


def _unique_rows(quasi_identifiers: Sequence[Column], table: CodedTable) -> float | None:
    """Return the share of rows that the quasi-identifiers tell apart from all others."""
    if not table.rows or not quasi_identifiers:
        return None
    classes = classes_of(quasi_identifiers, table.entries, table.weights)
    return int((classes.size == 1).sum()) / table.rows


def _linked(column: Column, links: Links) -> LinkProfile:
    knowledge, terms = links.knowledge, terms_of(column)
    rows = links.rows_of_set(column.counts)
    single = np.flatnonzero(links.size == 1)
    label_of_single = links.label[links.start[single]]
    of_label = np.bincount(label_of_single, rows[single], len(knowledge.labels)).astype(np.int64)
    top = np.argsort(-of_label, kind="stable")[:MOST_EXPOSED]
    unknown = terms.codes_in(knowledge.terms) < 0
    value_of_term = np.repeat(np.arange(column.cardinality), terms.length)
    linked = int(rows.sum())
    return LinkProfile(
        name=column.name,
        labels=len(knowledge.labels),
        terms=len(knowledge.terms),
        single_rows=int(of_label.sum()),
        unlinked_rows=links.unlinked_rows(column.counts),
        open_rows=int(column.counts[terms.length == 0].sum()),
        mean_labels=float(rows @ links.size) / linked if linked else None,
        exposed=tuple((knowledge.labels[i], int(of_label[i])) for i in top if of_label[i]),
        unknown_terms=len(np.unique(terms.term[unknown])),
        unknown_rows=int(column.counts[np.unique(value_of_term[unknown])].sum()),
        labels_without_terms=knowledge.without_terms,
        doubled_labels=knowledge.doubled,
    )


def column_profile(column: Column, proposals: Mapping[str, Proposal] | None) -> ColumnProfile:
    """Profile one column; its role is the proposed one where roles are not known."""
    missing = int(column.counts[-1]) if column.has_null else 0
    occurring = int((column.counts > 0).sum())
    role = column.role if proposals is None else proposals[column.name].role
    distinct = occurring - (missing > 0)
    return ColumnProfile(
        column.name,
        str(role),
        str(column.type),
        distinct,
        missing,
        nearly_alike(column),
        number_spellings(column),
    )


def _subset_sizes(columns: int) -> tuple[int, ...]:
    """The sizes of which all subsets are measured."""
    if columns <= ALL_SUBSETS:
        return tuple(range(1, columns + 1))
    largest, subsets = 1, columns
    while largest < LARGEST_SIZE and subsets + comb(columns, largest + 1) <= SUBSET_LIMIT:
        largest += 1
        subsets += comb(columns, largest)
    return tuple(range(1, largest + 1))


@dataclass(frozen=True, eq=False)
class _Combinations:
    """The distinct combinations of some columns, and the rows that have each."""

    columns: tuple[int, ...]
    codes: Mapping[int, Codes]  # by column: (combinations,)
    count: NDArray[np.int64]  # (combinations,)

    def only(self, columns: Sequence[int], cardinalities: Sequence[int]) -> _Combinations:
        """Roll up to fewer columns."""
        chosen = [self.codes[column] for column in columns]
        grouped = group_codes(chosen, [cardinalities[c] for c in columns], len(self.count))
        codes = {c: self.codes[c][grouped.first_row] for c in columns}
        count = np.bincount(grouped.class_of_row, self.count, grouped.count).astype(np.int64)
        return _Combinations(tuple(columns), codes, count)


def _subset_risks(columns: Sequence[Column], table: CodedTable) -> list[SubsetRisk]:
    rows = table.rows
    if not columns or not rows:
        return []
    cardinalities = [column.cardinality for column in columns]
    ones = np.ones(rows, np.int64) if table.weights is None else table.weights
    every = tuple(range(len(columns)))
    raw = _Combinations(every, {i: c.codes for i, c in enumerate(columns)}, ones)
    whole = raw.only(every, cardinalities)
    sizes = _subset_sizes(len(columns))
    if len(columns) <= ALL_SUBSETS:
        subsets = _descend(whole, 0, cardinalities)
    else:
        subsets = (
            whole.only(subset, cardinalities)
            for size in sizes
            for subset in combinations(every, size)
        )
    risks = [_risk(subset, columns, rows) for subset in subsets]
    return risks if len(columns) in sizes else [*risks, _risk(whole, columns, rows)]


def _descend(
    combined: _Combinations, first: int, cardinalities: Sequence[int]
) -> Iterator[_Combinations]:
    """A subset and all that leave out some of its columns from number ``first`` on, each once."""
    yield combined
    for column in combined.columns:
        if column >= first and len(combined.columns) > 1:
            rest = [other for other in combined.columns if other != column]
            yield from _descend(combined.only(rest, cardinalities), column + 1, cardinalities)


def _risk(combined: _Combinations, columns: Sequence[Column], rows: int) -> SubsetRisk:
    return SubsetRisk(
        columns=tuple(columns[i].name for i in combined.columns),
        classes=len(combined.count),
        unique_share=int((combined.count == 1).sum()) / rows,
        average_risk=len(combined.count) / rows,
    )


def sensitive_profile(
    column: Column,
    classes: Classes,
    hierarchy: Hierarchy | None,
    sensitive: Bools | None = None,  # (values,) None where all are
) -> SensitiveProfile:
    """Bound what can be guaranteed about a sensitive attribute, by the counts of its values."""
    rows = int(column.counts.sum())
    marks = {} if sensitive is None else {column.name: sensitive}
    told = column.counts if sensitive is None else column.counts[sensitive]
    return SensitiveProfile(
        name=column.name,
        values=int((column.counts > 0).sum()),
        largest_share=int(told.max(initial=0)) / max(rows, 1),
        l_per=permissible_ell(column.counts, sensitive),
        entropy_l=entropy_ell(column.counts, sensitive),
        least_suppressed=_least_suppressed([column], rows, marks),
        raw_t=_raw_t(column, classes, hierarchy, sensitive),
        harmless_values=0 if sensitive is None else int((~sensitive).sum()),
    )


def _raw_t(
    column: Column, classes: Classes, hierarchy: Hierarchy | None, sensitive: Bools | None
) -> float | None:
    if not classes.count or (column.distance is Distance.HIERARCHICAL and hierarchy is None):
        return None
    counts = count_values(classes, column)
    domain = Domain.of(column, hierarchy)
    spared = () if sensitive is None else np.array(domain.values, object)[~sensitive]
    closeness = TCloseness(t=0, non_sensitive=tuple(spared))
    return float(distance_from_table(closeness, counts, classes.size, domain).max())


def _least_suppressed(
    columns: Sequence[Column], rows: int, sensitive_values: Mapping[str, Bools]
) -> dict[int, float]:
    counts = [column.counts for column in columns]
    marks = [sensitive_values.get(column.name) for column in columns]
    return {ell: least_suppressed(counts, ell, marks) / max(rows, 1) for ell in ELLS}


def _association(first: Column, second: Column) -> Association:
    information = mutual_information(first, second)
    least = min(value_entropy(first.counts), value_entropy(second.counts))
    normalized = min(1.0, information / least) if least > 0 else 0.0
    return Association(first.name, second.name, information, normalized)

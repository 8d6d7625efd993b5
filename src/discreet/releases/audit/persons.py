"""Guarantees about persons with several published rows.

Under ``link: pseudonym`` the files say which rows belong to the same person, and prove the
guarantees; as an attacker sees the number of a person's rows too, a class consists of persons with
equal cells and equally many rows. So it does where quasi-identifiers are exact. Without that link
only the publisher, who knows the source row behind each published row, can derive the guarantees:
when the release is made, and later with the original and the private file beside the release, which
keeps the source rows.

The persons of every class counted from published rows, apart from the code of the methods.

A method judges persons by ``table.persons``. What the audit believes is counted here anew,
from the pairs of rows and persons: by groups of Polars, and by a matching of its own for the values
that different persons can supply. An error in one of the two makes them differ, and the release
fails.

Guarantees about the labels that the terms of persons with several rows link to.

A label must fit all terms of a person, in whichever rows they are. The rows by themselves were
judged like those of any release; here the terms of each person are joined, and both must hold.
"""

from __future__ import annotations

import base64
import json
import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.hierarchies.cells import SUPPRESSED
from discreet.knowledge.table import Knowledge
from discreet.methods.base import Method, Task
from discreet.regular_files import MOST_PRIVATE_BYTES, read_text
from discreet.releases.audit.row_order import beyond_chance
from discreet.releases.audit.shards import domains_of, linked_domains
from discreet.releases.kinds.base import tables_of_rows
from discreet.releases.manifest import Manifest, Promise
from discreet.releases.registry import kind_of
from discreet.requirements.base import Domains, Requirement, Verdict
from discreet.requirements.judge import full_check, person_basis
from discreet.statements import Statement
from discreet.table.classes import Classes
from discreet.table.coded_table import CodedTable, Column, SourceRows, Tables
from discreet.table.counts import ClassCounts, RefinedCounts, ValueCounts, count_classes
from discreet.table.persons import WEIGHT, PersonBasis, Persons, Scope
from discreet.table.published import GROUP, PERSON
from discreet.table.roles import Role
from discreet.typing import AnyInts, Ints, Ints32

NOT_IN_THE_FILES = Statement("unproved.persons")
CLASS, OF, VALUE, TIMES, WHOLE = "class", "person", "value", "times", "whole"
BETWEEN = "\x1f"  # terms of a person, where each cell of the column has one


def packed_rows(source_rows: Ints32) -> str:
    """The source row of each published row as text, for the private file."""
    return base64.b64encode(zlib.compress(source_rows.astype("<i4").tobytes(), 1)).decode()


def unpacked_rows(text: str, rows: int) -> Ints32 | None:
    """Read the source rows back; None where the text is damaged."""
    try:
        unpacked = np.frombuffer(zlib.decompress(base64.b64decode(text)), "<i4").astype(np.int32)
    except (ValueError, TypeError, zlib.error):
        return None
    return unpacked if len(unpacked) == rows else None


def source_rows_beside(folder: Path) -> dict[str, Ints32] | None:
    """The source row of each published row, if the private file is beside the release."""
    place = folder.resolve().with_name(f"{folder.resolve().name}.private.json")
    try:
        packed = dict(json.loads(read_text(place, most=MOST_PRIVATE_BYTES))["source_rows"])
    except (OSError, ValueError, TypeError, KeyError):
        return None
    entries = Manifest.load(folder).tables
    unpacked = {
        name: unpacked_rows(text, entries[name].rows)
        for name, text in packed.items()
        if name in entries
    }
    known = {name: rows for name, rows in unpacked.items() if rows is not None}
    return known if known.keys() == entries.keys() else None


@dataclass(frozen=True, eq=False)
class TablePersons:
    """The person of each row of a published table."""

    number: Ints  # (rows,)
    of_class: Ints  # (rows,) the class in which an attacker sees the person
    sensitive: Sequence[Column]  # (rows,) the values, under the codes of ``domains``
    domains: Domains


def _rows_of_source(table: CodedTable, persons: Persons, rows: Ints32) -> Ints32 | None:
    """The source rows of a table; None for those of another source."""
    known = len(persons.number)
    return rows if len(rows) == table.rows and ((rows >= 0) & (rows < known)).all() else None


def persons_of_tables(
    tables: Tables, manifest: Manifest, original: Task | None, source_rows: SourceRows | None
) -> dict[str, TablePersons] | None:
    """The persons of the rows of each table; None where only the publisher has them."""
    kind = kind_of(manifest.kind)
    names = tables_of_rows(kind, manifest)
    domains = domains_of(tables, manifest)
    # Published numbers say who has which rows; else only the publisher can.
    if manifest.keeping.numbered:
        return {name: _numbered(tables[name], domains) for name in names}
    if original is None or original.basis.persons is None or source_rows is None:
        return None
    persons = {}
    for name in names:
        rows = _rows_of_source(tables[name], original.basis.persons, source_rows[name])
        if rows is None:
            return None
        table = tables[name]
        number, classes = (
            original.basis.persons.number[rows],
            table.classes.class_of_row.astype(np.int64),
        )
        values: Sequence[Column] = table.sensitive
        table_domains: Domains = domains
        # An attacker sees groups by number, or persons by cells and numbers of rows.
        if kind.numbers_groups:  # the values are in another table, without a link to rows
            classes = table[GROUP].codes.astype(np.int64)
            values = [column.take(rows) for column in original.table.sensitive]
            table_domains = original.domains
        if not kind.makes_alike:
            classes = _by_number_of_rows(classes, number)
        persons[name] = TablePersons(number, classes, values, table_domains)
    return persons


def _numbered(table: CodedTable, domains: Domains) -> TablePersons:
    """The persons by their numbers; those of a class have equally many rows with equal cells."""
    number = table[PERSON].codes.astype(np.int64)
    of_class = _by_number_of_rows(table.classes.class_of_row.astype(np.int64), number)
    return TablePersons(number, of_class, table.sensitive, domains)


def _by_number_of_rows(of_class: Ints, number: Ints) -> Ints:
    """(rows,) The classes, those apart whose persons have different numbers of rows."""
    rows = np.bincount(number)[number]
    _, seen = np.unique(of_class * (len(number) + 1) + rows, return_inverse=True)
    return np.asarray(seen, np.int64)


def promise_on_persons(requirement: Requirement, persons: Mapping[str, TablePersons]) -> Promise:
    """Derive a guarantee about the persons of every class, in each table that it covers."""
    verdicts = []
    for of_table in persons.values():
        names = {column.name for column in of_table.sensitive}
        part = requirement if len(persons) == 1 else requirement.within(names)
        if part is not None:
            verdict_of_table = judge_persons(
                part, of_table.of_class, of_table.number, of_table.sensitive, of_table.domains
            )
            verdicts.append(verdict_of_table)
    smaller_is_better = requirement.algebra.smaller_is_better
    verdict = Verdict.worst(verdicts, smaller_is_better=smaller_is_better)
    return Promise.of(requirement, verdict)


def number_form_problems(manifest: Manifest) -> list[str]:
    """Return where tables lack the numbers of persons, or have some that nothing is said of."""
    named = [name for name, entry in manifest.tables.items() if PERSON in _made(entry.columns)]
    if not manifest.keeping.numbered:
        return [f"'{name}' numbers persons, and the manifest says nothing of it" for name in named]
    wanted = tables_of_rows(kind_of(manifest.kind), manifest)
    return [f"'{name}' lacks its column '{PERSON}'" for name in wanted if name not in named]


def _made(columns: Mapping[str, Role]) -> list[str]:
    return [name for name, role in columns.items() if role is Role.STRUCTURE]


def person_problems(
    tables: Tables, manifest: Manifest, persons: Mapping[str, TablePersons]
) -> list[str]:
    """Return what the rows of persons show that the manifest excludes."""
    problems = []
    keeping = manifest.keeping
    for name, of_table in persons.items():
        table = tables[name]
        if keeping.scope is Scope.PERSONS:
            pairs = pl.DataFrame({"person": of_table.number, "class": of_table.of_class})
            groups = pairs.group_by("person").agg(pl.col("class").n_unique())
            scattered = int((groups["class"] > 1).sum())
            if scattered:
                problems.append(f"rows of {scattered} persons are in several groups of '{name}'")
        if keeping.numbered:
            problems += _number_problems(table, name)
        most = int(np.bincount(of_table.number).max(initial=0))
        if keeping.at_most is not None and most > keeping.at_most:
            problems.append(
                f"a person has {most} rows in '{name}'; the manifest allows {keeping.at_most}"
            )
    return problems


def _number_problems(table: CodedTable, name: str) -> list[str]:
    """Return where persons are not numbered from 1 to their number: others could carry values."""
    text = table[PERSON].text
    plain = set(text.to_list()) == {str(n) for n in range(1, len(text) + 1)}
    return [] if plain else [f"the persons of '{name}' are not numbered from 1 to {len(text)}"]


def changed_persons(
    tables: Tables, manifest: Manifest, original: Task, source_rows: SourceRows | None
) -> list[str]:
    """Return where the numbers of persons are not those of the original's persons."""
    if original.basis.persons is None or not manifest.keeping.numbered:
        return []
    problems = []
    for name in tables_of_rows(kind_of(manifest.kind), manifest):
        number = tables[name][PERSON]
        rows_of = np.sort(original.basis.persons.rows_of)[::-1]
        seen = np.sort(number.counts)[::-1]
        if len(seen) > len(rows_of) or (seen > rows_of[: len(seen)]).any():
            problems.append(f"'{name}' numbers more persons, or more rows of one, than there are")
        elif source_rows is not None and len(source_rows[name]) == tables[name].rows:
            person = original.basis.persons.number[
                np.clip(source_rows[name], 0, original.table.rows - 1)
            ]
            pairs = np.unique(np.stack([number.codes.astype(np.int64), person]), axis=1)
            sides = [len(np.unique(side)) for side in pairs]
            if pairs.shape[1] != sides[0] or pairs.shape[1] != sides[1]:
                problems.append(f"the numbers of '{name}' are not one for each person")
            problems += _in_source_order(number.text.cast(pl.Int64).to_numpy(), pairs, name)
    return problems


def _in_source_order(number: Ints, pairs: Ints, name: str) -> list[str]:
    """Return whether persons are numbered in the order of the original, more than by chance."""
    place = np.unique(pairs[1], return_inverse=True)[1]
    agreeing = int((number[pairs[0]] - 1 == place).sum())
    problem = f"the numbers of persons in '{name}' are related to the order of the original"
    return [problem] if beyond_chance(agreeing, np.ones(len(place), np.int64)) else []


def suppressed_persons(
    persons: Mapping[str, TablePersons], manifest: Manifest, original: Task, method: Method
) -> list[str]:
    """Return where more persons are missing than the job allows, or some rows of a person."""
    if original.basis.persons is None or manifest.keeping.scope is Scope.ROWS:
        return []
    problems = []
    most = method.most_suppressed(original.basis.persons.count)
    for name, of_table in persons.items():
        shown, rows = np.unique(of_table.number, return_counts=True)
        gone = original.basis.persons.count - len(shown)
        if most is not None and gone > most:
            problems.append(f"{gone} persons are missing in '{name}'; the job allows {most}")
        if not manifest.keeping.numbered and (rows != original.basis.persons.rows_of[shown]).any():
            problems.append(f"some rows of a person are in '{name}', and others are suppressed")
    return problems


def judge_persons(
    requirement: Requirement,
    of_class: AnyInts,  # (rows,) from 0 without gaps
    person: AnyInts,  # (rows,)
    sensitive: Sequence[Column],
    domains: Domains,
) -> Verdict:
    """Judge a requirement on the persons of every class."""
    basis = person_basis(requirement)
    if basis is None:
        raise ValueError(f"{requirement.name} cannot be judged on persons")
    counts = tally_persons(of_class, person, sensitive, basis)
    if requirement.algebra.refined:
        refined = {c.name: _known(of_class, person, sensitive, c, basis) for c in sensitive}
        counts = replace(counts, refined=refined)
    return full_check(requirement, counts, domains)


def tally_persons(
    of_class: AnyInts, person: AnyInts, sensitive: Sequence[Column], basis: PersonBasis
) -> ClassCounts:
    """Count the persons of every class, and their values on one basis."""
    pairs = pl.DataFrame({CLASS: of_class.astype(np.int64), OF: person.astype(np.int64)})
    persons = pairs.unique().group_by(CLASS).len("size").sort(CLASS)
    size = persons["size"].to_numpy().astype(np.int64)
    if basis is PersonBasis.PERSONS:
        return ClassCounts(size, {})
    whole, scale = pairs, 1
    if basis is PersonBasis.MASS:
        whole = pairs.group_by(CLASS, OF).len(WHOLE).cast(pl.Int64)
        scale = _scale(whole[WHOLE])
    values = {}
    for column in sensitive:
        rows = pairs.with_columns(pl.Series(VALUE, column.codes.astype(np.int64)))
        touched = rows.group_by(CLASS, OF, VALUE).len(TIMES).cast(pl.Int64)
        if basis is PersonBasis.MASS:
            counted = _mass(touched.join(whole, on=[CLASS, OF]), scale)
        elif basis is PersonBasis.TOUCHED:
            counted = touched.group_by(CLASS, VALUE).len("count")
        else:
            counted = _matched(touched)
        values[column.name] = _counts(counted, len(size), column.cardinality)
    if basis is PersonBasis.MASS and int(size.sum()) > pairs[OF].n_unique():
        # some persons are in several classes; in the table that classes are compared with, each
        # weighs 1
        whole_table = np.zeros(len(person), np.int64)
        table = tally_persons(whole_table, person, sensitive, basis).values
        values = {
            name: replace(counts, reference=table[name].total) for name, counts in values.items()
        }
    return ClassCounts(size * scale, values)


def _known(
    of_class: AnyInts,
    person: AnyInts,
    sensitive: Sequence[Column],
    target: Column,
    basis: PersonBasis,
) -> RefinedCounts:
    """Count all rows of the persons who have the same other values in some row of a class."""
    others = {f"known {n}": c.codes for n, c in enumerate(sensitive) if c is not target}
    rows = pl.DataFrame({CLASS: of_class.astype(np.int64), OF: person.astype(np.int64), **others})
    having = rows.unique()
    known = having.select(CLASS, *others).unique().sort(CLASS, *others).with_row_index("refined")
    who = having.join(known, on=[CLASS, *others]).select("refined", CLASS, OF)
    values = rows.select(CLASS, OF, pl.Series(VALUE, target.codes))
    every = who.join(values, on=[CLASS, OF])
    column = replace(target, codes=every[VALUE].to_numpy())
    tallied = tally_persons(every["refined"].to_numpy(), every[OF].to_numpy(), [column], basis)
    of_refined = known[CLASS].to_numpy().astype(np.int32)
    return RefinedCounts(tallied.values[target.name], tallied.size, of_refined)


def _scale(rows: pl.Series) -> int:
    """The weight of a person: a multiple of every number of rows, or as large as a float holds."""
    return min(math.lcm(*rows.unique().to_list()), max(WEIGHT // max(int(rows.sum()), 1), 1))


def _mass(touched: pl.DataFrame, scale: int) -> pl.DataFrame:
    """The weight of each value: every person has the same, spread over their rows of the class.

    Shares that are no whole number are rounded so that those of a person add up: each is the
    difference of two rounded sums.
    """
    upto = pl.col(TIMES).cum_sum().over([CLASS, OF])
    ends = touched.sort(CLASS, OF, VALUE).with_columns(upto.alias("upto"))
    before = pl.col("upto") - pl.col(TIMES)
    share = (pl.col("upto") * scale) // pl.col(WHOLE) - (before * scale) // pl.col(WHOLE)
    return ends.group_by(CLASS, VALUE).agg(share.sum().alias("count")).filter(pl.col("count") > 0)


def _matched(touched: pl.DataFrame) -> pl.DataFrame:
    """Once each value that a greatest matching gives to a person of its own."""
    holders = touched.group_by(CLASS, VALUE).agg(pl.col(OF).sort()).sort(CLASS, VALUE)
    by_class: dict[int, dict[int, list[int]]] = {}
    for number, value, persons in holders.iter_rows():
        by_class.setdefault(number, {})[value] = persons
    supplied = [
        (number, value, 1)
        for number, owners_of in by_class.items()
        for value in supplied_values(owners_of)
    ]
    return pl.DataFrame(supplied, dict.fromkeys([CLASS, VALUE, "count"], pl.Int64), orient="row")


def supplied_values(owners_of: Mapping[int, Sequence[int]]) -> list[int]:
    """The values that different persons can supply, one each, as many as possible.

    A value with at least as many owners as there are values always finds one at last, so only the
    others are matched, each by a path that gives earlier values other owners.
    """
    every = len(owners_of)
    rare = {value: owners for value, owners in owners_of.items() if len(owners) < every}
    value_of: dict[int, int] = {}  # by person
    for value in sorted(rare, key=lambda value: len(rare[value])):
        _give_owner(value, rare, value_of)
    return [value for value in owners_of if value not in rare] + list(value_of.values())


def _give_owner(
    value: int, owners_of: Mapping[int, Sequence[int]], value_of: dict[int, int]
) -> None:
    """Find an owner by breadth first; the owners on the way each pass their value on."""
    came_from: dict[int, int] = {}  # by person: the value that asks
    waiting = [value]
    for asking in waiting:
        for owner in owners_of[asking]:
            if owner in came_from:
                continue
            came_from[owner] = asking
            if owner in value_of:
                waiting.append(value_of[owner])
                continue
            holder = {held: person for person, held in value_of.items()}
            free: int | None = owner
            while free is not None:
                asked = came_from[free]
                value_of[free], free = asked, holder.get(asked)
            return


def _counts(counted: pl.DataFrame, classes: int, cardinality: int) -> ValueCounts:
    """Sparse counts, class by class."""
    counted = counted.sort(CLASS, VALUE)
    of_class: Ints = counted[CLASS].to_numpy()
    start = np.searchsorted(of_class, np.arange(classes + 1)).astype(np.int64)
    value = counted[VALUE].to_numpy().astype(np.int32)
    return ValueCounts(start, value, counted["count"].to_numpy().astype(np.int64), cardinality)


def promise_on_terms(
    of_rows: Promise,
    table: CodedTable,
    person: Ints,  # (rows,)
    of_class: Ints,  # (rows,)
    manifest: Manifest,
    original: Task | None,
    knowledge: Mapping[str, Knowledge],
) -> Promise:
    """Derive a guarantee about the joined terms of persons, beside the one about rows."""
    # One row for each person, with all terms of the person.
    numbers, first, place = np.unique(person, return_index=True, return_inverse=True)
    columns = {c.name: _joined(c, place, len(numbers)) for c in table.quasi_sensitive}
    joined = CodedTable(columns, len(numbers))
    domains = linked_domains({"persons": joined}, manifest, original, knowledge)
    classes = Classes.of_numbers(of_class[first].astype(np.int32))
    counts = count_classes(classes, [], quasi_sensitive=list(columns.values()))
    # Both guarantees hold, or none; the worse figures are stated.
    requirement = of_rows.to_requirement()
    promise = Promise.of(requirement, full_check(requirement, counts, domains))
    return promise.model_copy(
        update={
            "holds": promise.holds and of_rows.holds,
            "achieved": _worse(
                promise.achieved, of_rows.achieved, requirement.algebra.smaller_is_better
            ),
            "by_attribute": _worse(
                promise.by_attribute, of_rows.by_attribute, requirement.algebra.smaller_is_better
            ),
        }
    )


def _worse(
    first: Mapping[str, float | None], second: Mapping[str, float | None], smaller_is_better: bool
) -> dict[str, float | None]:
    """The worse of two figures of each name; None is unbounded."""
    pick = max if smaller_is_better else min
    worse: dict[str, float | None] = {}
    for name in dict.fromkeys([*first, *second]):
        figures = [side[name] for side in (first, second) if name in side]
        known = [figure for figure in figures if figure is not None]
        worse[name] = None if len(known) < len(figures) else pick(known)
    return worse


def _joined(column: Column, person: NDArray[np.intp], persons: int) -> Column:
    """A cell for each person: all terms, ``*`` if rows have lost theirs, else empty."""
    separator = column.separator or BETWEEN
    cells = pl.DataFrame({"person": person, "cell": column.text.gather(pl.Series(column.codes))})
    shown = cells.filter(pl.col("cell").is_not_null())
    split = pl.col("cell").str.split(column.separator) if column.separator else pl.col("cell")
    terms = shown.filter(pl.col("cell") != SUPPRESSED).with_columns(split)
    terms = terms.explode("cell") if column.separator else terms
    of_person = terms.unique().group_by("person").agg(pl.col("cell").sort().str.join(separator))
    emptied = shown.filter(pl.col("cell") == SUPPRESSED).unique()
    emptied = emptied.join(of_person, on="person", how="anti")
    every = pl.DataFrame({"person": np.arange(persons)}).join(
        pl.concat([of_person, emptied.select("person", "cell")]), on="person", how="left"
    )
    text = every.sort("person")["cell"]
    distinct = text.unique().sort(nulls_last=True)
    code = {cell: number for number, cell in enumerate(distinct.to_list())}
    codes = np.array([code[cell] for cell in text.to_list()], np.int32)
    return replace(column, codes=codes, text=distinct, values=distinct, separator=separator)

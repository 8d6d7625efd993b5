"""Random COUNT queries, and how far a release's answers are off.

A query asks for some values of ``quasi_identifiers`` (qd) quasi-identifiers and of ``sensitive``
(m) sensitive attributes, drawn at random. For an expected selectivity s it takes of each attribute
A b = min(|A| − 1, ⌈|A| · s^(1/(qd + m))⌉) values, at least 1: a run of neighbours where values lie
on a line (a missing value does not, so no run holds it), a random set elsewhere; of a multi-valued
attribute b terms, and a cell is counted if it contains any. The workload depends on the original
and a seed alone, so all releases of a table answer the same questions.

Where a person may have several rows, the same queries are also asked of persons: how many have a
row that matches. Nothing published links the rows of a person, so the estimate follows from the
share f of rows, as if the n/P rows of each of P persons were independent: P·(1 − (1 − f)^(n/P)).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from discreet.knowledge.table import Terms, terms_of
from discreet.table.budgets import TABLE_CELLS
from discreet.table.coded_table import CodedTable, Column
from discreet.table.persons import Persons
from discreet.table.roles import Distance, Role
from discreet.typing import Bools, Floats
from discreet.utility.implied import AskedTerms, Implied, ImpliedUnlinked, QueryBatch, exact
from discreet.utility.terms import share_of_sets

BATCH = 256  # queries in a batch at most
LEAST_SHARE = 0.001  # of the rows: what a relative error is at least measured against

Draw = Callable[[np.random.Generator], Bools]  # (values,) or (terms,)


class QueryWorkload(BaseModel):
    """The parameters of a workload."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    queries: int = Field(default=1000, ge=1, description="The number of queries.")
    quasi_identifiers: int = Field(default=1, ge=0, description="Quasi-identifiers in a query.")
    sensitive: int = Field(default=1, ge=0, description="Sensitive attributes in a query.")
    selectivity: float = Field(default=0.05, gt=0, lt=1, description="Expected share of rows.")

    def batches(
        self, original: CodedTable, rng: np.random.Generator, *, sets: bool = False
    ) -> Iterator[QueryBatch]:
        """Draw the queries. A table with fewer attributes than asked for is asked for all.

        ``sets`` lets quasi-sensitive attributes count as sensitive ones.
        """
        quasi_identifiers, sensitive = sides_of(original, sets=sets)
        qd = min(self.quasi_identifiers, len(quasi_identifiers))
        m = min(self.sensitive, len(sensitive))
        if qd + m == 0:
            return
        # How each attribute is asked, and which attributes each query asks.
        share = self.selectivity ** (1 / (qd + m))
        columns = (*quasi_identifiers, *sensitive)
        terms = {c.name: terms_of(c) for c in columns if c.role is Role.QUASI_SENSITIVE}
        draw = {column.name: _draw(column, share, terms.get(column.name)) for column in columns}
        asked: dict[tuple[str, ...], list[int]] = {}
        for number in range(self.queries):
            picked = (*_pick(quasi_identifiers, qd, rng), *_pick(sensitive, m, rng))
            asked.setdefault(picked, []).append(number)
        # Queries on the same attributes are drawn together, as many as memory allows.
        for names, numbers in asked.items():
            by_cell = names[:-1] if names[-1] in terms else names  # the last sets are only counted
            greatest = max((original[name].cardinality for name in by_cell), default=1)
            batch = min(BATCH, max(1, TABLE_CELLS // greatest))
            for start in range(0, len(numbers), batch):
                part = numbers[start : start + batch]
                drawn = {name: np.stack([draw[name](rng) for _ in part], axis=1) for name in names}
                of_sets = {
                    name: AskedTerms(drawn[name], share_of_sets(terms[name], drawn[name]))
                    for name in names
                    if name in terms
                }
                members = {name: drawn[name] for name in names if name not in terms}
                yield QueryBatch(np.array(part, np.int64), members, of_sets)


def sides_of(original: CodedTable, *, sets: bool) -> tuple[list[Column], list[Column]]:
    """Return what an attacker may know of people, and what is protected or may give it away."""
    others = original.quasi_sensitive if sets else []
    return original.quasi_identifiers, [*original.sensitive, *others]


def _pick(columns: list[Column], count: int, rng: np.random.Generator) -> list[str]:
    return [columns[i].name for i in np.sort(rng.choice(len(columns), count, replace=False))]


def _draw(column: Column, share: float, terms: Terms | None) -> Draw:
    """How to draw the values, or of a multi-valued attribute the terms, that a query asks for."""
    if terms is not None:
        return _draw_set(len(terms.names), share)
    on_line = column.cardinality - column.has_null
    if (column.type.ordered or column.distance is Distance.ORDERED) and on_line:
        return _draw_run(column.cardinality, on_line, share)
    return _draw_set(column.cardinality, share)


def values_asked(domain: int, share: float) -> int:
    """b, the number of values that a query asks of an attribute with a domain of |A| values."""
    return max(1, min(domain - 1, int(np.ceil(domain * share))))


def _draw_run(cardinality: int, on_line: int, share: float) -> Draw:
    length = values_asked(on_line, share)

    def draw(rng: np.random.Generator) -> Bools:
        member = np.zeros(cardinality, bool)
        start = rng.integers(0, on_line - length + 1)
        member[start : start + length] = True
        return member

    return draw


def _draw_set(cardinality: int, share: float) -> Draw:
    size = min(values_asked(cardinality, share), cardinality)

    def draw(rng: np.random.Generator) -> Bools:
        member = np.zeros(cardinality, bool)
        member[rng.choice(cardinality, size, replace=False)] = True
        return member

    return draw


@dataclass(frozen=True)
class QueryError:
    """The relative errors of one attacker's estimates."""

    median: float | None  # of |act − est| / act over queries with act > 0: the headline
    mean: float  # of |act − est| / max(act, 0.001 n), over all queries
    percentile_95: float  # of the same


@dataclass(frozen=True)
class PersonQueryErrors:
    """The errors where persons with a matching row are counted."""

    release: QueryError
    unlinked: QueryError


@dataclass(frozen=True)
class QueryErrors:
    """The errors of a release beside those of the unlinked baseline."""

    workload: QueryWorkload
    zero_counts: int  # queries that no row of the original answers
    release: QueryError
    unlinked: QueryError
    persons: PersonQueryErrors | None = None  # where a person may have several rows
    weighted: bool = False  # whether sums of sampling weights are compared, not counts of rows

    def line(self) -> str:
        """The headline, for a terminal."""
        median, base = self.release.median, self.unlinked.median
        shown = "no query with an answer" if median is None else f"{median:.4f}"
        beside = "" if base is None else f"   unlinked baseline: {base:.4f}"
        line = f"median query error   {shown}{beside}{', weighted' if self.weighted else ''}"
        if self.persons is None or self.persons.release.median is None:
            return line
        return f"{line}\n  of people          {self.persons.release.median:.4f}"

    def to_dict(self) -> dict[str, Any]:
        """For the manifest and JSON."""
        return {
            **asdict(self.release),
            "zero_counts": self.zero_counts,
            "unlinked": asdict(self.unlinked),
            "workload": self.workload.model_dump(),
            **({} if self.persons is None else {"persons": asdict(self.persons)}),
            **({"weighted": True} if self.weighted else {}),
        }


def query_errors(
    original: CodedTable,
    release: Implied,
    workload: QueryWorkload,
    seed: int,
    persons: Persons | None = None,
    weights: Floats | None = None,
) -> QueryErrors | None:
    """Ask a workload of a release; None where there is nothing to ask for.

    ``persons`` are those of the original's rows, where one may have several. ``weights`` are those
    of its rows, where the release is read with weights too: sums of weights are then compared.
    """
    if not original.rows:
        return None
    # Three readers of each query: the original, the release and the unlinked baseline.
    rng = np.random.default_rng(seed)
    sides = sides_of(original, sets=release.answers_sets)
    truth = exact([*sides[0], *sides[1]], original.rows, weights)
    unlinked = ImpliedUnlinked(sides, original.rows, weights)
    total = original.rows if weights is None else float(weights.sum())
    matching = None if persons is None else MatchingPersons(original, persons)
    # Ask batch by batch, so that memory stays bounded.
    answers, of_persons = [], []
    for batch in workload.batches(original, rng, sets=release.answers_sets):
        answers.append(np.stack([reader.estimate(batch) for reader in (truth, release, unlinked)]))
        if matching is not None:
            of_persons.append(matching.count(batch))
    if not answers:
        return None
    # Compare the answers, by rows and, where persons have several, by persons.
    actual, estimate, baseline = np.concatenate(answers, axis=1)
    actual = np.rint(actual) if weights is None else actual
    by_person = None
    if persons is not None:
        count = np.concatenate(of_persons)
        by_person = PersonQueryErrors(
            query_error(count, estimated_persons(estimate, persons), persons.count),
            query_error(count, estimated_persons(baseline, persons), persons.count),
        )
    return QueryErrors(
        workload=workload,
        zero_counts=int((actual == 0).sum()),
        release=query_error(actual, estimate, total),
        unlinked=query_error(actual, baseline, total),
        persons=by_person,
        weighted=weights is not None,
    )


def estimated_persons(rows: Floats, persons: Persons) -> Floats:
    """The expected number of persons with a matching row, from the number of matching rows."""
    share = np.clip(rows / len(persons.number), 0.0, 1.0)
    return persons.count * (1 - (1 - share) ** (len(persons.number) / persons.count))


class MatchingPersons:
    """The true number of persons with a row that matches a query."""

    def __init__(self, original: CodedTable, persons: Persons) -> None:
        self._order = persons.rows_in_order()
        self._person = persons.number[self._order]
        self._original = original

    def count(self, batch: QueryBatch) -> Floats:
        """(queries,) Count the persons that match each query."""
        codes = {name: self._original[name].codes[self._order] for name in batch.members}
        codes |= {name: self._original[name].codes[self._order] for name in batch.terms}
        matching = np.zeros(len(batch.number))
        for query in range(len(batch.number)):
            matches = np.ones(self._original.rows, bool)
            for name, member in batch.members.items():
                matches &= member[:, query][codes[name]]
            for name, asked in batch.terms.items():
                has_any = _with_any(terms_of(self._original[name]), asked.asked[:, query])
                matches &= has_any[codes[name]]
            person = self._person[matches]  # ascending
            matching[query] = np.count_nonzero(np.diff(person)) + bool(len(person))
        return matching


def _with_any(terms: Terms, asked: Bools) -> Bools:
    """(values,) Return whether a set has one of the terms that are asked for."""
    value = np.repeat(np.arange(len(terms.length)), terms.length)
    return np.bincount(value[asked[terms.term]], minlength=len(terms.length)) > 0


def query_error(actual: Floats, estimate: Floats, rows: float) -> QueryError:
    """Summarize the errors of estimates against true counts."""
    off = np.abs(actual - estimate)
    positive = actual > 0
    bounded = off / np.maximum(actual, LEAST_SHARE * rows)
    return QueryError(
        median=float(np.median(off[positive] / actual[positive])) if positive.any() else None,
        mean=float(bounded.mean()),
        percentile_95=float(np.percentile(bounded, 95)),
    )

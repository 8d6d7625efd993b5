"""One attacker for all kinds of release, so that they can be compared on one plot.

The attacker knows every person's quasi-identifiers q and believes p2(s | q), what the release
implies of a sensitive value given them (of a decomposed release the raked p2). What counts is the
belief in the true value: its 99th percentile over people, since the greatest alone is 1 for many a
release that is sound, and the mean is utility in disguise. Of a person with several rows the row
counts whose value the attacker believes in most. Only sensitive values count: to believe in one
that may be disclosed harms no person.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from discreet.table.coded_table import CodedTable
from discreet.table.persons import Persons
from discreet.typing import Bools, Floats
from discreet.utility.divergence import sample_of
from discreet.utility.implied import Implied


@dataclass(frozen=True)
class WorstBelief:
    """The beliefs in the truth of the worst sensitive attribute."""

    percentile_99: float
    greatest: float


def fixed_reader(
    original: CodedTable,
    release: Implied,
    persons: Persons | None = None,
    sensitive_values: Mapping[str, Bools] | None = None,  # by attribute: (values,) which are
) -> WorstBelief | None:
    """What the attacker believes; None where nothing is sensitive or cells overlap too much."""
    marks = sensitive_values or {}
    by_attribute = [
        beliefs_in(original, release, column.name, persons, marks.get(column.name))
        for column in original.sensitive
    ]
    beliefs = [belief for belief in by_attribute if belief is not None and len(belief)]
    if not beliefs:
        return None
    return WorstBelief(
        max(float(np.percentile(belief, 99)) for belief in beliefs),
        max(float(belief.max()) for belief in beliefs),
    )


def beliefs_in(
    original: CodedTable,
    release: Implied,
    attribute: str,
    persons: Persons | None = None,
    sensitive: Bools | None = None,  # (values,) None where all are
) -> Floats | None:
    """(people,) The belief in the value of each person who has a sensitive one.

    Of a sample, where all would take too long.
    """
    people = original
    known = release.mass_of_people(people, ())
    if known is None:
        sample = sample_of(original.rows)
        people, persons = original.take(sample), None if persons is None else persons.take(sample)
        known = release.mass_of_people(people, ())
    both = release.mass_of_people(people, [attribute])
    if known is None or both is None:
        return None
    belief = np.minimum(both / np.maximum(known, np.finfo(float).tiny), 1.0)
    targets = (
        np.ones(len(belief), bool) if sensitive is None else sensitive[people[attribute].codes]
    )
    if persons is None:
        return belief[targets]
    greatest = np.full(persons.count, -1.0)
    np.maximum.at(greatest, persons.number[targets], belief[targets])
    return greatest[greatest >= 0]

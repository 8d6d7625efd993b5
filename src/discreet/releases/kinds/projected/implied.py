"""What a projected release is worth: each table by itself, and what the tables say together.

p2 of a projected release. A query whose sensitive attributes all are in one table is answered by
that table; one without any, by the base b, the table with the least loss. Else

    p2(q, s) = p_b(q, s_b) · Π p_u(s_u | class of q in table u)

summed over the quasi-identifiers q that it asks for (``meetings``). The lists of classes that meet
are made once for each set of tables that some query needs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from discreet.methods.base import Task
from discreet.releases.kinds.generalized.implied import MeasuredTable, measure_parts
from discreet.releases.kinds.projected.class_intersections import ClassTable, Meeting
from discreet.releases.manifest import Manifest
from discreet.requirements.mutual_information import association_loss
from discreet.table.coded_table import CodedTable, Column
from discreet.typing import Codes, Floats
from discreet.utility.figures import ProjectedMeasures
from discreet.utility.implied import Implied, QueryBatch
from discreet.utility.reading import ImpliedReading


def read_projected(
    tables: Mapping[str, CodedTable], task: Task, manifest: Manifest
) -> ImpliedReading[ProjectedMeasures]:
    """Read the tables of a projected release against the original."""
    parts = {
        name: measure_parts(
            task.table,
            task.hierarchies,
            table,
            manifest.suppressed_rows,
            levels=manifest.method.levels_of(name),
            sensitive=[column.name for column in table.sensitive],
        )
        for name, table in tables.items()
    }
    information = task.information
    number = {name: i for i, name in enumerate(information.names)}
    plan = [[number[column.name] for column in table.sensitive] for table in tables.values()]
    measures = ProjectedMeasures(
        tables={name: part.measures for name, part in parts.items()},
        association_loss=association_loss(information, plan),
    )
    return ImpliedReading(
        task.table, measures, lambda: ImpliedProjected(list(parts.values()), list(tables.values()))
    )


class ImpliedProjected(Implied):
    """p2 of a projected release."""

    def __init__(self, parts: Sequence[MeasuredTable], tables: Sequence[CodedTable]) -> None:
        self._parts = parts
        self._classes = [ClassTable(part, table) for part, table in zip(parts, tables, strict=True)]
        self._home = {
            column.name: number for number, table in enumerate(tables) for column in table.sensitive
        }
        losses = [part.measures.loss for part in parts]
        self._base = int(np.argmin(losses))
        self._rows = tables[0].rows
        self._meetings: dict[tuple[int, ...], Meeting] = {}

    def estimate(self, batch: QueryBatch) -> Floats:
        homes = {self._home[name] for name in batch.members if name in self._home}
        if len(homes) <= 1:
            number = next(iter(homes), self._base)
            return self._parts[number].implied.estimate(batch)
        return self._meeting(homes).estimate(batch)

    def mass_of_people(self, people: CodedTable, sensitive: Sequence[str]) -> Floats | None:
        """Everybody is in a class of every table, so p_u given the class is p_u given q."""
        at_home: dict[int, list[str]] = {}
        for name in sensitive:
            at_home.setdefault(self._home[name], []).append(name)
        base = next(iter(at_home)) if len(at_home) == 1 else self._base
        mass = self._parts[base].implied.mass_of_people(people, at_home.pop(base, []))
        for number, names in at_home.items():
            table = self._parts[number].implied
            both, known = table.mass_of_people(people, names), table.mass_of_people(people, ())
            if mass is None or both is None or known is None:
                return None
            mass = mass * both / np.maximum(known, np.finfo(float).tiny)
        return mass

    def pair_table(self, first: Column, second: Column) -> Floats:
        homes = {self._home[column.name] for column in (first, second) if column.name in self._home}
        if len(homes) == 1:
            return self._parts[homes.pop()].implied.pair_table(first, second)
        return self._meeting(homes).pair_table(first, second)

    def _meeting(self, homes: set[int]) -> Meeting:
        others = tuple(sorted(homes - {self._base}))
        if others not in self._meetings:
            base = self._classes[self._base]
            self._meetings[others] = Meeting(base, [self._classes[u] for u in others])
        return self._meetings[others]

    def draw(self, rng: np.random.Generator) -> dict[str, Codes]:
        """Rows of the base, each with a row of its class in every other table."""
        drawn = self._parts[self._base].implied.draw(rng)
        for number, table in enumerate(self._classes):
            if number != self._base:
                drawn |= table.draw_beside(drawn, rng)
        return drawn

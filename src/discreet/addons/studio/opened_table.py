"""A table that stays in memory: its columns, proposed roles, and the risk of quasi-identifiers.

The table is read and coded once. Every question after that is answered from codes, so that a page
can ask again with every click.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.io.source import Source
from discreet.job.model import Job
from discreet.job.proposing.familiar_values import harmless_values
from discreet.job.proposing.job_text import ProposedJob, propose_for
from discreet.job.proposing.presets import PRESETS
from discreet.job.proposing.role_judgement import Proposal, suggest_roles
from discreet.job.proposing.untyped_table import UntypedTable, read_untyped
from discreet.job.table_profile import column_profile
from discreet.table.classes import group_codes
from discreet.table.coded_table import CodedTable, Column
from discreet.table.persons import Persons, persons_of
from discreet.table.roles import Role, ValueType
from discreet.table.secrets import Dependency, find_dependencies, find_secrets

FIRST_ROWS = 20
MOST_FREQUENT = 10  # values of a column that are listed
MASK = "•••••"
MASKED_ROLES = (Role.IDENTIFIER, Role.HOUSEHOLD)
BANDS = ((1, 1), (2, 2), (3, 4), (5, 9), (10, 19), (20, 99), (100, None))  # sizes of classes


class OpenedTable:
    """A table in memory, typed by its values."""

    def __init__(self, untyped: UntypedTable) -> None:
        self._untyped = untyped
        self._proposed: dict[tuple[str | None, Path], ProposedJob] = {}
        self._alone: dict[tuple[str, ...], dict[str, float]] = {}  # by key of persons
        self._compared: list[str] = []  # columns whose pairs were looked at
        self._dependencies: list[Dependency] = []  # among them
        self._harmless: dict[str, tuple[list[str], str] | None] = {}  # by column

    @classmethod
    def of_file(cls, path: Path, options: Mapping[str, Any] | None = None) -> OpenedTable:
        """Read a file by options of its source, such as ``{"delimiter": ";"}``."""
        return cls(read_untyped(path, options=options))

    @classmethod
    def of_job(cls, job: Job) -> OpenedTable:
        """Read the table of a job, a file or a table of a database."""
        source = job.source
        if source is None:
            raise InputError("The job has no source. Add 'source: {path: …}' to it.")
        if source.url is not None:
            return cls(read_untyped(source.url, table=source.table, query=source.query))
        placed = source.placed(job.folder)
        stated = source.model_fields_set - {"path", "url", "table", "query"}
        options = {name: getattr(source, name) for name in stated}
        return cls(read_untyped(placed.path, options=options))

    @property
    def table(self) -> CodedTable:
        """The coded table."""
        return self._untyped.table

    def source_from(self, folder: Path) -> dict[str, Any]:
        """Return the ``source`` of a job in a folder."""
        return self._untyped.source_from(folder)

    @cached_property
    def roles(self) -> dict[str, Proposal]:
        """The proposed role of each column."""
        return suggest_roles(self.table)

    def propose(self, preset: str | None, folder: Path) -> ProposedJob:
        """Propose a job, with the guarantees of a preset."""
        if preset is not None and preset not in PRESETS:
            raise InputError(f"There is no preset '{preset}'. Known: {', '.join(PRESETS)}.")
        if (preset, folder) not in self._proposed:
            self._proposed[preset, folder] = propose_for(self._untyped, folder, preset=preset)
        return self._proposed[preset, folder]

    def column(self, name: str) -> Column:
        """Return a column by its name."""
        if name not in self.table.columns:
            raise InputError(f"The table has no column '{name}'.")
        return self.table[name]

    def describe(self) -> dict[str, Any]:
        """Return columns, and first rows with identifiers masked, as plain data."""
        hidden = {name for name, one in self.roles.items() if _identifies(one)}
        rows = np.arange(min(FIRST_ROWS, self.table.rows))
        columns = list(self.table)
        cells = [
            [MASK] * len(rows) if column.name in hidden else _texts(column, rows)
            for column in columns
        ]
        described = [
            {
                "name": column.name,
                "role": str(self.roles[column.name].role),
                "type": str(column.type),
                "distinct": found.distinct,
                "missing": found.missing,
                "nearly_alike": found.nearly_alike,
                "masked": column.name in hidden,
                "top": [] if column.name in hidden else top_values(column),
            }
            for column in columns
            for found in [column_profile(column, self.roles)]
        ]
        return {
            "rows": self.table.rows,
            "columns": described,
            "first": [list(row) for row in zip(*cells, strict=True)],
            "warnings": list(self._untyped.notices),
        }

    def types(self) -> dict[str, dict[str, str]]:
        """Return for each column what a job has to write of its type and format."""
        formats = self._untyped.formats
        return {
            column.name: {
                **({} if column.type is ValueType.TEXT else {"type": str(column.type)}),
                **({"format": formats[column.name]} if column.name in formats else {}),
            }
            for column in self.table
        }

    @cached_property
    def usual_types(self) -> dict[str, str]:
        """The type of each column where a job writes none: text in a text file, else its own."""
        source = self._untyped.source
        text = "path" in source and Source.model_validate(source).is_text
        usual = str(ValueType.TEXT) if text else None
        return {column.name: usual or str(column.type) for column in self.table}

    def persons(self, key: Sequence[str]) -> Persons | None:
        """Return the persons that columns identify; None where each has one row."""
        if not key:
            return None
        columns = [self.column(name) for name in key]
        word = "persons " + " ".join(key[1:])
        identified = columns[0].once(word, lambda: persons_of(columns, self.table.rows))
        return None if identified.count == self.table.rows else identified

    def person_facts(self, key: Sequence[str], identifiers: Sequence[str]) -> dict[str, Any]:
        """Return how many persons a key gives, and which identifiers every row has for itself."""
        persons, rows = self.persons(key), self.table.rows
        unique = [
            name for name in identifiers
            if not self.column(name).has_null and self.column(name).counts.max(initial=0) == 1
        ]  # fmt: skip
        most = 1 if persons is None else int(np.bincount(persons.number).max(initial=0))
        count = rows if persons is None else persons.count
        return {"key": list(key), "count": count, "rows": rows, "most": most, "unique": unique}

    def unchanged_risk(self, names: Sequence[str], key: Sequence[str]) -> dict[str, Any]:
        """Return who would be unique by columns that are published as they are.

        The quasi-identifiers are coarsened, so these columns alone are the least that an attacker
        who knows them finds.
        """
        alone = self.alone(key)
        worst = max(names, key=lambda name: alone[name], default=None)
        whole = _RowClasses.of(
            [self.column(name) for name in names], self.table.rows, self.persons(key)
        )
        return {
            "columns": len(names),
            "worst": worst,
            "worst_share": 0.0 if worst is None else alone[worst],
            "share": whole.figures()["unique_share"] if names else 0.0,
        }

    def alone(self, key: Sequence[str]) -> dict[str, float]:
        """Return for each column the share of rows, or persons, that it alone makes unique."""
        known = self._alone.get(tuple(key))
        if known is None:
            persons, rows = self.persons(key), self.table.rows
            known = {
                column.name: int((column.counts == 1).sum()) / max(rows, 1)
                if persons is None
                else _RowClasses.of([column], rows, persons).figures()["unique_share"]
                for column in self.table
            }
            self._alone[tuple(key)] = known
        return known

    def secrets(self, names: Sequence[str]) -> list[dict[str, Any]]:
        """Return which sensitive columns reveal each other, and how."""
        # A column that became sensitive is compared with the others, and these not again.
        for name in [name for name in names if name not in self._compared]:
            for other in self._compared:
                pair = [self.column(other), self.column(name)]
                self._dependencies += find_dependencies(pair)
            self._compared.append(name)
        inside = [one for one in self._dependencies if {one.first, one.second} <= {*names}]
        secrets = find_secrets([self.column(name) for name in names], inside)
        return [{"columns": list(one.columns), "sentence": one.sentence} for one in secrets]

    def harmless(self, names: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Return the values of sensitive columns that may be no secret, for the steward."""
        proposals = {}
        for name in names:
            if name not in self._harmless:
                self._harmless[name] = harmless_values(self.column(name))
            proposal = self._harmless[name]
            if proposal is not None:
                proposals[name] = {"values": proposal[0], "reason": proposal[1]}
        return proposals

    def risk(self, quasi: Sequence[str], key: Sequence[str] = ()) -> dict[str, Any]:
        """Measure how well an attacker who knows some columns tells rows, or persons, apart."""
        columns = [self.column(name) for name in dict.fromkeys(quasi)]
        persons = self.persons(key)
        rows = self.table.rows
        if persons is None:
            whole = _RowClasses.of(columns, rows)
            without = [whole.without(column.name) for column in columns]
        else:
            whole = _RowClasses.of(columns, rows, persons)
            without = [
                _RowClasses.of([one for one in columns if one is not column], rows, persons)
                for column in columns
            ]
        return {
            "rows": rows,
            "persons": None if persons is None else persons.count,
            "classes": whole.classes,
            "unique": whole.unique,
            **whole.figures(),
            "highest_risk": 1 / whole.least if columns else 1 / max(whole.units, 1),
            "sizes": whole.bands(),
            "without": [
                {"column": column.name, **found.figures()}
                for column, found in zip(columns, without, strict=True)
            ],
        }


def _identifies(proposal: Proposal) -> bool:
    """Return whether a column holds identifiers, also such as are not published."""
    meant = None if proposal.meaning is None else proposal.meaning.sense.role
    return proposal.role in MASKED_ROLES or meant in MASKED_ROLES


class _RowClasses:
    """The classes of rows that agree in some columns."""

    def __init__(
        self,
        columns: Sequence[Column],
        codes: Mapping[str, NDArray[np.int32]],  # (combinations,) of each column
        count: NDArray[np.int64],  # (combinations,) rows
        members: NDArray[np.int64],  # (combinations,) rows, or persons where these are counted
        rows: int,
        units: int,
        unique: int,
    ) -> None:
        self._columns, self._codes, self._count, self._members = columns, codes, count, members
        self._rows, self.units, self.unique = rows, units, unique

    @classmethod
    def of(
        cls, columns: Sequence[Column], rows: int, persons: Persons | None = None
    ) -> _RowClasses:
        """Group the rows of a table."""
        classes = group_codes([c.codes for c in columns], [c.cardinality for c in columns], rows)
        codes = {column.name: column.codes[classes.first_row] for column in columns}
        if persons is None:
            unique = int((classes.size == 1).sum())
            return cls(columns, codes, classes.size, classes.size, rows, rows, unique)
        pairs = group_codes(
            [classes.class_of_row, persons.number.astype(np.int32)],
            [classes.count, persons.count],
            rows,
        ).first_row  # a row of each person in each class
        class_of_pair = classes.class_of_row[pairs]
        members = np.bincount(class_of_pair, minlength=classes.count)
        alone = persons.number[pairs][members[class_of_pair] == 1]
        unique = int((np.bincount(alone, minlength=persons.count) > 0).sum())
        return cls(columns, codes, classes.size, members, rows, persons.count, unique)

    def without(self, name: str) -> _RowClasses:
        """Group anew without a column; only where rows are counted."""
        columns = [column for column in self._columns if column.name != name]
        merged = group_codes(
            [self._codes[column.name] for column in columns],
            [column.cardinality for column in columns],
            len(self._count),
            self._count,
        )
        unique = int((merged.size == 1).sum())
        return _RowClasses(columns, {}, merged.size, merged.size, self._rows, self._rows, unique)

    @property
    def classes(self) -> int:
        return len(self._count)

    @property
    def least(self) -> int:
        """The members of the smallest class."""
        return int(self._members.min(initial=max(self.units, 1)))

    def figures(self) -> dict[str, float]:
        """Return the share of unique members, and the mean chance to pick the right one."""
        risk = float((self._count / np.maximum(self._members, 1)).sum()) / max(self._rows, 1)
        return {"unique_share": self.unique / max(self.units, 1), "average_risk": risk}

    def bands(self) -> list[dict[str, Any]]:
        """Return the rows by the size of their class."""
        bands: list[dict[str, Any]] = []
        for low, high in BANDS:
            inside = self._members >= low
            if high is not None:
                inside &= self._members <= high
            rows = int(self._count[inside].sum())
            if rows:
                bands.append({"from": low, "to": high, "rows": rows, "share": rows / self._rows})
        return bands


def top_values(column: Column) -> list[list[Any]]:
    """Return the most frequent values and their rows."""
    order = np.argsort(-column.counts, kind="stable")[: MOST_FREQUENT + 1]
    texts = column.text.gather(pl.Series(order)).to_list()
    frequent = [
        [text, int(column.counts[code])]
        for text, code in zip(texts, order, strict=True)
        if text is not None and column.counts[code]
    ]
    return frequent[:MOST_FREQUENT]


def _texts(column: Column, rows: NDArray[np.int64]) -> list[str | None]:
    return column.text.gather(pl.Series(column.codes[rows])).to_list()

"""Knowledge tables on disk: the ``knowledge`` key of a quasi-sensitive attribute.

==================================================  ==============================================
``{path: e.csv, label: disease, term: symptom}``    long: a row for each pair
``{…, term: [s1, s2, s3]}``, ``{…, term: "*"}``     wide: a row a label; ``"*"`` means all
                                                    columns but label and weight
``{…, term: symptoms, separator: "|"}``             a row a label, its terms in one cell
==================================================  ==============================================

``weight`` names a column with how likely a label is, in any unit; it is then the prior. A label on
several lines gets all their terms; in the last two forms that is reported, as it may be a mistake.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, Field

from discreet.by_name import Validated
from discreet.errors import InputError
from discreet.io.source import Source
from discreet.io.tables import column_names, read_table, suspect_names
from discreet.knowledge.table import Knowledge, knowledge_from_sets
from discreet.listing import nearest_column
from discreet.regular_files import MOST_BYTES, unpacking_at_most
from discreet.table.coded_table import CodedTable, Column
from discreet.table.roles import ColumnSpec, Role, ValueType

ALL_OTHERS = "*"


class KnowledgeColumns(Validated):
    """The meaning of the columns of a knowledge table."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    label: str = Field(description="The column of the sensitive labels.")
    term: str | tuple[str, ...] = Field(
        description="The column of the terms, or several; '*' for all other columns."
    )
    separator: str | None = Field(
        default=None, min_length=1, description="Separator of the terms of a cell."
    )
    weight: str | None = Field(
        default=None, description="The column with the labels' weights, which are then the prior."
    )


class KnowledgeSource(KnowledgeColumns):
    """A knowledge table on disk."""

    path: str = Field(min_length=1, description="A CSV, TSV, Parquet or Arrow file.")
    delimiter: str | None = Field(
        default=None, description="Delimiter of a text file; detected by default."
    )

    @property
    def columns(self) -> KnowledgeColumns:
        """The meaning of the columns, without the path of the table."""
        return KnowledgeColumns.model_validate(self.model_dump(exclude={"path", "delimiter"}))


def read_knowledge(settings: KnowledgeSource, folder: Path) -> Knowledge:
    """Read a knowledge table; one InputError names all its problems."""
    # Check that the table has the columns that the job names.
    source = Source.of_file(folder / settings.path, delimiter=settings.delimiter)
    place = f"Knowledge table {settings.path}"
    names = column_names(source)
    term_columns = _term_columns(settings, names)
    wanted = [settings.label, *term_columns, *([settings.weight] if settings.weight else [])]
    lacking = [name for name in wanted if name not in names]
    suspect = bool(lacking) and suspect_names(source)
    problems = [
        f"no column '{name}'. {nearest_column(name, names, suspect=suspect)}" for name in lacking
    ]
    problems += [
        f"column '{n}' is named twice" for n, times in Counter(wanted).items() if times > 1
    ]
    if not term_columns:
        problems.append("no column is left for the terms")
    _demand(problems, place)
    # Read these columns, and check labels and weights.
    specs = {name: ColumnSpec(Role.DROP) for name in names}
    specs |= {name: ColumnSpec(Role.INSENSITIVE, ValueType.TEXT) for name in wanted}
    if settings.weight:
        specs[settings.weight] = ColumnSpec(Role.INSENSITIVE, ValueType.NUMBER)
    with unpacking_at_most(MOST_BYTES):
        table = read_table(source, specs)
    labels = _cells(table[settings.label])
    if None in labels:
        problems.append(f"{labels.count(None)} of {table.rows} rows have no label")
    weights = _weights(table, settings, labels, problems) if settings.weight else None
    _demand(problems, place)
    # Join the terms of each label.
    sets = _sets(table, settings, term_columns, labels)
    long = len(term_columns) == 1 and settings.separator is None
    doubled = [] if long else [name for name, times in Counter(labels).items() if times > 1]
    if not any(terms for _, terms in sets):
        _demand(["no label has a term"], place)
    return knowledge_from_sets(sets, weights, [name for name in doubled if name is not None])


def _demand(problems: list[str], place: str) -> None:
    if problems:
        listed = problems[0] if len(problems) == 1 else "".join(f"\n  - {p}" for p in problems)
        raise InputError(f"{place}: {listed}\nCorrect the table, or `knowledge:` in the job.")


def _term_columns(settings: KnowledgeColumns, names: tuple[str, ...]) -> list[str]:
    if settings.term == ALL_OTHERS:
        return [name for name in names if name not in (settings.label, settings.weight)]
    return [settings.term] if isinstance(settings.term, str) else list(settings.term)


def _cells(column: Column) -> list[str | None]:
    text = column.text.to_list()
    return [text[code] for code in column.codes]


def _sets(
    table: CodedTable, settings: KnowledgeColumns, columns: list[str], labels: list[str | None]
) -> list[tuple[str, list[str]]]:
    """The label and the terms of every row."""
    sets: list[tuple[str, list[str]]] = [(label or "", []) for label in labels]
    for name in columns:
        for (_, terms), cell in zip(sets, _cells(table[name]), strict=True):
            parts = (
                []
                if cell is None
                else cell.split(settings.separator)
                if settings.separator
                else [cell]
            )
            terms += [part.strip() for part in parts if part.strip()]
    return sets


def _weights(
    table: CodedTable, settings: KnowledgeColumns, labels: list[str | None], problems: list[str]
) -> dict[str, float]:
    """The weight of every label, which must be the same on all its lines."""
    assert settings.weight is not None
    # Count weights that are not above 0, and labels with several.
    column = table[settings.weight]
    numbers: Any = column.numbers
    weights: dict[str, float] = {}
    changed: set[str] = set()
    bad = 0
    for label, code in zip(labels, column.codes, strict=True):
        weight = float(numbers[code])
        if not weight > 0:  # also a missing one
            bad += 1
        elif label is not None and weights.setdefault(label, weight) != weight:
            changed.add(label)
    if bad:
        problems.append(
            f"column '{settings.weight}': {bad} of {table.rows} weights are not above 0"
        )
    if changed:
        problems.append(
            f"column '{settings.weight}': {len(changed)} labels have several weights, such as "
            f"{min(changed)!r}"
        )
    return weights

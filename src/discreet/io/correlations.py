"""Reading a correlation table: a CSV with the columns old, new and probability."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from discreet.errors import InputError
from discreet.io.source import Source
from discreet.io.tables import column_names, read_table
from discreet.methods.series.beliefs.correlation import Correlation, Unstated, problems_of
from discreet.regular_files import named_text
from discreet.table.roles import ColumnSpec, Role

HEADER = ("old", "new", "probability")


def read_correlation(path: Path, unstated: Unstated) -> Correlation:
    """Read and check a correlation table; an empty cell is a missing value."""
    try:
        text = named_text(path, "Correlation table")
        reader = csv.DictReader(io.StringIO(text, newline=""))
        names = tuple(reader.fieldnames or ())
        if sorted(names) != sorted(HEADER):
            raise InputError(
                f"Correlation table {path}: the header has {len(names)} columns; it "
                f"must be {', '.join(HEADER)}."
            )
        rows = [
            (
                reader.line_num,
                row["old"] or None,
                row["new"] or None,
                _probability(row["probability"]),
            )
            for row in reader
        ]
    except csv.Error:
        raise InputError(f"Correlation table {path}: not valid CSV. Save it as CSV.") from None
    # One error names all problems of the rows.
    problems = problems_of(rows)
    if problems:
        listed = "".join(f"\n  - {problem}" for problem in problems)
        raise InputError(f"Correlation table {path}: {len(problems)} problems{listed}")
    stated = ((old, new, chance) for _, old, new, chance in rows if chance is not None)
    return Correlation.of(stated, unstated)


def write_correlation(path: Path, rows: list[tuple[str | None, str | None, float]]) -> None:
    """Write a correlation table."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(HEADER)
        for old, new, probability in rows:
            writer.writerow([old or "", new or "", f"{probability:.6g}"])


def _probability(text: str | None) -> float | None:
    try:
        return float(text or "")
    except ValueError:
        return None


def value_pairs(
    old: Path, new: Path, person: str, attribute: str
) -> list[tuple[str | None, str | None]]:
    """Return the old and the new value of every person in both tables."""
    before = _values(Source.of_file(old), person, attribute)
    after = _values(Source.of_file(new), person, attribute)
    pairs = [(value, after[name]) for name, value in before.items() if name in after]
    if not pairs:
        raise InputError(
            f"{old} and {new} have no identifier in common. Check the column '{person}'."
        )
    return pairs


def _values(source: Source, person: str, attribute: str) -> dict[str, str | None]:
    names = column_names(source)
    lacking = [repr(name) for name in (person, attribute) if name not in names]
    if lacking:
        raise InputError(f"{source.path}: there is no column {' or '.join(lacking)}.")
    wanted = {
        name: ColumnSpec(Role.SENSITIVE if name in (person, attribute) else Role.DROP)
        for name in names
    }
    table = read_table(source, wanted)
    people, values = table[person].text.to_list(), table[attribute].text.to_list()
    return {
        people[code]: values[value]
        for code, value in zip(table[person].codes, table[attribute].codes, strict=True)
        if people[code] is not None
    }

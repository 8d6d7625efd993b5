"""Counts in place tell cells apart exactly as reading the rows does, whatever their types."""

from __future__ import annotations

import sqlite3

import numpy as np
import pytest

import discreet as dc
from discreet.pipeline.read import read_data
from discreet.table.counts import count_values

QUASI = ["number", "day", "flag", "word"]


def same_in_both(url: str) -> dc.Check:
    """The result by counts, which must be that of the rows."""
    roles = dict.fromkeys(QUASI, "quasi-identifier") | {"pay": "sensitive", "document": "drop"}
    job = dc.Job(
        attributes={name: {"role": role} for name, role in roles.items()},
        source={"url": url, "table": "odd"},
    )
    there = dc.check(None, job)
    rows = read_data(job)
    counted = count_values(rows.classes, rows["pay"])
    assert there.rows == rows.rows
    assert there.classes == rows.classes.count
    assert there.distances == {"pay": rows["pay"].distance}
    assert there.figures["k-anonymity"] == {"": rows.classes.size.min()}
    assert there.figures["distinct-l-diversity"]["pay"] == np.diff(counted.start).min()
    return there


def test_types_of_postgresql(postgres):
    import psycopg

    url = postgres()
    with psycopg.connect(url, autocommit=True) as base:
        base.execute(
            "CREATE TABLE odd (number numeric, day date, flag boolean, document json, "
            "word char(3), pay numeric)"
        )
        for row in (
            "1.0, '2020-01-01', true, '{\"a\": 1}', 'a', 1.5",
            "1.00, '2020-01-01', true, '{\"a\": 1}', 'a', 2",
            "1.0, '2020-01-01', true, '{\"a\": 1}', 'a', 2.0",
            "NULL, NULL, NULL, NULL, NULL, NULL",
            "NULL, NULL, NULL, NULL, '', NULL",
        ):
            base.execute(f"INSERT INTO odd VALUES ({row})")
    assert same_in_both(url).classes == 3  # 1.0 and 1.00 are one number
    counted = dc.check(url, table="odd", quasi=["document"], sensitive=["pay"], k=2)
    assert [counted.classes, counted.ok] == [2, True]


def test_several_types_in_a_column_of_sqlite(tmp_path):
    base = sqlite3.connect(tmp_path / "odd.db")
    base.execute("CREATE TABLE odd (number, day, flag, document, word COLLATE NOCASE, pay)")
    base.executemany(
        "INSERT INTO odd VALUES (?, '2020-01-01', 1, 'x', ?, ?)",
        [(1, "a", 1), ("1", "a", 2), (1.5, "A", "2"), (None, "A", 2.0), ("", "A", None)],
    )
    base.commit()
    base.close()
    found = same_in_both(f"sqlite:///{tmp_path / 'odd.db'}")
    assert found.classes == 3  # 1 and '1' are one cell; NULL and '' are missing both


def test_names_that_need_quotes_and_a_table_without_rows(tmp_path):
    base = sqlite3.connect(tmp_path / "odd.db")
    base.execute('CREATE TABLE odd ("a ""b"".c" TEXT, "select" TEXT)')
    base.commit()
    url = f"sqlite:///{tmp_path / 'odd.db'}"
    roles = {"quasi": ['a "b".c'], "sensitive": ["select"], "k": 1}
    with pytest.raises(dc.InputError, match="no rows"):
        dc.check(url, table="odd", **roles)
    base.execute("INSERT INTO odd VALUES ('x', 'y')")
    base.commit()
    base.close()
    assert dc.check(url, table="odd", **roles).classes == 1
    with pytest.raises(dc.JobError, match="no column 'b'"):
        dc.check(url, table="odd", quasi=["b"], k=1)


@pytest.mark.filterwarnings("ignore")  # of Ibis, about its own imports
@pytest.mark.parametrize("sees_bytes", [True, False])
def test_ibis_tells_apart_what_a_collation_does_not(tmp_path, monkeypatch, sees_bytes):
    ibis = pytest.importorskip("ibis", reason="ibis is not installed")
    from discreet.addons.places.counting import IbisPlace

    base = sqlite3.connect(tmp_path / "people.db")
    base.execute("CREATE TABLE people (zip TEXT COLLATE NOCASE, ill TEXT, who TEXT)")
    base.executemany("INSERT INTO people VALUES (?, ?, ?)", [("a", "x", "1"), ("A", "y", "2")])
    base.commit()
    base.close()
    table = ibis.sqlite.connect(tmp_path / "people.db").table("people")
    if not sees_bytes:
        grouped = IbisPlace._grouped

        def blind(self, columns, person, by_bytes):
            if by_bytes:
                raise NotImplementedError
            return grouped(self, columns, person, by_bytes)

        monkeypatch.setattr(IbisPlace, "_grouped", blind)
    found = dc.check(table, quasi=["zip"], k=2)
    assert found.ok is not sees_bytes
    assert [one.startswith("Text was compared") for one in found.remarks] == [True][sees_bytes:]
    if sees_bytes:
        by_person = dc.check(table, quasi=["zip"], sensitive=["ill"], person="who", k=1)
        assert (by_person.classes, by_person.persons.persons) == (2, 2)

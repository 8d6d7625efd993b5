"""Answers about one table, against brute force; hierarchies that are shown, edited and uploaded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.studio.served import SOURCE, Client, Served, served

import discreet
from discreet import HierarchyError
from discreet.addons.studio.hierarchy_levels import (
    declared_column,
    describe_hierarchy,
    edit_hierarchy,
)
from discreet.addons.studio.job_mapping import read_mapping, with_absolute_paths, write_mapping
from discreet.addons.studio.opened_table import OpenedTable
from discreet.addons.studio.private_folder import PrivateFolder
from discreet.addons.studio.tables import StudioTables
from discreet.job.proposing.untyped_table import UntypedTable, read_untyped


def opened(columns: dict[str, list]) -> OpenedTable:
    return OpenedTable(read_untyped(pl.DataFrame(columns)))


@settings(deadline=None)
@given(st.data())
def test_risk_is_that_of_brute_force(data: st.DataObject) -> None:
    rows = data.draw(st.integers(1, 30))
    cells = st.lists(st.integers(0, 3), min_size=rows, max_size=rows)
    columns = {name: data.draw(cells) for name in "abc"}
    people = data.draw(st.lists(st.integers(0, 6), min_size=rows, max_size=rows))
    table = opened({**columns, "person": people})
    quasi = data.draw(st.lists(st.sampled_from("abc"), unique=True))
    by_person = data.draw(st.booleans())
    found = table.risk(quasi, ["person"] if by_person else [])

    def naive(names: list[str]) -> tuple[int, float, float, int]:
        members, count = defaultdict(set), Counter()
        for row in range(rows):
            key = tuple(columns[name][row] for name in names)
            members[key].add(people[row] if by_person else row)
            count[key] += 1
        units = len(set(people)) if by_person else rows
        unique = len({one for own in members.values() if len(own) == 1 for one in own})
        risk = sum(count[key] / len(own) for key, own in members.items()) / rows
        return len(members), unique / units, risk, min(len(own) for own in members.values())

    classes, unique, risk, least = naive(quasi)
    assert found["classes"] == classes
    assert found["unique_share"] == pytest.approx(unique)
    assert found["average_risk"] == pytest.approx(risk)
    assert found["highest_risk"] == pytest.approx(1 / least)
    assert sum(band["rows"] for band in found["sizes"]) == rows
    for place, name in enumerate(quasi):
        rest = [other for other in quasi if other != name]
        said = found["without"][place]
        _, unique, risk, _ = naive(rest)
        assert said["column"] == name
        assert said["unique_share"] == pytest.approx(unique)
        assert said["average_risk"] == pytest.approx(risk)
    key = ["person"] if by_person else []
    alone = table.alone(key)
    assert {name: alone[name] for name in "abc"} == pytest.approx(
        {name: naive([name])[1] for name in "abc"}
    )
    unchanged = table.unchanged_risk(quasi, key)
    assert unchanged["columns"] == len(quasi)
    assert unchanged["share"] == pytest.approx(naive(quasi)[1] if quasi else 0)
    assert unchanged["worst_share"] == max((alone[name] for name in quasi), default=0)


COUNTRIES = {"tree": {"Europe": {"West": ["France", "Spain"], "East": ["Poland"]},
                      "Asia": ["Japan", "India"]}}  # fmt: skip


def countries() -> OpenedTable:
    return opened({"land": ["France"] * 4 + ["Spain"] * 3 + ["Poland"] * 2 + ["Japan", "India"]})


def leaves(tree: dict, path: tuple = ()) -> dict[str, list[str]]:
    """The labels above each leaf of a shown tree, the lowest first."""
    if "children" not in tree:
        return {tree["label"]: list(path)}
    found = {}
    for child in tree["children"]:
        found |= leaves(child, (tree["label"], *path))
    return found


def test_levels_and_tree_have_the_rows_of_each_node() -> None:
    found = describe_hierarchy(countries().column("land"), COUNTRIES, Path())
    assert found["height"] == 3 and found["values"] == 5
    assert found["levels"][1]["shown"][0] == {"label": "West", "rows": 7}
    assert [one["nodes"] for one in found["levels"]] == [5, 3, 2, 1]
    tree = found["tree"]
    assert (tree["label"], tree["rows"]) == ("*", 11)
    assert [(one["label"], one["rows"]) for one in tree["children"]] == [("Europe", 9), ("Asia", 2)]
    short = describe_hierarchy(countries().column("land"), COUNTRIES, Path(), at_most=1)
    assert short["levels"][0]["more"] == 4 and short["tree"]["more"] == 1


def test_nodes_are_merged_renamed_and_moved() -> None:
    column = countries().column("land")
    edits = [
        {"merge": ["West", "East"], "level": 1, "into": "Mainland"},
        {"rename": "Asia", "level": 2, "into": "Orient"},
        {"move": "India", "level": 0, "into": "South"},
    ]
    made = edit_hierarchy(column, COUNTRIES, Path(), edits)
    found = describe_hierarchy(column, made, Path())
    paths = leaves(found["tree"])
    assert "Mainland" in paths["Poland"] and "Mainland" in paths["France"]
    assert "South" in paths["India"] and "South" not in paths["Japan"]
    assert "Orient" in paths["India"] and "Orient" in paths["Japan"]
    assert found["tree"]["rows"] == 11 and found["hierarchy"] == made


@pytest.mark.parametrize(
    "edit",
    [
        {"merge": ["France", "Spain"], "level": 0, "into": "x"},  # values stay
        {"merge": ["Nowhere"], "level": 1, "into": "x"},
        {"rename": "West", "level": 1, "into": "East"},  # that is a merge
        {"rename": "West", "level": 9, "into": "x"},
        {"rename": "West", "level": 1, "into": ""},
        {"drop": "West", "level": 1, "into": "x"},
        {"rename": "West", "level": "1", "into": "x"},
    ],
)
def test_an_edit_that_makes_no_hierarchy_is_refused(edit: dict) -> None:
    with pytest.raises(HierarchyError):
        edit_hierarchy(countries().column("land"), COUNTRIES, Path(), [edit])


def test_a_range_that_no_longer_covers_its_values_loses_its_label() -> None:
    table = opened({"age": list(range(20, 40))})
    spec = {"intervals": [5, 10, "*"]}
    edits = [{"move": ["22", "23"], "level": 0, "into": "twenty-two or -three"}]
    made = edit_hierarchy(table.column("age"), spec, Path(), edits)
    found = describe_hierarchy(table.column("age"), made, Path())
    paths = leaves(found["tree"])
    assert not any(label == "[20, 25)" for path in paths.values() for label in path)
    assert "20, 21 and 1 more" in paths["20"] and "[25, 30)" in paths["27"]
    assert "twenty-two or -three" in paths["22"] and "[20, 30)" in paths["22"]


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["merge", "rename", "move"]), st.integers(0, 2),
                          st.integers(0, 9), st.integers(0, 9)), max_size=4))  # fmt: skip
def test_whatever_is_edited_still_nests_and_loses_no_row(edits: list[tuple]) -> None:
    column = opened({"age": [20 + n * n % 37 for n in range(60)]}).column("age")
    spec: object = {"intervals": [4, 8, 16, "*"]}
    for kind, level, first, second in edits:
        shown = describe_hierarchy(column, spec, Path())
        if level >= len(shown["levels"]):
            continue
        labels = [one["label"] for one in shown["levels"][level]["shown"]]
        chosen = [labels[first % len(labels)], labels[second % len(labels)]]
        asked = chosen[0] if kind == "rename" else list(dict.fromkeys(chosen))
        edit = {kind: asked, "level": level, "into": f"new {first} {second} {level} {kind}"}
        try:
            spec = edit_hierarchy(column, spec, Path(), [edit])
        except HierarchyError:
            continue
        found = describe_hierarchy(column, spec, Path())  # which checks that levels nest
        assert found["tree"]["rows"] == 60
        assert {label for label in leaves(found["tree"]) if label} == set(column.text.to_list())


def test_a_column_has_the_type_that_the_job_declares() -> None:
    column = opened({"zip": ["10012", "10013", "20014"]}).column("zip")
    typed = declared_column(column, "integer", None)
    assert str(typed.type) == "integer"
    assert describe_hierarchy(typed, {"intervals": [100]}, Path())["levels"][1]["nodes"] == 2
    with pytest.raises(HierarchyError):
        declared_column(column, "colour", None)
    with pytest.raises(HierarchyError, match="no leaf") as hidden:
        describe_hierarchy(declared_column(column, None, None), {"tree": {"x": ["1"]}}, Path())
    assert "10012" not in str(hidden.value)
    with pytest.raises(HierarchyError, match="10012"):
        quasi = declared_column(column, None, "quasi-identifier")
        describe_hierarchy(quasi, {"tree": {"x": ["1"]}}, Path())


def test_a_job_file_reads_as_the_job_that_was_written() -> None:
    job = {
        "source": {"path": "a b.csv", "missing": ["NA", "?"]},
        "attributes": {
            "2020": {"role": "quasi-identifier", "hierarchy": {"intervals": [5, "*"]}},
            "yes": {"role": "sensitive", "sensitive_values": ["no", "2020-01-01", "1e5", "null"]},
            "ü: {x}": {"role": "quasi-identifier", "hierarchy": {"tree": {
                f"group {n}": [f"{n}{m}" for m in range(20)] for n in range(12)}}},
        },
        "requirements": [{"k-anonymity": {"k": 5}}],
        "method": {"mondrian": {}},
    }  # fmt: skip
    assert read_mapping(write_mapping(job)) == job
    assert max(map(len, write_mapping(job).splitlines())) < 200


def test_the_files_of_an_opened_job_are_found_from_anywhere(tmp_path: Path) -> None:
    job = {
        "source": {"path": "data/x.csv"},
        "attributes": {"a": {"role": "quasi-identifier", "hierarchy": "h/a.csv"},
                       "b": {"role": "quasi-identifier", "hierarchy": "suppress"},
                       "c": {"role": "quasi-identifier", "hierarchy": {"path": "/h/c.csv"}}},
        "output": {"path": "release"},
    }  # fmt: skip
    found = with_absolute_paths(job, tmp_path)
    assert found["source"]["path"] == str(tmp_path / "data/x.csv")
    assert found["attributes"]["a"]["hierarchy"] == str(tmp_path / "h/a.csv")
    assert found["attributes"]["b"] == job["attributes"]["b"]
    assert found["attributes"]["c"]["hierarchy"]["path"] == "/h/c.csv"
    assert found["output"] == job["output"] and job["source"]["path"] == "data/x.csv"


def test_an_uploaded_hierarchy_belongs_to_the_job(
    server: Served, client: Client, tmp_path: Path
) -> None:
    rng = np.random.default_rng(1)
    towns = ["Ulm", "Bonn", "Kiel", "Jena"]
    lines = ["id,town,illness"]
    lines += [f"{n},{towns[rng.integers(4)]},ill {rng.integers(3)}" for n in range(80)]
    number = client.upload("towns.csv", "\n".join(lines).encode())["table"]
    body = b"Ulm;south;*\nJena;south;*\nBonn;north;*\nKiel;north;*\n"
    place = f"/api/tables/{number}/hierarchy/file?attribute=town&name=towns.csv"
    found = client.ask("POST", place, body=body).json
    assert found["hierarchy"] == {"path": "hierarchies/towns.csv"} or found["hierarchy"] == (
        "hierarchies/towns.csv"
    )
    assert [one["nodes"] for one in found["levels"]] == [4, 2, 1]
    job = {
        "attributes": {
            "id": {"role": "identifier"},
            "town": {"role": "quasi-identifier", "hierarchy": found["hierarchy"]},
            "illness": {"role": "sensitive"},
        },
        "requirements": [{"k-anonymity": {"k": 25}}],
        "method": {"full-domain": {}},
    }
    said = client.post(f"/api/tables/{number}/job", {"job": job})
    assert said["problems"] == [] and said["files"] == ["hierarchies/towns.csv"]
    run = client.post(f"/api/tables/{number}/runs", {"kind": "publish", "job": job})["run"]
    release = client.done(run)["result"]["release"]
    import io
    import zipfile

    for answer in (
        client.ask("GET", f"/api/releases/{release}/download.zip"),
        client.ask("POST", f"/api/tables/{number}/job.zip", {"job": job}),
    ):
        with zipfile.ZipFile(io.BytesIO(answer.body)) as archive:
            assert {"job.yaml", "hierarchies/towns.csv"} <= set(archive.namelist())
            assert archive.read("hierarchies/towns.csv") == body
    again = client.post(f"/api/tables/{number}/job/read", {"yaml": said["yaml"]})
    assert again == {"job": job, "problems": []}
    for _ in range(100):  # an archive is removed once it is sent, which the client need not await
        left = sorted(one.name for one in server.private.iterdir() if one.is_file())
        if left == [".lock"]:
            break
        time.sleep(0.1)
    assert left == [".lock"]


def test_a_table_that_nobody_asks_for_leaves_the_memory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    private = PrivateFolder()
    tables = StudioTables(private)
    table = tables.open_demo()
    before = table.opened
    tables.forget_unused()
    assert table.opened is before
    monkeypatch.setattr("discreet.addons.studio.tables.UNUSED", 0.0)
    tables.forget_unused()
    assert table.opened is not before and table.describe() == table.describe()
    private.close()
    assert list(tmp_path.iterdir()) == []


def test_a_job_is_opened_with_its_table(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    people = "id;age;illness\n" + "".join(f"{n};{20 + n % 9};ill {n // 9 % 4}\n" for n in range(50))
    (tmp_path / "work" / "people.csv").write_text(people)
    (tmp_path / "work" / "job.yaml").write_text(
        "source: {path: people.csv, delimiter: ';'}\n"
        "attributes:\n  id: {role: identifier}\n"
        "  age: {role: quasi-identifier, type: integer}\n  illness: {role: sensitive}\n"
        "requirements: [{k-anonymity: {k: 5}}, {distinct-l-diversity: {l: 3}}]\nmethod: mondrian\n"
    )
    with served(tmp_path, str(tmp_path / "work" / "job.yaml")) as server:
        client = server.sign_in()
        session = client.get("/api/session")
        table = client.get(f"/api/tables/{session['opened']}")
        assert table["rows"] == 50 and table["name"] == "people.csv"
        assert session["job"]["method"] == "mondrian" and "source" not in session["job"]
        said = client.post(f"/api/tables/{table['table']}/job", {"job": session["job"]})
        assert said["problems"] == []
        assert str(tmp_path / "work" / "people.csv") in said["yaml"]
        given = {"kind": "publish", "job": session["job"], "output": str(tmp_path / "out")}
        run = client.post(f"/api/tables/{table['table']}/runs", given)["run"]
        result = client.done(run)["result"]
        assert result["folder"] == str(tmp_path / "out")
        assert client.ask("GET", f"/api/releases/{result['release']}/report").status == 200
    assert discreet.audit(tmp_path / "out", original=tmp_path / "work" / "job.yaml").ok
    assert json.loads((tmp_path / "out.private.json").read_text())["seed"]


def test_a_table_that_cannot_be_opened_ends_the_command(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "discreet", "studio", "--no-browser", "missing.csv"],
        capture_output=True, text=True, env=environment, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 2 and "there is no such file" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_an_untyped_table_keeps_what_a_job_must_know() -> None:
    table = read_untyped(pl.DataFrame({"a": ["1", "2"]}))
    assert isinstance(table, UntypedTable) and OpenedTable(table).source_from(Path()) == {}

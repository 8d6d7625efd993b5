from __future__ import annotations

import os
from pathlib import Path

import pytest
from made_hierarchies import column, paths, written

from discreet.errors import HierarchyError
from discreet.hierarchies.automatic import automatic_hierarchy
from discreet.hierarchies.files import read_hierarchy_file
from discreet.hierarchies.specs import FileHierarchy
from discreet.table.roles import Role, ValueType

DATA = Path(os.environ.get("DISCREET_DATA", Path(__file__).parents[2] / "../shared/data"))


def file(folder: Path, text: str | bytes) -> Path:
    path = folder / "c.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def failure(folder: Path, text: str | bytes, cells: list[str | None]) -> str:
    with pytest.raises(HierarchyError) as caught:
        read_hierarchy_file(column(cells), file(folder, text))
    return str(caught.value)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_delimiter_is_found_and_mark_and_line_ends_do_not_matter(
    tmp_path: Path, delimiter: str, ending: str
) -> None:
    rows = [["a", '"x ""1"""', "*"], ["b", "y=2", "*"], ["", "", "*"]]
    text = "\ufeff" + ending.join(delimiter.join(row) for row in rows) + ending
    hierarchy = read_hierarchy_file(column(["a", "b", None]), file(tmp_path, text))
    assert paths(hierarchy) == [["a", 'x "1"', "*"], ["b", "y=2", "*"], [None, None, "*"]]


def test_semicolons_win_over_commas_inside_labels(tmp_path: Path) -> None:
    text = "0;[0, 2[;[0, 4[;*\n3;[2, 4[;[0, 4[;*\n"
    hierarchy = read_hierarchy_file(column(["0", "3"], ValueType.INTEGER), file(tmp_path, text))
    assert paths(hierarchy)[1] == ["3", "[2, 4[", "[0, 4[", "*"]


def test_leaves_that_the_table_lacks_count(tmp_path: Path) -> None:
    path = file(tmp_path, "a,A,*\nb,A,*\nc,C,*\nd,D,*\n")
    hierarchy = read_hierarchy_file(column(["a", "c"]), path)
    assert hierarchy.leaves == 4
    assert hierarchy.levels[1].labels == ("A", "C")
    assert hierarchy.levels[1].leaves.tolist() == [2, 1]
    assert hierarchy.levels[1].loss.tolist() == [1 / 3, 0.0]
    assert hierarchy.levels[2].leaves.tolist() == [4]


def test_null_needs_no_row_and_is_not_below_a_named_top(tmp_path: Path) -> None:
    hierarchy = read_hierarchy_file(column(["a", "b", None]), file(tmp_path, "a,A,Any\nb,B,Any\n"))
    assert paths(hierarchy)[2] == [None, None, None, "*"]
    assert paths(hierarchy)[0] == ["a", "A", "Any", "*"]
    assert hierarchy.levels[3].leaves.tolist() == [3]


def test_a_row_for_null_is_honoured(tmp_path: Path) -> None:
    hierarchy = read_hierarchy_file(
        column(["a", "b", None]), file(tmp_path, "a,A,*\nb,B,*\n,Unknown,*\n")
    )
    assert paths(hierarchy)[2] == [None, "Unknown", "*"]
    without = read_hierarchy_file(column(["a", "b"]), tmp_path / "c.csv")
    assert without.leaves == 3
    assert without.levels[1].labels == ("A", "B")


def test_numbers_match_by_text_first_and_then_by_value(tmp_path: Path) -> None:
    path = file(tmp_path, "7,seven\n07,bond\n8.0,eight\n")
    values = column(["07", "7", "8"], ValueType.NUMBER)
    assert [path[1] for path in paths(read_hierarchy_file(values, path))] == [
        "bond",
        "seven",
        "eight",
    ]
    with pytest.raises(HierarchyError, match="1 of 1 values has no row: 007"):
        read_hierarchy_file(column(["007"], ValueType.INTEGER), path)
    with pytest.raises(HierarchyError, match="1 of 1 values has no row: 8"):
        read_hierarchy_file(column(["8"]), path)


def test_all_problems_are_named_at_once(tmp_path: Path) -> None:
    text = "a,A,X,*\na,B,X,*\nb,B,Y,*\nc,C\nd,,X,*\n"
    message = failure(tmp_path, text, ["a", "b", "c", "e", "f", None])
    assert message.startswith("Hierarchy of 'c' (c.csv): \n  - ")
    assert "line 1 has 4 cells, line 4 has 2" in message
    assert "a leaf has two rows with different ancestors, lines 1 and 2: a" in message
    assert "'B' at level 1 is under 'X' and under 'Y' at level 2 (lines 2 and 3)" in message
    assert "line 5 has an empty label at level 1" in message
    assert "3 of 5 values have no row: c, e, f" in message


def test_many_missing_values_are_shortened(tmp_path: Path) -> None:
    message = failure(tmp_path, "a,*\n", list("abcdefgh"))
    assert "7 of 8 values have no row: b, c, d, e, f, …. Correct the file" in message


def test_cells_of_a_sensitive_column_stay_unseen(tmp_path: Path) -> None:
    path = file(tmp_path, "flu,lung,X\nflu,cold,X\ncough,lung,Y\n")
    with pytest.raises(HierarchyError) as caught:
        read_hierarchy_file(column(["flu", "plague"], role=Role.SENSITIVE), path)
    message = str(caught.value)
    assert "lines 1 and 2" in message
    assert "1 of 2 values has no row" in message
    assert not any(word in message for word in ("flu", "lung", "cold", "cough", "plague"))


def test_doubled_rows_that_agree_are_one_leaf(tmp_path: Path) -> None:
    path = file(tmp_path, "a,A\na,A\nb,B\n")
    assert read_hierarchy_file(column(["a", "b"]), path).leaves == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("a\nb\n", "line 1 has one cell only"),
        (b"a,A\n\xff,B\n", "line 2 is not UTF-8"),
        ('a,"A\n', "Check its quotes"),
    ],
)
def test_files_that_are_no_hierarchy(tmp_path: Path, text: str | bytes, message: str) -> None:
    assert message in failure(tmp_path, text, ["a"])


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(HierarchyError, match=r"there is no file .*none\.csv"):
        read_hierarchy_file(column(["a"]), tmp_path / "none.csv")


def test_messages_call_a_file_as_the_job_does(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    file(tmp_path / "deep", "a,A\n")
    with pytest.raises(HierarchyError, match=r"Hierarchy of 'c' \(deep/c.csv\): 1 of 2 values"):
        FileHierarchy(path="deep/c.csv").build(column(["a", "b"]), tmp_path)


def test_a_trailing_delimiter_is_no_level(tmp_path: Path) -> None:
    hierarchy = read_hierarchy_file(column(["a", "b"]), file(tmp_path, "a;A;*;\nb;B;*;\n"))
    assert paths(hierarchy) == [["a", "A", "*"], ["b", "B", "*"]]


def test_odd_labels_come_back(tmp_path: Path) -> None:
    values = column(["=1+1", 'a "b"', "c, d", "ä;ö", "line\nend", "tab\t", "日本", None])
    hierarchy = automatic_hierarchy(values)
    written(hierarchy, values, tmp_path / "c.csv")
    assert paths(read_hierarchy_file(values, tmp_path / "c.csv")) == paths(hierarchy)


ADULT = {  # leaves, levels above them
    "age": (100, 4),
    "capital-gain": (123, 3),
    "capital-loss": (99, 3),
    "education-num": (16, 3),
    "education": (16, 3),
    "hours-per-week": (96, 4),
    "marital-status": (7, 2),
    "native-country": (42, 2),
    "occupation": (15, 2),
    "race": (5, 1),
    "relationship": (6, 2),
    "salary-class": (2, 1),
    "sex": (2, 1),
    "workclass": (9, 2),
}


@pytest.mark.data
@pytest.mark.parametrize("name", ADULT)
def test_hierarchies_of_adult(name: str) -> None:
    folder = DATA / "adult"
    if not folder.exists():
        pytest.skip(f"no {folder}: set DISCREET_DATA to the folder of the real data")
    leaves, height = ADULT[name]
    path = folder / "hierarchies" / f"{name}.csv"
    first = path.read_text(encoding="utf-8").splitlines()[0].split(",")[0]
    hierarchy = read_hierarchy_file(column([first]), path)
    assert (hierarchy.leaves, hierarchy.height) == (leaves, height)
    assert hierarchy.levels[-1].labels == ("*",)
    assert hierarchy.levels[-1].leaves.tolist() == [leaves]
    arx = folder / "arx-form" / f"{name}.csv"
    if arx.exists():
        assert paths(read_hierarchy_file(column([first]), arx)) == paths(hierarchy)

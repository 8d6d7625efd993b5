"""Proposed roles against roles that we gave by hand: precision and recall for each role.

    python -m experiments.roles            # the tables of docs/roles.md
    python -m experiments.roles --wrong    # each column whose proposal is wrong
    python -m experiments.roles --public looked    # tables of public repositories, in two parts

Real tables are read from the folder DISCREET_DATA where it is there; others are made up by
``role_tables``. Those of ``role_labels.txt`` are read from the folder DISCREET_TABLES, which has a
clone of each repository under the name owner+name. They were labelled before any rule was run on
them: a line of labels has a letter for each role that is right, and ``~`` for a blank of a name.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import os
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import polars as pl
from experiments.role_tables import HELD_OUT, Drawing, LabelledTable, made_tables

import discreet as dc

LETTER = {
    "identifier": "i", "quasi-identifier": "q", "sensitive": "s", "insensitive": "n", "drop": "d",
}  # fmt: skip
NAME = {letter: name for name, letter in LETTER.items()}
LETTER |= {"weight": "n", "household": "d"}  # published as it is; never published


class Judged(NamedTuple):
    """One column: the proposed role, those that are right, and the confidence."""

    table: str
    column: str
    proposed: str
    right: str
    confidence: str
    reason: str

    @property
    def ok(self) -> bool:
        return self.proposed in self.right

    @property
    def truth(self) -> str:
        """The role that it counts as: the proposed one, where that is right."""
        return self.proposed if self.ok else self.right[0]


def real_tables() -> Iterator[tuple[str, Path, dict[str, str]]]:
    """The real tables, with roles by hand."""
    folder = Path(os.environ.get("DISCREET_DATA", "../shared/data"))
    adult = dict.fromkeys(
        [
            "age", "workclass", "education", "marital-status", "occupation", "relationship", "race",
            "sex", "hours-per-week", "native-country",
        ],
        "q",
    )  # fmt: skip
    adult |= dict.fromkeys(["capital-gain", "capital-loss", "salary-class"], "s")
    adult |= {"fnlwgt": "n", "education-num": "dq"}
    yield "Adult", folder / "adult/adult.csv", adult
    opinions = folder / "opinions/nonvoters.csv"
    if opinions.is_file():
        header = opinions.read_text(encoding="utf-8").split("\n", 1)[0].split(",")
        answers = dict.fromkeys((name for name in header if name.startswith("Q")), "s")
        known = dict.fromkeys(["ppage", "educ", "race", "gender"], "q")
        rest = {"RespId": "i", "weight": "n", "Q1": "n", "income_cat": "s", "voter_category": "s"}
        yield "nonvoters", opinions, answers | known | rest
    yield "symptoms", folder / "symptoms/columbia.csv", {
        "disease": "s", "count": "sd", "symptom": "s",
    }  # fmt: skip


class PublicTable(NamedTuple):
    """A table of a public repository, with roles by hand."""

    part: str  # looked: seen while rules were improved; held, drawn: measured alone
    repository: str
    commit: str
    path: str
    sha256: str
    roles: dict[str, str]  # by column; a letter for each role that is right

    @property
    def name(self) -> str:
        return self.path.removeprefix("csv/").removesuffix(".csv")

    def read(self, folder: Path) -> pl.DataFrame:
        """The labelled columns of the committed file, read from a clone of its repository."""
        clone = folder / self.repository.replace("/", "+")
        command = ["git", "-C", str(clone), "show", f"{self.commit}:{self.path}"]
        cells = subprocess.run(command, capture_output=True, check=True).stdout
        if hashlib.sha256(cells).hexdigest() != self.sha256:
            raise ValueError(f"{self.name}: other content than that which was labelled")
        if not self.path.endswith(".csv"):  # cells between blanks, below a header of other names
            lines = [line.split() for line in cells.decode().splitlines()[1:]]
            return pl.DataFrame(lines, schema=list(self.roles), orient="row")
        frame = pl.read_csv(io.BytesIO(cells), infer_schema_length=0, encoding="utf8-lossy")
        return frame.select(list(self.roles))


def public_tables() -> Iterator[PublicTable]:
    """The labelled tables of public repositories (role_labels.txt)."""
    lines = Path(__file__).with_name("role_labels.txt").read_text(encoding="utf-8").splitlines()
    for head, labels in zip(lines[::2], lines[1::2], strict=True):
        pairs = (label.rsplit(":", 1) for label in labels.split())
        yield PublicTable(*head.split(), {name.replace("~", " "): role for name, role in pairs})


def judge(name: str, data: object, roles: dict[str, str]) -> list[Judged]:
    """Propose roles for a table and compare."""
    proposed = dc.propose(data).roles
    return [
        Judged(name, column, LETTER[str(one.role)], roles[column], one.confidence, one.reason)
        for column, one in proposed.items()
    ]


def judge_file(table: PublicTable, folder: Path) -> list[Judged]:
    """Judge a public table as ``init`` does, from a file."""
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "table.csv"
        table.read(folder).write_csv(file)
        return judge(table.name, file, table.roles)


def judge_made(table: LabelledTable) -> list[Judged]:
    """Judge a made-up table."""
    return judge(table.name, pl.DataFrame(table.cells, strict=False), table.roles)


def scores(columns: Iterable[Judged]) -> dict[str, tuple[float | None, float | None, int]]:
    """Precision, recall and the number of columns, by letter of the role."""
    proposed, true, right = Counter[str](), Counter[str](), Counter[str]()
    for one in columns:
        proposed[one.proposed] += 1
        true[one.truth] += 1
        right[one.proposed] += one.ok
    return {
        letter: (
            right[letter] / proposed[letter] if proposed[letter] else None,
            right[letter] / true[letter] if true[letter] else None,
            true[letter],
        )
        for letter in NAME
    }


def _share(figure: float | None) -> str:
    return "–" if figure is None else f"{figure:.0%}"


def _rows(groups: dict[str, list[Judged]]) -> Iterator[str]:
    yield "| table | columns | right | " + " | ".join(NAME.values()) + " |"
    yield "| --- | ---: | ---: |" + " :---: |" * len(NAME)
    for name, columns in groups.items():
        cells = [
            f"{_share(precision)} / {_share(recall)}"
            for precision, recall, _ in scores(columns).values()
        ]
        right = sum(one.ok for one in columns) / len(columns)
        yield f"| {name} | {len(columns)} | {right:.0%} | " + " | ".join(cells) + " |"


def _groups(public: str | None, rows: int) -> dict[str, list[Judged]]:
    """The judged columns of each table, and of several together."""
    groups: dict[str, list[Judged]] = {}
    if public is not None:
        folder = Path(os.environ.get("DISCREET_TABLES", "../tables"))
        for table in public_tables():
            if table.part == public:
                groups[table.name] = judge_file(table, folder)
    else:
        for name, path, roles in real_tables():
            if path.is_file():
                groups[name] = judge(name, path, roles)
        held = {make(Drawing(30, 1)).name for make in HELD_OUT}
        for made in made_tables(rows):
            groups[made.name] = judge_made(made)
        groups["held out"] = [one for name in held for one in groups[name]]
    every = dict.fromkeys(one for columns in groups.values() for one in columns)
    return groups | {"all": list(every)}


def main() -> None:
    """Print precision and recall."""
    parser = argparse.ArgumentParser(description="Proposed roles against roles by hand.")
    parser.add_argument("--rows", type=int, default=2000, help="of each made-up table")
    parser.add_argument("--wrong", action="store_true", help="list the wrong proposals")
    parser.add_argument(
        "--public", choices=("looked", "held", "drawn"), help="tables of repositories"
    )
    given = parser.parse_args()
    start = time.perf_counter()
    groups = _groups(given.public, given.rows)
    print("\n".join(_rows(groups)))
    print()
    every = groups["all"]
    for level in ("high", "medium", "low"):
        some = [one for one in every if one.confidence == level]
        if some:
            print(f"{level}: {sum(one.ok for one in some) / len(some):.0%} of {len(some)} right")
    missed = Counter(one.proposed for one in every if not one.ok and one.right[0] == "s")
    print("sensitive columns are missed as", {NAME[key]: count for key, count in missed.items()})
    print(f"{time.perf_counter() - start:.1f} s")
    if given.wrong:
        for one in every:
            if not one.ok:
                right = " or ".join(NAME[letter] for letter in one.right)
                print(
                    f"{one.table}: {one.column}: {NAME[one.proposed]} ({one.reason}), not {right}"
                )


if __name__ == "__main__":
    main()

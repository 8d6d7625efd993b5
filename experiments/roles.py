"""Proposed roles against roles that we gave by hand: precision and recall for each role.

    python -m experiments.roles            # the tables of docs/roles.md
    python -m experiments.roles --wrong    # each column whose proposal is wrong

Real tables are read from the folder DISCREET_DATA where it is there; the others are made up by
``role_tables``.
"""

from __future__ import annotations

import argparse
import io
import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import polars as pl
from benchmarks.first_jobs import R_TABLES, package_table
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


# Tables of R packages, labelled before any proposal for them was looked at; the rules were not
# adjusted to them. A letter for each role that is right.
UNSEEN: dict[str, str] = {
    "MASS/birthwt": "low:s age:q lwt:qs race:q smoke:s ptl:s ht:s ui:s ftv:s bwt:s",
    "MASS/survey": "Sex:q Wr.Hnd:qs NW.Hnd:qs W.Hnd:q Fold:qd Pulse:s Clap:qd Exer:qs Smoke:s "
    "Height:q M.I:d Age:q",
    "survival/pbc": "id:i time:sd status:s trt:s age:q sex:q ascites:s hepato:s spiders:s "
    "edema:s bili:s chol:s albumin:s copper:s alk.phos:s ast:s trig:s platelet:s protime:s stage:s",
    "survival/colon": "id:i study:dn rx:s sex:q age:q obstruct:s "
    "perfor:s "  # codespell:ignore perfor
    "adhere:s nodes:s status:s differ:s extent:s surg:s node4:sd time:sd etype:sd",
    "plm/Males": "nr:i year:qd school:q exper:q union:s ethn:q married:q health:s wage:s "
    "industry:q occupation:q residence:q",
    "Ecdat/RetSchool": "wage76:s grade76:q exp76:qd black:q south76:q smsa76:q region:q smsa66:qd "
    "momdad14:q sinmom14:q nodaded:qd nomomed:qd daded:q momed:q famed:qd age76:q col4:qd",
    "Ecdat/DoctorContacts": "mdu:s lc:sd idp:sd lpi:sd fmde:sd physlim:s ndisease:s health:s "
    "linc:s lfam:q educdec:q age:q sex:q child:q black:q",
    "Ecdat/HI": "whrswk:qs hhi:qsd whi:qsd hhi2:qsd education:q race:q hispanic:q experience:q "
    "kidslt6:q kids618:q husby:s region:q wght:n",
    "car/Mroz": "work:qs hoursw:qs child6:q child618:q agew:q educw:q hearnw:s wagew:s hoursh:qs "
    "ageh:q educh:q wageh:s income:s educwm:q educwf:q unemprate:qd city:q experience:q",
    "KMsurv/lung": "inst:qd time:sd status:s age:q sex:q ph.ecog:s ph.karno:s pat.karno:s "
    "meal.cal:s wt.loss:s",
}


def unseen_tables() -> Iterator[tuple[str, pl.DataFrame, dict[str, str]]]:
    """The tables of the package pydataset with roles by hand, where it is installed."""
    for name, labels in UNSEEN.items():
        try:
            cells = package_table("pydataset", f"{R_TABLES}/{name}.csv")
        except (FileNotFoundError, KeyError):
            continue
        frame = pl.read_csv(io.BytesIO(cells), infer_schema_length=0, null_values="NA")
        roles = dict(one.rsplit(":", 1) for one in labels.split())
        yield name, frame.select(list(roles)), roles


def judge(name: str, data: object, roles: dict[str, str]) -> list[Judged]:
    """Propose roles for a table and compare."""
    proposed = dc.propose(data).roles
    return [
        Judged(name, column, LETTER[str(one.role)], roles[column], one.confidence, one.reason)
        for column, one in proposed.items()
    ]


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


def main() -> None:
    """Print precision and recall."""
    parser = argparse.ArgumentParser(description="Proposed roles against roles by hand.")
    parser.add_argument("--rows", type=int, default=2000, help="of each made-up table")
    parser.add_argument("--wrong", action="store_true", help="list the wrong proposals")
    given = parser.parse_args()
    start = time.perf_counter()
    groups: dict[str, list[Judged]] = {}
    for name, path, roles in real_tables():
        if path.is_file():
            groups[name] = judge(name, path, roles)
    held = {make(Drawing(30, 1)).name for make in HELD_OUT}
    for table in made_tables(given.rows):
        groups[table.name] = judge_made(table)
    unseen = [one for name, *rest in unseen_tables() for one in judge(name, *rest)]
    every = [one for columns in groups.values() for one in columns]
    apart = [one for one in every if one.table in held]
    groups |= {"held out": apart, "all": every}
    if unseen:
        groups |= {"tables of R packages": unseen}
    print("\n".join(_rows(groups)))
    print()
    for level in ("high", "medium", "low"):
        some = [one for one in every if one.confidence == level]
        if some:
            print(f"{level}: {sum(one.ok for one in some) / len(some):.0%} of {len(some)} right")
    print(f"{time.perf_counter() - start:.1f} s")
    if given.wrong:
        for one in (*every, *unseen):
            if not one.ok:
                right = " or ".join(NAME[letter] for letter in one.right)
                print(
                    f"{one.table}: {one.column}: {NAME[one.proposed]} ({one.reason}), not {right}"
                )


if __name__ == "__main__":
    main()

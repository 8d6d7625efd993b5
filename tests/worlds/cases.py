"""A tiny table and a job for it, from a number alone; nothing of discreet is imported."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

Row = dict[str, str]

ROWS, ONE, COLLAPSE, KEEP = "rows", "one", "collapse", "keep"
ALL, SINGLE = (ROWS, ONE, COLLAPSE, KEEP), (ROWS, ONE, COLLAPSE)

# by name: the job's method, on which basis it can publish, and the most sensitive attributes
METHODS: dict[str, tuple[Any, tuple[str, ...], int]] = {
    "mondrian": ({"mondrian": {}}, ALL, 2),
    "full-domain": ({"full-domain": {}}, ALL, 2),
    "local-recoding": ({"local-recoding": {}}, ALL, 2),
    "msa-diversity": ({"msa-diversity": {"suppression": 0}}, ALL, 2),
    "top-down": ({"top-down": {}}, SINGLE, 2),
    "msa-buckets": ({"msa-diversity": {"publish": "buckets", "suppression": 0}}, SINGLE, 2),
    "anatomy": ({"anatomy": {"l": 2}}, ALL, 1),
    "decomposition": ({"decomposition": {}}, SINGLE, 2),
    "codip": ({"codip": {"plan": "given", "tables": [["s"], ["t"]]}}, ALL, 2),
    "quasi-sensitive": ({"quasi-sensitive": {}}, SINGLE, 1),
    "m-invariance-cells": ({"m-invariance": {"m": 2, "publish": "generalized"}}, (ONE,), 1),
    "series": ({}, (ONE,), 1),
}
SERIES_METHODS: list[tuple[Any, list[Any]]] = [
    ({"m-invariance": {"m": 2}}, []),
    ({"m-invariance": {"m": 2}}, []),
    ({"rho-different": {"rho": 0.5, "unstated": "stay", "domain": ["a", "b", "c", "d"]}}, []),
    ({"msa-diversity": {"publish": "buckets", "suppression": 0}}, [{"p-diversity": {"l": 1.5}}]),
    ({"anatomy": {"l": 2}}, []),
    ({"mondrian": {}}, [{"p-diversity": {"l": 1.5}}]),
]
TERMS = ("d", "e", "f")
LABELS = {"flu": {"d", "e"}, "cold": {"e", "f"}, "gout": {"d", "f"}, "ague": {"d", "e", "f"}}


@dataclass
class Case:
    """A table, or several for a series, and the jobs for it."""

    number: int
    name: str
    basis: str
    rows: list[Row]
    jobs: list[dict[str, Any]]
    names: list[str]  # of the sensitive attributes
    tables: list[list[Row]] = field(default_factory=list)  # of a series


def name_of(number: int) -> str:
    return list(METHODS)[number % len(METHODS)]


def make_case(number: int) -> Case:
    draw = random.Random(f"worlds {number}")
    name = name_of(number)
    method, bases, most = METHODS[name]
    if name == "series":
        return _series(draw, number)
    basis = draw.choice(bases)
    names = ["s", "t"][: 2 if name == "codip" else draw.randint(1, most)]
    rows = _rows(draw, basis, names)
    attributes: dict[str, Any] = {
        "id": {"role": "identifier"},
        "age": {"role": "quasi-identifier", "type": "integer",
                "hierarchy": {"intervals": [10, 40, "*"]}},
        "sex": {"role": "quasi-identifier", "hierarchy": "suppress"},
        **{one: {"role": "sensitive"} for one in names},
    }  # fmt: skip
    if name in ("mondrian", "local-recoding", "msa-diversity") and draw.random() < 0.5:
        del attributes["age"]["hierarchy"], attributes["sex"]["hierarchy"]  # ranges and sets
    if name == "quasi-sensitive":
        attributes["terms"] = {"role": "quasi-sensitive", "multi_valued": "|"}
        for row in rows:
            row["terms"] = "|".join(sorted(draw.sample(TERMS, draw.choice([1, 1, 2]))))
    job: dict[str, Any] = {
        "attributes": attributes,
        "method": method,
        "requirements": _requirements(draw, name, basis, names),
        "measure": {"figures": []},
    }
    if basis == ROWS:
        attributes["id"] = {"role": "drop"}
        job["unit"] = "rows"
    else:
        job["person"] = {"column": "id"}
    if name in ("full-domain", "msa-diversity", "msa-buckets") and draw.random() < 0.3:
        ((key, settings),) = method.items()
        job["method"] = {key: {**settings, "suppression": 0.4}}
    if name == "decomposition" and len(names) == 2 and draw.random() < 0.7:
        width = draw.choice([2, 3])
        for row in rows:  # each value of s has several of t, as the guarantee needs it
            person = int(row["id"][1:])
            row["s"], row["t"] = "abc"[person % width], "wxyz"[person // width % 4]
        conditional = {"l": 2, "attacker": draw.choice(["pair", "row"])}
        job["method"] = {name: {"primary": "s", "conditional_l": conditional}}
    if basis == COLLAPSE:
        for one in [*names, *(["terms"] if name == "quasi-sensitive" else [])]:
            attributes[one]["collapse"] = "most-frequent"
        job["person"]["rows"] = "collapse"
    if basis == KEEP:
        job["person"] |= {"rows": "keep", **_mode(draw, name)}
    return Case(number, name, basis, rows, [job], names)


def _mode(draw: random.Random, name: str) -> dict[str, str]:
    if name == "anatomy":
        return {}
    if name in ("full-domain", "codip"):
        return draw.choice([{}, {"scope": "rows"}])
    return draw.choice([{}, {}, {"scope": "rows"}, {"link": "pseudonym"}])


def _rows(draw: random.Random, basis: str, names: list[str]) -> list[Row]:
    count = draw.randint(3, 8)
    several = basis in (COLLAPSE, KEEP)
    people = draw.randint(2, max(count - 1, 2)) if several else count
    even = draw.random() < 0.3
    cells = [
        {"age": str(draw.choice([20, 21, 25, 33, 38, 52])), "sex": draw.choice("fm")}
        for _ in range(people)
    ]
    found = []
    for row in range(count):
        person = row if row < people else draw.randrange(people)
        if even and several:
            person = row % people
        values = {one: draw.choice("abcd"[: draw.choice([2, 3, 4])]) for one in names}
        found.append({"id": f"p{person}", **cells[person], **values})
    return found


def _requirements(draw: random.Random, name: str, basis: str, names: list[str]) -> list[Any]:
    ell = draw.choice([1.2, 1.5, 2])
    asked: list[Any] = [
        {"p-diversity": {"l": ell}},
        {"m-diversity": {"l": ell}},
        {"alpha-k-anonymity": {"alpha": draw.choice([0.5, 0.6, 0.8]), "k": 2}},
        {"entropy-l-diversity": {"l": draw.choice([1.3, 1.8])}},
        {"recursive-cl-diversity": {"c": draw.choice([1.5, 3]), "l": 2}},
        {"t-closeness": {"t": draw.choice([0.2, 0.4])}},
        {"beta-likeness": {"beta": draw.choice([0.5, 1])}},
        {"delta-disclosure": {"delta": 1.5}},
        {"distinct-l-diversity": {"l": 2}},
    ]
    if len(names) > 1:
        asked.append({"multi-attribute-l-diversity": {"inner": {"p-diversity": {"l": ell}}}})
    size = {"k-anonymity": {"k": draw.choice([2, 2, 3])}}
    match name:
        case "anatomy" | "decomposition" | "m-invariance-cells":
            return []
        case "msa-diversity" | "msa-buckets":
            return [draw.choice(asked[:2]), size]
        case "quasi-sensitive":
            weighed = {"weights": "equal"}
            return [size, draw.choice([
                {"qs-cl-diversity": {"c": draw.choice([1, 2, 3]), "l": 2, **weighed}},
                {"qs-t-closeness": {"t": draw.choice([0.25, 0.4]), **weighed}},
            ])]  # fmt: skip
    return [size, draw.choice(asked)]


def _series(draw: random.Random, number: int) -> Case:
    """People who come, go and come back, with values that stay; by one method, or by several."""
    people = draw.randint(3, 7)
    value = [draw.choice("abcd") for _ in range(people)]
    tables = []
    for _ in range(draw.randint(2, 3)):
        here = [one for one in range(people) if draw.random() < 0.75] or [0]
        tables.append([{"id": f"p{n}", "age": str(20 + n), "s": value[n]} for n in here])
    chosen = [draw.choice(SERIES_METHODS)] * len(tables)
    if draw.random() < 0.5:
        chosen = [draw.choice(SERIES_METHODS) for _ in tables]
    attributes = {
        "id": {"role": "identifier"},
        "age": {"role": "quasi-identifier", "type": "integer"},
        "s": {"role": "sensitive"},
    }
    jobs = [
        {"attributes": attributes, "method": method, "requirements": asked,
         "measure": {"figures": []}}
        for method, asked in chosen
    ]  # fmt: skip
    return Case(number, "series", ONE, [], jobs, ["s"], tables)

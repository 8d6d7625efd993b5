"""A random table and a valid job for it, from a number alone; nothing of discreet is imported.

Cells are text as a CSV file has them; an empty cell is a missing value.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

Cells = list[str]
Entry = dict[str, Any]  # of a job file

METHODS = (
    "full-domain", "mondrian", "local-recoding", "msa-diversity", "decomposition", "anatomy",
    "codip", "quasi-sensitive", "m-invariance", "rho-different", "li-ye", "gal", "mmdcf",
    "top-down",
)  # fmt: skip
SERIES = ("m-invariance", "rho-different")
IDENTIFIER = "name"
SEPARATOR = "|"
TERMS = ("husten", "fièvre", 'a, "b"', "d", "e", "unknown")
LABELS = ("flu", "cold", "gout", "ünknown")
MINIMIZE = ("loss", "discernibility", "entropy", "class-size", "height")
ODD_NAMES = ("Ort & Zeit", "größe", "a=b", "group", "count", "value", "attribute", "0", "*", "s 1")


@dataclass
class Case:
    """A table, a job for it, and how both are handed over."""

    number: int
    method: str
    parameters: Entry
    attributes: dict[str, Entry]
    requirements: list[Entry]
    tables: list[dict[str, Cells]]  # several for a series
    knowledge: dict[str, frozenset[str]] = field(default_factory=dict)  # terms by label
    weights: dict[str, int] | None = None  # of labels, where the knowledge table states a prior
    correlation: dict[tuple[str, str], float] | None = None
    source: str = "csv"
    format: str = "csv"
    report: bool = False

    @property
    def table(self) -> dict[str, Cells]:
        return self.tables[-1]

    def with_role(self, role: str) -> list[str]:
        return [name for name, entry in self.attributes.items() if entry["role"] == role]

    def job(self) -> Entry:
        """The job as its YAML would be, without places of files."""
        return {
            "attributes": self.attributes,
            "requirements": self.requirements,
            "method": {self.method: self.parameters},
        }


def method_of(number: int) -> str:
    return METHODS[number % len(METHODS)]


def make_case(number: int) -> Case:
    draw = random.Random(f"discreet {number}")
    method = method_of(number)
    case = series(draw, number, method) if method in SERIES else single(draw, number, method)
    case.source = draw.choice(["csv"] * 6 + ["polars", "pandas", "arrow", "parquet"])
    case.format = draw.choice(["csv"] * 5 + ["parquet"])
    case.report = draw.random() < 0.05
    return case


# ---------------------------------------------------------------------------------------- columns


def picked(
    draw: random.Random, values: list[str], rows: int, nulls: bool = True, even: bool = False
) -> Cells:
    """Values by one of several distributions, some of them missing."""
    shape = draw.choice(["even", "skewed", "major", "one", "blocks", "cycle"])
    if even:
        shape = draw.choice(["even", "blocks", "cycle"])
    if shape == "skewed":
        weights = [1 / (rank + 1) ** 2 for rank in range(len(values))]
        cells = draw.choices(values, weights, k=rows)
    elif shape == "major":
        cells = [values[0] if draw.random() < 0.6 else draw.choice(values) for _ in range(rows)]
    elif shape == "one" and draw.random() < 0.3:
        cells = [values[0]] * rows
    elif shape == "blocks":
        cells = sorted(draw.choice(values) for _ in range(rows))
    elif shape == "cycle":
        cells = [values[row % len(values)] for row in range(rows)]
    else:
        cells = [draw.choice(values) for _ in range(rows)]
    share = draw.choice([0, 0, 0, 0.1, 0.5, 1]) if nulls else 0
    if share == 1 and draw.random() < 0.8:
        share = 0.2
    return ["" if draw.random() < share else cell for cell in cells]


def integers(draw: random.Random, rows: int) -> tuple[Cells, Entry]:
    low, span = draw.choice([(0, 5), (-3, 6), (18, 70), (0, 1000), (-(10**6), 2 * 10**6)])
    values = [str(low + draw.randrange(span)) for _ in range(draw.choice([1, 3, 10, 40]))]
    hierarchy = draw.choice([None, None, "suppress", "automatic", {"intervals": [5, 10, "*"]}])
    return picked(draw, values, rows), _entry("integer", hierarchy)


def odd_numbers(draw: random.Random, rows: int) -> tuple[Cells, Entry]:
    """One number in several spellings."""
    values = ["7", "07", "7.0", "007", "8", "-0", "0", "0.0", "1e1", "10", "2.50", "2.5", "-3"]
    values = draw.sample(values, draw.choice([2, 5, 13]))
    hierarchy = draw.choice([None, "suppress", {"intervals": [2, 10, "*"]}])
    return picked(draw, values, rows), _entry("number", hierarchy)


def codes(draw: random.Random, rows: int) -> tuple[Cells, Entry]:
    values = [f"{draw.randrange(10**4):05d}" for _ in range(draw.choice([2, 6, 20]))]
    values += draw.choice([[], ["1", "123456789"]])
    hierarchy = draw.choice([None, "suppress", {"mask": draw.choice(["left", "right"])}])
    return picked(draw, values, rows), _entry(None, hierarchy)


def days(draw: random.Random, rows: int) -> tuple[Cells, Entry]:
    span = draw.choice([3, 40, 4000])
    values = [
        (date(1999, 12, 28) + timedelta(draw.randrange(span))).isoformat()
        for _ in range(draw.choice([2, 8, 30]))
    ]
    hierarchy = draw.choice([None, None, "suppress", {"dates": ["month", "year", "decade", "*"]}])
    return picked(draw, values, rows), _entry("date", hierarchy)


def words(draw: random.Random, rows: int) -> tuple[Cells, Entry]:
    values = draw.choice(
        [
            ["a", "b"],
            ["France", "Spain", "Perú", "Chile", "日本"],
            ["é", "e\u0301", "E", "ß", "ss", " x", "x"],
            ['p, "q"', "r;s", "t\tu", "it's", "=1+1"],
            [f"a rather long value that fills more than twelve bytes {n}" for n in range(9)],
        ]
    )
    hierarchy: Any = draw.choice([None, None, "suppress", "automatic"])
    if len(values) == 5 and values[0] == "France" and draw.random() < 0.6:
        tree = {"Europe": ["France", "Spain"], "America": ["Perú", "Chile"], "Asia": ["日本"]}
        hierarchy = {"tree": draw.choice([tree, {"World": tree}])}
    elif values == ["a", "b"] and draw.random() < 0.3:
        hierarchy = {"groups": [2], "order": ["b", "a"]}
    return picked(draw, values, rows), _entry(None, hierarchy)


def marked(draw: random.Random, rows: int) -> tuple[Cells, Entry]:
    """Values that look like what a release makes of others."""
    values = ["*", "[1, 2]", "{a, b}", "plain", "\\*"]
    return picked(draw, values, rows), {**_entry(None, None), "escape": draw.random() < 0.8}


def _entry(value_type: str | None, hierarchy: Any) -> Entry:
    entry: Entry = {"role": "quasi-identifier"}
    if value_type is not None:
        entry["type"] = value_type
    if hierarchy is not None:
        entry["hierarchy"] = hierarchy
    return entry


Maker = Callable[[random.Random, int], tuple[Cells, Entry]]
QUASI: list[Maker] = [integers] * 3 + [odd_numbers, codes, codes, days, words, words]
DISEASES = ["flu", "hiv", "gout", "ulcer", "ünwohl", 'p, "q"', "a rather long diagnosis 1", "=x"]


def sensitive_column(draw: random.Random, rows: int, sets: bool) -> tuple[Cells, Entry]:
    entry: Entry = {"role": "sensitive"}
    even = draw.random() < 0.7  # most jobs are to end in a release
    kind = draw.choice(["words", "words", "few", "integer", "number", "sets" if sets else "few"])
    if kind == "integer":
        entry |= {"type": "integer"}
        if draw.random() < 0.3:
            entry |= {"distance": "equal"}
        values = [str(n) for n in draw.sample(range(-2, 40), draw.choice([2, 4, 12]))]
        return picked(draw, values, rows, draw.random() < 0.2, even), entry
    if kind == "number":
        values = draw.sample(["1", "1.0", "2", "02", "2.5", "2.50", "3", "40"], 6)
        return picked(draw, values, rows, False, even), {**entry, "type": "number"}
    if kind == "sets":
        entry["multi_valued"] = SEPARATOR
        if draw.random() < 0.3:
            entry["min_support"] = 2
        members = ["f", "g", "hh", "ü"]
        cells = [
            SEPARATOR.join(draw.sample(members, draw.choice([0, 1, 1, 2]))) for _ in range(rows)
        ]
        cells[0] = cells[0] or "f"  # an attribute of empty sets alone is refused
        return cells, entry
    values = DISEASES[: draw.choice([2, 3])] if kind == "few" else list(DISEASES)
    draw.shuffle(values)
    return picked(draw, values, rows, draw.random() < 0.2, even), entry


# ----------------------------------------------------------------------------------- requirements


def requirement(draw: random.Random, names: list[str]) -> Entry:
    """A requirement on all sensitive attributes, or on some."""
    kind = draw.choice(
        ["k-anonymity", "k-anonymity", "distinct-l-diversity", "entropy-l-diversity",
         "recursive-cl-diversity", "pd-recursive-cl-diversity", "npd-recursive-cl-diversity",
         "p-diversity", "m-diversity", "multi-attribute-l-diversity", "t-closeness",
         "alpha-k-anonymity", "beta-likeness", "delta-disclosure", "sa-diversity"]
    )  # fmt: skip
    ell = draw.choice([2, 2, 2, 3])
    c = draw.choice([0.5, 1, 2, 3, 10])
    asked: Entry = {
        "k-anonymity": {"k": draw.randint(2, 6)},
        "distinct-l-diversity": {"l": ell},
        "entropy-l-diversity": {"l": draw.choice([1.5, 2, 2.7])},
        "recursive-cl-diversity": {"c": c, "l": ell},
        "pd-recursive-cl-diversity": {"c": c, "l": ell},
        "npd-recursive-cl-diversity": {"c1": c, "c2": 0.05, "l": ell},
        "p-diversity": {"l": draw.choice([1.2, 1.5, 2])},
        "m-diversity": {"l": draw.choice([1.5, 2])},
        "multi-attribute-l-diversity": draw.choice(
            [{"l": 2}, {"inner": {"p-diversity": {"l": 2}}}]
        ),
        "t-closeness": {"t": draw.choice([0.1, 0.25, 0.4, 0.6])},
        "alpha-k-anonymity": {"alpha": draw.choice([0.5, 0.7, 0.9]), "k": draw.randint(1, 4)},
        "beta-likeness": {"beta": draw.choice([0.5, 1, 3]), "enhanced": draw.random() < 0.3},
        "delta-disclosure": {"delta": draw.choice([1, 2])},
        "sa-diversity": {"l": dict.fromkeys(names, 2)},
    }[kind]  # fmt: skip
    if kind not in ("k-anonymity", "sa-diversity") and draw.random() < 0.5:
        asked = {**asked, "attribute": draw.choice(names)}
    return {kind: asked}


def class_requirements(draw: random.Random, names: list[str]) -> list[Entry]:
    return [requirement(draw, names) for _ in range(draw.choice([1, 1, 1, 2]))]


# ---------------------------------------------------------------------------------- single tables


def single(draw: random.Random, number: int, method: str) -> Case:
    least, most = draw.choice([(1, 3), (4, 8), (4, 12), (8, 40), (8, 40), (8, 40), (40, 120)])
    rows = draw.randint(least, most)
    attributes: dict[str, Entry] = {}
    table: dict[str, Cells] = {}

    def add(name: str, cells: Cells, entry: Entry) -> None:
        if name in table:
            name = f"{name} {len(table)}"
        table[name], attributes[name] = cells, entry

    if draw.random() < 0.8:
        add(IDENTIFIER, [f"Person-{number}-{row}" for row in range(rows)], {"role": "identifier"})
    wide = draw.random() < 0.05
    columns = draw.choice([8, 12]) if wide else draw.choice([1, 2, 2, 3, 3, 4])
    if method in ("full-domain", "codip"):  # an exact search in a lattice of all their levels
        columns = min(columns, 6)
    for place in range(columns):
        make = marked if draw.random() < 0.03 else draw.choice(QUASI)
        cells, entry = make(draw, rows)
        name = draw.choice(ODD_NAMES) if draw.random() < 0.02 else f"q{place}"
        add(name, cells, entry)
    alone = method == "anatomy"
    for place in range(1 if alone else draw.choice([1, 1, 2, 2, 3, 4])):
        cells, entry = sensitive_column(draw, rows, sets=not alone)
        others = [n for n, e in attributes.items() if e["role"] == "sensitive"]
        if others and "multi_valued" not in entry and draw.random() < 0.2:  # follows from another
            of_value = {value: draw.choice(cells) for value in sorted(set(table[others[0]]))}
            cells = [of_value[value] for value in table[others[0]]]
        add(f"s{place}", cells, entry)
    if draw.random() < 0.4:
        add("note", [f"note {row % 3}" for row in range(rows)], {"role": "insensitive"})
    if draw.random() < 0.2:
        add("left", [f"Secret-{number}-{row}" for row in range(rows)], {"role": "drop"})
    if draw.random() < 0.1:  # people who are alike
        copies = [draw.randrange(rows) for _ in range(rows)]
        for name, cells in table.items():
            if attributes[name]["role"] not in ("identifier", "drop"):
                table[name] = [cells[copy] for copy in copies]
    names = [name for name, entry in attributes.items() if entry["role"] == "sensitive"]
    case = Case(number, method, {}, attributes, [], [table])
    PARAMETERS[method](draw, case, names)
    return case


def _budget(draw: random.Random) -> float:
    return draw.choice([0, 0.05, 0.2, 0.5, 1])


def _full_domain(draw: random.Random, case: Case, names: list[str]) -> None:
    case.parameters = {"suppression": _budget(draw), "minimize": draw.choice(MINIMIZE)}
    case.requirements = class_requirements(draw, names)


def _mondrian(draw: random.Random, case: Case, names: list[str]) -> None:
    case.parameters = {
        "cuts": draw.choice(["strict", "relaxed"]), "cells": draw.choice(["free", "levels"])
    }  # fmt: skip
    case.requirements = class_requirements(draw, names)


def _local_recoding(draw: random.Random, case: Case, names: list[str]) -> None:
    case.parameters = draw.choice(
        [{}, {"effort": "good"}, {"ranges": True}, {"cells": "levels"}, {"effort": "best"}]
    )
    case.requirements = class_requirements(draw, names)


def _msa_diversity(draw: random.Random, case: Case, names: list[str]) -> None:
    case.parameters = {
        "grouping": draw.choice(["curve", "blocks"]),
        "publish": draw.choice(["generalized", "buckets"]),
        "suppression": _budget(draw),
        "window": draw.choice([2, 8, 256]),
    }
    ell = draw.choice([1.1, 1.5, 2, 3])
    case.requirements = [{draw.choice(["p-diversity", "m-diversity"]): {"l": ell}}]
    if draw.random() < 0.3:
        case.requirements.append(requirement(draw, names))


def _decomposition(draw: random.Random, case: Case, names: list[str]) -> None:
    plain = [name for name in names if "multi_valued" not in case.attributes[name]]
    most = {name: _permissible(case.table[name]) for name in plain}
    chosen = [name for name in plain if draw.random() < 0.8]
    case.parameters = {"l": {name: draw.randint(1, max(most[name], 1)) for name in chosen}}
    case.parameters["prefer"] = draw.choice([None, "nearby"])
    if draw.random() < 0.3:
        case.parameters["conditional_l"] = {"l": 2, "attacker": draw.choice(["pair", "row"])}
    if draw.random() < 0.1:
        case.parameters["beyond_permissible"] = True
        case.parameters["l"] = {name: ell + 1 for name, ell in case.parameters["l"].items()}
    if draw.random() < 0.1:
        case.requirements = [requirement(draw, names)]


def _permissible(cells: Cells) -> int:
    return len(cells) // max(cells.count(cell) for cell in set(cells))


def _anatomy(draw: random.Random, case: Case, names: list[str]) -> None:
    most = _permissible(case.table[names[0]])
    case.parameters = {
        "l": draw.choice([None, 2, draw.randint(1, max(most, 1))]),
        "prefer": draw.choice([None, "nearby"]),
    }
    if draw.random() < 0.1:
        case.requirements = [requirement(draw, names)]


def _codip(draw: random.Random, case: Case, names: list[str]) -> None:
    case.parameters = {
        "plan": draw.choice(["greedy", "exhaustive"]),
        "alpha": draw.choice([0.4, 1.0]),
        "beta": draw.choice([0.0, 0.2, 0.6, 1.0]),
        "recoding": draw.choice(["full-domain", "mondrian"]),
        "minimize": draw.choice(MINIMIZE),
    }
    case.requirements = class_requirements(draw, names)


def _quasi_sensitive(draw: random.Random, case: Case, names: list[str]) -> None:
    rows = len(next(iter(case.table.values())))
    case.table["terms"] = [
        SEPARATOR.join(sorted(draw.sample(TERMS, draw.choice([0, 1, 1, 2, 3]))))
        for _ in range(rows)
    ]
    case.attributes["terms"] = {"role": "quasi-sensitive", "multi_valued": SEPARATOR}
    case.knowledge = {
        label: frozenset(draw.sample(TERMS[:-1], draw.randint(0, 4))) for label in LABELS
    }
    if not any(case.knowledge.values()):
        case.knowledge["flu"] = frozenset(["d"])
    if draw.random() < 0.5:
        case.weights = {label: draw.randint(1, 4) for label in LABELS}
    case.parameters = draw.choice(
        [{}, {"search": "exact"}, {"search": "paper", "nodes": 100}, {"nodes": 0},
         {"nodes": 20}, {"cells": "levels"}, {"cuts": "relaxed"}]
    )  # fmt: skip
    weighed = {"weights": draw.choice(["equal", "prior"])}
    case.requirements = [{"k-anonymity": {"k": draw.randint(1, 3)}}, draw.choice([
        {"qs-cl-diversity": {"c": draw.choice([0.5, 1, 2, 3]), "l": draw.randint(1, 3), **weighed}},
        {"qs-t-closeness": {"t": draw.choice([0.1, 0.25, 0.4, 0.7]),
                            "distance": draw.choice(["l1", "l2"]), **weighed}},
    ])]  # fmt: skip
    if draw.random() < 0.3:
        case.requirements.append(requirement(draw, names))


def _top_down(draw: random.Random, case: Case, names: list[str]) -> None:
    case.requirements = class_requirements(draw, names)


def _li_ye(draw: random.Random, case: Case, names: list[str]) -> None:
    case.parameters = {"alpha_qi": draw.randint(1, 4), "alpha_sa": draw.randint(1, 3)}
    if draw.random() < 0.3:
        case.requirements = [{"k-anonymity": {"k": draw.randint(2, 4)}}]


def _gal(draw: random.Random, case: Case, names: list[str]) -> None:
    case.parameters = {
        "l": draw.randint(1, 3), "halves": draw.choice(["both-safe", "suppress"]),
        "k": draw.choice([None, 4]),
    }  # fmt: skip
    if draw.random() < 0.1:
        case.requirements = [requirement(draw, names)]


def _mmdcf(draw: random.Random, case: Case, names: list[str]) -> None:
    case.parameters = {"l": draw.choice([1, 2, 2, 2, 3])}
    if draw.random() < 0.1:
        case.requirements = [requirement(draw, names)]


PARAMETERS: dict[str, Callable[[random.Random, Case, list[str]], None]] = {
    "full-domain": _full_domain,
    "mondrian": _mondrian,
    "top-down": _top_down,
    "local-recoding": _local_recoding,
    "msa-diversity": _msa_diversity,
    "decomposition": _decomposition,
    "anatomy": _anatomy,
    "codip": _codip,
    "quasi-sensitive": _quasi_sensitive,
    "li-ye": _li_ye,
    "gal": _gal,
    "mmdcf": _mmdcf,
}


# ----------------------------------------------------------------------------------------- series


def series(draw: random.Random, number: int, method: str) -> Case:
    """Tables in which people come, go, come back and, at some rate, change their value."""
    letters = "abcdefgh"[: draw.randint(3, 8)]
    people = draw.choice([5, 7, 9, 14, 30])
    change = draw.choice([0, 0, 0.3])
    value = [draw.choice(letters) for _ in range(people)]
    tables = []
    for _ in range(draw.randint(1, 5)):
        here = [one for one in range(people) if draw.random() < 0.7] or [0]
        tables.append(
            {
                IDENTIFIER: [f"Person-{number}-{one}" for one in here],
                "age": [str(20 + one) for one in here],
                "disease": [value[one] for one in here],
            }
        )
        value = [draw.choice(letters) if draw.random() < change else one for one in value]
        if draw.random() < 0.2:  # newcomers with values of their own
            value += [draw.choice("xyz") for _ in range(2)]
            people += 2
    attributes = {
        IDENTIFIER: {"role": "identifier"},
        "age": {"role": "quasi-identifier", "type": "integer"},
        "disease": {"role": "sensitive"},
    }
    case = Case(number, method, {}, attributes, [], tables)
    if method == "m-invariance":
        buckets = draw.choice(["distinct"] * 3 + ["equal-multiplicity"])
        case.parameters = {"m": draw.randint(2, 3), "buckets": buckets}
    else:
        case.parameters = {
            "rho": draw.choice([0.3, 0.5, 0.6, 0.7]),
            "unstated": draw.choice(["spread", "stay"]),
            "group_size": draw.choice([None, None, 2, 3]),
        }
        case.correlation = correlations(draw, sorted({v for t in tables for v in t["disease"]}))
    if draw.random() < 0.1:
        case.requirements = [requirement(draw, ["disease"])]
    return case


def correlations(draw: random.Random, letters: list[str]) -> dict[tuple[str, str], float]:
    if draw.random() < 0.3:
        return {(letter, letter): 0.7 for letter in letters}
    stated: dict[tuple[str, str], float] = {}
    for old in letters:
        room = 1.0
        for new in draw.sample(letters, min(2, len(letters))):
            if draw.random() < 0.6:
                stated[old, new] = round(draw.random() * room, 2)
                room -= stated[old, new]
        stated.setdefault((old, old), 0.0)
    return stated

"""Every requirement on every kind of release that can carry it, in folders written by hand.

No method stands between: a random table is written as a release of each kind, with a manifest that
promises something at a boundary or beyond, and the audit must say what the definition says.
"""

from __future__ import annotations

import csv
import hashlib
import math
from collections import Counter
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st
from tests import naive
from tests.entries import method_by_hand
from tests.naive import classes

import discreet as dc

SENSITIVE = ("a", "b", "n")
TREE = [["x", "xy", "*"], ["y", "xy", "*"], ["z", "zz", "*"], ["w", "zz", "*"], [None, "none", "*"]]
ROW = st.fixed_dictionaries(
    {
        "q": st.sampled_from(["1", "2", "3"]),
        "a": st.sampled_from(["x", "y", "z", ""]),
        "b": st.sampled_from(["x", "y", "w", ""]),
        "n": st.sampled_from(["0", "2", "3", "10", ""]),
    }
)
TABLES = st.lists(ROW, min_size=1, max_size=14)
BOUND = st.sampled_from(["0", "0.1", "0.25", "0.3", "0.5", "0.75", "1"])
ABOVE = st.sampled_from(["0.5", "1", "1.5", "2", "3"])
ELL = st.integers(1, 3)
VALUES = st.lists(st.sampled_from(["x", "y", None, "q"]), max_size=2, unique=True)

DIVERSITIES = st.one_of(
    st.tuples(st.just("distinct-l-diversity"), st.fixed_dictionaries({"l": ELL})),
    st.tuples(
        st.just("entropy-l-diversity"),
        st.fixed_dictionaries({"l": st.sampled_from(["1", "1.5", "2", "3"])}),
    ),
    st.tuples(st.just("recursive-cl-diversity"), st.fixed_dictionaries({"c": ABOVE, "l": ELL})),
    st.tuples(
        st.just("pd-recursive-cl-diversity"),
        st.fixed_dictionaries({"c": ABOVE, "l": ELL, "disclosable": VALUES}),
    ),
    st.tuples(
        st.just("npd-recursive-cl-diversity"),
        st.fixed_dictionaries(
            {"c1": ABOVE, "c2": BOUND, "l": ELL, "disclosable": VALUES, "not_ruled_out": VALUES}
        ),
    ),
    st.tuples(
        st.sampled_from(["p-diversity", "m-diversity"]),
        st.fixed_dictionaries({"l": st.sampled_from(["1", "1.5", "2", "3"])}),
    ),
)
OTHERS = st.one_of(
    st.tuples(st.just("t-closeness"), st.fixed_dictionaries({"t": BOUND})),
    st.tuples(
        st.just("alpha-k-anonymity"),
        st.fixed_dictionaries({"alpha": BOUND, "k": ELL}, optional={"value": st.just("x")}),
    ),
    st.tuples(
        st.just("beta-likeness"),
        st.fixed_dictionaries({"beta": ABOVE}, optional={"enhanced": st.booleans()}),
    ),
    st.tuples(st.just("delta-disclosure"), st.fixed_dictionaries({"delta": ABOVE})),
)
NAMED = st.sampled_from([None, "a", "n", ["a", "n"], ["b"]])


def cell(text: str) -> str | None:
    return text or None


def counts_of(group, name: str) -> Counter:
    return Counter(cell(row[name]) for row in group)


# ---- definitions: whether a class passes, and its figure


def recursive(counts: Counter, c: Fraction, ell: int, disclosable) -> tuple[bool, float]:
    """Definition 4.3 by ranks; with nothing disclosable it is Definition 4.2."""
    if ell == 1:
        return True, 0.0
    ranked = sorted(counts, key=lambda value: (-counts[value], value in disclosable))
    r = [0, *(counts[value] for value in ranked)]
    outside = [place for place, value in enumerate(ranked, 1) if value not in disclosable]
    if not outside:
        return True, 0.0
    y, m = outside[0], len(ranked)
    struck = {*range(1, ell)} if y <= ell - 1 else {*range(1, ell - 1), y}
    tail = sum(r[place] for place in range(1, m + 1) if place not in struck)
    return r[y] < c * tail, r[y] / tail if tail else math.inf


def emd(inside: Counter, size: int, overall: Counter, rows: int, name: str) -> Fraction:
    gap = {v: Fraction(inside[v], size) - Fraction(overall[v], rows) for v in overall}
    if name == "a":
        return sum(map(abs, gap.values()), Fraction(0)) / 2
    if name == "b":  # by the heights of lowest common ancestors, level by level
        total = Fraction(0)
        for level in (0, 1):
            nodes: dict = {}
            for row in TREE:
                nodes[row[level]] = nodes.get(row[level], Fraction(0)) + gap.get(row[0], 0)
            total += sum(map(abs, nodes.values()), Fraction(0)) / 2
        return total / 2
    values = sorted(overall, key=lambda v: (v is None, float(v or 0)))
    moved, total = Fraction(0), Fraction(0)
    for value in values[:-1]:
        moved += gap[value]
        total += abs(moved)
    return total / (len(values) - 1) if len(values) > 1 else Fraction(0)


def judged(kind: str, parameters: dict, group, rows, name: str) -> tuple[bool, float]:
    """Whether a class of a table passes for one attribute, and the figure of the class."""
    inside, overall = counts_of(group, name), counts_of(rows, name)
    size, exact = len(group), {k: v for k, v in parameters.items() if isinstance(v, Fraction)}
    share = {v: Fraction(inside[v], size) for v in overall}
    table = {v: Fraction(overall[v], len(rows)) for v in overall}
    if kind == "distinct-l-diversity":
        return len(inside) >= parameters["l"], len(inside)
    if kind == "entropy-l-diversity":
        figure = math.exp(-sum(float(p) * math.log(p) for p in share.values() if p))
        return figure >= exact["l"] * (1 - Fraction(1, 10**9)), figure
    if kind in ("recursive-cl-diversity", "pd-recursive-cl-diversity"):
        return recursive(inside, exact["c"], parameters["l"], parameters.get("disclosable", ()))
    if kind == "npd-recursive-cl-diversity":
        holds, figure = recursive(inside, exact["c1"], parameters["l"], parameters["disclosable"])
        rare = [Fraction(inside[v], size) >= exact["c2"] for v in parameters["not_ruled_out"]]
        return holds and all(rare), figure
    if kind in ("p-diversity", "m-diversity"):
        return max(share.values()) * exact["l"] <= 1, size / max(inside.values())
    if kind == "t-closeness":
        distance = emd(inside, size, overall, len(rows), name)
        return distance <= exact["t"], float(distance)
    if kind == "alpha-k-anonymity":
        most = share.get(parameters["value"], 0) if "value" in parameters else max(share.values())
        return most <= exact["alpha"] and size >= parameters["k"], float(most)
    gain = max((share[v] - table[v]) / table[v] for v in overall)
    if kind == "beta-likeness":
        within = gain <= exact["beta"]
        if parameters.get("enhanced"):
            within &= all(
                (share[v] - table[v]) / table[v] <= -math.log(table[v]) + 1e-9 for v in overall
            )
        return within, float(gain)
    assert kind == "delta-disclosure"
    if not all(share.values()):
        return False, math.inf
    figure = max(abs(math.log(share[v] / table[v])) for v in overall)
    return figure < exact["delta"], figure


SMALLER = {
    "recursive-cl-diversity", "pd-recursive-cl-diversity", "npd-recursive-cl-diversity",
    "t-closeness", "alpha-k-anonymity", "beta-likeness", "delta-disclosure",
}  # fmt: skip


def expected(kind, parameters, groups, names, refine=False) -> tuple[bool, float]:
    """The verdict on a table that is these classes, and the worst figure."""
    rows = [row for group in groups for row in group]
    found = []
    for name in names:
        for group in groups:
            others = [other for other in names_of(rows) if other != name]
            parts = classes(group, others) if refine else [group]
            found += [judged(kind, parameters, part, rows, name) for part in parts]
    worst = max if kind in SMALLER else min
    return all(holds for holds, _ in found), worst(figure for _, figure in found)


def names_of(rows) -> list[str]:
    return [name for name in SENSITIVE if name in rows[0]]


# ---- folders


def write(folder: Path, kind: str, tables: dict[str, tuple[list[dict], dict]], promise, **method):
    folder = folder / str(len(list(folder.iterdir())))
    folder.mkdir()
    entries = {}
    for name, (rows, columns) in tables.items():
        path = folder / f"{name}.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(columns), lineterminator="\n", extrasaction="ignore")
            writer.writeheader()
            writer.writerows(rows)
        entries[name] = {
            "file": path.name,
            "rows": len(rows),
            "columns": columns,
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        }
    people = next(iter(tables.values()))[0]
    text = {"type": "text", "distance": "equal"}
    every = {
        "q": {"type": "text"},
        "a": text,
        "b": {"type": "text", "distance": "hierarchical", "hierarchy": TREE},
        "n": {"type": "integer", "distance": "ordered"},
    }
    published = {name for _, columns in tables.values() for name in columns}
    manifest = {
        "discreet": "0.2.0",
        "kind": kind,
        "method": method_by_hand(
            kind, {name: columns for name, (_, columns) in tables.items()}, **method
        ),
        "tables": entries,
        "attributes": {name: entry for name, entry in every.items() if name in published},
        "source_rows": len(people),
        "published_rows": len(people),
        "suppressed_rows": 0,
        "promises": [{"requirement": promise[0], "parameters": promise[1], "holds": True,
                      "achieved": {}}],
    }  # fmt: skip
    naive.write_manifest(folder, manifest)
    return dc.audit(folder).promises[0]


Q, S, G = "quasi-identifier", "sensitive", "structure"


def as_generalized(rows):
    return {"records": (rows, {"q": Q, "a": S, "b": S, "n": S})}


def as_buckets(rows):
    people = [{**row, "group": row["q"]} for row in rows]
    sensitive = {"group": G, "a": S, "b": S, "n": S}
    return {
        "quasi_identifiers": (people, {"q": Q, "group": G}),
        "sensitive": (people[::-1], sensitive),
    }


def as_counts(rows, name):
    people = [{**row, "group": row["q"]} for row in rows]
    counted = Counter((row["q"], row[name]) for row in rows)
    listed = [{"group": g, name: v, "count": str(c)} for (g, v), c in counted.items()]
    return {
        "quasi_identifiers": (people, {"q": Q, "group": G}),
        "sensitive": (listed, {"group": G, name: S, "count": G}),
    }


def as_projections(rows):
    return {
        "projection_1": (rows, {"q": Q, "a": S}),
        "projection_2": (rows[::-1], {"q": Q, "b": S, "n": S}),
    }


def exact_of(parameters: dict) -> dict:
    """Decimals as the numbers that they are."""
    decimals = ("c", "c1", "c2", "t", "alpha", "beta", "delta", "l")
    return {
        k: Fraction(v) if isinstance(v, str) and k in decimals else v for k, v in parameters.items()
    }


def written_of(parameters: dict) -> dict:
    return {k: float(v) if isinstance(v, Fraction) else v for k, v in exact_of(parameters).items()}


def agrees(promise, verdict: tuple[bool, float], about) -> None:
    holds, figure = verdict
    assert promise.holds == holds, about
    said = next(iter(promise.achieved.values()))
    if math.isinf(figure):
        assert said is None
    else:
        assert said is not None
        assert math.isclose(said, figure, rel_tol=1e-9, abs_tol=1e-9), about


@settings(max_examples=60, deadline=None)
@given(TABLES, st.one_of(DIVERSITIES, OTHERS), NAMED)
def test_the_audit_of_every_kind_says_what_the_definition_says(rows, promise, named):
    kind, parameters = promise
    asked = (kind, written_of(parameters) | ({} if named is None else {"attribute": named}))
    names = list(SENSITIVE) if named is None else [named] if isinstance(named, str) else named
    groups = classes(rows, ["q"])
    whole = expected(kind, exact_of(parameters), groups, names)
    with TemporaryDirectory() as folder:
        for form, tables in (
            ("generalized", as_generalized(rows)),
            ("bucketized", as_buckets(rows)),
            ("projected", as_projections(rows)),
        ):
            promise = write(Path(folder), form, tables, asked)
            agrees(promise, whole, (form, asked, rows))
        if len(names) == 1:
            tables = as_counts(rows, names[0])
            agrees(write(Path(folder), "bucketized", tables, asked), whole, ("counts", asked, rows))


@settings(max_examples=60, deadline=None)
@given(TABLES, DIVERSITIES, st.sampled_from([None, "a", ["b", "n"]]))
def test_the_audit_refines_classes_by_the_other_attributes(rows, inner, named):
    kind, parameters = inner
    asked = {"inner": {kind: written_of(parameters)}}
    if named is not None:
        asked["attribute"] = named
    names = list(SENSITIVE) if named is None else [named] if isinstance(named, str) else named
    verdict = expected(kind, exact_of(parameters), classes(rows, ["q"]), names, refine=True)
    with TemporaryDirectory() as folder:
        for form, tables in (
            ("generalized", as_generalized(rows)),
            ("bucketized", as_buckets(rows)),
        ):
            promise = write(Path(folder), form, tables, ("multi-attribute-l-diversity", asked))
            agrees(promise, verdict, (form, asked, rows))


@settings(max_examples=60, deadline=None)
@given(TABLES, st.sampled_from(["k-anonymity", "sa-diversity", "distinct-l-diversity"]), ELL)
def test_the_audit_of_sets_counts_what_is_listed(rows, kind, ell):
    groups = classes(rows, ["q"])
    if kind == "k-anonymity":
        parameters = {"k": ell}
        figure = min(len(group) for group in groups)
    else:
        parameters = {"l": {"a": ell, "n": ell} if kind == "sa-diversity" else ell}
        names = ("a", "n") if kind == "sa-diversity" else ("a", "b", "n")
        figure = min(len(counts_of(group, name)) for group in groups for name in names)
    people = [{**row, "group": row["q"]} for row in rows]
    listed = sorted(
        {(row["q"], name, row[name]) for row in rows for name in SENSITIVE},
    )
    values = [{"group": g, "attribute": name, "value": v} for g, name, v in listed]
    tables = {
        "groups": (people, {"q": Q, "group": G}),
        "group_values": (values, {"group": G, "attribute": G, "value": G}),
        "sensitive": (sorted(people, key=str), {"a": S, "b": S, "n": S}),
    }
    with TemporaryDirectory() as folder:
        promise = write(Path(folder), "decomposed", tables, (kind, parameters), primary="a")
    agrees(promise, (figure >= ell, figure), (kind, ell, rows))

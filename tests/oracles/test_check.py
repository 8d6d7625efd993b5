"""A check against brute force: every requirement, on rows and on persons, here and by SQL."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests import naive_check as naive

import discreet as dc
from discreet.requirements.registry import PROMISED, REQUIREMENTS

QUASI = ["age", "zip"]
COLUMNS = [*QUASI, "ill", "pay", "who"]
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "age": st.sampled_from(["*", "[20, 30)", "7", "07", None]),
            "zip": st.sampled_from(["a", "A"]),
            "ill": st.sampled_from(["flu", "gout", "*", None]),
            "pay": st.sampled_from([1, 2, 10, None]),
            "who": st.sampled_from(["p", "q", "r", "s", None]),
        }
    ),
    min_size=1,
    max_size=14,
)
FEW = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
REQUIRED: list[dc.KAnonymity | object] = [
    dc.KAnonymity(k=2),
    dc.DistinctLDiversity(l=2),
    dc.EntropyLDiversity(l=1.5),
    dc.RecursiveClDiversity(c=2, l=2),
    dc.PDiversity(l=2),
    dc.MDiversity(l=2),
    dc.AlphaKAnonymity(alpha=0.5, k=2),
    dc.TCloseness(t=0.3),
    dc.BetaLikeness(beta=1),
    dc.DeltaDisclosure(delta=1),
    dc.MultiAttributeLDiversity(l=2),
    dc.SaDiversity(l={"ill": 2, "pay": 1}),
]
ON_ROWS = {"sa-diversity"}
# Against their definitions below, by a table of their own, or of decomposed releases alone.
ELSEWHERE = {
    "pd-recursive-cl-diversity", "npd-recursive-cl-diversity", "qs-cl-diversity", "qs-t-closeness",
    "conditional-l-diversity", "delta-presence", "lkc-privacy", "k-map", "population-risk",
    "km-anonymity",
}  # fmt: skip


def test_every_requirement_is_compared():
    asked = {one.name for one in REQUIRED}
    assert asked | ELSEWHERE == set(REQUIREMENTS.built_in) - set(PROMISED)


Definition = Callable[..., tuple[Callable[..., float], bool, Callable[[float], bool]]]


def definition(requirement, rows, name, person):
    """Return a figure, whether a smaller one is better, and the bound's test, for one class."""
    whole = naive.mass(rows, name, person)
    match requirement.name:
        case "distinct-l-diversity" | "sa-diversity":
            ell = requirement.l if isinstance(requirement.l, int) else requirement.l[name]
            return lambda own: naive.distinct(own, name, person), False, lambda f: f >= ell
        case "entropy-l-diversity":
            return (
                lambda own: naive.entropy(naive.mass(own, name, person)),
                False,
                lambda f: f >= requirement.l - 1e-9,
            )
        case "recursive-cl-diversity":
            return (
                lambda own: naive.recursive(naive.mass(own, name, person), requirement.l),
                True,
                lambda f: f < requirement.c - 1e-12,
            )
        case "p-diversity" | "m-diversity":
            return (
                lambda own: float(
                    len(naive.members(own, person)) / max(naive.touched(own, name, person).values())
                ),
                False,
                lambda f: f >= requirement.l - 1e-12,
            )
        case "alpha-k-anonymity":
            return (
                lambda own: float(
                    max(naive.touched(own, name, person).values()) / len(naive.members(own, person))
                ),
                True,
                lambda f: f <= requirement.alpha + 1e-12,
            )
        case "t-closeness":
            by = naive.t_equal if name == "ill" else naive.t_ordered
            return (
                lambda own: by(naive.mass(own, name, person), whole),
                True,
                lambda f: f <= requirement.t + 1e-9,
            )
        case "beta-likeness":
            return (
                lambda own: naive.beta(naive.mass(own, name, person), whole),
                True,
                lambda f: f <= requirement.beta + 1e-9,
            )
        case "delta-disclosure":
            return (
                lambda own: naive.delta(naive.mass(own, name, person), whole),
                True,
                lambda f: f < requirement.delta,
            )
        case "multi-attribute-l-diversity":
            other = "pay" if name == "ill" else "ill"
            return (
                lambda own: min(
                    naive.distinct(inner, name, person)
                    for inner in naive.having_each(own, other, person)
                ),
                False,
                lambda f: f >= requirement.l,
            )
    raise AssertionError(requirement.name)


def agree(
    found: dc.Check, rows: list[naive.Row], person: str | None, definition: Definition = definition
) -> None:
    """Every figure, verdict and failing class is that of the definition."""
    assert found.rows == len(rows)
    assert found.classes == len(naive.classes_of(rows, QUASI))
    for one in found.requirements:
        requirement = one.requirement
        if requirement.name == "k-anonymity":
            sizes = [len(naive.members(own, person)) for own in naive.classes_of(rows, QUASI)]
            assert one.achieved == {"k": min(sizes)}
            assert one.holds == (min(sizes) >= requirement.k)
            assert sum(one.failing.sizes.values()) == sum(n < requirement.k for n in sizes)
            continue
        definitions = [definition(requirement, rows, name, person) for name in ("ill", "pay")]
        for name, (figure, smaller, _) in zip(("ill", "pay"), definitions, strict=True):
            expected = naive.worst(rows, QUASI, figure, max if smaller else min)
            assert one.by_attribute[name] == pytest.approx(expected, abs=1e-9), requirement.name

        def passes(own, definitions=definitions, requirement=requirement):
            large = len(naive.members(own, person)) >= getattr(requirement, "k", 1)
            return large and all(within(figure(own)) for figure, _, within in definitions)

        failing = naive.failing_sizes(rows, QUASI, person, passes)
        assert dict(one.failing.sizes) == failing, requirement.name
        assert one.holds == (not failing)
        assert one.failing.members == sum(size * n for size, n in failing.items())


def frame_of(rows: list[naive.Row]) -> pl.DataFrame:
    return pl.DataFrame(
        rows, schema={name: pl.Int64 if name == "pay" else pl.String for name in COLUMNS}
    )


def here(rows: list[naive.Row]) -> dict:
    return {"data": frame_of(rows)}


def in_file(rows: list[naive.Row]) -> dict:
    path = Path("table.csv")
    frame_of(rows).write_csv(path)
    return {"data": path}


def in_sqlite(rows: list[naive.Row]) -> dict:
    """With columns whose own collation takes 'a' for 'A'."""
    Path("table.db").unlink(missing_ok=True)
    connection = sqlite3.connect("table.db")
    connection.execute(
        "CREATE TABLE people (age TEXT, zip TEXT COLLATE NOCASE, ill TEXT, pay INTEGER, who TEXT)"
    )
    connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", frame_of(rows).rows())
    connection.commit()
    connection.close()
    return {"data": "sqlite:///table.db", "table": "people"}


def duckdb_table(rows: list[naive.Row], collation: str = ""):
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    connection = duckdb.connect()
    connection.execute(
        f"CREATE TABLE people (age VARCHAR, zip VARCHAR {collation}, ill VARCHAR, pay BIGINT, "
        "who VARCHAR)"
    )
    connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", frame_of(rows).rows())
    return connection


def in_duckdb(rows: list[naive.Row]) -> dict:
    return {"data": duckdb_table(rows, "COLLATE NOCASE").table("people")}


def in_ibis(rows: list[naive.Row]) -> dict:
    ibis = pytest.importorskip("ibis", reason="ibis is not installed")
    connection = duckdb_table(rows)
    return {"data": ibis.duckdb.from_connection(connection).table("people")}


# Ibis calls functions of DuckDB that DuckDB deprecates.
OLD_CALLS = pytest.mark.filterwarnings("ignore::DeprecationWarning")
PLACES = [here, in_file, in_sqlite, in_duckdb, pytest.param(in_ibis, marks=OLD_CALLS)]


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("person", [None, "who"])
@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
def test_figures_are_those_of_the_definitions(place, person, folder):
    asked = [one for one in REQUIRED if person is None or one.name not in ON_ROWS]
    examples = FEW if place is here else settings(FEW, max_examples=6)

    @examples
    @given(ROWS)
    def check(rows):
        found = dc.check(
            **place(rows), quasi=QUASI, sensitive=["ill", "pay"], requirements=asked,
            person=person or (), distance={"pay": "ordered"},
        )  # fmt: skip
        agree(found, rows, person)

    check()


@pytest.fixture
def people(postgres) -> Iterator[tuple[str, object]]:
    import psycopg

    url = postgres()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', "
            "deterministic = false)"
        )
        connection.execute(
            "CREATE TABLE people "
            "(age text, zip text COLLATE nocase, ill text, pay bigint, who text)"
        )
        yield url, connection


@pytest.mark.parametrize("person", [None, "who"])
def test_figures_of_postgresql_are_those_of_the_definitions(people, person):
    url, connection = people
    asked = [one for one in REQUIRED if person is None or one.name not in ON_ROWS]

    @settings(FEW, max_examples=6)
    @given(ROWS)
    def check(rows):
        connection.execute("TRUNCATE people")
        with connection.cursor() as cursor:
            cursor.executemany(
                "INSERT INTO people VALUES (%s, %s, %s, %s, %s)", frame_of(rows).rows()
            )
        found = dc.check(
            url, table="people", quasi=QUASI, sensitive=["ill", "pay"], requirements=asked,
            person=person or (), distance={"pay": "ordered"},
        )  # fmt: skip
        agree(found, rows, person)

    check()


@FEW
@given(ROWS)
def test_disclosable_and_not_ruled_out_values(rows):
    """Definition 4.3 and 4.4 of ℓ-diversity, for ℓ = 2: all but the value itself remain."""
    if not {"flu", "gout"} <= {row["ill"] for row in rows}:
        return
    pd = dc.PdRecursiveClDiversity(c=1, l=2, disclosable=["flu"])
    npd = dc.NpdRecursiveClDiversity(
        c1=1, c2=0.25, l=2, disclosable=["flu"], not_ruled_out=["gout"]
    )
    found = dc.check(
        frame_of(rows), quasi=QUASI, sensitive=["ill"], requirements=[pd, npd]
    ).requirements
    first = second = True
    for own in naive.classes_of(rows, QUASI):
        counts = naive.touched(own, "ill", None)
        others = [n for value, n in counts.items() if value != "flu"]
        passes = not others or max(others) < len(own) - max(others)
        first &= passes
        second &= passes and counts["gout"] >= len(own) / 4
    assert [one.holds for one in found] == [first, second]


TERMS = {"fever": {"flu", "cold"}, "rash": {"pox"}, "cough": {"flu", "cold", "asthma"}}
LABELS = ("asthma", "cold", "flu", "pox")


@FEW
@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from([*TERMS])), min_size=1, max_size=9)
)
def test_linked_labels(folder, rows):
    """QS (c, ℓ)-diversity and QS t-closeness, each term linked to its labels."""
    lines = [f"{label},{term}" for term, labels in TERMS.items() for label in sorted(labels)]
    job = dc.Job(
        attributes={
            "zip": {"role": "quasi-identifier"},
            "symptom": {
                "role": "quasi-sensitive",
                "knowledge": {"path": "labels.csv", "label": "label", "term": "term"},
            },
        },
        requirements=[dc.QsClDiversity(c=2, l=2), dc.QsTCloseness(t=0.3)],
        method="quasi-sensitive",
    )
    job._folder.joinpath("labels.csv").write_text("\n".join(["label,term", *lines]) + "\n")
    frame = pl.DataFrame(rows, schema=["zip", "symptom"], orient="row")
    diversity, closeness = dc.check(frame, job).requirements

    def belief(own):
        return {
            label: sum(1 / len(TERMS[t]) for _, t in own if label in TERMS[t]) / len(own)
            for label in LABELS
        }

    prior = belief(rows)
    ratios, distances = [], []
    for group in naive.classes_of([{"zip": z, "term": t} for z, t in rows], ["zip"]):
        found = belief([(row["zip"], row["term"]) for row in group])
        ordered = sorted(found.values(), reverse=True)
        tail = sum(ordered[1:])
        ratios.append(ordered[0] / tail if tail > 1e-9 else math.inf)
        distances.append(math.dist(found.values(), prior.values()))
    assert diversity.achieved["c"] == pytest.approx(max(ratios))
    assert diversity.holds == (max(ratios) <= 2 + 1e-9)
    assert closeness.achieved["t"] == pytest.approx(max(distances), abs=1e-9)
    assert closeness.holds == (max(distances) <= 0.3 + 1e-9)


def test_conditional_diversity_is_of_decomposed_releases_alone():
    frame = pl.DataFrame({"q": ["a", "a"], "s": ["x", "y"], "u": ["1", "2"]})
    with pytest.raises(dc.InputError, match="only a release by 'decomposition'"):
        dc.check(
            frame, quasi=["q"], sensitive=["s", "u"],
            requirements=[dc.ConditionalLDiversity(l=1, known="s")],
        )  # fmt: skip

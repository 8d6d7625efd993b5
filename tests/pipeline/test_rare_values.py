"""Rare values are lifted, masked or suppressed before any method sees the table."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.errors import InfeasibleError, InputError, JobError
from discreet.pipeline.prepare import prepare
from discreet.pipeline.rare_values import least_persons
from discreet.releases.audit.audit import audit_tables
from discreet.releases.explanation import explain

TREE = {"A": ["a1", "a2", "a3"], "B": ["b1", "b2"], "C": ["c1"]}
QUASI = {
    "age": {"role": "quasi-identifier", "type": "integer"},
    "sex": {"role": "quasi-identifier"},
}
METHODS: dict[str, dict[str, Any]] = {
    "mondrian": {"method": "mondrian"},
    "full-domain": {"method": "full-domain"},
    "local-recoding": {"method": "local-recoding"},
    "codip": {"method": "codip"},
    "anatomy": {"method": {"anatomy": {"l": 2}}, "requirements": []},
    "decomposition": {"method": {"decomposition": {"l": {"diag": 2}}}, "requirements": []},
    "msa-diversity": {"method": "msa-diversity", "requirements": [{"p-diversity": {"l": 2}}]},
}


def patients(rows: int = 120, seed: int = 5) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    diag = rng.choice(["a1", "b1", "b2", "c1"], rows, p=[0.3, 0.3, 0.2, 0.2]).astype(object)
    diag[[3, 40, 77]] = ["a2", "a3", "x"]
    return pl.DataFrame(
        {
            "id": [f"p{number}" for number in range(rows)],
            "age": rng.integers(20, 70, rows).astype(str),
            "sex": rng.choice(["f", "m"], rows),
            "diag": diag.tolist(),
        }
    )


def job(rare: str | None = "auto", **parts: Any) -> dc.Job:
    diag: dict[str, Any] = {"role": "sensitive", "hierarchy": {"tree": {**TREE, "D": ["x"]}}}
    diag |= {} if rare is None else {"rare": rare}
    diag |= parts.pop("diag", {})
    return dc.Job(
        **{
            "attributes": {"id": {"role": "identifier"}, **QUASI, "diag": diag},
            "requirements": [{"k-anonymity": {"k": 2}}, {"distinct-l-diversity": {"l": 2}}],
            "method": "mondrian",
            **parts,
        }
    )


def cells(task: Any) -> dict[str | None, int]:
    column = task.table["diag"]
    return dict(zip(column.text.to_list(), column.counts.tolist(), strict=True))


def test_without_the_key_nothing_changes() -> None:
    task = prepare(job(None), patients())
    assert task.secrets.rare is None
    assert cells(task)["x"] == 1


def test_mask_lift_suppress() -> None:
    table = patients()
    before = cells(prepare(job(None), table))
    masked = prepare(job("mask"), table)
    assert cells(masked) == {"*": 3, **{v: before[v] for v in ("a1", "b1", "b2", "c1")}}
    assert masked.secrets.rare is not None
    counts = masked.secrets.rare.attributes["diag"]
    assert (counts.rare, counts.masked, counts.unchanged, counts.lifted) == (3, 3, 4, 0)
    assert counts.loss == 3 / 120
    suppressed = prepare(job("suppress"), table)
    assert suppressed.table.rows == 117
    assert suppressed.secrets.rare is not None
    assert suppressed.secrets.rare.rows.tolist() == [n for n in range(120) if n not in (3, 40, 77)]
    assert (
        suppressed.basis.unit == masked.basis.unit
    )  # one row for each person, though some are gone


def test_a_lone_rare_value_is_lifted_with_others_that_hide_it() -> None:
    table = patients().with_columns(diag=pl.col("diag").replace({"x": "a1"}))
    lifted = prepare(job("lift"), table)
    assert cells(lifted)["A"] == 2  # a2 and a3
    alone = table.with_columns(diag=pl.col("diag").replace({"a3": "c1"}))
    with pytest.raises(InfeasibleError, match="'masked_at_most' allows 5.0%") as error:
        prepare(job("mask"), alone)
    assert "a2" not in str(error.value)
    assert "c1" not in str(error.value)
    wide = prepare(job("mask", diag={"masked_at_most": 0.5}), alone)
    assert sorted(map(str, cells(wide))) == ["*", "a1", "b1", "c1"]  # b2, the next rarest, too
    auto = prepare(job("auto", diag={"hierarchy": None}), alone)
    assert (
        auto.secrets.rare is not None
    )  # '*' would cost a fifth of the table: two rows are suppressed
    assert auto.secrets.rare.suppressed_rows == 2
    gone = set(range(120)) - set(auto.secrets.rare.rows.tolist())
    assert 3 in gone  # with a row that hides why a person is missing
    assert prepare(job("auto", diag={"hierarchy": None}), alone).secrets.rare.rows.tolist() == (  # type: ignore[union-attr]
        auto.secrets.rare.rows.tolist()
    )


def test_limits() -> None:
    unique = patients().with_columns(diag=pl.col("id"))
    with pytest.raises(InfeasibleError, match="cells"):
        prepare(job("auto", diag={"hierarchy": None}), unique)
    with pytest.raises(InfeasibleError, match="120 of 120 cells"):
        prepare(job("suppress", diag={"hierarchy": None}), unique)
    with pytest.raises(InfeasibleError, match="all rows have rare"):
        prepare(job("suppress", diag={"hierarchy": None, "masked_at_most": 1}), unique)
    with pytest.raises(InfeasibleError, match="at least 3 values must share it"):
        prepare(
            job(
                "mask",
                diag={"hierarchy": None},
                requirements=[{"distinct-l-diversity": {"l": 3}}],
            ),
            patients().head(4).with_columns(diag=pl.Series(["y", "n", "n", "n"])),
        )


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"role": "quasi-identifier", "rare": "auto"}, "'rare' is for sensitive attributes"),
        ({"role": "sensitive", "rare": "lift"}, "needs a hierarchy"),
        ({"role": "sensitive", "masked_at_most": 0.1}, "Add 'rare: auto'"),
        ({"role": "sensitive", "rare_rows": True}, "Add 'rare: auto'"),
        ({"role": "sensitive", "rare": "auto", "multi_valued": ";"}, "min_support"),
        ({"role": "sensitive", "rare": "hide"}, "Input should be 'auto'"),
    ],
)
def test_keys_that_do_not_fit(given: dict[str, Any], problem: str) -> None:
    with pytest.raises(JobError, match=problem):
        dc.Job(attributes={**QUASI, "diag": given}, method="mondrian")


def test_sets_and_series_are_refused(tmp_path: Path) -> None:
    twice = pl.concat([patients().with_columns(age=pl.lit("30"), sex=pl.lit("f"))] * 2)
    person = {"column": "id", "rows": "collapse"}
    with pytest.raises(JobError, match="become a set"):
        prepare(job(person=person, diag={"hierarchy": None}), twice)
    task = prepare(job("mask", person=person, diag={"collapse": "most-frequent"}), twice)
    assert cells(task)["*"] == 3  # persons, whose rows are two
    with pytest.raises(JobError, match="in one release of a series"):
        prepare(job(ledger={"path": str(tmp_path / "ledger"), "person": "id"}), patients())


def test_the_largest_l_that_covers_the_attribute() -> None:
    assert least_persons(job(requirements=[]), "diag") == 2
    assert least_persons(job(requirements=[{"entropy-l-diversity": {"l": 2.4}}]), "diag") == 3
    other = {"distinct-l-diversity": {"l": 4, "attribute": "diag"}}
    two = job(requirements=[{"p-diversity": {"l": 3}}, other])
    assert least_persons(two, "diag") == 4
    assert least_persons(job(method={"anatomy": {"l": 5}}, requirements=[]), "diag") == 5
    inner = {"multi-attribute-l-diversity": {"inner": {"distinct-l-diversity": {"l": 3}}}}
    assert least_persons(job(requirements=[inner]), "diag") == 3
    decomposed = job(method={"decomposition": {"l": {"diag": 3}}}, requirements=[])
    assert least_persons(decomposed, "diag") == 3


def test_persons_are_counted_not_rows() -> None:
    table = pl.concat([patients(), patients().filter(pl.col("diag") == "x")])
    kept = job("mask", person={"column": "id", "rows": "keep"})
    task = prepare(kept, table)
    assert cells(task)["*"] == 4  # two rows of one person: x is rare all the same
    assert task.secrets.rare is not None
    assert task.secrets.rare.attributes["diag"].rare == 3
    gone = prepare(job("suppress", person={"column": "id", "rows": "keep"}), table)
    assert gone.basis.persons is not None
    assert (gone.table.rows, gone.basis.persons.count) == (117, 117)


def test_a_cell_is_sensitive_if_it_stands_for_a_sensitive_value() -> None:
    task = prepare(job("mask", diag={"non_sensitive_values": ["x", "c1"]}), patients())
    column = task.table["diag"]
    marks = dict(
        zip(column.text.to_list(), task.secrets.sensitive_values["diag"].tolist(), strict=True)
    )
    assert marks == {"*": True, "a1": True, "b1": True, "b2": True, "c1": False}


def test_numbers_become_ranges_in_text() -> None:
    pay = [str(1000 + 7 * number) for number in range(40)] + ["3000"] * 60
    table = patients(100).with_columns(diag=pl.Series(pay))
    numbers = {"type": "integer", "hierarchy": {"standard": "number"}}
    task = prepare(job("auto", diag=numbers), table)
    assert cells(task)["3000"] == 60
    assert any(str(cell).startswith("[") for cell in cells(task))
    assert task.secrets.rare is not None
    assert task.secrets.rare.attributes["diag"].masked <= 5


def _stated(found: Any) -> bool:
    """Return whether an audit says that only the original shows what rare cells stand for."""
    return "rare.stated" in [getattr(remark, "id", None) for remark in found.remarks]


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("rare", ["auto", "mask", "suppress"])
def test_publish_and_audit(name: str, rare: str, tmp_path: Path) -> None:
    patients().write_csv(tmp_path / "t.csv")
    asked = job(rare, source={"path": str(tmp_path / "t.csv")}, **METHODS[name])
    release = dc.publish(None, asked)
    release.save(tmp_path / "release", accept_risk="test")
    alone = dc.audit(tmp_path / "release")
    assert alone.ok, alone.problems
    assert _stated(alone) == (rare != "suppress")
    compared = dc.audit(tmp_path / "release", original=asked)
    assert compared.ok, compared.problems
    assert not _stated(compared)
    manifest = json.loads((tmp_path / "release" / "manifest.json").read_text())
    shown = manifest["rare"]["attributes"]["diag"]
    lost = manifest["rare"]["suppressed_rows"]
    assert shown["least"] == 2
    assert (shown["masked"] + sum(shown["lifted"].values()), lost) == (
        (0, 3) if rare == "suppress" else (3, 0)
    )
    texts = "".join(path.read_text() for path in (tmp_path / "release").glob("*.csv"))
    assert not {"a2", "a3", "x"} & set(texts.replace("\n", ",").split(","))
    private = json.loads((tmp_path / "release.private.json").read_text())
    assert private["rare"]["attributes"]["diag"]["rare"] == 3
    spoken = "\n".join(explain(release.manifest))
    assert ("rows were suppressed because of rare" in spoken) == (rare == "suppress")
    untreated = job(None, source=asked.source, **METHODS[name])
    assert not dc.audit(tmp_path / "release", original=untreated).ok


def test_an_audit_with_the_original_finds_other_cells(tmp_path: Path) -> None:
    patients().write_csv(tmp_path / "t.csv")
    asked = job("mask", source={"path": str(tmp_path / "t.csv")})
    release = dc.publish(None, asked)
    task, manifest = release.task, release.manifest
    tables = dict(release.coded_tables())
    assert audit_tables(tables, manifest, task).ok
    # one more cell is masked, whose value others show: by the files alone it passes for a value
    records = tables["records"]
    column = records["diag"]
    star = column.text.to_list().index("*")
    codes = column.codes.copy()
    codes[int(np.flatnonzero(codes != star)[0])] = star
    changed = replace(records, columns={**records.columns, "diag": replace(column, codes=codes)})
    assert not audit_tables({"records": changed}, manifest, task).ok
    unstated = manifest.model_copy(update={"rare": None})
    alone = audit_tables(tables, unstated)
    assert any("is masked in part of" in problem for problem in alone.problems)
    assert not audit_tables(tables, unstated, task).ok


def test_a_treated_release_is_applied_to_no_other_rows(tmp_path: Path) -> None:
    patients().write_csv(tmp_path / "t.csv")
    asked = job("mask", source={"path": str(tmp_path / "t.csv")}, method="full-domain")
    dc.publish(None, asked).save(tmp_path / "release", accept_risk="test")
    others = patients(seed=7).with_columns(id="other" + pl.col("id"))
    with pytest.raises(InputError, match="may be rare in one batch"):
        dc.apply(tmp_path / "release", others, original=asked)


def test_rows_at_risk_have_their_numbers_in_the_source(tmp_path: Path) -> None:
    table = patients()
    table.write_csv(tmp_path / "t.csv")
    # no guarantee: each person is alone by age and sex, or their value is
    asked = job("suppress", source={"path": str(tmp_path / "t.csv")}, requirements=[])
    dc.publish(None, asked).save(tmp_path / "release", accept_risk="test")
    listed = pl.read_csv(tmp_path / "release.private.rows.csv")["row"].to_list()
    assert listed
    assert max(listed) > 117  # of 120 rows, of which three are gone
    assert not {4, 41, 78} & set(listed)  # counted from 1


def test_rows_that_too_few_persons_share() -> None:
    rng = np.random.default_rng(8)
    rows = 600
    odds = np.array([40, 30, 10, 6, 4, 3, 2, 2, 2, 1])
    names = ["a1", "b1", "c1", "a2", "b2", "a3", "b3", "c2", "c3", "c4"]
    table = pl.DataFrame(
        {
            "id": [str(number) for number in range(rows)],
            "age": rng.integers(20, 70, rows).astype(str),
            "sex": rng.choice(["f", "m"], rows),
            "diag": rng.choice(names, rows, p=odds / odds.sum()),
            "drug": rng.choice(["n", "u", "v", "w"], rows, p=[0.7, 0.2, 0.07, 0.03]),
        }
    )
    tree = {letter: [name for name in names if name[0] == letter.lower()] for letter in "ABC"}

    def treated(**keys: Any) -> Any:
        plain = job("auto", diag={"hierarchy": {"tree": tree}, **keys})
        attributes = {**plain.attributes, "drug": dc.Attribute(role="sensitive")}
        return prepare(dc.Job(attributes=attributes, method="mondrian"), table)

    def unique(task: Any) -> int:
        pairs = np.stack([task.table[name].codes for name in ("diag", "drug")], axis=1)
        return int((np.unique(pairs, axis=0, return_counts=True)[1] == 1).sum())

    assert unique(treated()) == 3
    few, none = treated(rare_rows=True), treated(rare_rows=True, masked_at_most=0.0)
    for task in (few, none):
        assert unique(task) == 0
    assert 0 < few.secrets.rare.rare_rows <= 0.05 * rows
    assert none.table.rows == rows  # lifted as far as it takes
    assert none.secrets.rare.attributes["diag"].lifted > few.secrets.rare.attributes["diag"].lifted


@pytest.mark.parametrize(
    ("method", "requirement"),
    [
        ("mondrian", {"distinct-l-diversity": {"l": 2}}),
        ("mondrian", {"p-diversity": {"l": 2}}),
        ({"anatomy": {"l": 2}}, None),
    ],
)
def test_one_rare_value_does_not_decide_the_groups(method: Any, requirement: Any) -> None:
    table = patients(400)
    parts = {"method": method, "requirements": [requirement] if requirement else []}
    usual = table.with_columns(diag=pl.col("diag").replace({"a2": "a1", "a3": "a1", "x": "b1"}))
    without = dc.publish(usual, job(None, **parts)).manifest.utility.classes
    treated = dc.publish(table, job("auto", **parts)).manifest.utility.classes
    assert without is not None
    assert treated is not None
    assert abs(treated - without) <= 0.05 * without


def test_one_rare_value_is_no_obstacle() -> None:
    table = patients(400)
    table = table.with_columns(drug=pl.Series(np.random.default_rng(8).choice([*"nuv"], 400)))

    def groups(rare: str | None, **requirement: Any) -> int:
        plain = job(rare, requirements=[requirement])
        attributes = {**plain.attributes, "drug": dc.Attribute(role="sensitive")}
        asked = dc.Job(attributes=attributes, requirements=[requirement], method="mondrian")
        return dc.publish(table, asked).manifest.utility.classes or 0

    jointly = {"multi-attribute-l-diversity": {"inner": {"distinct-l-diversity": {"l": 2}}}}
    with pytest.raises(InfeasibleError, match="reaches l = 1"):
        groups(None, **jointly)
    assert groups("auto", **jointly) > 5
    close = {"delta-disclosure": {"delta": 1.5}}  # each value of the table is in every group
    assert groups(None, **close) == 1
    assert groups("suppress", **close) > 5


@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_every_cell_is_safe(data: st.DataObject) -> None:
    """A naive derivation from source and treated table: who is behind each cell."""
    domain = ["a1", "a2", "a3", "b1", "b2", "c1", None]
    rows = data.draw(st.lists(st.sampled_from(domain), min_size=6, max_size=40))
    owner = data.draw(st.lists(st.integers(0, 30), min_size=len(rows), max_size=len(rows)))
    several = data.draw(st.booleans())
    least = data.draw(st.integers(2, 4))
    rare = data.draw(st.sampled_from(["auto", "lift", "mask", "suppress"]))
    together = data.draw(st.booleans())
    ids = owner if several else range(len(rows))
    table = pl.DataFrame(
        {"id": [str(number) for number in ids], "age": ["40"] * len(rows), "diag": rows},
        schema_overrides={"diag": pl.String},
    ).with_columns(sex=pl.lit("f"))
    asked = job(
        rare,
        diag={"masked_at_most": 1, "rare_rows": together, "hierarchy": {"tree": TREE}},
        requirements=[{"distinct-l-diversity": {"l": least}}],
        **({"person": {"column": "id", "rows": "keep"}} if several else {}),
    )
    try:
        task = prepare(asked, table)
    except InfeasibleError:
        return
    assert task.secrets.rare is not None
    kept = task.secrets.rare.rows.tolist()
    column = task.table["diag"]
    shown = [column.text[int(code)] for code in column.codes]
    source = [rows[row] for row in kept]
    person = [list(ids)[row] for row in kept]
    holders: dict[str | None, set[int]] = {}
    for value, own in zip(source, person, strict=True):
        holders.setdefault(value, set()).add(own)
    behind: dict[str | None, set[str | None]] = {}
    for cell, value in zip(shown, source, strict=True):
        behind.setdefault(cell, set()).add(value)
    for cell, values in behind.items():
        owners = set().union(*(holders[value] for value in values))
        assert len(owners) >= least
        if values == {cell}:
            continue
        assert cell not in holders  # no cell is taken for a value of the source
        assert len(values) >= least
        for value in values:
            count = len(holders[value])
            assert count >= least or count * least <= len(owners)
    assert sum(len(values) for values in behind.values()) == len(holders)  # one fate a value
    gone = [row for row in range(len(rows)) if row not in set(kept)]
    if gone and rare == "suppress" and not together:
        missing = {list(ids)[row] for row in gone}
        for value in {rows[row] for row in gone}:
            own = {list(ids)[row] for row in range(len(rows)) if rows[row] == value}
            assert len(own) >= least or len(own) * least <= len(missing)

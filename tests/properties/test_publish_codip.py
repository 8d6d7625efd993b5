"""Whatever codip publishes on any table keeps its promise, as derived from the files."""

from __future__ import annotations

import csv
import json
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests import naive
from tests.saving import UNATTACKED

import discreet as dc
from discreet.pipeline.run import make_release

QUASI = ["q", "zip", "n"]

TABLES = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "ü", 'x, "y"', ""]),
        st.sampled_from(["01", "02", "11"]),
        st.sampled_from(["1", "2", "8", "20", ""]),
        st.sampled_from(["flu", "hiv", "x=1", ""]),
        st.sampled_from(["1", "2", "5", "40"]),
        st.sampled_from(["", "f|g", "f", "g|f", "h", "?"]),
    ),
    min_size=1,
    max_size=40,
)
REQUIREMENTS = st.one_of(
    st.builds(lambda k: {"k-anonymity": {"k": k}}, st.integers(1, 5)),
    st.builds(lambda ell: {"distinct-l-diversity": {"l": ell}}, st.integers(1, 2)),
    st.builds(lambda ell: {"entropy-l-diversity": {"l": ell, "attribute": ["s", "v"]}},
              st.sampled_from([1, 1.5, 2])),
    st.builds(lambda t: {"t-closeness": {"t": t}}, st.sampled_from([0, 0.1, 0.25, 0.5])),
    st.builds(lambda ell: {"multi-attribute-l-diversity": {"l": ell}}, st.integers(1, 2)),
)  # fmt: skip
METHODS = st.fixed_dictionaries(
    {
        "plan": st.sampled_from(["greedy", "exhaustive"]),
        "alpha": st.sampled_from([0.4, 1.0]),
        "beta": st.sampled_from([0.0, 0.2, 0.6, 1.0]),
        "minimize": st.sampled_from(["loss", "discernibility", "entropy", "class-size", "height"]),
    },
    optional={
        "dm": st.sampled_from([30, 200, 1000]),
        "recoding": st.sampled_from(["full-domain", "mondrian"]),
        "insider": st.booleans(),
    },
)


def write(path: Path, rows: list[tuple[str, ...]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["name", *QUASI, "s", "v", "sets", "note"])
        for number, row in enumerate(rows):
            writer.writerow([f"person {number}", *row, f"note {number % 3}"])


def job_for(source: Path, requirements: list[dict], method: dict, spared: dict) -> dc.Job:
    return dc.Job(
        source={"path": str(source), "missing": ["?"]},
        attributes={
            "name": {"role": "identifier"},
            "q": {"role": "quasi-identifier", "hierarchy": "suppress"},
            "zip": {"role": "quasi-identifier", "hierarchy": {"mask": "right"}},
            "n": {
                "role": "quasi-identifier",
                "type": "integer",
                "hierarchy": {"intervals": [5, 10, "*"]},
            },
            "s": {"role": "sensitive"},
            "v": {"role": "sensitive", "type": "integer", **spared},
            "sets": {"role": "sensitive", "multi_valued": "|"},
            "note": {"role": "insensitive", "allow_identifying": True},
        },
        requirements=requirements,
        method={"codip": method},
    )


def sensitive_columns(rows: list[tuple[str, ...]]) -> dict[str, list[str]]:
    """The sensitive columns as they are to be published, bits for sets."""
    columns = {"s": [row[3] for row in rows], "v": [row[4] for row in rows]}
    sets = [None if row[5] == "?" else set(row[5].split("|")) - {""} for row in rows]
    for member in sorted({member for s in sets if s for member in s}):
        columns[f"sets={member}"] = ["" if s is None else str(int(member in s)) for s in sets]
    return columns


@given(
    rows=TABLES.filter(
        lambda rows: any(row[5] not in ("", "?") for row in rows) and any(r[4] == "1" for r in rows)
    ),
    requirements=st.lists(REQUIREMENTS, min_size=1, max_size=3),
    method=METHODS,
    spared=st.sampled_from([{}, {"non_sensitive_values": [1]}]),
    seed=st.integers(0, 5),
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
def test_every_promise_holds_in_the_files(rows, requirements, method, spared, seed):
    with tempfile.TemporaryDirectory() as folder:
        source, place = Path(folder) / "table.csv", Path(folder) / "release"
        write(source, rows)
        job = job_for(source, requirements, method, spared)
        try:
            make_release(None, job, seed=seed).save(place, **UNATTACKED)
        except dc.InfeasibleError as error:
            assert error.failures or "not all at once" in str(error)
            assert not place.exists()
            assume(False)
        manifest = naive.read_manifest(place)
        chosen = manifest["method"]
        plan = chosen["plan"]
        tables = [naive.read_csv(place / f"projection_{u + 1}.csv") for u in range(len(plan))]
        assert sorted(manifest["tables"]) == sorted(f"projection_{u + 1}" for u in range(len(plan)))
        columns = sensitive_columns(rows)

        # complete and disjoint, nobody lost, nothing invented
        assert sorted(name for block in plan for name in block) == sorted(columns)
        for number, (block, table) in enumerate(zip(plan, tables, strict=True)):
            note = ["note"] if number == 0 else []
            assert set(table[0]) == {*QUASI, *block, *note}
            published = Counter(tuple(row[name] for name in block) for row in table)
            original = Counter(zip(*(columns[name] for name in block), strict=True))
            assert published == original

        # the bounds
        sens = {"v": lambda value: value != "1"} if spared else {}
        facts = json.loads(place.with_name(f"{place.name}.private.json").read_text())["method"]
        assert facts["association_loss"] == pytest.approx(
            naive.association_loss_of(columns, plan), abs=1e-9
        )
        exposed = naive.exposure_of(columns, plan, sens)
        assert facts["information_exposure"] == pytest.approx(exposed, abs=1e-9)
        assert facts["association_loss"] <= method["alpha"] + 1e-9
        assert exposed <= method["beta"] + 1e-9

        # every table keeps every promise on its own
        grouped = [naive.classes(table, QUASI) for table in tables]
        for groups in grouped:
            size = sum(len(group) ** 2 for group in groups)
            assert size <= method.get("dm", size)
        worst = max(
            closeness(groups, name)
            for groups, block in zip(grouped, plan, strict=True)
            for name in block
        )
        assert chosen["closeness"] == pytest.approx(float(worst), abs=1e-9)
        assert all(promise["holds"] for promise in manifest["promises"])
        assert dc.audit(place, original=job).ok
        if spared:  # what is asked of sensitive values alone: requirements/test_non_sensitive.py
            return
        asked, added = (
            manifest["promises"][: len(requirements)], manifest["promises"][len(requirements) :]
        )  # fmt: skip
        for requirement, promise in zip(requirements, asked, strict=True):
            ((name, parameters),) = requirement.items()
            assert promise["requirement"] == name
            check_one(name, parameters, promise, grouped, plan)
        diverse = [
            r for r in requirements if {*r} & {"distinct-l-diversity", "entropy-l-diversity"}
        ]
        assert bool(added) == (bool(diverse) and method.get("insider", True))
        for requirement in diverse if added else ():
            if "distinct-l-diversity" in requirement:
                check_one("multi-attribute-l-diversity", requirement["distinct-l-diversity"], {},
                          grouped, plan)  # fmt: skip


def closeness(groups, name):
    measure = naive.t_ordered_of if name == "v" else naive.t_equal_of
    return measure(groups, name)


def check_one(name, parameters, promise, grouped, plan):
    pairs = list(zip(grouped, plan, strict=True))
    if name == "k-anonymity":
        found = min(naive.k_of(groups) for groups in grouped)
        assert found == promise["achieved"]["k"] >= parameters["k"]
    elif name == "distinct-l-diversity":
        found = min(naive.distinct_of(groups, a) for groups, block in pairs for a in block)
        assert found == promise["achieved"]["l"] >= parameters["l"]
    elif name == "entropy-l-diversity":
        found = min(
            naive.entropy_l_of(groups, a) for groups, block in pairs for a in block if a in "sv"
        )
        assert found == pytest.approx(promise["achieved"]["l"])
        assert found >= parameters["l"] - 1e-6
    elif name == "t-closeness":
        found = max(closeness(groups, a) for groups, block in pairs for a in block)
        assert float(found) == pytest.approx(promise["achieved"]["t"], abs=1e-9)
        assert float(found) <= parameters["t"] + 1e-6
    else:
        assert name == "multi-attribute-l-diversity"
        for groups, block in pairs:
            for attribute in block:
                found = naive.multi_attribute_distinct_of(groups, attribute, block)
                assert found >= parameters["l"]

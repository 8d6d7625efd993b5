"""A guarantee that excludes nothing is never chosen by default, and never without a warning."""

from __future__ import annotations

import json
import re

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.saving import UNATTACKED
from tests.tables import coded_table
from typer.testing import CliRunner

import discreet as dc
from discreet.cli.app import app
from discreet.requirements.base import Domain
from discreet.requirements.judge import vacuous_for
from discreet.requirements.registry import requirement_from_mapping
from discreet.table.counts import count_classes

FRAME = pl.DataFrame(
    {"age": [f"{20 + n}" for n in range(10)], "d": list("aaaaaaabcd"), "e": list("aabbccddee")}
)


def job(method, requirements=(), sensitive=("d",)):
    roles = {"age": {"role": "quasi-identifier", "type": "integer"}}
    roles |= {name: {"role": "sensitive"} for name in sensitive}
    return dc.Job(attributes=roles, requirements=list(requirements), method=method)


def frame(sensitive=("d",)):
    return FRAME.select("age", *sensitive)


NOTHING = [
    {"k-anonymity": {"k": 1}},
    {"distinct-l-diversity": {"l": 1}},
    {"entropy-l-diversity": {"l": 1}},
    {"recursive-cl-diversity": {"c": 0.1, "l": 1}},
    {"pd-recursive-cl-diversity": {"c": 0.1, "l": 2, "disclosable": ["a", "b", "c", "d"]}},
    {"npd-recursive-cl-diversity": {"c1": 1, "c2": 0, "l": 1}},
    {"p-diversity": {"l": 1}},
    {"m-diversity": {"l": 1}},
    {"multi-attribute-l-diversity": {"l": 1}},
    {"multi-attribute-l-diversity": {"inner": {"p-diversity": {"l": 1}}}},
    {"t-closeness": {"t": 1}},
    {"t-closeness": {"t": 0.9}},  # a class of the rarest value is no further away
    {"alpha-k-anonymity": {"alpha": 1, "k": 2}},
    {"beta-likeness": {"beta": 9}},  # the rarest value can be no more than 10 times as frequent
    {"sa-diversity": {"l": {"d": 1}}},
]
SOMETHING = [
    {"k-anonymity": {"k": 2}},
    {"distinct-l-diversity": {"l": 2}},
    {"entropy-l-diversity": {"l": 1.1}},
    {"recursive-cl-diversity": {"c": 100, "l": 2}},
    {"pd-recursive-cl-diversity": {"c": 100, "l": 2, "disclosable": ["a", "b", "c"]}},
    {"p-diversity": {"l": 1.1}},
    {"t-closeness": {"t": 0.89}},
    {"alpha-k-anonymity": {"alpha": 1, "k": 1, "value": "b"}},
    {"alpha-k-anonymity": {"alpha": 0.9, "k": 1}},
    {"beta-likeness": {"beta": 8.9}},
    {"delta-disclosure": {"delta": 100}},
]


@pytest.mark.parametrize("written", NOTHING, ids=str)
def test_what_excludes_nothing_is_published_with_a_warning(written, tmp_path):
    release = dc.publish(frame(), job("mondrian", [written]))
    place = release.save(tmp_path / "release", **UNATTACKED)
    promise = json.loads((place / "manifest.json").read_text())["promises"][0]
    assert promise["vacuous_for"] == ([""] if "k-anonymity" in written else ["d"])
    assert release.explanation[0].startswith("WARNING: ")
    assert "WARNING: " in (place / "report.html").read_text()
    audited = CliRunner().invoke(app, ["audit", str(place)])
    assert audited.exit_code == 0
    assert audited.output.splitlines()[1].startswith("WARNING: ")  # after the verdict


@pytest.mark.parametrize("written", SOMETHING[:3] + SOMETHING[5:7], ids=str)
def test_what_excludes_something_has_no_warning(written, tmp_path):
    release = dc.publish(frame(), job("mondrian", [written]))
    place = release.save(tmp_path / "release", **UNATTACKED)
    assert "vacuous_for" not in (place / "manifest.json").read_text()
    warnings = [sentence for sentence in release.explanation if "WARNING" in sentence]
    uncovered = "k-anonymity" in written  # which says nothing of 'd'
    assert len(warnings) == uncovered
    assert not uncovered or "no guarantee covers" in warnings[0]


@given(
    st.lists(st.sampled_from("aaab cd"), min_size=1, max_size=12),
    st.sampled_from(NOTHING[1:-1] + SOMETHING[1:]),
)
@settings(deadline=None, suppress_health_check=list(HealthCheck))
def test_it_excludes_nothing_exactly_if_the_original_satisfies_it(values, written):
    requirement = requirement_from_mapping(written)
    columns = {"q": [str(n) for n in range(len(values))], "d": values}
    table = coded_table(columns, "qs")
    counts = count_classes(table.classes, table.sensitive, refined=True)  # a class for each row
    domains = {"d": Domain(tuple(table["d"].text.to_list()))}
    raw = requirement.judge(counts, domains, "d").all()
    assert vacuous_for(requirement, counts, domains) == (("d",) if raw else ())


def test_a_conditional_floor_of_one_excludes_nothing():
    asked = [{"conditional-l-diversity": {"l": 1, "known": "e"}}]
    made = job({"decomposition": {"primary": "e", "l": {"d": 1}}}, asked, ("d", "e"))
    release = dc.publish(frame(("d", "e")), made)
    assert [one.vacuous_for for one in release.manifest.promises] == [["d"], ["d"]]


def test_no_method_takes_an_l_of_one_by_default():
    for method, sensitive in (("anatomy", ("d",)), ("decomposition", ("d", "e"))):
        with pytest.raises(dc.InfeasibleError, match="no l above 1 is feasible for it by default"):
            dc.publish(frame(sensitive), job(method, (), sensitive))


@pytest.mark.parametrize(
    ("method", "sensitive"),
    [({"anatomy": {"l": 1}}, ("d",)), ({"decomposition": {"l": {"d": 1}}}, ("d", "e")),
     ({"mmdcf": {"l": 1}}, ("d",))],
)  # fmt: skip
def test_an_l_of_one_that_is_asked_for_is_published_with_a_warning(method, sensitive):
    release = dc.publish(frame(sensitive), job(method, (), sensitive))
    assert release.explanation[0].startswith("WARNING: ")
    assert [one.vacuous_for for one in release.manifest.promises] == [["d"]]


def test_a_manifest_cannot_hide_that_a_promise_excludes_nothing(tmp_path):
    release = dc.publish(frame(), job({"anatomy": {"l": 1}}))
    place = release.save(tmp_path / "release", report=False, **UNATTACKED)
    file = place / "manifest.json"
    written = json.loads(file.read_text())
    del written["promises"][0]["vacuous_for"]
    file.write_text(json.dumps(written))
    assert not dc.audit(place).ok


CONSTANT = pl.DataFrame({"age": [str(n) for n in range(6)], "d": ["a"] * 6, "e": list("aabbcc")})
ASKED_OF_ONE_VALUE = [
    ({"anatomy": {"l": 2}}, ()),
    ({"decomposition": {"primary": "d", "l": {"d": 2}}}, ()),
    ("mondrian", [{"distinct-l-diversity": {"l": 2}}]),
    ("mondrian", [{"p-diversity": {"l": 2}}]),
    ("mondrian", [{"entropy-l-diversity": {"l": 2}}]),
    ("full-domain", [{"p-diversity": {"l": 2}}]),
    ("full-domain", [{"recursive-cl-diversity": {"c": 2, "l": 2}}]),
    ("local-recoding", [{"distinct-l-diversity": {"l": 2}}]),
    ("codip", [{"distinct-l-diversity": {"l": 2}}]),
    ("msa-diversity", [{"p-diversity": {"l": 2}}]),
    ({"gal": {"l": 2}}, ()),
    ({"li-ye": {"alpha_qi": 2, "alpha_sa": 2}}, ()),
    ({"mmdcf": {"l": 2}}, ()),
]


@pytest.mark.parametrize(("method", "requirements"), ASKED_OF_ONE_VALUE, ids=str)
def test_no_message_advises_what_excludes_nothing(method, requirements):
    with pytest.raises(dc.InfeasibleError) as caught:
        dc.publish(CONSTANT.select("age", "d"), job(method, requirements))
    assert not re.search(r"no more than that|at most 1\b|= 1 at most|smaller l", str(caught.value))
    assert all(failure["feasible"] == {} for failure in caught.value.failures)

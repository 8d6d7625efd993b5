"""Requirements as a job writes them, what they say, and what they find wrong."""

from __future__ import annotations

import json

import pytest
from pydantic import BaseModel, ValidationError

from discreet.errors import JobError
from discreet.requirements.base import Domain, Requirement
from discreet.requirements.closeness import TCloseness
from discreet.requirements.diversity import (
    DistinctLDiversity,
    EntropyLDiversity,
    NpdRecursiveClDiversity,
    PdRecursiveClDiversity,
    RecursiveClDiversity,
)
from discreet.requirements.k_anonymity import KAnonymity
from discreet.requirements.multi_attribute import MultiAttributeLDiversity
from discreet.requirements.quasi_sensitive import QsClDiversity, QsTCloseness
from discreet.requirements.registry import (
    PROMISED,
    REQUIREMENTS,
    AnyRequirement,
    requirement_from_mapping,
)
from discreet.requirements.value_bounds import AlphaKAnonymity
from discreet.table.roles import Distance


class Job(BaseModel):
    requirements: tuple[AnyRequirement, ...]


EXAMPLES: list[Requirement] = [
    KAnonymity(k=5),
    DistinctLDiversity(l=3),
    EntropyLDiversity(l=2.5, attribute="occupation"),
    RecursiveClDiversity(c=2, l=3),
    PdRecursiveClDiversity(c=2, l=3, disclosable=["flu", None]),
    NpdRecursiveClDiversity(c1=2, c2=0.1, l=3, disclosable=["flu"], not_ruled_out=["HIV"]),
    *(REQUIREMENTS[name](l=2) for name in ("p-diversity", "m-diversity")),
    MultiAttributeLDiversity(l=2, attribute=("a", "b")),
    MultiAttributeLDiversity(inner=EntropyLDiversity(l=3)),
    TCloseness(t=0.3),
    AlphaKAnonymity(alpha=0.5, k=3, value="HIV"),
    REQUIREMENTS["lkc-privacy"](l=3, k=5, c=0.5),
    REQUIREMENTS["km-anonymity"](k=5, m=2, attribute="purchases"),
    REQUIREMENTS["k-anonymity"](k=3, attackers={"a": ["age"], "b": {"any": 2, "knows": "ill"}}),
    REQUIREMENTS["delta-presence"](lower=0.1, upper=0.5),
    REQUIREMENTS["k-map"](k=11, by="weights"),
    REQUIREMENTS["population-risk"](at_most=0.09, of="average"),
    REQUIREMENTS["beta-likeness"](beta=1, enhanced=True),
    REQUIREMENTS["delta-disclosure"](delta=1.5),
    QsClDiversity(c=1, l=30, attribute="symptoms"),
    QsTCloseness(t=0.4, distance="l1", weights="prior"),
    REQUIREMENTS["sa-diversity"](l={"a": 2, "b": 3}),
    REQUIREMENTS["conditional-l-diversity"](l=2, reader="pair", known="a"),
]


def names(requirement: object) -> str:
    return requirement.name if isinstance(requirement, Requirement) else str(requirement)


@pytest.mark.parametrize("requirement", EXAMPLES, ids=names)
def test_written_and_read_back(requirement: Requirement) -> None:
    job = Job(requirements=(requirement,))
    written = json.loads(job.model_dump_json())
    assert written == {"requirements": [{requirement.name: requirement.parameters()}]}
    assert Job.model_validate(written) == job
    assert requirement_from_mapping(written["requirements"][0]) == requirement


def test_every_requirement_is_written_and_read_back() -> None:
    assert {requirement.name for requirement in EXAMPLES} == {
        name for name in REQUIREMENTS.built_in if name not in PROMISED
    }


def test_inner_model_as_the_job_writes_it() -> None:
    read = requirement_from_mapping(
        {"multi-attribute-l-diversity": {"inner": {"entropy-l-diversity": {"l": 3}}}}
    )
    assert read == MultiAttributeLDiversity(inner=EntropyLDiversity(l=3))
    assert read.parameters() == {"inner": {"entropy-l-diversity": {"l": 3.0}}}


def test_numbers_name_values_as_text() -> None:
    read = PdRecursiveClDiversity(c=1, l=2, disclosable=[7, "x"])
    assert read.disclosable == ("7", "x")


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ({"k-anonimity": {"k": 5}}, "no requirement 'k-anonimity'. Did you mean k-anonymity"),
        ({"zzz": {}}, "Known: k-anonymity, distinct-l-diversity"),
        ({"k-anonymity": {"k": 5}, "t-closeness": {"t": 1}}, "found 2 names"),
        ({}, "found an empty mapping"),
        (5, "found 5"),
        ("k-anonymity", "k-anonymity.k: Field required"),
        ({"k-anonymity": None}, "k-anonymity.k: Field required"),
        ({"k-anonymity": {"k": 0}}, "k-anonymity.k: Input should be greater than or equal to 1"),
        ({"k-anonymity": {"k": 5, "q": 1}}, "k-anonymity.q: Extra inputs are not permitted"),
        ({"delta-presence": {"lower": 0.5, "upper": 0.2}}, "'lower' must not exceed 'upper'"),
        ({"t-closeness": {"t": 1.5}}, "t-closeness.t: Input should be less than or equal to 1"),
        ({"entropy-l-diversity": {"l": float("inf")}}, "finite number"),
        ({"multi-attribute-l-diversity": {}}, "either 'l' (for distinct l-diversity) or 'inner'"),
        (
            {"multi-attribute-l-diversity": {"inner": {"t-closenes": {"t": 1}}}},
            "multi-attribute-l-diversity.inner: There is no diversity requirement 't-closenes'",
        ),
        (
            {"multi-attribute-l-diversity": {"inner": {"p-diversity": {"l": 0}}}},
            "multi-attribute-l-diversity.inner.p-diversity.l: Input should be greater",
        ),
        (
            {"multi-attribute-l-diversity": {"inner": {"p-diversity": {"l": 2, "attribute": "a"}}}},
            "give 'attribute' beside 'inner'",
        ),
    ],
    ids=str,
)
def test_errors_say_what_and_where(written: object, message: str) -> None:
    with pytest.raises(JobError) as caught:
        requirement_from_mapping(written)  # type: ignore[arg-type]
    assert message in str(caught.value)


def test_errors_in_a_job_keep_their_place() -> None:
    with pytest.raises(ValidationError) as caught:
        Job(requirements=[{"k-anonymity": {"k": 0}}, {"t-closness": {"t": 1}}, {"p-diversity": {}}])
    places = [error["loc"] for error in caught.value.errors()]
    assert places == [
        ("requirements", 0, "k-anonymity", "k"),
        ("requirements", 1),
        ("requirements", 2, "p-diversity", "l"),
    ]


def test_json_schema_has_one_alternative_for_each_name() -> None:
    schema = Job.model_json_schema()
    alternatives = schema["properties"]["requirements"]["items"]["oneOf"]
    assert [next(iter(one["properties"])) for one in alternatives] == [
        name for name in REQUIREMENTS.built_in if name not in PROMISED
    ]
    assert all(len(one["properties"]) == 1 == len(one["required"]) for one in alternatives)
    parameters = {name: one["properties"][name] for one in alternatives for name in one["required"]}
    k = parameters["k-anonymity"]
    assert k["properties"]["k"]["minimum"] == 1
    assert k["required"] == ["k"]
    assert "least number of rows" in k["properties"]["k"]["description"]
    inner = parameters["multi-attribute-l-diversity"]["properties"]["inner"]
    assert len(inner["anyOf"][0]["oneOf"]) == 7
    assert json.loads(json.dumps(schema)) == schema


DOMAINS = {
    "ill": Domain(("flu", "HIV", None)),
    "job": Domain(("cook", "lawyer"), Distance.HIERARCHICAL),
}


@pytest.mark.parametrize(
    ("requirement", "found"),
    [
        (DistinctLDiversity(l=2), []),
        (KAnonymity(k=2), []),
        (
            DistinctLDiversity(l=2, attribute=("ill", "jobb")),
            ["distinct-l-diversity: 'jobb' is not a sensitive attribute. Allowed: 'ill', 'job'."],
        ),
        (PdRecursiveClDiversity(c=1, l=2, disclosable=["flu", None, "cook"]), []),
        (PdRecursiveClDiversity(c=1, l=2, disclosable=["cook"], attribute="ill"), ["'cook'"]),
        (
            NpdRecursiveClDiversity(c1=1, c2=0, l=2, disclosable=["x"], not_ruled_out=["y"]),
            ["'x' in 'disclosable'", "'y' in 'not_ruled_out'"],
        ),
        (AlphaKAnonymity(alpha=1, k=1, value="x", attribute="ill"), ["'x' in 'value'"]),
        (TCloseness(t=0.1, attribute="ill"), []),
        (TCloseness(t=0.1), ["'job' has the hierarchical distance and no hierarchy"]),
        (MultiAttributeLDiversity(l=2, attribute="x"), ["'x' is not a sensitive attribute"]),
    ],
    ids=names,
)
def test_problems(requirement: Requirement, found: list[str]) -> None:
    problems = requirement.problems(DOMAINS)
    assert len(problems) == len(found)
    for problem, part in zip(problems, found, strict=True):
        assert part in problem
        assert problem.startswith(requirement.name)
        assert "HIV" not in problem


def test_a_table_without_sensitive_attributes_is_a_problem() -> None:
    assert "no attribute is sensitive" in DistinctLDiversity(l=2).problems({})[0]
    assert KAnonymity(k=2).problems({}) == []


@pytest.mark.parametrize("requirement", EXAMPLES, ids=names)
def test_sentences_are_sentences_and_name_no_value(requirement: Requirement) -> None:
    sentence = requirement.sentence()
    assert sentence[0].isupper()
    assert sentence.endswith(".")
    assert "HIV" not in sentence
    assert "flu" not in sentence

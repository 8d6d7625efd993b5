"""What requirements state, as data: ids and parameters, for people and for rows.

The words are in the snapshots of ``tests/statements``.
"""

from __future__ import annotations

import json
import re
from typing import ClassVar

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.requirements.test_catalog import EXAMPLES, names

import discreet as dc
from discreet.report import pieces
from discreet.requirements.attackers.attacker import SHOWN
from discreet.requirements.base import Requirement
from discreet.requirements.judge import stated as sentence_of
from discreet.requirements.registry import REQUIREMENTS
from discreet.requirements.republication import (
    MInvarianceRequirement,
    RhoDifference,
    SeriesBcfAnonymity,
    SeriesMInvariance,
    SeriesRhoDifference,
)
from discreet.statements import LANGUAGES, Statement, as_data, speaking, statement_data
from discreet.table.roles import Unit

SPARING = {"non_sensitive": ("none",)}
# Every form of every statement: singular, kinds, sensitive values alone, and so on.
FORMS: list[Requirement] = [
    *EXAMPLES,
    dc.KAnonymity(k=1),
    *(
        dc.DistinctLDiversity(l=ell, **level, **spared)
        for ell in (1, 3)
        for level in ({}, {"level": 2}, {"level": "block"})
        for spared in ({}, SPARING)
    ),
    dc.EntropyLDiversity(l=2, **SPARING),
    *(
        kind(c=0.5, l=ell)
        for kind in (dc.RecursiveClDiversity, dc.PdRecursiveClDiversity)
        for ell in (1, 2, 3, 5)
    ),
    dc.NpdRecursiveClDiversity(c1=1, c2=0.07, l=2),
    *(
        dc.PDiversity(l=2.5, **level, **spared)
        for level in ({}, {"level": 2})
        for spared in ({}, SPARING)
    ),
    dc.MDiversity(l=3, **SPARING),
    dc.TCloseness(t=0.2, **SPARING),
    dc.AlphaKAnonymity(alpha=0.07, k=2),
    dc.AlphaKAnonymity(alpha=0.07, k=2, **SPARING),
    *(dc.LkcPrivacy(l=ell, k=2, c=0.5, **spared) for ell in (1, 2) for spared in ({}, SPARING)),
    *(dc.KmAnonymity(k=k, m=m) for k in (1, 4) for m in (1, 2)),
    dc.DeltaPresence(upper=0.9),
    dc.KMap(k=1),
    dc.KMap(k=3, by="table"),
    dc.PopulationRisk(at_most=0.4),
    *(
        dc.BetaLikeness(beta=1, enhanced=enhanced, **spared)
        for enhanced in (False, True)
        for spared in ({}, SPARING)
    ),
    dc.DeltaDisclosure(delta=1, **SPARING),
    *(dc.QsClDiversity(c=1, l=ell) for ell in (1, 2, 3)),
    dc.QsTCloseness(t=0.3),
    dc.ConditionalLDiversity(l=2, known="diagnosis"),
    MInvarianceRequirement(m=2),
    MInvarianceRequirement(m=2, buckets="equal-multiplicity"),
    RhoDifference(rho=0.5),
    SeriesMInvariance(m=2),
    SeriesRhoDifference(rho=0.5),
    SeriesBcfAnonymity(k=2),
]
NASTY = [
    "reference person's income", "rows", "of 3 people", "{n}", "{n1}", "%s", "people", "person",
    "a 'b' c", "every sensitive attribute", "%d", "1,234.5", "{", "}", "{0!r}", "\\1", "„x“",
]  # fmt: skip


@pytest.mark.parametrize("requirement", FORMS, ids=names)
def test_a_guarantee_is_a_statement_about_people_and_about_rows(requirement: Requirement) -> None:
    people, rows = (sentence_of(requirement, unit) for unit in Unit)
    for stated in (people, rows):
        assert isinstance(stated, Statement)
        for language in LANGUAGES:
            text = stated.text(language)
            assert text[0].isupper() or text[0] in "„'l"
            assert text.endswith(".")
            assert not re.search(r"[{}<>]", text)
            assert language == "en" or text != str(stated)
    assert not re.search(r"\b(people|persons?)\b", rows)
    assert not re.search(r"\b(Person|Personen)\b", rows.text("de"))
    assert "kişi" not in rows.text("tr")


def _with_names(requirement: Requirement, name: str) -> Requirement | None:
    """The same requirement of an attribute with this name."""
    fields = type(requirement).model_fields
    if "attribute" in fields:
        return requirement.model_copy(update={"attribute": (name, "other")})
    if "known" in fields:
        return requirement.model_copy(update={"known": name})
    if requirement.name == "sa-diversity":
        return requirement.model_copy(update={"l": {name: 2, "other": 3}})
    return None


@settings(deadline=None)
@given(st.sampled_from(NASTY) | st.text(min_size=1))
@example("reference person's income")
def test_names_stay_as_they_are_in_every_guarantee_and_language(name: str) -> None:
    quoted = {"en": f"'{name}'", "de": f"„{name}“", "tr": f"'{name}'"}
    for requirement in FORMS:
        named = _with_names(requirement, name)
        if named is None:
            continue
        for unit in Unit:
            stated = sentence_of(named, unit)
            assert isinstance(stated, Statement)
            for language in LANGUAGES:
                assert quoted[language] in stated.text(language)


@settings(deadline=None)
@given(st.sampled_from(NASTY) | st.text(min_size=1))
def test_names_of_attackers_and_of_columns_that_they_know_stay(name: str) -> None:
    for knows in ({"columns": (name,)}, {"any": 1, "of": (name, "zip")}):
        known = {name: {**knows, "knows": (name,)}}
        requirement = REQUIREMENTS["k-anonymity"](k=3, attackers=known)
        for unit in Unit:
            stated = sentence_of(requirement, unit)
            assert isinstance(stated, Statement)
            for language in LANGUAGES:
                assert stated.text(language).count(name) >= 3


def test_ids_and_parameters() -> None:
    assert sentence_of(dc.KAnonymity(k=5), Unit.ROW).to_dict() == {
        "id": "k-anonymity.rows",
        "parameters": {"k": 5},
        "text": "Each row is in a group of at least 5 rows.",
    }
    stated = sentence_of(dc.DistinctLDiversity(l=3, attribute="ill", **SPARING))
    assert stated.id == "guarantee.exempt"
    inner = stated.parameters["guarantee"]
    assert (inner.id, inner.parameters["l"]) == ("distinct-l-diversity", 3)
    assert inner.parameters["group"].id == "group.sensitive.people"
    assert inner.parameters["subject"].parameters == {"names": ("ill",)}
    many = [f"c{number}" for number in range(SHOWN + 3)]
    stated = sentence_of(dc.KAnonymity(k=2, attackers={"clerk": many}))
    (attacker,) = stated.parameters["attackers"]
    assert attacker.id == "attacker.knows"
    assert attacker.parameters["columns"].parameters["more"] == 3
    assert json.loads(json.dumps(as_data(stated)))["id"] == "guarantee.attackers"


class Older(dc.KAnonymity):
    """A requirement of a plugin that states its guarantee about people, in English."""

    name: ClassVar[str] = "older"

    def sentence(self) -> str:  # type: ignore[override]
        return f"Each person has {self.k} others beside it."


def test_a_plain_sentence_of_a_plugin_stays_english_and_claims_nothing_about_people() -> None:
    older = Older(k=2)
    assert sentence_of(older) == "Each person has 2 others beside it."
    rows = sentence_of(older, Unit.ROW)
    assert rows.startswith("Each person has 2 others beside it. ")
    assert "judged on rows" in rows
    known = older.model_copy(
        update={"attackers": dc.KAnonymity(k=2, attackers={"a": ["b"]}).attackers}
    )
    for stated in (sentence_of(older), rows, sentence_of(known, Unit.ROW)):
        assert not isinstance(stated, Statement)
        assert statement_data(stated) == {"id": None, "parameters": {}, "text": stated}
        with speaking("de"):
            assert pieces.text(stated).startswith("<span lang='en'>")

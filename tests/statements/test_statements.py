"""Statements are data: ids and parameters go through the product, words appear at its edge.

``python -m tests.statements`` writes the snapshot of each language again. It is the one place
where the words of a statement are compared; every other test compares ids and parameters.
"""

from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.statements.snapshots import fields, place, samples_of, snapshot

from discreet.report import pieces
from discreet.statements import LANGUAGES, Statement, as_data, speaking, templates


def test_every_statement_is_in_every_language_with_the_same_parameters():
    english = templates("en")
    for language in LANGUAGES:
        assert list(templates(language)) == list(english)
        for id, template in templates(language).items():
            assert fields(template) == fields(english[id]), (language, id)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_words_of_a_language_are_those_of_its_snapshot(language):
    assert snapshot(language) == place(language).read_text(encoding="utf-8")


def test_numbers_have_the_form_of_the_language():
    statement = Statement("population.households", households=1234, average=0.125, maximum=1.0)
    assert "1,234 households: with 12.50% on average" in statement
    assert "1.234 Haushalten: im Mittel mit 12,50\u00a0%" in statement.text("de")
    assert "%12,50" in statement.text("tr")


def test_a_statement_is_plain_data_and_survives_a_copy():
    part = Statement("population.source.table")
    statement = Statement(
        "population.risk", persons=10.0, source=part, average=0.1, maximum=0.5, rows=3,
        threshold=0.09, smallest=2.0,
    )  # fmt: skip
    for same in (pickle.loads(pickle.dumps(statement)), copy.deepcopy(statement)):
        assert (same, same.id, same.parameters) == (statement, statement.id, statement.parameters)
    data = as_data({"said": [statement]})["said"][0]
    assert data["id"] == "population.risk" and data["text"] == str(statement)
    assert data["parameters"]["source"]["id"] == "population.source.table"


def test_a_parameter_without_a_place_and_a_place_without_a_parameter_are_errors():
    with pytest.raises(KeyError):
        Statement("population.source.table", rows=3)
    with pytest.raises(KeyError):
        Statement("population.households", households=3, average=0.5)


@given(st.text(min_size=1))
def test_names_stay_as_they_are_in_every_language(name):
    for language in LANGUAGES:
        written = Statement("verdict.guessed-roles", columns=(name, "b")).text(language)
        assert name in written
        with speaking(language):
            assert pieces.exact(name) in pieces.text(
                Statement("verdict.guessed-roles", columns=(name,))
            )


@pytest.mark.parametrize(
    "name", ["reference person's income", "rows", "of 3 people", "{n}", "%s", "people", "{0!r}"]
)
def test_no_template_changes_a_name(name):
    for id, template in templates("en").items():
        samples = {
            place: (name,) if isinstance(sample, tuple) else name
            for place, sample in samples_of(template).items()
            if isinstance(sample, str | tuple)
        }
        statement = Statement(id, **(samples_of(template) | samples))
        for language in LANGUAGES:
            assert statement.text(language).count(name) >= len(samples), (id, language)

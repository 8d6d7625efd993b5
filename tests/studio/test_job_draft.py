"""The job that pages edit: random edits do what they say, and nothing changes silently."""

from __future__ import annotations

import json
import os
import random
from typing import Any

import pytest

from discreet.addons.studio.answers import RefusedError
from discreet.addons.studio.job_draft import JobDraft

EDITS = int(os.environ.get("DISCREET_STUDIO_EDITS", "10000"))
ROLES = (
    "identifier", "quasi-identifier", "sensitive", "unchanged", "drop", "weight", "household",
)  # fmt: skip
HIDDEN = ("identifier", "household", "drop")
COLUMNS: dict[str, dict[str, str]] = {
    "id": {}, "name": {}, "age": {"type": "integer"},
    "born": {"type": "date", "format": "%d.%m.%Y"}, "town": {}, "illness": {}, "drug": {},
}  # fmt: skip
PROPOSED = {
    "attributes": {
        "id": {"role": "identifier"},
        "name": {"role": "drop"},
        "age": {"role": "quasi-identifier", "type": "integer", "hierarchy": {"intervals": [5]}},
        "born": {"role": "drop"},
        "town": {"role": "quasi-identifier", "hierarchy": "automatic"},
        "illness": {"role": "sensitive", "non_sensitive_values": ["none"]},
        "drug": {"role": "sensitive"},
    },
    "requirements": [{"k-anonymity": {"k": 5}}],
    "unconfirmed": ["name", "town", "drug"],
}


def draft() -> JobDraft:
    return JobDraft(COLUMNS, PROPOSED)


def random_edit(rng: random.Random) -> dict[str, Any]:
    names = rng.sample(list(COLUMNS), rng.choice((1, 1, 1, 2, 4)))
    return rng.choice([
        {"columns": names, "role": rng.choice(ROLES)},
        {"columns": names, "role": rng.choice(ROLES[:5])},
        {"columns": names, "type": rng.choice(("text", "integer", "number", "date"))},
        {"columns": names, "confirm": True},
        {"columns": names, "collapse": rng.choice(("first", "most-frequent", "max", None))},
        {"columns": names[:1], "harmless": rng.sample(["none", "no", "0"], rng.randrange(3))},
        {"person": None},
        {"person": {"column": names[:1], "rows": rng.choice(("one", "collapse", "keep"))}},
        {"unit": rng.choice(("rows", None))},
        {"secret": names, "stated": rng.random() < 0.6},
    ])  # fmt: skip


def after(job: dict[str, Any], edit: dict[str, Any]) -> dict[str, Any] | None:
    """What a person expects an edit to have done, where nothing else speaks: None if refused."""
    attributes = job["attributes"]
    collapsing = job.get("person", {}).get("rows", "one") == "collapse"
    names = edit.get("columns", [])
    hidden = [name for name in names if attributes[name]["role"] in HIDDEN]
    if ("type" in edit and hidden) or ("collapse" in edit and (hidden or not collapsing)):
        return None
    if "harmless" in edit and any(attributes[name]["role"] != "sensitive" for name in names):
        return None
    if "person" in edit:
        return {"person": edit["person"]}
    return dict(edit)


def test_random_edits_do_what_they_say_and_report_what_else_they_do() -> None:
    rng = random.Random(40)
    edited = draft()
    refused = 0
    for number in range(EDITS):
        before, revision, edit = edited.job, edited.revision, random_edit(rng)
        expected = after(before, edit)
        try:
            edited.edit(revision, [edit])
        except RefusedError:
            refused += 1
            assert expected is None, edit
            assert edited.job == before and edited.revision == revision
            continue
        assert expected is not None, (number, edit)
        job, also = edited.job, {one["what"] for one in edited.also}
        assert edited.revision == revision + 1
        check(before, job, edit, also)
    assert 0.05 < refused / EDITS < 0.6


def check(
    before: dict[str, Any], job: dict[str, Any], edit: dict[str, Any], also: set[str]
) -> None:
    attributes, named = job["attributes"], edit.get("columns", [])
    # the edit is done
    for name in named:
        if "role" in edit:
            assert attributes[name]["role"] == edit["role"]
        elif "harmless" in edit:
            values = attributes[name].get("non_sensitive_values", [])
            assert values == edit["harmless"]
        elif "confirm" not in edit:
            (key,) = set(edit) - {"columns"}
            assert attributes[name].get(key) == edit[key]
    if "person" in edit:
        assert job.get("person") == edit["person"]
    # every other key of every other column is as before, or the answer says why
    for name, attribute in attributes.items():
        old = dict(before["attributes"][name])
        if name in named or attribute == old:
            continue
        differing = {key for key in {*old, *attribute} if old.get(key) != attribute.get(key)}
        if differing == {"collapse"}:
            assert "rules-removed" in also or job["person"]["rows"] == "collapse"
        else:
            assert "became-identifier" in also and attribute == {"role": "identifier"}
    if before.get("person") != job.get("person") and "person" not in edit:
        assert "person-removed" in also
    if before.get("unit") != job.get("unit") and "unit" not in edit:
        assert "unit-removed" in also
    if before.get("secrets") != job.get("secrets") and "secret" not in edit:
        assert "secret-removed" in also
    assert job["requirements"] == before["requirements"]
    # what was decided is no guess any more, and nothing else is decided
    decided = set(named) if {"role", "confirm"} & set(edit) else set()
    assert job.get("unconfirmed", []) == [
        name for name in before.get("unconfirmed", []) if name not in decided
    ]
    # and the whole makes sense
    collapsing = job.get("person", {}).get("rows") == "collapse"
    for attribute in attributes.values():
        if attribute["role"] in HIDDEN:
            assert set(attribute) == {"role"}
        assert collapsing or "collapse" not in attribute
    for name in job.get("person", {}).get("column", []):
        assert attributes[name]["role"] == "identifier"
    for secret in job.get("secrets", []):
        assert secret


@pytest.mark.parametrize("role", ["drop", "sensitive", "unchanged", "identifier", "weight"])
def test_a_role_and_back_is_the_job_as_it_was(role: str) -> None:
    edited = draft()
    edited.edit(None, [{"person": {"column": ["id"], "rows": "collapse"}}])
    edited.edit(None, [{"columns": ["age", "town"], "collapse": "most-frequent"}])
    before = edited.job
    for name in ("age", "town", "illness"):
        was = before["attributes"][name]["role"]
        edited.edit(None, [{"columns": [name], "role": role}])
        if role not in HIDDEN and name != "illness":
            assert edited.job["attributes"][name]["collapse"] == "most-frequent"
        edited.edit(None, [{"columns": [name], "role": was}])
    assert edited.job == {**before, "unconfirmed": ["name", "drug"]}  # 'town' was decided


def test_a_type_follows_its_column_into_every_role() -> None:
    edited = draft()
    edited.edit(None, [{"columns": ["born"], "role": "unchanged"}])
    assert edited.job["attributes"]["born"] == {
        "role": "unchanged", "type": "date", "format": "%d.%m.%Y",
    }  # fmt: skip
    edited.edit(None, [{"columns": ["age"], "type": "number"}])
    edited.edit(None, [{"columns": ["age"], "role": "drop"}])
    edited.edit(None, [{"columns": ["age"], "role": "sensitive"}])
    assert edited.job["attributes"]["age"]["type"] == "number"


def test_an_edit_of_an_older_revision_is_refused_and_changes_nothing() -> None:
    edited = draft()
    edited.edit(1, [{"columns": ["town"], "role": "drop"}])
    before = edited.job
    with pytest.raises(RefusedError) as found:
        edited.edit(1, [{"columns": ["age"], "role": "drop"}])
    assert found.value.status == 409 and edited.job == before
    with pytest.raises(RefusedError):
        edited.at(1)


def test_several_edits_are_made_together_or_not_at_all() -> None:
    edited = draft()
    before = json.dumps(edited.job)
    with pytest.raises(RefusedError):
        edited.edit(
            1, [{"columns": ["town"], "role": "drop"}, {"columns": ["town"], "type": "date"}]
        )
    assert json.dumps(edited.job) == before and edited.revision == 1


@pytest.mark.parametrize(
    "edit",
    [
        {}, {"columns": []}, {"columns": "age", "role": "drop"}, {"columns": ["x"], "role": "drop"},
        {"columns": ["age"], "role": "king"}, {"columns": ["age"], "role": None}, {"job": 3},
        {"columns": ["age"], "type": ["date"]}, {"columns": ["illness"], "harmless": [3]},
        {"columns": [["age"]], "role": "drop"}, {"job": {"attributes": [1]}}, {"person": 3},
        {"job": {"attributes": {"a": 3}}}, {"job": {"attributes": {"a": {"role": []}}}},
        {"job": {"requirements": 3}}, {"job": {"person": {"column": 3}}}, {"secret": "age"},
        {"person": {"column": ["nobody"]}}, {"person": {}}, {"reset": "yes"},
        {"columns": ["age"], "confirm": 1}, {"job": {"unconfirmed": "age"}},
    ],
)  # fmt: skip
def test_an_edit_that_means_nothing_is_refused(edit: dict[str, Any]) -> None:
    edited = draft()
    with pytest.raises(RefusedError) as found:
        edited.edit(None, [edit])
    assert found.value.status == 422
    assert edited.job == draft().job and edited.revision == 1

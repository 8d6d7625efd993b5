"""Edits of a job in memory and of the text of its file say the same."""

from __future__ import annotations

import pytest

from discreet.errors import InputError
from discreet.job.edits import REMOVED, Edit, edited_job, edited_text
from discreet.job.model import Job

FLOW = """\
# head
source: {path: people.csv}
attributes:
  id: {role: identifier}  # a number
  age: {role: quasi-identifier, type: integer, hierarchy: {intervals: [5, 10]}}  # known to many
  2020: {role: unchanged}   # a year
  ward: {role: unchanged, type: text}
  disease: {role: sensitive}
requirements:   # all must hold
  - k-anonymity: {k: 5}   # groups
  - distinct-l-diversity: {l: 2}
method: {mondrian: {}}   # the usual one
output: {path: release}
# tail
"""
BLOCK = """\
source:
  path: people.csv
attributes:
  id:
    role: identifier
  age:
    # known to many
    role: quasi-identifier
    type: integer   # whole years
    hierarchy:
      intervals: [5, 10]
  2020:
    role: insensitive
  ward:
    role: unchanged
    type: text
  disease:
    role: sensitive
requirements:
- k-anonymity:
    k: 5
- distinct-l-diversity: {l: 2}
method: mondrian
"""
DROPPED = [
    Edit(("attributes", "ward", "role"), "drop"),
    Edit(("attributes", "ward", "type"), REMOVED),
]
CASES = [
    DROPPED,
    [Edit(("attributes", "2020", "role"), "quasi-identifier")],
    [Edit(("attributes", "disease", "non_sensitive_values"), ["no: none", None, "7"])],
    [Edit(("requirements", 0, "k-anonymity", "k"), 10)],
    [Edit(("requirements", 2), {"p-diversity": {"attribute": ["disease"], "l": 2}})],
    [Edit(("method",), {"local-recoding": {"effort": "quick"}})],
    [
        Edit(("attributes", "age", "role"), "drop"),
        Edit(("attributes", "age", "hierarchy"), REMOVED),
        Edit(("attributes", "age", "type"), REMOVED),
        *DROPPED,
        Edit(("requirements", 2), {"p-diversity": {"l": 2}}),
        Edit(("requirements", 0, "k-anonymity", "k"), 7),
        Edit(("method",), {"mondrian": {"cuts": "relaxed"}}),
    ],
]


@pytest.mark.parametrize("edits", CASES)
@pytest.mark.parametrize("text", [FLOW, BLOCK], ids=["flow", "block"])
def test_the_text_says_what_the_edited_job_says(text, edits):
    changed = edited_text(text, edits)
    assert Job.parse(changed).model_dump() == edited_job(Job.parse(text), edits).model_dump()
    assert Job.parse(changed).model_dump() != Job.parse(text).model_dump()


def test_comments_order_and_other_lines_stay_and_what_was_is_said_above():
    changed = edited_text(FLOW, CASES[-1])
    assert changed.startswith("# head\n")
    assert changed.endswith("# tail\n")
    for comment in ("# a number", "# known to many", "# a year", "# groups", "# the usual one"):
        assert changed.count(comment) == 1
    assert (
        "  # before discreet repair: {role: unchanged, type: text}\n  ward: {role: drop}\n"
        in changed
    )
    untouched = [line for line in FLOW.splitlines() if line.split(":")[0].strip() in ("id", "2020")]
    assert [line for line in changed.splitlines() if line in untouched] == untouched
    assert list(Job.parse(changed).attributes) == list(Job.parse(FLOW).attributes)


def test_a_comment_within_a_block_stays():
    changed = edited_text(BLOCK, [Edit(("attributes", "age", "importance"), 2.0)])
    assert "    # known to many\n" in changed
    assert "type: integer   # whole years\n" in changed
    assert Job.parse(changed).attributes["age"].importance == 2


def test_an_edit_that_would_change_an_alias_as_well_is_refused():
    text = FLOW.replace("{role: unchanged}   # a year", "&kept {role: unchanged}").replace(
        "{role: unchanged, type: text}", "*kept"
    )
    with pytest.raises(InputError, match="by hand"):
        edited_text(text, [Edit(("attributes", "2020", "role"), "drop")])
    with pytest.raises(InputError, match="by hand"):
        edited_text(text, [Edit(("attributes", "ward", "role"), "drop")])


def test_a_job_without_requirements_gets_the_key():
    text = "attributes:\n  age: {role: quasi-identifier}\n  sick: {role: sensitive}"
    edits = [Edit(("requirements", 0), {"k-anonymity": {"k": 3}})]
    changed = edited_text(text, edits)
    assert [one.name for one in Job.parse(changed).requirements] == ["k-anonymity"]

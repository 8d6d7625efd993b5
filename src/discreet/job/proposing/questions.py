"""The eight questions of ``discreet init --ask``, whose answers make a job.

An answer is a line: names of columns with commas between them, one of the offered words, or nothing
for the proposed answer. Answers may come from a file; where it ends, the proposed ones count.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from discreet.errors import InputError
from discreet.job.proposing.presets import PRESETS, Plan, Preset, requirements_for
from discreet.job.proposing.role_judgement import Proposal, suggest_person
from discreet.job.proposing.vocabulary import Meaning
from discreet.listing import nearest_column
from discreet.statements import Statement
from discreet.table.coded_table import CodedTable, Column
from discreet.table.roles import Role

NONE = "none"
RECEIVERS = ("public", "research", "internal")
CERTAINTY = {"half": 2, "third": 3, "quarter": 4, "any": 1}

Ask = Callable[[str, str], str | None]  # the question, the proposed answer → a line, or None


class Question(NamedTuple):
    """A question, and the answers that it takes."""

    text: str
    words: tuple[str, ...] = ()  # instead of names of columns


QUESTIONS: dict[str, Question] = {
    "person": Question("1/8 Which column identifies a person? (none: every row is another person)"),
    "known": Question("2/8 What may a neighbour, colleague or register know of a person?"),
    "secret": Question("3/8 What must stay secret?"),
    "gone": Question("4/8 Which columns must not be published at all?"),
    "receiver": Question("5/8 Who receives it? (public, research, internal)", RECEIVERS),
    "certainty": Question(
        "6/8 How sure may a receiver become of one person's secret? (half, third, quarter, any)",
        tuple(CERTAINTY),
    ),
    "exact": Question(
        "7/8 How exact must values be? (fine: as exact as each group allows; even: equally coarse "
        "in all rows, easier to tabulate)",
        ("fine", "even"),
    ),
    "attacks": Question("8/8 Attack the release before it appears? (yes, no)", ("yes", "no")),
}


def ask_plan(
    table: CodedTable, roles: Mapping[str, Proposal], ask: Ask, tell: Callable[[str], object]
) -> tuple[Plan, Column | None]:
    """Ask all questions; return what the job is to contain, and the column of persons."""
    columns = list(table)
    proposed = _proposed(columns, roles)
    names = [column.name for column in columns]
    answers = {key: _answer(key, proposed[key], names, ask, tell) for key in QUESTIONS}
    person = _names(answers["person"])
    chosen = _chosen(answers, names, roles)
    preset = PRESETS[answers["receiver"]]
    assert preset is not None
    requirements = _requirements(preset, CERTAINTY[answers["certainty"]], columns, chosen, tell)
    even = {"full-domain": {"suppression": 0.05}}
    plan = Plan(
        chosen,
        requirements,
        {"mondrian": {}} if answers["exact"] == "fine" else even,
        {},
        answers["attacks"] == "yes",
        [f"Receiver: {answers['receiver']}."],
    )
    return plan, table[person[0]] if person else None


def _proposed(columns: Sequence[Column], roles: Mapping[str, Proposal]) -> dict[str, str]:
    def with_role(*wanted: Role) -> str:
        return ", ".join(name for name, one in roles.items() if one.role in wanted) or NONE

    person = suggest_person(columns, roles)
    keys = [name for name, one in roles.items() if one.meaning is Meaning.PERSON_KEY]
    named = person.name if person is not None else next(iter(keys), NONE)
    gone = [
        name
        for name, one in roles.items()
        if one.role in (Role.DROP, Role.IDENTIFIER) and name != named
    ]
    return {
        "person": named,
        "known": with_role(Role.QUASI_IDENTIFIER),
        "secret": with_role(Role.SENSITIVE),
        "gone": ", ".join(gone) or NONE,
        "receiver": "research",
        "certainty": "any",
        "exact": "fine",
        "attacks": "no",
    }


def _answer(
    key: str, proposed: str, names: Sequence[str], ask: Ask, tell: Callable[[str], object]
) -> str:
    """Return a valid answer; a wrong one is asked for again."""
    for _ in range(3):
        answer = ask(QUESTIONS[key].text, proposed)
        line = (answer or "").strip() or proposed
        problem = _problem(key, line, names)
        if problem is None:
            return line
        tell(problem)
    raise InputError(f"init --ask: {QUESTIONS[key].text} {problem}")


def _problem(key: str, line: str, names: Sequence[str]) -> str | None:
    words = QUESTIONS[key].words
    if words:
        return None if line in words else f"'{line}' is not one of {', '.join(words)}."
    unknown = [name for name in _names(line) if name not in names]
    if unknown:
        return f"There is no column '{unknown[0]}'. {nearest_column(unknown[0], names)}"
    if key == "person" and len(_names(line)) > 1:
        return "Name one column. Several that name a person together go into the job by hand."
    return None


def _names(line: str) -> list[str]:
    return [] if line == NONE else [name.strip() for name in line.split(",") if name.strip()]


_BY_ANSWER = {
    "person": Role.IDENTIFIER,
    "known": Role.QUASI_IDENTIFIER,
    "secret": Role.SENSITIVE,
    "gone": Role.DROP,
}


def _chosen(
    answers: Mapping[str, str], names: Sequence[str], roles: Mapping[str, Proposal]
) -> dict[str, Proposal]:
    """The role of each column by the answers.

    Columns in none of them are not published, unless they are proposed as unchanged, as the weight
    or as the household.
    """
    chosen: dict[str, Role] = {}
    for key, role in _BY_ANSWER.items():
        for name in _names(answers[key]):
            if chosen.setdefault(name, role) is not role:
                raise InputError(
                    f"init --ask: '{name}' is in two answers, as {chosen[name]} and as {role}. "
                    "Give it one."
                )
    for name in names:
        role = roles[name].role
        stays = role in (Role.WEIGHT, Role.HOUSEHOLD, Role.INSENSITIVE)
        chosen.setdefault(name, role if stays else Role.DROP)
    return {
        name: roles[name]
        if roles[name].role is chosen[name]
        else replace(
            roles[name],
            role=chosen[name],
            reason=Statement("because.answer"),
            confidence="high",
        )
        for name in names
    }


def _requirements(
    preset: Preset,
    ell: int,
    columns: Sequence[Column],
    roles: Mapping[str, Proposal],
    tell: Callable[[str], object],
) -> list[Mapping[str, Any]]:
    """The receiver's requirements, and a bound on an attacker's certainty where one is feasible."""
    requirements = requirements_for(preset, columns, roles)
    if ell == 1:
        return requirements
    for column in columns:
        if roles[column.name].role is not Role.SENSITIVE:
            continue
        share = float(column.counts.max()) / max(float(column.counts.sum()), 1)
        if share * ell <= 1:
            asked = {"l": ell, "attribute": column.name}
            requirements.append({"p-diversity": asked})
        else:
            feasible = int(np.floor(1 / share)) if share else 1
            tell(
                f"'{column.name}': one value fills {share:.0%} of the rows, so nobody can be kept "
                f"below 1/{ell}"
                + (f"; 1/{feasible} is asked for." if feasible > 1 else "; only different values.")
            )
            if feasible > 1:
                requirements.append({"p-diversity": {"l": feasible, "attribute": column.name}})
    return requirements

"""A release in sentences, for the person who must sign for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from discreet.releases.manifest import Manifest, Promise, ReaderFinding
from discreet.releases.registry import kind_of
from discreet.releases.wording import of_unit
from discreet.table.persons import CollapseRule, Scope
from discreet.table.published import PERSON
from discreet.table.roles import Role, Unit

PRIVATE = "For the publisher only (not in the release):"


def explain(manifest: Manifest) -> list[str]:
    """Return what was published, what was done to it, and what it guarantees."""
    return [
        *warnings(manifest.promises),
        *uncovered(manifest),
        published(manifest),
        *collapsed(manifest),
        *treatment(manifest),
        *_promises(manifest),
        *readers(manifest),
    ]


def explain_privately(manifest: Manifest, private: Mapping[str, Any]) -> list[str]:
    """Return what only the publisher may know, in sentences: figures against the original."""
    facts, utility = private.get("method", {}), private.get("utility", {})
    found = [
        *_persons(private.get("persons")),
        *private.get("stricter", []),
        *_unstated(manifest, private.get("promises", [])),
        *manifest.method.private_sentences(facts, utility),
        *worth(manifest, facts, utility),
    ]
    return [PRIVATE, *found] if found else []


def uncovered(manifest: Manifest) -> list[str]:
    """Return a warning where no guarantee covers a published sensitive attribute."""
    names = [name for name, covering in manifest.coverage.items() if not covering]
    if not names:
        return []
    return [
        f"WARNING: no guarantee covers {', '.join(repr(name) for name in names)}. An "
        "attacker who finds a target's group may learn the value."
    ]


def warnings(promises: Sequence[Promise]) -> list[str]:
    """Return a warning for each guarantee that excludes nothing."""
    return [f"WARNING: {one.warning}" for one in promises if one.warning is not None]


def treatment(manifest: Manifest) -> list[str]:
    """Return what was done to each column."""
    return [
        *_columns(manifest),
        *_sets(manifest),
        *kind_of(manifest.kind).sentences(manifest),
        *manifest.method.sentences(),
    ]


def readers(manifest: Manifest) -> list[str]:
    """Return what attackers learn beyond the guarantees."""
    return [*reader_sentences(manifest.readers), *uncomputed(manifest, manifest.readers)]


def people_of_rows(manifest: Manifest, private: Mapping[str, Any]) -> str:
    """Return " of 71,518 people", for the publisher, where a person may have several rows."""
    counts = private.get("persons")
    return f" of {counts['persons']:,} people" if manifest.keeps_rows and counts else ""


def published(manifest: Manifest, people: str = "") -> str:
    """Return how many rows were published, where, and how many were suppressed."""
    source, published = manifest.source_rows, manifest.published_rows
    gone = manifest.suppressed_rows
    *others, last = (f"'{name}'" for name in manifest.tables)
    tables = f"{', '.join(others)} and {last}" if others else last
    share = f"{gone / source:.1%}" if source else "0 %"
    tail = "no row was suppressed" if gone == 0 else f"{gone:,} ({share}) were suppressed"
    return (
        f"{published:,} of {source:,} rows{people} were published in {tables} by the method "
        f"'{manifest.method.name}'; {tail}."
    )


def collapsed(manifest: Manifest) -> list[str]:
    """How the rows of a person became one."""
    person = manifest.person
    if person is None:
        return []
    if person.rows == "one":
        return ["Each row is one person."]
    if person.rows == "keep":
        return [_kept(manifest)]
    by_rule: dict[CollapseRule, list[str]] = {}
    for name, rule in person.rules.items():
        by_rule.setdefault(rule, []).append(name)
    listed = "; ".join(f"{_RULES[rule]}: {', '.join(names)}" for rule, names in by_rule.items())
    count = f" '{person.count}' is the number of rows of the person." if person.count else ""
    return [
        f"Each row is one person, whose rows in the source were reduced to one. {listed}.{count}"
    ]


def _kept(manifest: Manifest) -> str:
    """How several rows of a person are published."""
    keeping = manifest.keeping
    if not kind_of(manifest.kind).makes_alike:
        return (
            "A person may have several rows, all in one group, and counts once for each value of "
            "the group; the guarantees count persons."
        )
    if keeping.scope is Scope.ROWS:
        return (
            "A person may have several rows, in one or several groups; the guarantees count the "
            "persons of each group."
        )
    said = "A person may have several rows, and all of them carry the cells of the person's group"
    if not keeping.numbered:
        return f"{said}; the guarantees count persons."
    most = "" if keeping.at_most is None else f" No person has more than {keeping.at_most} rows."
    return (
        f"{said} and the person's random number in '{PERSON}', which is new in every release. The "
        "number of a person's rows is visible, so it counts as a quasi-identifier: a group is of "
        f"persons with equally many rows. The guarantees count persons.{most}"
    )


_RULES = {
    CollapseRule.SET: "The set of all values",
    CollapseRule.CONSTANT: "The same value in all rows",
    CollapseRule.FIRST: "The first value",
    CollapseRule.LAST: "The last value",
    CollapseRule.MOST_FREQUENT: "The most frequent value",
    CollapseRule.MIN: "The least value",
    CollapseRule.MAX: "The greatest value",
    CollapseRule.SUM: "The sum",
    CollapseRule.MEAN: "The mean",
    CollapseRule.COUNT: "The number of values",
}


def _persons(counts: Mapping[str, int] | None) -> list[str]:
    """Return how many rows of how many persons the source has."""
    if counts is None:
        return []
    unnamed = counts["unnamed"]
    tail = f" {unnamed:,} rows without an identifier count as a person each." if unnamed else ""
    return [
        f"The source has {counts['rows']:,} rows of {counts['persons']:,} persons; one person has "
        f"{counts['most']:,} rows.{tail}"
    ]


def _columns(manifest: Manifest) -> list[str]:
    by_role: dict[Role, list[str]] = {}
    for table in manifest.tables.values():
        for name, role in table.columns.items():
            if name not in by_role.setdefault(role, []):
                by_role[role].append(name)
    sentences = []
    quasi = by_role.get(Role.QUASI_IDENTIFIER, [])
    if quasi:
        sentences += kind_of(manifest.kind).quasi_identifier_sentences(manifest, quasi)
    for role in (Role.SENSITIVE, Role.QUASI_SENSITIVE):
        if by_role.get(role):
            listed = "; ".join(_covered(name, manifest) for name in by_role[role])
            sentences.append(f"{str(role).capitalize()}: {listed}.")
    if by_role.get(Role.INSENSITIVE):
        sentences.append("Published unchanged: " + ", ".join(by_role[Role.INSENSITIVE]) + ".")
    if by_role.get(Role.WEIGHT):
        sentences.append("Sampling weight: " + ", ".join(by_role[Role.WEIGHT]) + ".")
    return sentences


def _covered(name: str, manifest: Manifest) -> str:
    covering = manifest.coverage.get(name)
    if not covering:
        return f"{name} (not covered by any guarantee)"
    return f"{name} (covered by {', '.join(covering)})"


def _unstated(manifest: Manifest, promises: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the figures of guarantees that need the original, so the release omits them."""
    return [
        f"{stated.requirement} reaches {_figures(found['achieved'])}."
        for stated, found in zip(manifest.promises, promises, strict=False)
        if found["achieved"] and not stated.achieved
    ]


def _sets(manifest: Manifest) -> list[str]:
    """How sets became bits, and whether they can be restored."""
    sentences = []
    for attribute, entry in manifest.bitmaps.items():
        sentence = f"The sets of '{attribute}' were published as {len(entry.members)} bits"
        if entry.rest is None:
            sentence += ", from which the sets can be restored if all bits are in one table."
        else:
            sentence += (
                f", and '{entry.rest}' for all rare members, so the sets cannot be restored."
            )
        sentences.append(sentence)
    return sentences


def reader_sentences(findings: Sequence[ReaderFinding]) -> list[str]:
    """Return what attackers with the sensitive table learn beyond the guarantees, in sentences."""
    sentences = []
    for reader, how in _READERS.items():
        found = [one for one in findings if one.reader == reader]
        if not found:
            continue
        listed = ", ".join(f"{one.certain:,} of '{one.attribute}'" for one in found)
        exact = "" if all(one.exact for one in found) else " at most"
        sentences.append(
            f"An attacker who knows a target's '{found[0].known}' and {how} is certain of{exact} "
            f"this many of {found[0].people:,} values: {listed}."
        )
    return sentences


def uncomputed(manifest: Manifest, findings: Sequence[ReaderFinding]) -> list[str]:
    """Return which attackers with the sensitive table were not computed, and why."""
    kind = kind_of(manifest.kind)
    roles = [role for table in manifest.tables.values() for role in table.columns.values()]
    if not kind.has_sensitive_table or roles.count(Role.SENSITIVE) < 2:
        return []
    if not findings:
        return [
            "What an attacker with the sensitive table learns was not computed: the release has "
            f"more than {kind.finding_rows:,} rows and was made in parts or by an earlier version. "
            "'discreet audit' computes it."
        ]
    if any(one.reader == "matching" for one in findings):
        return []
    return [
        "The strongest attacker, who weighs all assignments of sensitive rows to "
        "quasi-identifiers, was not computed: too many sensitive rows fit the groups. Such an "
        "attacker learns at least as much as the others."
    ]


def certain_attackers(findings: Sequence[ReaderFinding]) -> list[str]:
    """Return the sentence about the strongest reader who is certain of some value, if one is."""
    strongest = [name for name in _READERS if any(f.reader == name and f.certain for f in findings)]
    return reader_sentences([f for f in findings if strongest and f.reader == strongest[-1]])


_READERS = {
    "pair": "rules out values that never occur with it",
    "row": "rules out values that no whole sensitive row with it supports",
    "matching": "weighs all assignments of sensitive rows to quasi-identifiers",
}


def _promises(manifest: Manifest) -> list[str]:
    if not manifest.promises:
        return ["Nothing is guaranteed: the job states no requirement."]
    return [promise_sentence(promise, manifest.unit) for promise in manifest.promises]


def promise_sentence(promise: Promise, unit: Unit) -> str:
    """Return one guarantee, whether it holds, and what was achieved."""
    said = of_unit(promise.to_requirement().stated(), unit)
    if promise.unproved is not None:
        return f"NOT CHECKED: {said} Reason: {promise.unproved}."
    achieved = _figures(promise.achieved)
    status = "Holds" if promise.holds else "DOES NOT HOLD"
    tail = f" Achieved: {achieved}." if achieved else ""
    if promise.warning is not None:
        tail += " It excludes nothing (see the warning)."
    return f"{status}: {said}{tail}"


def guarantee_line(promise: Promise, unit: Unit) -> str:
    """Return one guarantee for a screen: what it means, then its name and what was achieved."""
    said = of_unit(promise.to_requirement().stated(), unit)
    if promise.unproved is not None:
        return f"NOT CHECKED: {said} Reason: {promise.unproved}."
    achieved = _figures(promise.achieved)
    broken = "" if promise.holds else "DOES NOT HOLD: " if achieved else "NOT PROVED: "
    return f"{broken}{said} [{promise.requirement}{f': {achieved}' if achieved else ''}]"


def _figures(achieved: Mapping[str, float | None]) -> str:
    return ", ".join(
        f"{name} = {'unbounded' if figure is None else f'{figure:.6g}'}"
        for name, figure in achieved.items()
    )


def worth(manifest: Manifest, facts: Mapping[str, Any], utility: Mapping[str, Any]) -> list[str]:
    """Return the information loss of the quasi-identifiers, against the original."""
    loss = utility.get("loss")
    if loss is None:
        return []
    sentences = [
        f"Information loss of the quasi-identifiers: {loss:.1%} (0 % = exact values, 100 % = fully "
        "suppressed)."
    ]
    bound = facts.get("lower_bound")
    if bound is not None:
        sentences.append(
            f"No release of this kind with the same guarantees can lose less than {bound:.1%}."
        )
    vague = facts.get("root_rows", 0)
    if vague:
        share = vague / max(manifest.published_rows, 1)
        sentences.append(
            f"{vague:,} published rows ({share:.1%}) are effectively suppressed: each of their "
            "quasi-identifiers covers its whole range."
        )
    return sentences

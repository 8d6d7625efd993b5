"""A release in sentences, for the person who must sign for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from discreet.releases.manifest import Manifest, Promise, ReaderFinding
from discreet.releases.registry import kind_of
from discreet.releases.wording import of_unit
from discreet.table.persons import CollapseRule
from discreet.table.roles import Role, Unit

PRIVATE = "For the publisher only (not in the release):"


def explain(manifest: Manifest) -> list[str]:
    """What was published, what was done to it, and what it promises."""
    return [
        *warnings(manifest.promises),
        *uncovered(manifest),
        published(manifest),
        *_collapsed(manifest),
        *treatment(manifest),
        *_promises(manifest),
        *readers(manifest),
    ]


def explain_privately(manifest: Manifest, private: Mapping[str, Any]) -> list[str]:
    """Return what only the publisher may know, in sentences: figures against the original."""
    facts, utility = private.get("method", {}), private.get("utility", {})
    found = [
        *_persons(private.get("persons")),
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
        "attacker who finds the target's group may learn the value."
    ]


def warnings(promises: Sequence[Promise]) -> list[str]:
    """A warning for each guarantee that excludes nothing."""
    return [f"WARNING: {one.warning}" for one in promises if one.warning is not None]


def treatment(manifest: Manifest) -> list[str]:
    """What was done to each column."""
    return [
        *_columns(manifest),
        *_sets(manifest),
        *kind_of(manifest.kind).sentences(manifest),
        *manifest.method.sentences(),
    ]


def readers(manifest: Manifest) -> list[str]:
    """What attackers find beside the promises."""
    return reader_sentences(manifest.readers)


def published(manifest: Manifest) -> str:
    """How many rows were published, where, and how many were left out."""
    source, published = manifest.source_rows, manifest.published_rows
    gone = manifest.suppressed_rows
    tables = " and ".join(f"'{name}'" for name in manifest.tables)
    share = f"{gone / source:.1%}" if source else "0 %"
    tail = "no row was left out" if gone == 0 else f"{gone:,} ({share}) were left out (suppressed)"
    return (
        f"By the method '{manifest.method.name}', {published:,} of {source:,} rows were published "
        f"in {tables}; {tail}."
    )


def _collapsed(manifest: Manifest) -> list[str]:
    """How the rows of a person became one."""
    person = manifest.person
    if person is None or person.rows == "one":
        return [] if person is None else ["Each row is one person."]
    by_rule: dict[CollapseRule, list[str]] = {}
    for name, rule in person.rules.items():
        by_rule.setdefault(rule, []).append(name)
    listed = "; ".join(f"{_RULES[rule]}: {', '.join(names)}" for rule, names in by_rule.items())
    count = f" '{person.count}' is the number of rows of the person." if person.count else ""
    return [
        f"Each row is one person, whose rows in the source were reduced to one. {listed}.{count}"
    ]


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
    """How many rows of how many persons the source has."""
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
    return sentences


def _covered(name: str, manifest: Manifest) -> str:
    covering = manifest.coverage.get(name)
    if not covering:
        return f"{name} (not covered by any guarantee)"
    return f"{name} (covered by {', '.join(covering)})"


def _unstated(manifest: Manifest, promises: Sequence[Mapping[str, Any]]) -> list[str]:
    """The figures of promises that the release does not state, as they need the original."""
    return [
        f"{stated.requirement} reaches {_figures(found['achieved'])}."
        for stated, found in zip(manifest.promises, promises, strict=False)
        if found["achieved"] and not stated.achieved
    ]


def _sets(manifest: Manifest) -> list[str]:
    """How sets became bits, and whether they can be had back."""
    sentences = []
    for attribute, entry in manifest.bitmaps.items():
        sentence = f"The sets of '{attribute}' were published as {len(entry.members)} bits"
        if entry.rest is None:
            sentence += ", from which they can be had back where all stand in one table."
        else:
            sentence += (
                f", and '{entry.rest}' for all rare members, so that the sets can't be had back."
            )
        sentences.append(sentence)
    return sentences


def reader_sentences(findings: Sequence[ReaderFinding]) -> list[str]:
    """Return what readers of the sensitive table find beside the promises, in sentences."""
    sentences = []
    for reader, how in _READERS.items():
        found = [one for one in findings if one.reader == reader]
        if not found:
            continue
        listed = ", ".join(f"{one.certain:,} of '{one.attribute}'" for one in found)
        exact = "" if all(one.exact for one in found) else " at most"
        sentences.append(
            f"An attacker who knows the target's '{found[0].known}' and {how} is then certain of"
            f"{exact} this many of {found[0].people:,} values: {listed}."
        )
    return sentences


_READERS = {
    "pair": "strikes out values that never occur with it",
    "row": "strikes out values that no whole sensitive row with it supports",
    "matching": "weighs all assignments of sensitive rows to quasi-identifiers",
}


def _promises(manifest: Manifest) -> list[str]:
    if not manifest.promises:
        return ["It promises nothing: the job states no requirement."]
    return [promise_sentence(promise, manifest.unit) for promise in manifest.promises]


def promise_sentence(promise: Promise, unit: Unit) -> str:
    """One promise, whether it holds, and what was achieved."""
    said = of_unit(promise.to_requirement().sentence(), unit)
    if promise.unproved is not None:
        return f"NOT CHECKED: {said} The reason: {promise.unproved}."
    achieved = _figures(promise.achieved)
    status = "Holds" if promise.holds else "DOES NOT HOLD"
    tail = f" Achieved: {achieved}." if achieved else ""
    if promise.warning is not None:
        tail += " It excludes nothing (see the warning)."
    return f"{status}: {said}{tail}"


def _figures(achieved: Mapping[str, float | None]) -> str:
    return ", ".join(
        f"{name} = {'unbounded' if figure is None else f'{figure:.6g}'}"
        for name, figure in achieved.items()
    )


def worth(manifest: Manifest, facts: Mapping[str, Any], utility: Mapping[str, Any]) -> list[str]:
    """Return what is left of the quasi-identifiers, against the original."""
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
            f"No release of this kind that keeps the same promises can lose less than {bound:.1%}."
        )
    vague = facts.get("root_rows", 0)
    if vague:
        share = vague / max(manifest.published_rows, 1)
        sentences.append(
            f"{vague:,} published rows ({share:.1%}) are as good as suppressed: every "
            "quasi-identifier of theirs covers its whole range."
        )
    return sentences

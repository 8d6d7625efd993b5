"""A release in sentences, for the person who must sign for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from discreet.releases.manifest import Manifest, Promise, ReaderFinding
from discreet.releases.wording import of_unit
from discreet.table.roles import Role, Unit

PRIVATE = "For the publisher only (not in the release):"


def explain(manifest: Manifest) -> list[str]:
    """What was published, what was done to it, and what it promises."""
    return [
        *warnings(manifest.promises),
        *uncovered(manifest),
        published(manifest),
        *treatment(manifest),
        *_promises(manifest),
        *readers(manifest),
    ]


def explain_privately(manifest: Manifest, private: Mapping[str, Any]) -> list[str]:
    """Return what only the publisher may know, in sentences: figures against the original."""
    facts, utility = private.get("method", {}), private.get("utility", {})
    found = [
        *_unstated(manifest, private.get("promises", [])),
        *_removed_terms(manifest, facts, utility),
        *_association(facts),
        *_noise(facts),
        *_changed(facts),
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
        *_terms(manifest),
        *_sets(manifest),
        *_groups(manifest),
        *_projections(manifest),
        *_method(manifest),
    ]


def readers(manifest: Manifest) -> list[str]:
    """What attackers find beside the promises."""
    return [*reader_sentences(manifest.readers), *_series(manifest)]


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


def _columns(manifest: Manifest) -> list[str]:
    by_role: dict[Role, list[str]] = {}
    for table in manifest.tables.values():
        for name, role in table.columns.items():
            if name not in by_role.setdefault(role, []):
                by_role[role].append(name)
    sentences = []
    quasi = by_role.get(Role.QUASI_IDENTIFIER, [])
    levels = getattr(manifest.method, "levels", None)
    if quasi and levels and set(levels) == set(manifest.tables):
        sentences += [
            f"In '{table}', quasi-identifiers {_coarseness(quasi, of)}."
            for table, of in levels.items()
        ]
    elif quasi and levels:
        sentences.append(f"Quasi-identifiers {_coarseness(quasi, levels)}.")
    elif quasi and manifest.kind == "generalized":
        sentences.append(
            "Quasi-identifiers are as coarse as each group needs: " + ", ".join(quasi) + "."
        )
        hierarchies = getattr(manifest.method, "hierarchies", None)
        if hierarchies:
            named = ", ".join(f"{name} ({place})" for name, place in hierarchies.items())
            sentences.append(f"Each cell is a label of the column's hierarchy: {named}.")
    elif quasi:
        sentences.append("Quasi-identifiers: " + ", ".join(quasi) + ".")
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


def _terms(manifest: Manifest) -> list[str]:
    """What is left of the quasi-sensitive attributes whose terms the method looked at."""
    return [
        f"Terms of '{name}' were removed where they give too much away; {rows:,} rows show none "
        "at all (*)."
        for name, rows in getattr(manifest.method, "emptied_rows", {}).items()
    ]


def _removed_terms(
    manifest: Manifest, facts: Mapping[str, Any], utility: Mapping[str, Any]
) -> list[str]:
    """What was removed from quasi-sensitive attributes, and what their terms still tell."""
    sentences = []
    searched = facts.get("attributes", {}) if manifest.method.name == "quasi-sensitive" else {}
    measured = utility.get("terms", {})
    for name, found in searched.items():
        terms = measured.get(name, {})
        share = f" ({terms['suppressed_share']:.1%})" if terms else ""
        sentences.append(
            f"Of '{name}', which a reader can look up in a table of {found['labels']:,} labels, "
            f"{found['suppressed_terms']:,} terms{share} were removed from published rows."
        )
        change = terms.get("belief_change")
        if change is not None:
            sentences.append(
                "After the look-up no belief in a label is more than "
                f"{change['greatest']:.1%} away from what it was before; on average over labels "
                f"and groups it is {change['mean']:.2%} away."
            )
        if found["unlinked_rows"]:
            sentences.append(
                f"{found['unlinked_rows']:,} rows have terms of '{name}' that fit no label "
                f"together ({found['unknown_terms']:,} terms are in no label at all); they are "
                "published as they are and tell this reader nothing."
            )
        sentences += [
            f"In the knowledge table of '{name}', {found[key]:,} labels {said}."
            for key, said in (
                ("labels_without_terms", "have no term and fit only rows without any"),
                ("doubled_labels", "stood on several lines, which were joined"),
            )
            if found[key]
        ]
    if sentences:
        sentences.append(
            f"{facts['failing_groups']:,} groups failed before; for {facts['optimal_groups']:,} of "
            f"the {facts['groups']:,} published groups it is proved that no smaller removal would "
            "do."
        )
        if facts["unsolved_groups"]:
            sentences.append(
                f"For {facts['unsolved_groups']:,} groups no removal was found; their rows were "
                "left out."
            )
    return sentences


def _unstated(manifest: Manifest, promises: Sequence[Mapping[str, Any]]) -> list[str]:
    """The figures of promises that the release does not state, as they need the original."""
    return [
        f"{stated.requirement} reaches {_figures(found['achieved'])}."
        for stated, found in zip(manifest.promises, promises, strict=False)
        if found["achieved"] and not stated.achieved
    ]


def _association(facts: Mapping[str, Any]) -> list[str]:
    """What a projection loses and exposes between sensitive attributes."""
    if "association_loss" not in facts:
        return []
    return [
        f"Between tables {facts['association_loss']:.1%} of the association between sensitive "
        "attributes is lost; an attacker who knows one value can still join "
        f"{facts['information_exposure']:.1%} of the linked information."
    ]


def _noise(facts: Mapping[str, Any]) -> list[str]:
    """How many listed values of a decomposition are noise."""
    if "noise_values" not in facts:
        return []
    merged = facts["merged_groups"]
    return [
        f"{facts['noise_values']:,} listed values are noise: no row of the group has them, but "
        "whole sensitive rows support them like the others."
        + (f" {merged:,} groups were merged into others." if merged else "")
    ]


def _changed(facts: Mapping[str, Any]) -> list[str]:
    """What a release of a series met in the past."""
    sentences = []
    if facts.get("changed_signatures"):
        sentences.append(
            f"{facts['changed_signatures']:,} records are now in groups of values that are all "
            "new, because their own value changed. Across such changes m-invariance does not bound "
            "the belief of an attacker who has several releases; use rho-different for data whose "
            "values change."
        )
    if "greatest_belief" in facts:
        sentences.append(
            "The greatest belief of an attacker who has all releases so far is "
            f"{facts['greatest_belief']:.3f}."
        )
    return sentences


def _coarseness(quasi: Sequence[str], levels: Mapping[str, int]) -> str:
    changed = [f"{name} (level {levels[name]})" for name in quasi if levels.get(name)]
    exact = [name for name in quasi if not levels.get(name)]
    parts = []
    if changed:
        parts.append("made coarser: " + ", ".join(changed))
    if exact:
        parts.append("left exact: " + ", ".join(exact))
    return "; ".join(parts)


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


def _projections(manifest: Manifest) -> list[str]:
    """How the sensitive attributes were spread over several tables."""
    plan = getattr(manifest.method, "plan", None)
    if manifest.kind != "projected" or not plan:
        return []
    split = " | ".join(", ".join(block) for block in plan)
    return [
        f"The sensitive attributes are split over {len(plan)} tables of the same rows, each in a "
        f"random order of its own: {split}.",
    ]


def _groups(manifest: Manifest) -> list[str]:
    """How rows are grouped where quasi-identifiers stay exact."""
    groups = getattr(manifest.method, "groups", None)
    if manifest.kind not in ("bucketized", "decomposed") or groups is None:
        return []
    sentences = [
        f"Quasi-identifiers are exact. The rows are in {groups:,} groups with random numbers; "
        "nothing else links them to sensitive values."
    ]
    if manifest.kind == "decomposed":
        primary = getattr(manifest.method, "primary", "")
        sentences.append(
            "For each group and sensitive attribute the values that its rows may have are listed "
            f"once; groups were formed on '{primary}'. Some listed values may be noise: no row of "
            "the group has them, but whole sensitive rows support them like the others."
        )
        sentences.append(
            "Listing l values does not limit the attacker's confidence to 1/l: a value that is "
            "common overall remains the best guess."
        )
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


def _method(manifest: Manifest) -> list[str]:
    """What only some methods did, and what they leave open."""
    sentences = []
    masked = getattr(manifest.method, "masked_cells", None)
    if masked:
        listed = ", ".join(f"{name} ({cells:,} cells)" for name, cells in masked.items())
        sentences.append(f"Masked as '*' where a group had too few values: {listed}.")
    share = getattr(manifest.method, "greatest_share", None)
    if share and manifest.method.name != "mmdcf":  # whose groups have no value twice
        name = max(share, key=lambda name: float(share[name]))
        sentences.append(
            f"The method '{manifest.method.name}' bounds no probability by itself: in some group "
            f"one value of '{name}' has a share of {float(share[name]):.0%}."
        )
    return sentences


def _promises(manifest: Manifest) -> list[str]:
    if not manifest.promises:
        return ["It promises nothing: the job states no requirement."]
    return [promise_sentence(promise, manifest.unit) for promise in manifest.promises]


def _series(manifest: Manifest) -> list[str]:
    """What a release of a series says beside its promise."""
    counterfeits = getattr(manifest.method, "counterfeits", None)
    if counterfeits is None:
        return []
    sentences = []
    if counterfeits:
        sentences.append(
            f"{counterfeits:,} sensitive rows are counterfeits, which no record has; "
            "'counterfeits' says how many each group has."
        )
    return sentences


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

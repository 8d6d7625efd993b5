"""A release in sentences, for the person who must sign for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from discreet.data.roles import Role
from discreet.releases.manifest import Manifest, Promise


def explain(manifest: Manifest) -> list[str]:
    """What was published, what was done to it, and what it promises."""
    return [
        _rows(manifest),
        *_columns(manifest),
        *_sets(manifest),
        *_projections(manifest),
        *_groups(manifest),
        *_promises(manifest),
        *_readers(manifest),
        *_utility(manifest),
    ]


def _rows(manifest: Manifest) -> str:
    source, published = manifest.source_rows, manifest.published_rows
    gone = manifest.suppressed_rows
    tables = " and ".join(f"'{name}'" for name in manifest.tables)
    share = f"{gone / source:.1%}" if source else "0 %"
    tail = "nobody was left out" if gone == 0 else f"{gone:,} ({share}) were left out (suppressed)"
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
            f"In '{table}', of what a reader may know about people, {_coarseness(quasi, of)}."
            for table, of in levels.items()
        ]
    elif quasi and levels:
        sentences.append(f"Of what a reader may know about people, {_coarseness(quasi, levels)}.")
    elif quasi:
        sentences.append("What a reader may know about people: " + ", ".join(quasi) + ".")
    if by_role.get(Role.SENSITIVE):
        sentences.append("Sensitive, and protected: " + ", ".join(by_role[Role.SENSITIVE]) + ".")
    if by_role.get(Role.INSENSITIVE):
        sentences.append("Published unchanged: " + ", ".join(by_role[Role.INSENSITIVE]) + ".")
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
                f", and '{entry.rest}', which {entry.rest_members} rare members share, so that "
                "the sets can't be had back."
            )
        sentences.append(sentence)
    return sentences


def _projections(manifest: Manifest) -> list[str]:
    """How the sensitive attributes were spread over several tables."""
    plan = getattr(manifest.method, "plan", None)
    if manifest.kind != "projected" or not plan:
        return []
    loss = getattr(manifest.method, "association_loss", None)
    exposure = getattr(manifest.method, "information_exposure", None)
    split = " | ".join(", ".join(block) for block in plan)
    return [
        f"The sensitive attributes stand in {len(plan)} tables about the same people, each in a "
        f"random order of its own: {split}.",
        f"Between tables {loss:.1%} of what the attributes tell of each other is lost; of what "
        f"somebody who knows one value could join to, {exposure:.1%} is left.",
    ]


def _groups(manifest: Manifest) -> list[str]:
    """How people are grouped where quasi-identifiers stay exact."""
    groups = getattr(manifest.method, "groups", None)
    if manifest.kind not in ("bucketized", "decomposed") or groups is None:
        return []
    sentences = [
        f"Quasi-identifiers are exact. People stand in {groups:,} groups with random numbers; "
        "nothing else links a person to a sensitive value."
    ]
    if manifest.kind == "decomposed":
        primary = getattr(manifest.method, "primary", "")
        noise = getattr(manifest.method, "noise_values", 0)
        merged = getattr(manifest.method, "merged_groups", 0)
        sentences.append(
            f"For each group and sensitive attribute the values that somebody in it may have are "
            f"listed once; groups were formed on '{primary}'. {noise:,} listed values are noise: "
            "nobody in the group has them, but whole sensitive rows support them like the others."
            + (f" {merged:,} groups were merged into others." if merged else "")
        )
        sentences.append(
            "A number of values is not a chance of one in that number: a reader may still hold the "
            "value that is common in the whole table for the likeliest."
        )
    return sentences


def _readers(manifest: Manifest) -> list[str]:
    """What readers of the sensitive table find beside the promises."""
    sentences = []
    for reader, how in _READERS.items():
        found = [one for one in manifest.readers if one["reader"] == reader]
        if not found:
            continue
        listed = ", ".join(f"{one['certain']:,} of '{one['attribute']}'" for one in found)
        exact = "" if all(one["exact"] for one in found) else " at least"
        sentences.append(
            f"A reader who knows somebody's '{found[0]['known']}' and {how} is then certain of"
            f"{exact} this many of {found[0]['people']:,} people's values: {listed}."
        )
    return sentences


_READERS = {
    "pair": "strikes out values that never occur with it",
    "row": "strikes out values that no whole sensitive row with it supports",
    "matching": "weighs all assignments of people to sensitive rows",
}


def _promises(manifest: Manifest) -> list[str]:
    if not manifest.promises:
        return ["It promises nothing: the job states no requirement."]
    return [promise_sentence(promise) for promise in manifest.promises]


def promise_sentence(promise: Promise) -> str:
    """One promise, whether it holds, and what was achieved."""
    requirement = promise.to_requirement()
    achieved = ", ".join(
        f"{name} = {'unbounded' if figure is None else f'{figure:.6g}'}"
        for name, figure in promise.achieved.items()
    )
    status = "Holds" if promise.holds else "DOES NOT HOLD"
    tail = f" Achieved: {achieved}." if achieved else ""
    return f"{status}: {requirement.sentence()}{tail}"


def _utility(manifest: Manifest) -> list[str]:
    loss = manifest.utility.get("loss")
    if loss is None:
        return []
    return [
        f"On average a published quasi-identifier leaves open {loss:.1%} of its range "
        "(0 % is exact, 100 % says nothing)."
    ]

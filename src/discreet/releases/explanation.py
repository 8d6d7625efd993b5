"""A release in sentences, for the person who must sign for it."""

from __future__ import annotations

from discreet.data.roles import Role
from discreet.releases.manifest import Manifest, Promise


def explain(manifest: Manifest) -> list[str]:
    """What was published, what was done to it, and what it promises."""
    return [
        _rows(manifest),
        *_columns(manifest),
        *_promises(manifest),
        *_series(manifest),
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
    if quasi and levels:
        changed = [f"{name} (level {levels[name]})" for name in quasi if levels.get(name)]
        exact = [name for name in quasi if not levels.get(name)]
        parts = []
        if changed:
            parts.append("made coarser: " + ", ".join(changed))
        if exact:
            parts.append("left exact: " + ", ".join(exact))
        sentences.append("Of what a reader may know about people, " + "; ".join(parts) + ".")
    elif quasi:
        sentences.append("What a reader may know about people: " + ", ".join(quasi) + ".")
    if by_role.get(Role.SENSITIVE):
        sentences.append("Sensitive, and protected: " + ", ".join(by_role[Role.SENSITIVE]) + ".")
    if by_role.get(Role.INSENSITIVE):
        sentences.append("Published unchanged: " + ", ".join(by_role[Role.INSENSITIVE]) + ".")
    return sentences


def _promises(manifest: Manifest) -> list[str]:
    if not manifest.promises:
        return ["It promises nothing: the job states no requirement."]
    return [promise_sentence(promise) for promise in manifest.promises]


def _series(manifest: Manifest) -> list[str]:
    """What a release of a series says beside its promise."""
    counterfeits = getattr(manifest.method, "counterfeits", None)
    if counterfeits is None:
        return []
    sentences = []
    if counterfeits:
        sentences.append(
            f"{counterfeits:,} sensitive rows are counterfeits, nobody's; 'counterfeits' says how "
            "many each group has."
        )
    changed = getattr(manifest.method, "changed_signatures", 0)
    if changed:
        sentences.append(
            f"{changed:,} people now stand among values that are all new, because theirs changed. "
            "Across such changes m-invariance gives a reader of several releases no bound; the "
            "method for data whose values change is rho-different."
        )
    belief = getattr(manifest.method, "greatest_belief", None)
    if belief is not None:
        sentences.append(
            f"The greatest belief about anybody of a reader of all releases so far is {belief:.3f}."
        )
    return sentences


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

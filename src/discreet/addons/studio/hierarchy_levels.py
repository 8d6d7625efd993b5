"""The hierarchy of a column for a page that shows and edits it: levels, a tree with counts, edits.

An edited hierarchy becomes a ``tree``, which a job holds as it is. Edits work on the path of each
value, the labels of the nodes above it, so that whatever is merged or moved stays nested.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import TypeAdapter, ValidationError

from discreet.errors import HierarchyError
from discreet.hierarchies.cells import SUPPRESSED, looks_like_notation
from discreet.hierarchies.hierarchy import Hierarchy, count_levels
from discreet.hierarchies.specs import AnyHierarchy, Automatic, HierarchySpec
from discreet.io.frames import code_series
from discreet.table.coded_table import Column
from discreet.table.roles import ColumnSpec, Role, ValueType

MOST_EDITED = 5000  # values of a hierarchy that a job holds as a tree
MOST_NODES = 4000  # of a tree that is shown
EDITS = ("merge", "rename", "move")

LabelPath = list[str]  # the labels above a value, from level 1 on


def describe_hierarchy(
    column: Column, written: Any, folder: Path, *, at_most: int = 200
) -> dict[str, Any]:
    """Return the levels of a hierarchy and its tree, with the rows of each node, as plain data.

    ``written`` is the hierarchy as a job has it, None for the automatic one; ``at_most`` is the
    number of nodes that are listed of a level, and below a node.
    """
    spec = _spec(column.name, written)
    built = spec.build(column, folder)
    names = (None, *built.level_names) if built.level_names else (None,) * len(built.levels)
    levels = [
        {
            "level": number,
            "name": names[number],
            "nodes": len(found.rows),
            "fewest": found.rows[-1] if found.rows else 0,
            "most": found.rows[0] if found.rows else 0,
            "shown": [
                {"label": label, "rows": rows}
                for label, rows in zip(found.labels[:at_most], found.rows[:at_most], strict=True)
            ],
            "more": max(len(found.rows) - at_most, 0),
        }
        for number, found in enumerate(count_levels(column, built))
    ]
    return {
        "attribute": column.name,
        "kind": built.place,
        "hierarchy": TypeAdapter[Any](AnyHierarchy).dump_python(
            spec, mode="json", exclude_defaults=True
        ),
        "values": levels[0]["nodes"],
        "height": built.height,
        "levels": levels,
        "tree": _tree(column, built, at_most),
    }


def edit_hierarchy(
    column: Column,
    written: Any,
    folder: Path,
    edits: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """Merge, rename and move nodes; return the hierarchy as a job then writes it, a ``tree``.

    ``{"merge": [labels], "level": n, "into": label}`` makes one node of several,
    ``{"rename": label, "level": n, "into": label}`` gives another label, and
    ``{"move": label or labels, "level": n, "into": label}`` moves nodes below a node of the next
    level, which may be new.
    """
    built = _spec(column.name, written).build(column, folder)
    if column.cardinality > MOST_EDITED:
        raise HierarchyError(
            f"Hierarchy of '{column.name}': {column.cardinality:,} values are too many to edit "
            f"here (at most {MOST_EDITED:,}). Upload a hierarchy file."
        )
    paths = _paths(built)
    before = _members(paths)
    for edit in edits:
        _apply(column.name, paths, edit)
    return {"tree": _nested(_truly_labelled(paths, before))}


def declared_column(column: Column, type_: str | None, role: str | None) -> Column:
    """Return a column by the type and role that a job declares.

    Messages name values of a quasi-identifier; without a role they name none.
    """
    try:
        declared = Role.SENSITIVE if role is None else Role(role)
        kind = column.type if type_ is None else ValueType(type_)
    except ValueError:
        raise HierarchyError(
            f"Column '{column.name}': unknown type or role. Types: {', '.join(ValueType)}."
        ) from None
    if kind is column.type:
        return replace(column, role=declared)
    spec = ColumnSpec(declared, kind)
    coded = code_series(column.text.alias(column.name), spec, (), f"Column '{column.name}'")
    return replace(coded, codes=coded.codes[column.codes], weights=column.weights)


def _spec(name: str, written: Any) -> HierarchySpec:
    if written is None:
        return Automatic()
    try:
        spec: HierarchySpec = TypeAdapter[Any](AnyHierarchy).validate_python(written)
    except ValidationError as error:
        problems = "; ".join(
            dict.fromkeys(
                str(one["msg"]).removeprefix("Value error, ")
                for one in error.errors(include_url=False, include_input=False)
            )
        )
        raise HierarchyError(f"Hierarchy of '{name}': {problems}.") from None
    return spec


def _tree(column: Column, built: Hierarchy, at_most: int) -> dict[str, Any]:
    """Return the tree of nodes that have rows; nodes with most rows first."""
    rows = [
        np.bincount(level.node_of_leaf, column.counts, level.nodes).astype(np.int64)
        for level in built.levels
    ]
    below: list[dict[int, list[int]]] = [{} for _ in built.levels]  # by level: node → its children
    for number, step in enumerate(built.steps):
        for node in np.argsort(-rows[number], kind="stable").tolist():
            if rows[number][node]:
                below[number + 1].setdefault(int(step[node]), []).append(node)
    left = [MOST_NODES]

    def node_of(level: int, node: int) -> dict[str, Any]:
        left[0] -= 1
        described: dict[str, Any] = {
            "label": built.levels[level].labels[node],
            "rows": int(rows[level][node]),
            "level": level,
        }
        children = below[level].get(node, [])
        if children:
            shown = children[: min(at_most, max(left[0], 0))]
            described["children"] = [node_of(level - 1, child) for child in shown]
            described["more"] = len(children) - len(shown)
        return described

    top = built.height
    roots = [node for node in np.argsort(-rows[top], kind="stable").tolist() if rows[top][node]]
    if len(roots) == 1:
        return node_of(top, roots[0])
    shown = [node_of(top, root) for root in roots[:at_most]]
    total = int(rows[top].sum())
    return {
        "label": None,
        "rows": total,
        "level": top + 1,
        "children": shown,
        "more": len(roots) - len(shown),
    }


def _paths(built: Hierarchy) -> dict[str, LabelPath]:
    """Return the labels above each value."""
    paths: dict[str, LabelPath] = {}
    upper = built.levels[1:]
    for leaf, label in enumerate(built.levels[0].labels):
        if label is not None and leaf < len(built.levels[0].node_of_leaf):
            above = [str(level.labels[int(level.node_of_leaf[leaf])]) for level in upper]
            paths[label] = above
    return paths


def _apply(name: str, paths: dict[str, LabelPath], edit: Mapping[str, Any]) -> None:
    kinds = [kind for kind in EDITS if kind in edit]
    level, into = edit.get("level"), edit.get("into")
    if len(kinds) != 1 or not isinstance(level, int) or not isinstance(into, str) or not into:
        raise HierarchyError(
            f"Hierarchy of '{name}': an edit is one of {', '.join(EDITS)} with 'level' and 'into'."
        )
    (kind,) = kinds
    edited = edit[kind]
    labels = [edited] if isinstance(edited, str) else [str(one) for one in edited]
    height = max((len(path) for path in paths.values()), default=0)
    lowest, highest = (0, height - 1) if kind == "move" else (1, height)
    if not lowest <= level <= highest:
        raise HierarchyError(
            f"Hierarchy of '{name}': level {level} can't be edited so; allowed: {lowest} to "
            f"{highest}. Values themselves stay as they are."
        )
    chosen = [value for value, path in paths.items() if _at(value, path, level) in labels]
    lacking = set(labels) - {_at(value, paths[value], level) for value in chosen}
    if lacking:
        raise HierarchyError(
            f"Hierarchy of '{name}': no node at level {level} for {len(lacking)} of "
            f"{len(labels)} labels. The hierarchy may have changed; load it again."
        )
    place = level if kind == "move" else level - 1  # in a path, of what gets the label
    first = paths[next(value for value in chosen if _at(value, paths[value], level) == labels[0])]
    taken = next((path for path in paths.values() if path[place] == into), None)
    if kind == "rename" and taken is not None and into not in labels:
        raise HierarchyError(
            f"Hierarchy of '{name}': level {level} already has '{into}'. Merge the two instead."
        )
    above = (first if taken is None else taken)[place + 1 :]
    for value in chosen:
        paths[value] = [*paths[value][:place], into, *above]


def _at(value: str, path: LabelPath, level: int) -> str:
    return value if level == 0 else path[level - 1]


def _members(paths: Mapping[str, LabelPath]) -> dict[tuple[int, str], list[str]]:
    """Return the values below each node, by its level and label."""
    members: dict[tuple[int, str], list[str]] = {}
    for value, path in paths.items():
        for place, label in enumerate(path):
            members.setdefault((place, label), []).append(value)
    return members


def _truly_labelled(
    paths: Mapping[str, LabelPath], before: Mapping[tuple[int, str], list[str]]
) -> dict[str, LabelPath]:
    """Give nodes whose label says which values they cover a new one where it is no longer true.

    A published cell ``[20, 30)`` or ``{a, b}`` is read as this range or set.
    """
    renamed: dict[tuple[int, str], str] = {}
    for (place, label), values in _members(paths).items():
        if looks_like_notation(label) and before.get((place, label), values) != values:
            renamed[place, label] = _listing(values)
    return {
        value: [renamed.get((place, label), label) for place, label in enumerate(path)]
        for value, path in paths.items()
    }


def _listing(values: Sequence[str]) -> str:
    shown = ", ".join(values[:2])
    return shown if len(values) <= 2 else f"{shown} and {len(values) - 2} more"


def _nested(paths: Mapping[str, LabelPath]) -> dict[str, Any]:
    """Return a tree from the paths of its values, without the ``*`` that is above all."""
    tree: dict[str, Any] = {}
    for value, path in paths.items():
        above = [label for label in reversed(path) if label != SUPPRESSED]
        names: list[str] = []
        for label in above:
            if not names or label != names[-1]:
                names.append(label)
        if names and names[-1] == value:  # a value that a level repeats
            names.pop()
        node = tree
        for label in names:
            node = node.setdefault(label, {})
        node[value] = None
    return {label: _listed(inner) for label, inner in tree.items()}


def _listed(inner: Any) -> Any:
    """Return values without anything below them as a list, as one would write them."""
    if not isinstance(inner, dict):
        return inner
    if all(below is None for below in inner.values()):
        return list(inner)
    return {label: _listed(below) for label, below in inner.items()}

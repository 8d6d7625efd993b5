"""A hierarchy from a nested mapping: ``{Europe: [France, Spain], Asia: {East: [Japan]}}``.

A node is at the level of its height, the longest way down to a leaf, and is repeated up to the
level below its parent's. In the example Europe is at level 1 and again at level 2, East at level 1,
Asia at level 2, and ``*`` at level 3. So levels nest however uneven the tree, and the level at
which two leaves meet is the height of their lowest common ancestor, as t-closeness needs it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from typing_extensions import TypeAliasType

from discreet.errors import HierarchyError
from discreet.hierarchies.building import (
    LevelGrouping,
    assemble,
    everything,
    match_leaves,
    missing_problem,
)
from discreet.hierarchies.hierarchy import Hierarchy
from discreet.table.coded_table import Column

# A mapping's value may be omitted: its key is then a leaf.
Branch = TypeAliasType("Branch", "dict[str, Branch] | list[str] | None")


@dataclass
class _Node:
    label: str
    parent: int  # −1 for a root
    height: int = 0


def _nodes(tree: Mapping[str, Branch]) -> list[_Node]:
    """Every node, parents before their children, with its height."""
    nodes: list[_Node] = []
    waiting: list[tuple[int, str, Branch]] = [(-1, key, inner) for key, inner in tree.items()]
    while waiting:
        parent, label, inner = waiting.pop()
        here = len(nodes)
        nodes.append(_Node(label, parent))
        if isinstance(inner, dict):
            waiting.extend((here, key, below) for key, below in reversed(inner.items()))
        elif inner:
            waiting.extend((here, leaf, None) for leaf in reversed(inner))
    for node in reversed(nodes):
        if node.parent >= 0:
            above = nodes[node.parent]
            above.height = max(above.height, node.height + 1)
    return nodes


def tree_problems(tree: Mapping[str, Branch]) -> list[str]:
    """Labels that a tree uses twice, leaves and inner nodes each among themselves."""
    nodes = _nodes(tree)
    leaves = Counter(node.label for node in nodes if node.height == 0)
    inner = Counter(node.label for node in nodes if node.height > 0)
    return [
        *(f"the leaf '{label}' occurs {n} times" for label, n in leaves.items() if n > 1),
        *(f"the node '{label}' occurs {n} times" for label, n in inner.items() if n > 1),
    ]


def tree_hierarchy(column: Column, tree: Mapping[str, Branch]) -> Hierarchy:
    """The hierarchy of a tree; several roots, or a leaf as the only root, get a ``*`` above."""
    place = "tree"
    nodes = _nodes(tree)
    leaves = [number for number, node in enumerate(nodes) if node.height == 0]
    leaf_of_value = match_leaves(column, [nodes[leaf].label for leaf in leaves])
    problem = missing_problem(column, leaf_of_value, "leaf in the tree")
    if problem:
        raise HierarchyError(
            f"Hierarchy of '{column.name}' ({place}): {problem}. Add them to the tree."
        )
    absent = np.setdiff1d(np.arange(len(leaves)), leaf_of_value)
    node_of_leaf = np.array(leaves, np.int64)[np.concatenate((leaf_of_value, absent))]
    roots = [node for node in nodes if node.parent < 0]
    groupings = []
    for level in range(1, max(root.height for root in roots) + 1):
        node_of_leaf = _climb(nodes, node_of_leaf, level)
        groupings.append(_grouping(nodes, node_of_leaf))
    if len(roots) > 1 or roots[0].height == 0:
        groupings.append(everything(len(node_of_leaf)))
    return assemble(column, groupings, place, further_leaves=len(absent), one_root=len(roots) == 1)


def _climb(
    nodes: Sequence[_Node], node_of_leaf: np.typing.NDArray[np.int64], level: int
) -> np.typing.NDArray[np.int64]:
    """Each leaf's highest ancestor that is no higher than a level, from that of the level below."""
    above = np.arange(len(nodes))
    for number, node in enumerate(nodes):
        if node.parent >= 0 and nodes[node.parent].height <= level:
            above[number] = above[node.parent]
    result: np.typing.NDArray[np.int64] = above[node_of_leaf]
    return result


def _grouping(nodes: Sequence[_Node], node_of_leaf: np.typing.NDArray[np.int64]) -> LevelGrouping:
    used, group_of_leaf = np.unique(node_of_leaf, return_inverse=True)
    return LevelGrouping(group_of_leaf, [nodes[number].label for number in used])

"""The values of the job's ``hierarchy:`` key, one for each kind, which builds its hierarchy.

==================================================  ==============================================
``hierarchies/age.csv``,                            a file, relative to the job's folder; names
``{path:, delimiter:, levels: [block, …]}``         of its levels, for requirements
``suppress``                                        value → ``*``
``automatic``                                       chosen by the column's values
``{intervals: [5, 10, 20], origin: 0}``             ranges ``[20, 25)`` of these widths
``{mask: right, character: "*"}``                   ``13053`` → ``1305*`` → … → ``*``
``{dates: [day, month, quarter, year, decade]}``    any of these, finest first
``{groups: [2, 4], order: [low, middle, high]}``    this many neighbours in an order
``{tree: {Europe: [France, Spain]}}``               a nested mapping
``{standard: icd-10}``                              a classification that comes along
==================================================  ==============================================

Levels are only those that are given; a last ``"*"`` in a list adds one on which every value is
suppressed. Masks, ``suppress``, ``automatic`` and trees with several roots always end there; a
file and a tree with one root end in the labels that they name.

A hierarchy from a nested mapping: ``{Europe: [France, Spain], Asia: {East: [Japan]}}``.

A node is at the level of its height, the longest way down to a leaf, and is repeated up to the
level below its parent's. In the example Europe is at level 1 and again at level 2, East at level 1,
Asia at level 2, and ``*`` at level 3. So levels nest however uneven the tree, and the level at
which two leaves meet is the height of their lowest common ancestor, as t-closeness needs it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args

import numpy as np
from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    GetJsonSchemaHandler,
    Strict,
    StringConstraints,
    Tag,
    field_validator,
    model_serializer,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema
from typing_extensions import TypeAliasType

from discreet.errors import HierarchyError
from discreet.hierarchies.automatic import automatic_hierarchy
from discreet.hierarchies.building import (
    LevelGrouping,
    assemble,
    everything,
    match_leaves,
    missing_problem,
    order_hierarchy,
    present,
)
from discreet.hierarchies.files import read_hierarchy_file
from discreet.hierarchies.groupings import (
    CalendarUnit,
    Side,
    calendar_grouping,
    exact,
    interval_grouping,
    mask_groupings,
)
from discreet.hierarchies.hierarchy import Hierarchy
from discreet.table.coded_table import Column

# A mapping's value may be omitted: its key is then a leaf.
Branch = TypeAliasType("Branch", "dict[str, Branch] | list[str] | None")


@dataclass
class _TreeNode:
    label: str
    parent: int  # −1 for a root
    height: int = 0


def _nodes(tree: Mapping[str, Branch]) -> list[_TreeNode]:
    """Every node, parents before their children, with its height."""
    nodes: list[_TreeNode] = []
    waiting: list[tuple[int, str, Branch]] = [(-1, key, inner) for key, inner in tree.items()]
    while waiting:
        parent, label, inner = waiting.pop()
        here = len(nodes)
        nodes.append(_TreeNode(label, parent))
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
    nodes: Sequence[_TreeNode], node_of_leaf: np.typing.NDArray[np.int64], level: int
) -> np.typing.NDArray[np.int64]:
    """Each leaf's highest ancestor that is no higher than a level, from that of the level below."""
    above = np.arange(len(nodes))
    for number, node in enumerate(nodes):
        if node.parent >= 0 and nodes[node.parent].height <= level:
            above[number] = above[node.parent]
    result: np.typing.NDArray[np.int64] = above[node_of_leaf]
    return result


def _grouping(
    nodes: Sequence[_TreeNode], node_of_leaf: np.typing.NDArray[np.int64]
) -> LevelGrouping:
    used, group_of_leaf = np.unique(node_of_leaf, return_inverse=True)
    return LevelGrouping(group_of_leaf, [nodes[number].label for number in used])


Star = Literal["*"]
WholeNumber = Annotated[int, Strict()]
Number = Annotated[int, Strict()] | Annotated[float, Strict(), Field(allow_inf_nan=False)]
_UNITS: tuple[str, ...] = get_args(CalendarUnit)


class HierarchySpec(BaseModel):
    """One kind of hierarchy with its parameters: a frozen, validated value."""

    model_config = ConfigDict(frozen=True, extra="forbid", coerce_numbers_to_str=True)

    @abstractmethod
    def build(self, column: Column, folder: Path) -> Hierarchy:
        """The hierarchy over a column's values; relative paths start in the folder."""


class _Word(HierarchySpec):
    """A kind without parameters, written as one word."""

    @model_validator(mode="before")
    @classmethod
    def _from_word(cls, value: Any) -> Any:
        return {} if isinstance(value, str) else value

    @model_serializer
    def _as_word(self) -> str:
        return _WORDS[type(self)]

    @classmethod
    def __get_pydantic_json_schema__(
        cls,
        core_schema: CoreSchema,
        handler: GetJsonSchemaHandler,
    ) -> JsonSchemaValue:
        return {"const": _WORDS[cls], "title": cls.__name__, "description": cls.__doc__}


class Suppress(_Word):
    """Every value → ``*``."""

    def build(self, column: Column, folder: Path) -> Hierarchy:
        return assemble(column, [everything(present(column))], "suppress")


class Automatic(_Word):
    """Chosen by the column's type and values."""

    def build(self, column: Column, folder: Path) -> Hierarchy:
        return automatic_hierarchy(column)


_WORDS: dict[type[_Word], str] = {Suppress: "suppress", Automatic: "automatic"}


class FileHierarchy(HierarchySpec):
    """A file with a row for each value: leaf, level 1, …, top."""

    path: Annotated[str, StringConstraints(min_length=1)]
    delimiter: Annotated[str, StringConstraints(min_length=1, max_length=1)] | None = None
    levels: tuple[Annotated[str, StringConstraints(min_length=1)], ...] | None = None  # their names

    @model_validator(mode="before")
    @classmethod
    def _from_path(cls, value: Any) -> Any:
        return {"path": str(value)} if isinstance(value, str | Path) else value

    def build(self, column: Column, folder: Path) -> Hierarchy:
        hierarchy = read_hierarchy_file(column, folder / self.path, self.delimiter, place=self.path)
        if self.levels is None:
            return hierarchy
        if len(self.levels) != hierarchy.height:
            raise HierarchyError(
                f"Hierarchy of '{column.name}' ({self.path}): {len(self.levels)} names of levels "
                f"for {hierarchy.height} levels above the values. Name each one."
            )
        return replace(hierarchy, level_names=self.levels)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        mapping = handler.resolve_ref_schema(handler(core_schema))
        path = {"type": "string", "minLength": 1, "not": {"enum": list(_WORDS.values())}}
        return {"anyOf": [path, dict(mapping)], "title": cls.__name__, "description": cls.__doc__}


class Intervals(HierarchySpec):
    """Half-open ranges of some widths, each a multiple of the last, for integers and numbers."""

    intervals: Annotated[tuple[Number | Star, ...], Field(min_length=1)]
    origin: Number = 0

    @field_validator("intervals")
    @classmethod
    def _widths_nest(cls, widths: tuple[float | str, ...]) -> tuple[float | str, ...]:
        _require_multiples(_without_star(widths), "width")
        return widths

    def build(self, column: Column, folder: Path) -> Hierarchy:
        widths = [exact(width) for width in _without_star(self.intervals)]
        groupings = [interval_grouping(column, width, exact(self.origin)) for width in widths]
        if self.intervals[-1] == "*":
            groupings.append(everything(present(column)))
        return assemble(column, groupings, "intervals")


class Mask(HierarchySpec):
    """Characters masked one by one from a side."""

    mask: Side
    character: Annotated[str, StringConstraints(min_length=1, max_length=1)] = "*"

    def build(self, column: Column, folder: Path) -> Hierarchy:
        return assemble(column, mask_groupings(column, self.mask, self.character), "mask")


class Dates(HierarchySpec):
    """Units of the calendar, finest first, for dates."""

    dates: Annotated[tuple[CalendarUnit | Star, ...], Field(min_length=1)]

    @field_validator("dates")
    @classmethod
    def _finest_first(cls, dates: tuple[str, ...]) -> tuple[str, ...]:
        units = dates[:-1] if dates[-1] == "*" else dates
        if "*" in units:
            raise ValueError('"*" must be the last entry')
        places = [_UNITS.index(unit) for unit in units]
        if any(low >= high for low, high in pairwise(places)):
            raise ValueError(f"units must go from fine to coarse: {', '.join(_UNITS)}")
        return dates

    def build(self, column: Column, folder: Path) -> Hierarchy:
        groupings = [
            everything(present(column)) if unit == "*" else calendar_grouping(column, unit)
            for unit in self.dates
        ]
        hierarchy = assemble(column, groupings, "dates")
        return replace(
            hierarchy, level_names=self.dates if hierarchy.height == len(self.dates) else ()
        )


class Groups(HierarchySpec):
    """A given number of neighbours in an order; an ordered column needs no order."""

    groups: Annotated[tuple[WholeNumber | Star, ...], Field(min_length=1)]
    order: Annotated[tuple[str, ...], Field(min_length=1)] | None = None

    @field_validator("groups")
    @classmethod
    def _sizes_nest(cls, sizes: tuple[int | str, ...]) -> tuple[int | str, ...]:
        _require_multiples(_without_star(sizes), "size")
        return sizes

    @field_validator("order")
    @classmethod
    def _no_value_twice(cls, order: tuple[str, ...] | None) -> tuple[str, ...] | None:
        doubled = [value for value, times in Counter(order).items() if times > 1]
        if doubled:
            raise ValueError(f"values occur twice: {', '.join(doubled)}")
        return order

    def build(self, column: Column, folder: Path) -> Hierarchy:
        sizes = [int(size) for size in _without_star(self.groups)]
        return order_hierarchy(column, self.order, sizes, star=self.groups[-1] == "*")


class Tree(HierarchySpec):
    """A nested mapping of labels, with lists of values at its ends."""

    tree: Annotated[dict[str, Branch], Field(min_length=1)]

    @field_validator("tree")
    @classmethod
    def _no_label_twice(cls, tree: dict[str, Branch]) -> dict[str, Branch]:
        problems = tree_problems(tree)
        if problems:
            raise ValueError("; ".join(problems))
        return tree

    def build(self, column: Column, folder: Path) -> Hierarchy:
        return tree_hierarchy(column, self.tree)


StandardName = Literal[
    "icd-10",
    "icd-9",
    "atc",
    "iso-3166",
    "nuts",
    "postcode",
    "isco-08",
    "nace",
    "age",
    "date",
    "number",
]


class Standard(HierarchySpec):
    """A hierarchy that comes along: codes of a classification, ages, dates, round numbers."""

    standard: StandardName
    keep: Annotated[tuple[WholeNumber, ...], Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def _lengths_fall(self) -> Standard:
        if self.keep is not None:
            if self.standard != "postcode":
                raise ValueError("'keep' is for the standard 'postcode'")
            if self.keep[-1] < 1 or any(more <= less for more, less in pairwise(self.keep)):
                raise ValueError("'keep' must list decreasing character counts, such as [3, 2, 1]")
        return self

    def build(self, column: Column, folder: Path) -> Hierarchy:
        from discreet.hierarchies.standard_codes import code_hierarchy, number_hierarchy

        match self.standard:
            case "age":
                return Intervals(intervals=(5, 10, 20, "*")).build(column, folder)
            case "date":
                return Dates(dates=("month", "quarter", "year", "decade", "*")).build(
                    column, folder
                )
            case "number":
                return number_hierarchy(column)
        return code_hierarchy(column, self.standard, self.keep)


def _without_star(entries: tuple[float | str, ...]) -> list[int | float]:
    numbers = entries[:-1] if entries[-1] == "*" else entries
    if any(isinstance(number, str) for number in numbers):
        raise ValueError('"*" must be the last entry')
    return [number for number in numbers if not isinstance(number, str)]


def _require_multiples(numbers: list[int | float], noun: str) -> None:
    for number in numbers:
        if number <= 0:
            raise ValueError(f"{noun} {number} is not above 0")
    for low, high in pairwise(numbers):
        if high <= low or exact(high) % exact(low):
            raise ValueError(
                f"{noun} {high} is not a multiple of {low}, the {noun} before it, "
                "so that levels would not nest"
            )


_KEYS: dict[str, type[HierarchySpec]] = {
    "path": FileHierarchy,
    "intervals": Intervals,
    "mask": Mask,
    "dates": Dates,
    "groups": Groups,
    "order": Groups,
    "tree": Tree,
    "standard": Standard,
}


def _kind(value: Any) -> str | None:
    """The kind that a value of the job means, so that errors name that kind only."""
    if isinstance(value, HierarchySpec):
        return type(value).__name__
    if isinstance(value, str | Path):
        words = {word: kind.__name__ for kind, word in _WORDS.items()}
        return words.get(str(value), FileHierarchy.__name__)
    if isinstance(value, Mapping):
        kinds = [kind.__name__ for key, kind in _KEYS.items() if key in value]
        return kinds[0] if kinds else None
    return None


AnyHierarchy = Annotated[
    Union[  # noqa: UP007
        Annotated[FileHierarchy, Tag("FileHierarchy")],
        Annotated[Suppress, Tag("Suppress")],
        Annotated[Automatic, Tag("Automatic")],
        Annotated[Intervals, Tag("Intervals")],
        Annotated[Mask, Tag("Mask")],
        Annotated[Dates, Tag("Dates")],
        Annotated[Groups, Tag("Groups")],
        Annotated[Tree, Tag("Tree")],
        Annotated[Standard, Tag("Standard")],
    ],
    Discriminator(
        _kind,
        custom_error_type="hierarchy_kind",
        custom_error_message=(
            "a hierarchy is a path, 'suppress', 'automatic', or a mapping with one of the keys "
            "path, intervals, mask, dates, groups, tree, standard"
        ),
    ),
]

# The tags above, which pydantic puts into the places of errors.
HIERARCHY_KINDS = frozenset(kind.__name__ for kind in (*_WORDS, *_KEYS.values()))

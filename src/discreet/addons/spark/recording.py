"""What a ledger records of a release that was formed in parts: the group of every row.

Each part stages its rows with the number of their group and the codes of their sensitive values;
groups get the numbers of the release. Classes of a generalized release have no published number:
parts that publish the same cells publish one class.

Random numbers for groups that no machine holds together are a keyed permutation of 0 … size − 1: a
Feistel network on the least even number of bits that holds them, applied again to a number that
falls outside. Every worker with the key computes the same number for a group independently.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.methods.base import Generalized, Outcome, Task
from discreet.pipeline.record import published_groups
from discreet.table.coded_table import Column
from discreet.table.kernels.lists import distinct_values
from discreet.table.published import PublishedTable
from discreet.typing import Codes, Ints, Words

PLACE, OWN_GROUP = "row", "group"  # columns of a staged record beside the sensitive ones, s0, s1, …


@dataclass(frozen=True)
class StagedRecord:
    """The published rows of a part, in files of their own."""

    part: int
    path: str
    classes: str | None  # the published cells of each class, where groups have no number


def stage_record(
    outcome: Outcome,
    published: Mapping[str, PublishedTable],
    task: Task,
    row: Ints,
    part: int,
    path: Path,
) -> StagedRecord:
    """Stage the group of every published row; ``row`` is its number in the table."""
    group, _ = published_groups(outcome, published)
    is_published = group >= 0
    codes = {f"s{n}": column.codes[is_published] for n, column in enumerate(task.table.sensitive)}
    places = {PLACE: row[is_published], OWN_GROUP: group[is_published]}
    pl.DataFrame({**places, **codes}).write_ipc(path)
    if not isinstance(outcome, Generalized):
        return StagedRecord(part, str(path), None)
    classes = path.with_suffix(".classes")
    present = distinct_values(group[is_published])
    cells = {
        f"c{n}": pl.Series(column.labels, dtype=pl.String).gather(column.cell_of_class[present])
        for n, column in enumerate(outcome.cells.values())
    }
    pl.DataFrame({OWN_GROUP: present, **cells}).write_ipc(classes)
    return StagedRecord(part, str(path), str(classes))


def recorded_groups(
    records: Sequence[StagedRecord],
    numbering: Numbering,
    rows: int,
    first_row: Mapping[int, int],
    rows_of_split: int,
    sensitive: Sequence[Column],
) -> tuple[Codes, list[Column]]:
    """The group of every row of the table, −1 if it is not published, and its sensitive values.

    ``first_row`` says how many rows come before each split, whose rows are numbered from its own
    number times ``rows_of_split`` on.
    """
    group = np.full(rows, -1, np.int32)
    codes = [np.zeros(rows, np.int32) for _ in sensitive]
    number_of_class = _numbers_of_classes(records)
    for place, record in enumerate(records):
        staged = pl.read_ipc(record.path)
        row = staged[PLACE].to_numpy()
        split, offset = row // rows_of_split, row % rows_of_split
        begin = np.zeros(int(split.max(initial=0)) + 1, np.int64)
        for number in np.unique(split):
            begin[number] = first_row[int(number)]
        at = begin[split] + offset
        inside = staged[OWN_GROUP].to_numpy().astype(np.int64)
        known = number_of_class.get(place)
        group[at] = numbering.number(record.part, inside) - 1 if known is None else known[inside]
        for n, column in enumerate(codes):
            column[at] = staged[f"s{n}"].to_numpy()
    coded = zip(sensitive, codes, strict=True)
    return group, [replace(column, codes=rows, weights=None) for column, rows in coded]


def _numbers_of_classes(records: Sequence[StagedRecord]) -> dict[int, Ints]:
    """By record: the number of each of its classes, the same for classes with the same cells."""
    frames = [
        pl.read_ipc(record.classes).with_columns(pl.lit(place).alias("record"))
        for place, record in enumerate(records)
        if record.classes is not None
    ]
    if not frames:
        return {}
    whole = pl.concat(frames)
    cells = [name for name in whole.columns if name not in (OWN_GROUP, "record")]
    shown = whole.select(pl.struct(cells).rank("dense") - 1) if cells else whole.select(pl.lit(0))
    whole = whole.with_columns(shown.to_series().alias("number").cast(pl.Int64))
    numbers_by_record = {}
    for (place,), classes in whole.group_by("record"):
        numbers = np.zeros(int(str(classes[OWN_GROUP].max())) + 1, np.int64)
        numbers[classes[OWN_GROUP].to_numpy()] = classes["number"].to_numpy()
        numbers_by_record[int(str(place))] = numbers
    return numbers_by_record


ROUNDS = 6


@dataclass(frozen=True)
class Numbering:
    """The numbers of the parts' groups in the release."""

    first: Mapping[int, int]  # by part: how many groups the parts before it have
    groups: int
    key: int

    @staticmethod
    def of(groups_of_part: Mapping[int, int], key: int) -> Numbering:
        """The numbering of all groups that parts have."""
        first, groups = {}, 0
        for part, part_groups in sorted(groups_of_part.items()):
            first[part] = groups
            groups += part_groups
        return Numbering(first, groups, key)

    def number(self, part: int, group: NDArray[np.int64]) -> NDArray[np.int64]:
        """The numbers, from 1 on, of groups that a part numbers from 0 on."""
        return permuted(self.first[part] + group, self.groups, self.key) + 1


def permuted(numbers: NDArray[np.int64], size: int, key: int) -> NDArray[np.int64]:
    """The place of each number in a random order of 0 … size − 1."""
    half = max((max(size - 1, 1).bit_length() + 1) // 2, 1)
    keys = np.random.default_rng(key).integers(0, 2**64, ROUNDS, np.uint64)
    result = numbers.astype(np.uint64)
    outside = np.arange(len(result))
    while len(outside):
        result[outside] = _network(result[outside], np.uint64(half), keys)
        outside = outside[result[outside] >= np.uint64(size)]
    return result.astype(np.int64)


def _network(words: Words, half: np.uint64, keys: Words) -> Words:
    mask = (np.uint64(1) << half) - np.uint64(1)
    left, right = words >> half, words & mask
    for key in keys:
        left, right = right, left ^ (_mixed(right ^ key) & mask)
    return (left << half) | right


def _mixed(words: Words) -> Words:
    """Mix each word so that every bit depends on all its bits (the finalizer of SplitMix64)."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))

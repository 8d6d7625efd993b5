"""Readers of T^S: what is left of a person's other values once one sensitive value is known.

The reader knows the release, in which group a person is, and the person's value of one attribute.
Three readers, each stronger than the one before:

- ``pair`` keeps the values of the group's sets that occur in T^S together with the known one;
- ``row`` keeps those of rows of T^S with the known value that lie wholly within the sets;
- ``matching`` keeps those that some assignment of all people to all rows of T^S uses, each row for
  one person, each within the sets of the person's group (only where the primary value is known).

``matching`` is exact without counting assignments: for each primary value the people who have it
and the rows of T^S with it form a bipartite graph. One complete matching is found by augmenting
paths; a person may have another row if and only if the row's kind and the kind of the matched row
are in one strongly connected component of the graph of possible moves. Merged groups, in which it
is not published how often a primary value occurs, leave rows over; the reader then keeps more than
an exact one would, and the finding says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.published import GROUP
from discreet.data.table import CodedTable
from discreet.errors import InputError
from discreet.kernels import kernel
from discreet.releases.decomposed import DecomposedKind
from discreet.releases.manifest import Manifest
from discreet.releases.sensitive_sets import (
    PEOPLE,
    READERS,
    SENSITIVE,
    Sets,
    Signatures,
    index_signatures,
    kept_values,
    read_sets,
    supporting_rows,
)

Ints = NDArray[np.int64]
Small = NDArray[np.int32]

EDGES = 2**27  # possible rows of all people together; more are not matched
FINDING_ROWS = 100_000  # of a release whose audit tells what readers find
KINDS = 2**13  # kinds of rows of one primary value


@dataclass(frozen=True)
class LinkFinding:
    """How well one reader does against one attribute, over all people and known values."""

    reader: str
    known: str
    attribute: str
    least: int  # values left to the reader in the worst case
    certain: int  # people whose value is certain: a single one is left
    people: int
    exact: bool  # for ``matching``: False where merged groups or sheer size kept it from being so

    def to_dict(self) -> dict[str, Any]:
        """The finding as plain data."""
        return asdict(self)


def link_through_sensitive_table(
    tables: Mapping[str, CodedTable], known: str, *, matching: bool = True
) -> list[LinkFinding]:
    """What each reader who knows one attribute finds out about the others."""
    people, sensitive = tables[PEOPLE], tables[SENSITIVE]
    names = [column.name for column in sensitive.sensitive]
    if known not in names:
        raise InputError(f"'{known}' is not a sensitive attribute. Allowed: {', '.join(names)}.")
    sets = read_sets(tables, names)
    signatures = index_signatures(sensitive, names)
    number = names.index(known)
    kept = {reader: kept_values(sets, signatures, number, reader) for reader in READERS}
    exact = True
    if matching:
        kept["matching"], exact = matched_values(sets, signatures, number, people[GROUP].counts)
    return [
        LinkFinding(
            reader,
            known,
            name,
            least=int(left[:, place].min(initial=sensitive[name].cardinality)),
            certain=int((left[:, place] == 1).sum()),
            people=people.rows,
            exact=exact or reader != "matching",
        )
        for reader, left in kept.items()
        for place, name in enumerate(names)
        if name != known
    ]


def reader_findings(tables: Mapping[str, CodedTable], manifest: Manifest) -> list[dict[str, Any]]:
    """What readers of T^S find in a release: of decomposed ones, up to ``FINDING_ROWS`` rows."""
    if manifest.kind != DecomposedKind.name or manifest.published_rows > FINDING_ROWS:
        return []
    primary = str(getattr(manifest.method, "primary", ""))
    return [finding.to_dict() for finding in link_through_sensitive_table(tables, primary)]


def matched_values(
    sets: Sets, signatures: Signatures, primary: int, size: Ints
) -> tuple[Small, bool]:
    """For each primary value of each group, how many values of each attribute matchings use."""
    start, value = sets.of(primary)
    begin, row = supporting_rows(sets, signatures, primary, EDGES)
    kept = kept_values(sets, signatures, primary, "row")
    exact = bool((np.diff(start) == size).all())
    if row is None:
        return kept, False
    by_value = np.argsort(value, kind="stable")
    values = int(signatures.offset[primary + 1] - signatures.offset[primary])
    bounds = np.searchsorted(value[by_value], np.arange(values + 1))
    for one in range(values):
        slots = by_value[bounds[one] : bounds[one + 1]]
        place = signatures.offset[primary] + one
        kinds = signatures.listed[signatures.start[place] : signatures.start[place + 1]]
        if len(kinds) > KINDS:
            exact = False
            continue
        complete = _match(
            slots.astype(np.int64),
            np.sort(kinds),
            begin,
            row,
            signatures.count,
            signatures.codes,
            signatures.offset,
            kept,
        )
        exact &= complete
    return kept, exact


@kernel
def _match(
    slots: Ints,  # the people with one primary value, as entries of the sets
    kinds: Small,  # the signatures with it, ascending
    begin: Ints,
    row: Small,
    count: Ints,
    codes: Small,
    offset: Ints,
    kept: Small,
) -> bool:
    """Match people to rows and count the values that matchings use; False where some had none."""
    people, size = len(slots), len(kinds)
    start = np.zeros(people + 1, np.int64)  # possible kinds of each person
    for i in range(people):
        start[i + 1] = start[i] + begin[slots[i] + 1] - begin[slots[i]]
    possible = np.empty(start[people], np.int32)
    for i in range(people):
        for j in range(start[i + 1] - start[i]):
            possible[start[i] + j] = np.searchsorted(kinds, row[begin[slots[i]] + j])
    room = np.zeros(size + 1, np.int64)  # places of each kind
    for kind in range(size):
        room[kind + 1] = room[kind] + count[kinds[kind]]
    holder = np.full(room[size], -1, np.int64)
    held = np.zeros(size, np.int64)
    match = np.full(people, -1, np.int64)
    for i in range(people):
        best, most = -1, 0
        for j in range(start[i], start[i + 1]):
            free = room[possible[j] + 1] - room[possible[j]] - held[possible[j]]
            if free > most:
                best, most = possible[j], free
        if best >= 0:
            _seat(i, best, match, holder, held, room)
    reached_by = np.empty(size, np.int64)
    queue = np.empty(people + 1, np.int64)
    while (match < 0).any():
        progress = False
        reached_by[:] = -1  # kinds that a search of this round passed need no second look in it
        for i in range(people):
            if match[i] < 0 and _augment(
                i, start, possible, match, holder, held, room, reached_by, queue
            ):
                progress = True
        if not progress:
            return False
    moves = _moves(start, possible, match, held, room)
    part = _components(moves)
    seen = np.full(offset[len(offset) - 1], -1, np.int64)
    for i in range(people):
        kept[slots[i]] = 0
        for j in range(start[i], start[i + 1]):
            if part[possible[j]] != part[match[i]]:
                continue
            for attribute in range(codes.shape[1]):
                at = offset[attribute] + codes[kinds[possible[j]], attribute]
                if seen[at] != i:
                    seen[at] = i
                    kept[slots[i], attribute] += 1
    return True


@kernel
def _seat(person: int, kind: int, match: Ints, holder: Ints, held: Ints, room: Ints) -> None:
    holder[room[kind] + held[kind]] = person
    held[kind] += 1
    match[person] = kind


@kernel
def _unseat(person: int, match: Ints, holder: Ints, held: Ints, room: Ints) -> None:
    kind = match[person]
    last = room[kind] + held[kind] - 1
    for place in range(room[kind], last + 1):
        if holder[place] == person:
            holder[place] = holder[last]
            break
    held[kind] -= 1
    match[person] = -1


@kernel
def _augment(
    person: int,
    start: Ints,
    possible: Small,
    match: Ints,
    holder: Ints,
    held: Ints,
    room: Ints,
    reached_by: Ints,  # the person who would take a place of each kind
    queue: Ints,
) -> bool:
    """Seat one more person, others moving on where they must."""
    queue[0] = person
    first, end = 0, 1
    while first < end:
        here = queue[first]
        first += 1
        for j in range(start[here], start[here + 1]):
            kind = possible[j]
            if reached_by[kind] >= 0:
                continue
            reached_by[kind] = here
            if held[kind] < room[kind + 1] - room[kind]:
                step = int(kind)
                while True:
                    mover = reached_by[step]
                    left = match[mover]
                    if left >= 0:
                        _unseat(mover, match, holder, held, room)
                    _seat(mover, step, match, holder, held, room)
                    if mover == person:
                        return True
                    step = int(left)
            for place in range(room[kind], room[kind] + held[kind]):
                queue[end] = holder[place]
                end += 1
    return False


@kernel
def _moves(start: Ints, possible: Small, match: Ints, held: Ints, room: Ints) -> NDArray[np.bool_]:
    """Which kinds somebody with one kind could have instead; free places could be anybody's."""
    size = len(held)
    moves = np.zeros((size, size), np.bool_)
    for person in range(len(match)):
        for j in range(start[person], start[person + 1]):
            moves[match[person], possible[j]] = True
    for kind in range(size):
        if held[kind] < room[kind + 1] - room[kind]:
            moves[kind, :] = True
    return moves


@kernel
def _components(moves: NDArray[np.bool_]) -> Ints:
    """The strongly connected component of every kind (Tarjan, without recursion)."""
    size = len(moves)
    part = np.full(size, -1, np.int64)
    index = np.full(size, -1, np.int64)
    low = np.zeros(size, np.int64)
    stack = np.empty(size, np.int64)
    path = np.empty(size, np.int64)
    following = np.zeros(size, np.int64)
    waiting = np.zeros(size, np.bool_)
    depth, height, visited, parts = 0, 0, 0, 0
    for root in range(size):
        if index[root] >= 0:
            continue
        path[0] = root
        depth = 1
        while depth:
            kind = path[depth - 1]
            if index[kind] < 0:
                index[kind] = low[kind] = visited
                visited += 1
                stack[height] = kind
                height += 1
                waiting[kind] = True
            descended = False
            while following[kind] < size:
                other = following[kind]
                following[kind] += 1
                if not moves[kind, other]:
                    continue
                if index[other] < 0:
                    path[depth] = other
                    depth += 1
                    descended = True
                    break
                if waiting[other]:
                    low[kind] = min(low[kind], index[other])
            if descended:
                continue
            depth -= 1
            if depth:
                low[path[depth - 1]] = min(low[path[depth - 1]], low[kind])
            if low[kind] == index[kind]:
                while True:
                    height -= 1
                    other = stack[height]
                    waiting[other] = False
                    part[other] = parts
                    if other == kind:
                        break
                parts += 1
    return part

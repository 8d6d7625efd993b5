"""Where an attacker may place people: the groups that each fits, and how likely each group is.

A world gives every person one published row. Where the cells of a release do not overlap, a
person fits one group. Local recoding lets people fit several, and then a group's weight for a
person is the share of all assignments of people to groups, each group filled to its size, that
put the person there. People who look alike (of one *kind*) have equal weights. Who was suppressed
is not written in a release, so where rows were, one more group that fits every person takes them.

Two ways, and the report says which:

- *exact*: components of at most ``EXACT_STATES`` states are counted, person by person
  (``counting``).
- *scaling*: else the weights are those of greatest entropy with the right row and column sums,
  x(kind)·y(group), found by alternating scaling with momentum. It is an approximation, no bound;
  but groups that no world gives to a kind have no weight.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.releases.worlds.counting import Options, count_worlds
from discreet.releases.worlds.permanents import EXACT_STATES
from discreet.statements import Statement
from discreet.table.graphs import components_of_flow, greatest_flow, smallest_connected
from discreet.table.kernels.lists import distinct_values, entries_of, starts_of
from discreet.typing import AnyInts, Bools, Floats, Ints, Ints32

EXACT_PEOPLE = 64  # in a component that is counted exactly
EXACT_COMPONENTS = 2000  # components that are counted exactly, smallest first
FEW_ROUNDS = 30  # of scaling, after which edges that no world uses are left out
SCALING_ROUNDS = 200
SCALING_PRECISION = 1e-7
MOST_ADDED = 1.0  # to a logarithm in a round, so that no weight overflows where no world exists

EXACT = "exact"
SCALING = Statement("figures.scaled-weights")


@dataclass(frozen=True, eq=False)
class Placement:
    """For each place (a group, or a kind of people) the groups it may represent, with weights."""

    start: Ints  # (places + 1,)
    group: Ints32  # (edges,)
    weight: Floats  # (edges,) sum to 1 within a place
    method: str = EXACT
    count: Callable[[AnyInts], Placement] | None = None  # what ``counted`` does, if anything

    @property
    def places(self) -> int:
        return len(self.start) - 1

    @cached_property
    def sole(self) -> bool:
        """Whether every place is one group."""
        return len(self.group) == self.places

    @classmethod
    def identity(cls, groups: int) -> Placement:
        """Every place is the group of the same number."""
        every = np.arange(groups, dtype=np.int32)
        return cls(np.arange(groups + 1), every, np.ones(groups))

    def counted(self, places: AnyInts) -> Placement:
        """Count worlds exactly, where few, for these places; the weights of others may remain."""
        return self if self.count is None else self.count(places)

    def sums(self, of_edge: Floats) -> Floats:
        """For each place the sum over its edges."""
        place = np.repeat(np.arange(self.places), np.diff(self.start))
        return np.bincount(place, of_edge, self.places).astype(np.float64)


def weigh(
    start: Ints,  # (kinds + 1,)
    group: Ints32,  # (edges,) the groups that fit each kind
    people: Ints,  # (kinds,) how many people are of each kind
    size: Ints,  # (groups,) rows
    suppressed: int,
) -> Placement:
    """The weights of the groups that fit each kind, by scaling; kinds that fit none have no edge.

    ``Placement.counted`` makes them exact where that is possible.
    """
    if (np.diff(start) <= 1).all():
        return Placement(start, group, np.ones(len(group)))
    # Suppressed people are in one more group, which fits everybody and is not shown.
    if suppressed:
        kinds = len(start) - 1
        place = np.repeat(np.arange(kinds), np.diff(start))
        order = np.argsort(np.concatenate([place, np.arange(kinds)]), kind="stable")
        wide = np.concatenate([group, np.full(kinds, len(size))])[order].astype(np.int32)
        published = wide < len(size)

        def shares(whole: Placement) -> Placement:
            weight = whole.weight[published]
            sums = np.bincount(place, weight, kinds)
            of_edge = weight / np.where(sums > 0, sums, 1)[place]
            return Placement(
                start, group, of_edge, whole.method, lambda places: shares(whole.counted(places))
            )

        wide_start = start + np.arange(kinds + 1)
        return shares(weigh(wide_start, wide, people, np.append(size, suppressed), 0))
    # Scale all; the components of chosen places are counted when they are asked for.
    scaled = scale(start, group, people.astype(np.float64), size.astype(np.float64))

    def counted(places: AnyInts) -> Placement:
        weight = scaled.copy()
        exact = count_components(start, group, people, size, weight, places=places)
        return Placement(start, group, weight, EXACT if exact else SCALING)

    return Placement(start, group, scaled, SCALING, counted)


def scale(
    start: Ints, group: Ints32, people: Floats, size: Floats, *, supported: bool = False
) -> Floats:
    """The weights x(kind)·y(group) that sum to 1 over groups, and over people to the sizes.

    Kinds that fit the same groups are scaled as one. Where few rounds are not enough, edges that no
    world uses, whose weights only tend to 0, are found by a flow and left out; with ``supported``,
    there are none.
    """
    # Merge kinds that fit the same groups, and scale a few rounds.
    alike = _alike(start, group)
    kinds = np.flatnonzero(np.bincount(alike, np.diff(start)))  # those that fit a group
    people = np.bincount(alike, people)[kinds].astype(np.float64)
    edge, kind = entries_of(start, kinds)
    fits = group[edge]
    rounds = SCALING_ROUNDS if supported else FEW_ROUNDS
    of_edge, ended = _scaled(kind, fits, people, size, rounds)
    used = None if ended or supported else _used_edges(kind, fits, people, size)
    # Leave out edges that no world uses; those of people without a choice are sure.
    if used is not None:
        choices = np.bincount(kind[used], minlength=len(people))[kind]
        sole, several = used & (choices == 1), used & (choices > 1)
        left = size - np.bincount(fits[sole], people[kind[sole]], len(size))
        of_edge = sole.astype(np.float64)
        of_edge[several], _ = _scaled(kind[several], fits[several], people, left, SCALING_ROUNDS)
    elif not ended and not supported:
        of_edge, _ = _scaled(kind, fits, people, size, SCALING_ROUNDS)
    # Give all kinds the weights of the kind that they are like.
    weight = np.zeros(len(group))
    weight[edge] = of_edge
    same, _ = entries_of(start, alike)
    return weight[same]


def _scaled(
    kind: Ints, group: Ints32, people: Floats, size: Floats, rounds: int
) -> tuple[Floats, bool]:
    """The weights of edges of a kind and a group, and whether they have the right sums.

    After each round, groups take a part of the round's change once more (momentum: Nesterov, 1983;
    none after a round that it leads away from the sums: O'Donoghue and Candès, 2015).
    """
    # Number the groups and kinds that have edges.
    (held, fits), (present, kind) = _numbered(group, len(size)), _numbered(kind, len(people))
    size, people = size[held], people[present]
    of_group, added, steps = size.copy(), np.zeros(len(size)), 0
    last, total, ended = of_group, np.ones(len(people)), False
    with np.errstate(invalid="ignore", divide="ignore"):  # a group without rows has no weight
        for _ in range(rounds if len(kind) else 0):
            last = of_group
            # One round: shares of each kind, then the filling of each group.
            total = np.bincount(kind, last.take(fits), len(people)).astype(np.float64)
            filled = last * np.bincount(fits, (people / total).take(kind), len(size))
            ratio = np.where(filled > 0, size / filled, 1.0)
            ended = bool(np.abs(1 / ratio - 1).max(initial=0.0) < SCALING_PRECISION)
            if ended:
                break
            # Momentum, unless it leads away from the sums.
            step = np.log(ratio)
            change = added + step
            steps = steps + 1 if (size * step * change).sum() >= 0 else 0
            added = np.clip(steps / (steps + 3) * change, -MOST_ADDED, MOST_ADDED)
            of_group = last * ratio * np.exp(added)
        return last[fits] / total[kind], ended


def _numbered(codes: AnyInts, count: int) -> tuple[Ints, Ints]:
    """Return the codes that occur, and for each code its place among them."""
    occurring = np.flatnonzero(np.bincount(codes, minlength=count))
    place = np.zeros(count, np.int64)
    place[occurring] = np.arange(len(occurring))
    return occurring, place[codes]


def _used_edges(kind: Ints, group: Ints32, people: Floats, size: Floats) -> Bools | None:
    """Whether a world uses each edge; None where no world fills every group."""
    demand, supply = size.astype(np.int64), people.astype(np.int64)
    if (demand != size).any() or (supply != people).any() or demand.sum() != supply.sum():
        return None
    start = starts_of(np.bincount(kind, minlength=len(people)))
    flow = greatest_flow(demand, supply, start, group)
    if flow.sum() < supply.sum():
        return None
    sent = flow > 0
    of_kind, of_group = components_of_flow(len(size), start, group, kind[sent], group[sent])
    return np.asarray(of_kind[kind] == of_group[group])


def _alike(start: Ints, group: Ints32) -> Ints:
    """For each kind the first that fits the same groups; itself if it fits none."""
    alike = np.arange(len(start) - 1)
    fitting = np.flatnonzero(np.diff(start))
    if not len(fitting):
        return alike
    mark = np.random.default_rng(0).integers(0, 2**63, int(group.max()) + 1, np.uint64)
    marks = np.add.reduceat(mark[group], start[fitting])  # as numbers of 64 bits, modulo 2⁶⁴
    _, first, number = np.unique(marks, return_index=True, return_inverse=True)
    as_first = fitting[first][number]
    entries, _ = entries_of(start, as_first)
    if len(entries) == len(group) and (group[entries] == group).all():
        alike[fitting] = as_first
    return alike


def count_components(
    start: Ints,
    group: Ints32,
    people: Ints,
    size: Ints,
    weight: Floats,
    kind_of_group: Ints32 | None = None,
    places: AnyInts | None = None,
) -> bool:
    """Replace the weights of small components by exact ones; whether none is left.

    With ``kind_of_group``, people of one kind have a group of each kind that the groups they fit
    have: in worlds without, there is none. With ``places``, the components of these kinds alone.
    """
    # Components in which some kind has a choice.
    component = _components(start, group, len(size))
    several = np.flatnonzero(np.diff(start) > 1)
    kinds_of: dict[int, list[int]] = defaultdict(list)
    open_components = distinct_values(component[several])
    is_open = np.zeros(int(component.max(initial=0)) + 1, bool)
    is_open[open_components] = True
    if len(open_components) > EXACT_COMPONENTS:
        return False
    if places is not None:
        is_open &= np.bincount(component[places], minlength=len(is_open)) > 0
    for kind in np.flatnonzero(is_open[component] & (np.diff(start) > 0)):
        kinds_of[int(component[kind])].append(int(kind))
    all_exact = True
    # Count the worlds of each by itself.
    for kinds in kinds_of.values():
        if people[kinds].sum() > EXACT_PEOPLE:
            all_exact = False
            continue
        edges = [(start[kind], start[kind + 1]) for kind in kinds]
        fits = [tuple(group[low:high].tolist()) for low, high in edges]
        counted = place_shares(fits, people[kinds].tolist(), size, kind_of_group)
        if counted is None:
            all_exact = False
            continue
        for (low, high), of_kind in zip(edges, counted, strict=True):
            weight[low:high] = of_kind
    return all_exact


def place_shares(
    fits: Sequence[Sequence[int]],
    people: Sequence[int],
    size: Ints,
    kind_of_group: Ints32 | None = None,
) -> list[Floats] | None:
    """For each kind the share of worlds in which a person of it is in each group that it fits.

    None where more than ``EXACT_STATES`` states would have to be looked at, or where no world
    fills every group. ``kind_of_group`` as in ``count_components``.
    """
    groups = sorted({group for fit in fits for group in fit})
    number = {group: place for place, group in enumerate(groups)}
    # People of one group first, then those of the same groups in turn: a group that is full, or
    # that no later person fits, adds no states. The order changes no count.
    order = sorted(range(len(fits)), key=lambda kind: (len(fits[kind]) > 1, tuple(fits[kind])))
    choices = [
        Options(
            np.array([[number[group]] for group in fits[kind]]),
            people[kind],
            kind=None if kind_of_group is None else kind_of_group[list(fits[kind])],
        )
        for kind in order
    ]
    shares = count_worlds([int(size[group]) for group in groups], choices, EXACT_STATES)
    return None if shares is None else [shares[place] for place in np.argsort(order)]


def _components(start: Ints, group: Ints32, groups: int) -> Ints:
    """For each kind the smallest group that it is connected with."""
    fitting = np.flatnonzero(np.diff(start))
    head = group[start[fitting]]
    edges = group.astype(np.int64)
    label = smallest_connected(groups, np.repeat(head, np.diff(start)[fitting]), edges)
    component = np.zeros(len(start) - 1, np.int64)
    component[fitting] = label[head]
    return component

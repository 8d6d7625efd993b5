"""Beliefs of attackers on a decomposed release, who have T^S beside the groups' sets of values.

The attacker knows the target's group and, in *link-through-sensitive-table*, the target's value of
one attribute. A value weighs as many rows of T^S as support it: rows with the known value (reader
``pair``), rows with it that lie wholly within the group's sets (``row``), or all assignments of all
people to all rows (``matching``), which is what follows from the release. Without any
knowledge, *set-homogeneity* reads by ``row`` and by ``matching``.

``matching`` is exact where assignments can be counted (``assignment_shares``). Elsewhere it is an
estimate, marked as such, and no lower than the beliefs of the weaker attackers.

How many people of each group have each row of T^S, on average over all worlds.

A world is a complete assignment of people to rows (``table.assignments``). Rows that no world uses
are left out first; what remains falls into components. Small ones are counted, within the limits of
``placement``; the others are estimated by alternating scaling, and the finding says so.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from discreet.attacks import base
from discreet.attacks.attackers import StandardAttacker
from discreet.attacks.base import ALONE, IN_TABLE, TOLERANCE, Attack, Finding, Scene, summarize
from discreet.releases.adversary_view import placed_people
from discreet.releases.kinds.base import Kind
from discreet.releases.worlds.placement import count_components, scale
from discreet.releases.worlds.readers import Assignments, rows_within
from discreet.releases.worlds.sensitive_sets import (
    PEOPLE,
    SENSITIVE,
    SensitiveSignatures,
    primary_of,
    read_sets,
    signatures_of,
)
from discreet.requirements.sa_diversity import ConditionalLDiversity
from discreet.statements import Statement
from discreet.table.assignments import (
    PossibleRows,
    Sets,
    rows_by_value,
    sets_of_groups,
)
from discreet.table.budgets import MOST_ENTRIES, MOST_STEPS
from discreet.table.classes import group_codes
from discreet.table.code_maps import recoded
from discreet.table.coded_table import Derives, derived_once
from discreet.table.kernels.lists import entries_of, places_of, starts_of, stretches
from discreet.table.published import GROUP
from discreet.typing import AnyInts, Bools, Codes, Floats, Ints, Ints32

ESTIMATE = Statement("figures.scaled-assignments")


def read_people(scene: Scene, names: list[str]) -> PossibleMembers:
    """Place every person by exact quasi-identifiers."""
    people, original = scene.tables[PEOPLE], scene.task.table
    groups = people[GROUP]
    placed = placed_people(people, groups.codes, groups.cardinality, original)
    truth = [recoded(scene.tables[SENSITIVE][name], original[name]) for name in names]
    return PossibleMembers(placed.kind_of_person, placed.start, placed.group, placed.weight, truth)


Question = tuple[str, str | None]  # an attribute that is sought, and one that is known


class SensitiveTableAttack(Attack):
    """An attack by the table of whole sensitive rows, with each of the readers above."""

    quick: ClassVar[bool] = True

    @classmethod
    def reads(cls, kind: Kind) -> bool:
        return kind.has_sensitive_table

    @abstractmethod
    def questions(self, scene: Scene, names: Sequence[str]) -> list[Question]:
        """Return what is sought, and by what."""

    def expected(self, scene: Scene) -> int:
        names = [column.name for column in scene.tables[SENSITIVE].sensitive]
        return sum(2 if known is None else 3 for _, known in self.questions(scene, names))

    def beliefs(
        self, scene: Scene
    ) -> Iterator[tuple[str, str | None, dict[str, tuple[Lines, Floats, str]]]]:
        """Yield for each question the beliefs by reader, the strongest last.

        With them those of the same attacker without a link, and how they were found.
        """
        opened = _Opened.of(self, scene)
        for name, known_name in self.questions(scene, opened.names):
            known = None if known_name is None else opened.names.index(known_name)
            beliefs = opened.beliefs(scene, opened.names.index(name), known)
            if known is not None and "pair" not in beliefs:
                what = f"reader 'pair' on '{name}' who knows '{known_name}'"
                self.omit(scene, what, Statement("omitted.pairs", pairs=MOST_ENTRIES))
            yield name, known_name, beliefs

    def run(self, scene: Scene) -> Iterator[Finding]:
        for name, known, readers in self.beliefs(scene):
            for reader, (lines, without, method) in readers.items():
                if reader == list(readers)[-1] and not lines.estimated:  # the strongest
                    _list_rows(scene, name, known, lines, without)
                yield summarize(
                    self, name, PEOPLE, lines.belief, lines.count, without, scene.threshold,
                    _bounds(scene, known, reader, lines), method=method,
                    knowledge=_knowledge(known, reader), estimated=lines.estimated,
                    details={**({} if known is None else {"known": [known]}), "reader": reader},
                )  # fmt: skip


class SetHomogeneity(SensitiveTableAttack):
    """Which value the target has, by the rows of T^S that lie within the group's sets."""

    name: ClassVar[str] = "set-homogeneity"

    def questions(self, scene: Scene, names: Sequence[str]) -> list[Question]:
        return [(name, None) for name in names]


class LinkThroughSensitiveTable(SensitiveTableAttack):
    """One sensitive value from another by the table of whole sensitive rows."""

    name: ClassVar[str] = "link-through-sensitive-table"
    also_knows: ClassVar[str] = Statement("also-knows.other-values")
    attackers: ClassVar[tuple[StandardAttacker, ...]] = (StandardAttacker.INSIDER,)
    slow: ClassVar[bool] = True
    knows: ClassVar[Statement] = Statement("knows.one-value", first=IN_TABLE)

    def lacking(self, scene: Scene) -> str | None:
        if len(scene.tables[SENSITIVE].sensitive) < 2:
            return Statement("inapplicable.one-attribute")
        return None if self.expected(scene) else Statement("inapplicable.one-secret")

    def questions(self, scene: Scene, names: Sequence[str]) -> list[Question]:
        others = {name: scene.task.secrets.others(name, names) for name in names}
        return [(name, known) for known in names for name in names if known in others[name]]


def _knowledge(known: str | None, reader: str) -> Statement:
    """What an attacker knows who may know the value of one attribute."""
    if known is None:
        return Statement("knows.sensitive-table", first=IN_TABLE, reader=reader)
    return Statement(
        "knows.value-and-sensitive-table", first=IN_TABLE, attribute=known, reader=reader
    )


def _bounds(scene: Scene, known: str | None, reader: str, lines: Lines) -> Floats | None:
    """(lines,) What a guarantee allows: so many values are left, each with a row at least."""
    promised = [
        r.l
        for r in scene.requirements
        if isinstance(r, ConditionalLDiversity) and (r.known, r.attacker) == (known, reader)
    ]
    if not promised:
        return None
    return np.asarray(1 - (max(promised) - 1) / np.maximum(lines.weight, max(promised)))


@dataclass(frozen=True, eq=False)
class _Opened:
    """A decomposed release as its readers see it: targets, sets, T^S, and rows within the sets."""

    names: list[str]  # of the sensitive attributes
    people: PossibleMembers
    sets: Sets
    signatures: SensitiveSignatures
    rows: RowsOfGroups | None  # None where they are too many
    matching: RowsOfGroups | None

    @classmethod
    def of(cls, attack: Attack, scene: Scene) -> _Opened:
        """Open a release; what is too large for a reader is reported."""
        sensitive = scene.tables[SENSITIVE]
        names = [column.name for column in sensitive.sensitive]
        sets, signatures = read_sets(scene.tables, names), signatures_of(sensitive, names)
        people = read_people(scene, names)
        matching = None
        if scene.quick and len(people.kind) > base.TARGETS:
            drawn = scene.rng.integers(0, len(people.kind), base.TARGETS)
            people, sets = people.drawn(drawn, sets)
            # Assignments are of all people, so ``matching`` has no sample to work on.
            attack.omit(scene, "reader 'matching'", Statement("omitted.not-quick-reader"))
        else:
            matching = _matching(attack, scene, names, sets, signatures)
        rows = _rows_within(sets, signatures)
        if rows is None:
            attack.omit(scene, "reader 'row'", _more_than(MOST_ENTRIES))
        return cls(names, people, sets, signatures, rows, matching)

    def beliefs(
        self, scene: Scene, target: int, known: int | None
    ) -> dict[str, tuple[Lines, Floats, str]]:
        """Return by reader, the strongest last, beliefs, those without a link, and the method."""
        people, sets, signatures = self.people, self.sets, self.signatures
        readers: dict[str, Lines] = {}
        methods = {"pair": "exact", "row": "exact"}
        if known is None:
            methods["row"] = Statement("figures.rows-in-sets")
        elif (pair := pair_beliefs(people, sets, signatures, target, known)) is not None:
            readers["pair"] = pair
        if self.rows is not None:
            readers["row"] = row_beliefs(people, self.rows, target, known)
        if self.matching is not None:
            methods["matching"] = "exact" if self.matching.exact else ESTIMATE
            lines = row_beliefs(people, self.matching, target, known)
            if not self.matching.exact:  # an estimate is no lower than beliefs of weaker attackers
                estimates = [lines.belief, *(weaker.belief for weaker in readers.values())]
                lines = replace(lines, belief=np.maximum.reduce(estimates))
            readers["matching"] = lines
        beliefs = {}
        for reader, every in readers.items():
            lines = every.of(scene.discloses(self.names[target], every.value))
            without = _without_link(signatures, target, known, lines)
            beliefs[reader] = lines, without, methods[reader]
        return beliefs


def _matching(
    attack: Attack, scene: Scene, names: list[str], sets: Sets, signatures: SensitiveSignatures
) -> RowsOfGroups | None:
    """None where the graph of people and rows is too large, or no assignment exists."""
    primary = names.index(primary_of(scene.manifest))
    size = scene.tables[PEOPLE][GROUP].counts
    possible = Assignments(sets, signatures, primary, size).possible_rows()
    if possible is None or len(possible.row) > MOST_STEPS:
        attack.omit(scene, "reader 'matching'", _more_than(MOST_STEPS))
        return None
    if not possible.complete:
        attack.omit(scene, "reader 'matching'", Statement("omitted.no-assignment"))
        return None
    return sets.once(
        ("matching", signatures, primary),
        lambda: _shared_out(sets, signatures, primary, size, possible),
    )


def _shared_out(
    sets: Sets, signatures: SensitiveSignatures, primary: int, size: Ints, possible: PossibleRows
) -> RowsOfGroups:
    mass, exact = expected_rows(sets, signatures, primary, size, possible)
    chance = mass / np.repeat(size, np.diff(possible.start))
    return RowsOfGroups(sets, signatures, possible.start, possible.row, chance, exact)


@derived_once
def _rows_within(sets: Sets, signatures: SensitiveSignatures) -> RowsOfGroups | None:
    """The rows of T^S within the sets of each group; None where they are too many."""
    begin, row = rows_within(sets, signatures, 0)
    if row is None:
        return None
    return RowsOfGroups(sets, signatures, begin[sets.of(0)[0]], row)


def _more_than(limit: int) -> Statement:
    return Statement("omitted.too-many-edges", most=limit)


def _list_rows(scene: Scene, name: str, known: str | None, lines: Lines, without: Floats) -> None:
    """List the rows that are learned: certain, or above the threshold where no value is known."""
    knows, limit = ALONE, scene.threshold + TOLERANCE
    if known is not None:
        knows, limit = f"{ALONE} and '{known}'", 1 - TOLERANCE
    risky = np.append((lines.belief >= limit) & (without < limit), False)
    rows = np.flatnonzero(risky[lines.line_of_person])
    scene.list_rows(rows, name, knows, lines.belief[lines.line_of_person[rows]])


def _without_link(
    signatures: SensitiveSignatures, target: int, known: int | None, lines: Lines
) -> Floats:
    """(lines,) P(true value | known value) in T^S as a whole, the groups unknown."""
    codes = signatures.codes
    value = codes[:, target].astype(np.int64)
    condition = (
        np.zeros(len(value), np.int64) if known is None else codes[:, known].astype(np.int64)
    )
    width = max(int(value.max(initial=0)), int(lines.value.max(initial=0))) + 1
    keys, pair = np.unique(condition * width + value, return_inverse=True)
    joint = np.append(np.bincount(pair, signatures.count, len(keys)), 0.0)
    total = np.bincount(condition, signatures.count)
    of_line = lines.known.astype(np.int64)
    place = places_of(keys, of_line * width + lines.value)
    rows = np.append(total, 1.0)[np.minimum(of_line, len(total))]
    share: Floats = joint[place] / np.maximum(rows, 1)
    return share


@dataclass(frozen=True, eq=False)
class PossibleMembers:
    """The original people, and the groups that each may be in."""

    kind: Codes  # (people,)
    start: Ints  # (kinds + 1,)
    group: Codes  # (edges,)
    weight: Floats  # (edges,)
    truth: list[Codes]  # by attribute, in the codes of T^S
    estimated: bool = False  # whether they were drawn, to estimate

    def drawn(self, person: Ints, sets: Sets) -> tuple[PossibleMembers, Sets]:
        """Return some people, drawn with replacement, and the sets of the groups of these alone."""
        kinds, kind = np.unique(self.kind[person], return_inverse=True)
        edge, _ = entries_of(self.start, kinds)
        groups, group = np.unique(self.group[edge], return_inverse=True)
        start = starts_of(np.diff(self.start)[kinds])
        truth = [of_attribute[person] for of_attribute in self.truth]
        members = PossibleMembers(
            kind.astype(np.int32), start, group.astype(np.int32), self.weight[edge], truth, True
        )
        return members, sets_of_groups(sets, groups.astype(np.int64))[1]


@dataclass(frozen=True, eq=False)
class RowsOfGroups(Derives):
    """The rows of T^S that people of each group may have."""

    sets: Sets
    signatures: SensitiveSignatures
    start: Ints  # (groups + 1,)
    row: Ints32  # (edges,)
    # Of each row, for a person of its group; None where rows are as likely as they are common.
    chance: Floats | None = None
    exact: bool = True  # whether chances are

    @derived_once
    def places(self, attribute: int) -> AnyInts:
        """Return the place of each row's value in its group's set; found once."""
        widest = int(_widths(self.sets, attribute).max(initial=0))
        places = np.empty(len(self.row), np.min_scalar_type(widest))
        for _, within, group in self.parts():
            of_row = self.signatures.codes[self.row[within], attribute]
            places[within] = _places_in_sets(self.sets, attribute, group, of_row)
        return places

    @derived_once
    def shares(self, first: int | None, second: int | None) -> Floats:
        """Return the mass of each group's rows by values of one attribute and of another.

        By the places of the values in the group's sets, those of the other attribute within each
        of the first; None for all values together. Found once.
        """
        widths = _widths(self.sets, second)
        start = starts_of(_widths(self.sets, first) * widths)
        shares = np.zeros(start[-1])
        for part, within, group in self.parts():
            rows, chance = self.row[within], self.chance
            mass = self.signatures.count[rows] if chance is None else chance[within]
            begin, end = start[part.start], start[part.stop]
            at = (start - begin)[group]
            if first is not None:
                place = self.places(first)[within]
                at += place if second is None else place * widths[group]
            if second is not None:
                at += self.places(second)[within]
            shares[begin:end] = np.bincount(at, mass, end - begin)
        return shares

    def parts(self) -> Iterator[tuple[slice, slice, Ints]]:
        """Yield stretches of groups: which, their edges, and the group of each of these."""
        length = np.diff(self.start)
        for part in stretches(length):
            within = slice(self.start[part.start], self.start[part.stop])
            yield part, within, np.repeat(np.arange(part.start, part.stop), length[part])


@dataclass(frozen=True, eq=False)
class Lines:
    """Beliefs in the truth of targets who are alike."""

    belief: Floats
    count: Ints
    weight: Floats  # rows that the attacker weighs, for the bound
    value: Codes  # the true value
    known: Codes  # the value that the attacker knows of another attribute; 0 where none is known
    line_of_person: Ints  # (people,) −1 for a person who is not a target
    estimated: bool

    def of(self, chosen: Bools) -> Lines:
        """The beliefs in some of the lines."""
        number = np.append(np.where(chosen, np.cumsum(chosen) - 1, -1), -1)
        return Lines(
            self.belief[chosen],
            self.count[chosen],
            self.weight[chosen],
            self.value[chosen],
            self.known[chosen],
            number[self.line_of_person],
            self.estimated,
        )


def row_beliefs(
    people: PossibleMembers, rows: RowsOfGroups, target: int, known: int | None
) -> Lines:
    """Beliefs by the rows of T^S that groups may have, those with the known value if one is."""
    total = rows.shares(known, None)
    first, second = sorted((target, target if known is None else known))
    share = rows.shares(first, None if known is None else second)
    by_target = known is not None and target < known
    is_chance = rows.chance is not None
    return _mixed(people, rows.sets, target, known, share, total, is_chance, by_target)


def _widths(sets: Sets, attribute: int | None) -> Ints:
    """Return how many values of an attribute each group has; one if there is no attribute."""
    return np.ones(sets.groups, np.int64) if attribute is None else np.diff(sets.of(attribute)[0])


def _places_in_sets(sets: Sets, attribute: int, group: Ints, value: AnyInts) -> Ints:
    """Return the place of each value in the set of its group, −1 where that does not have it."""
    start, listed = sets.of(attribute)
    width = int(listed.max(initial=0)) + 2  # the last: values that no set has
    keys = np.repeat(np.arange(sets.groups), np.diff(start)) * width + listed  # ascending
    place = places_of(keys, group * width + np.minimum(value, width - 1))
    return np.where(place >= 0, place - start[group], -1)


def pair_beliefs(
    people: PossibleMembers,
    sets: Sets,
    signatures: SensitiveSignatures,
    target: int,
    known: int,
) -> Lines | None:
    """Beliefs by the rows with the known value and a value of the group's set."""
    codes = signatures.codes
    shape = int(codes[:, known].max()) + 1, int(codes[:, target].max()) + 1
    if shape[0] * shape[1] > MOST_ENTRIES:
        return None
    together = np.zeros(shape)
    np.add.at(together, (codes[:, known], codes[:, target]), signatures.count)
    start, value = sets.of(known)
    target_start, target_value = sets.of(target)
    group = np.repeat(np.arange(sets.groups), np.diff(start))
    place, entry = entries_of(target_start, group)
    share = together[value[entry], target_value[place]]
    total = np.bincount(entry, share, len(group)).astype(np.float64)
    return _mixed(people, sets, target, known, share, total)


def _mixed(
    people: PossibleMembers,
    sets: Sets,
    target: int,
    known: int | None,
    share: Floats,
    total: Floats,
    is_chance: bool = False,
    by_target: bool = False,  # whether shares are by the target's values first
) -> Lines:
    """Mix the groups that each target may be in."""
    # Targets who are alike: by kind, known value and true value.
    values = people.truth[target]
    known_values = np.zeros(len(values), np.int32) if known is None else people.truth[known]
    lines = group_codes(
        [people.kind, known_values, values],
        [
            len(people.start) - 1,
            int(known_values.max(initial=0)) + 1,
            int(values.max(initial=0)) + 1,
        ],
        len(values),
    )
    first = lines.first_row
    kind, of_known, truth = people.kind[first], known_values[first], values[first]
    # The rows of each group that fit, with the known value and with the true one.
    start, _ = sets.of(known or 0)
    width, known_width = _widths(sets, target), _widths(sets, known)
    share_start = starts_of(width * known_width)
    total = np.append(total, 0.0)  # found by the place −1, of a value that a set does not have
    belief, weight = np.zeros(len(kind)), np.zeros(len(kind))
    for part in stretches(np.diff(people.start)[kind]):
        edge, line = entries_of(people.start, kind[part])
        group = people.group[edge].astype(np.int64)
        at, slot = share_start[group], group
        if known is not None:
            place = _places_in_sets(sets, known, group, of_known[part][line])
            slot = np.where(place >= 0, start[group] + place, -1)
            at = at + place * (1 if by_target else width[group])
        possible = np.flatnonzero(total[slot] > 0)
        edge, line, group = edge[possible], line[possible], group[possible]
        at, whole = at[possible], total[slot[possible]]
        likely = people.weight[edge] * whole if is_chance else people.weight[edge]
        bottom = np.bincount(line, likely, len(kind[part]))
        np.maximum.at(weight[part], line, whole)
        place = _places_in_sets(sets, target, group, truth[part][line])
        held = np.flatnonzero(place >= 0)
        step = known_width[group[held]] if by_target else 1
        of_truth = share[at[held] + place[held] * step]
        mass = likely[held] * of_truth / whole[held]
        top = np.bincount(line[held], mass, len(bottom))
        belief[part] = np.where(bottom > 0, top / np.where(bottom > 0, bottom, 1.0), 0.0)
    line_of_person = lines.class_of_row.astype(np.int64)
    return Lines(belief, lines.size, weight, truth, of_known, line_of_person, people.estimated)


def expected_rows(
    sets: Sets, signatures: SensitiveSignatures, primary: int, size: Ints, possible: PossibleRows
) -> tuple[Floats, bool]:
    """The expected number of people for each possible row of each group; whether it is exact."""
    begin, order = rows_by_value(sets, signatures.codes, primary, possible)
    start, _ = sets.of(primary)
    # In a group of as many people as primary values each of these is one person's, by itself.
    single = np.diff(start) == size
    opens = np.repeat(single, np.diff(start))
    opens[start[:-1]] = True
    first = np.append(begin[:-1][opens], begin[-1])
    group = np.repeat(np.arange(sets.groups), np.diff(start))[opens]
    people = np.where(single, 1, size)[group]
    row = possible.row[order]
    counts = signatures.count.astype(np.float64)
    weight = scale(first, row, people.astype(np.float64), counts, supported=True)
    of_primary = signatures.codes[:, primary]
    exact = count_components(first, row, people, signatures.count, weight, of_primary)
    mass = np.empty(len(row))
    mass[order] = weight * np.repeat(people, np.diff(first))
    return mass, exact

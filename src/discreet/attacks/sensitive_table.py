"""Beliefs of readers of a decomposed release, who have T^S beside the groups' sets of values.

The reader knows the target's group and, in *link-through-sensitive-table*, the target's value of
one attribute. A value weighs as many rows of T^S as support it: rows with the known value (reader
``pair``), rows with it that lie wholly within the group's sets (``row``), or all assignments of
rows to people that are possible at all (``matching``). For the last, where every group lists its
primary values as often as it has people, the people of one primary value and the rows of T^S with
it are assigned to each other apart from all others: exact for few of them, else by scaling.
Without any knowledge, *homogeneity* weighs the rows within the sets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.attack import Attack, Finding, Scene, summarize
from discreet.attacks.link_through_sensitive import EDGES, link_through_sensitive_table
from discreet.attacks.permanents import matching_beliefs
from discreet.data.classes import group_codes
from discreet.data.table import Codes
from discreet.kernels import kernel
from discreet.models.sa_diversity import ConditionalLDiversity
from discreet.releases.comparison import recoded
from discreet.releases.groups import GROUP
from discreet.releases.sensitive_sets import (
    PEOPLE,
    SENSITIVE,
    Sets,
    Signatures,
    index_signatures,
    read_sets,
    supporting_rows,
)

IN_GROUP = "knows everybody's quasi-identifiers and who is in the table"
PAIRS = 50_000_000  # pairs of values whose counts are kept
MATCHED = 5_000_000  # pairs of people and kinds of rows that are assigned to each other

Ints = NDArray[np.int64]
Figures = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class People:
    """The original people, and the groups that each may be in."""

    kind: Codes  # (people,)
    start: Ints  # (kinds + 1,)
    group: Codes  # (edges,)
    weight: Figures  # (edges,)
    truth: list[Codes]  # by attribute, in the codes of T^S


def read_people(scene: Scene, names: list[str]) -> People:
    """Place everybody by exact quasi-identifiers."""
    people, original = scene.tables[PEOPLE], scene.task.table
    quasi = people.quasi_identifiers
    both = [np.concatenate([c.codes, recoded(c, original[c.name])]) for c in quasi]
    total = people.rows + original.rows
    kinds = group_codes(both, [c.cardinality + 1 for c in quasi], total)
    published, of_person = np.split(kinds.class_of_row, [people.rows])
    groups = people[GROUP]
    pairs = group_codes([published, groups.codes], [kinds.count, groups.cardinality], people.rows)
    kind = published[pairs.first_row]
    order = np.argsort(kind, kind="stable")
    start = np.searchsorted(kind[order], np.arange(kinds.count + 1))
    alike = np.bincount(published, minlength=kinds.count)
    truth = [recoded(scene.tables[SENSITIVE][name], original[name]) for name in names]
    return People(
        of_person,
        start,
        groups.codes[pairs.first_row][order],
        pairs.size[order] / alike[kind[order]],
        truth,
    )


class SetHomogeneity(Attack):
    """Which value the target has, by the rows of T^S that lie within the group's sets."""

    name: ClassVar[str] = "set-homogeneity"
    kinds: ClassVar[frozenset[str]] = frozenset({"decomposed"})

    @property
    def knowledge(self) -> str:
        return IN_GROUP

    def run(self, scene: Scene) -> list[Finding]:
        names, sets, signatures = _opened(scene)
        people = read_people(scene, names)
        begin, row = supporting_rows(sets, signatures, 0, EDGES)
        if row is None:
            return []
        findings = []
        for target, name in enumerate(names):
            belief, count, _ = _beliefs(people, sets, signatures, begin, row, target, None, 0)
            share = _share(signatures, target)
            findings.append(
                summarize(
                    self, name, PEOPLE, belief, count, float(np.square(share).sum()),
                    scene.threshold, knowledge=self.knowledge,
                    method="rows of the sensitive table within the sets, each as likely",
                )
            )  # fmt: skip
        return findings


class LinkThroughSensitiveTable(Attack):
    """One sensitive value from another by the table of whole sensitive rows."""

    name: ClassVar[str] = "link-through-sensitive-table"
    kinds: ClassVar[frozenset[str]] = frozenset({"decomposed"})

    @property
    def knowledge(self) -> str:
        return f"{IN_GROUP}, and one sensitive value of the target"

    def run(self, scene: Scene) -> list[Finding]:
        names, sets, signatures = _opened(scene)
        if len(names) < 2:
            return []
        people = read_people(scene, names)
        primary = str(getattr(scene.manifest.method, "primary", names[0]))
        findings = []
        for known, known_name in enumerate(names):
            begin, row = supporting_rows(sets, signatures, known, EDGES)
            for target, name in enumerate(names):
                if target == known:
                    continue
                readers = {"pair": _pair_beliefs(people, sets, signatures, target, known)}
                if row is not None:
                    readers["row"] = _beliefs(
                        people, sets, signatures, begin, row, target, known, known
                    )
                findings += [
                    self._finding(scene, signatures, name, known_name, reader, target, known, found)
                    for reader, found in readers.items()
                    if found is not None
                ]
            if known_name == primary and row is not None:
                findings += self._matching(
                    scene, names, sets, signatures, people, known, begin, row
                )
        return findings

    def _matching(
        self,
        scene: Scene,
        names: list[str],
        sets: Sets,
        signatures: Signatures,
        people: People,
        known: int,
        begin: Ints,
        row: Codes,
    ) -> list[Finding]:
        """The strongest reader; only for a known primary value."""
        mass, exact = _matched(sets, signatures, known, begin, row)
        if mass is None:
            return []
        certain = {
            finding.attribute: finding
            for finding in link_through_sensitive_table(scene.tables, names[known])
            if finding.reader == "matching"
        }
        findings = []
        for target, name in enumerate(names):
            if target == known:
                continue
            found = _beliefs(people, sets, signatures, begin, row, target, known, known, mass)
            finding = self._finding(
                scene, signatures, name, names[known], "matching", target, known, found,
                method="exact" if exact and certain[name].exact else "scaling",
                certain=certain[name].certain,
            )  # fmt: skip
            findings.append(finding)
        return findings

    def _finding(
        self,
        scene: Scene,
        signatures: Signatures,
        name: str,
        known_name: str,
        reader: str,
        target: int,
        known: int,
        found: tuple[Figures, Ints, Figures],
        method: str = "exact",
        certain: int | None = None,
    ) -> Finding:
        belief, count, weight = found
        promised = [
            r.l
            for r in scene.requirements
            if isinstance(r, ConditionalLDiversity) and r.known == known_name and r.reader == reader
        ]
        bounds = None
        if promised:  # so many values are left, each with a row at least
            bounds = 1 - (max(promised) - 1) / np.maximum(weight, max(promised))
        details: dict[str, object] = {"known": [known_name], "reader": reader}
        if certain is not None:
            details["certain_people"] = certain
        return summarize(
            self, name, PEOPLE, belief, count, _baseline(signatures, target, known),
            scene.threshold, bounds, method=method,
            knowledge=f"{IN_GROUP}, the target's '{known_name}', and reads the sensitive table "
            f"by '{reader}'",
            details=details,
        )  # fmt: skip


def _opened(scene: Scene) -> tuple[list[str], Sets, Signatures]:
    sensitive = scene.tables[SENSITIVE]
    names = [column.name for column in sensitive.sensitive]
    return names, read_sets(scene.tables, names), index_signatures(sensitive, names)


def _share(signatures: Signatures, attribute: int) -> Figures:
    counted = np.bincount(signatures.codes[:, attribute], signatures.count)
    return np.asarray(counted / max(counted.sum(), 1), np.float64)


def _baseline(signatures: Signatures, target: int, known: int) -> float:
    """The mean of P(true value | known value) in T^S as a whole."""
    codes = signatures.codes
    pairs = group_codes(
        [codes[:, known], codes[:, target]],
        [int(codes[:, known].max()) + 1, int(codes[:, target].max()) + 1],
        len(codes),
    )
    joint = np.bincount(pairs.class_of_row, signatures.count, pairs.count)
    alone = np.bincount(codes[:, known], signatures.count)
    of_pair = alone[codes[pairs.first_row, known]]
    return float((joint * joint / of_pair).sum() / max(signatures.count.sum(), 1))


def _lines(people: People, target: int, known: int | None) -> tuple[Codes, Codes, Codes, Ints]:
    """Targets who are alike: kind, known value, true value, how many."""
    truth = people.truth[target]
    of_known = np.zeros(len(truth), np.int32) if known is None else people.truth[known]
    lines = group_codes(
        [people.kind, of_known, truth],
        [len(people.start) - 1, int(of_known.max(initial=0)) + 1, int(truth.max(initial=0)) + 1],
        len(truth),
    )
    first = lines.first_row
    return people.kind[first], of_known[first], truth[first], lines.size


def _beliefs(
    people: People,
    sets: Sets,
    signatures: Signatures,
    begin: Ints,
    row: Codes,
    target: int,
    known: int | None,
    by: int,
    mass: Figures | None = None,
) -> tuple[Figures, Ints, Figures]:
    """Beliefs by the rows that support each value of attribute ``by`` in each group."""
    kind, of_known, truth, count = _lines(people, target, known)
    start, value = sets.of(by)
    weight = signatures.count[row].astype(np.float64) if mass is None else mass
    belief, total = _mixed(
        people.start, people.group, people.weight, kind, of_known, truth, known is not None,
        start, value, begin, row, weight, signatures.codes[:, target],
    )  # fmt: skip
    return belief, count, total


@kernel
def _mixed(
    start: Ints,
    group: Codes,
    weight: Figures,
    kind: Codes,
    known: Codes,
    truth: Codes,
    is_known: bool,
    set_start: Ints,
    set_value: Codes,
    begin: Ints,
    row: Codes,
    mass: Figures,
    value_of_row: Codes,
) -> tuple[Figures, Figures]:
    belief = np.zeros(len(kind))
    total = np.zeros(len(kind))
    for line in range(len(kind)):
        top, bottom = 0.0, 0.0
        for edge in range(start[kind[line]], start[kind[line] + 1]):
            g = group[edge]
            hits, held = 0.0, 0.0
            for entry in range(set_start[g], set_start[g + 1]):
                if is_known and set_value[entry] != known[line]:
                    continue
                for place in range(begin[entry], begin[entry + 1]):
                    held += mass[place]
                    if value_of_row[row[place]] == truth[line]:
                        hits += mass[place]
            if held > 0:
                top += weight[edge] * hits / held
                bottom += weight[edge]
                total[line] = max(total[line], held)
        if bottom > 0:
            belief[line] = top / bottom
    return belief, total


def _pair_beliefs(
    people: People, sets: Sets, signatures: Signatures, target: int, known: int
) -> tuple[Figures, Ints, Figures] | None:
    """Beliefs by the rows with the known value and a value of the group's set."""
    codes = signatures.codes
    shape = int(codes[:, known].max()) + 1, int(codes[:, target].max()) + 1
    if shape[0] * shape[1] > PAIRS:
        return None
    together = np.zeros(shape)
    np.add.at(together, (codes[:, known], codes[:, target]), signatures.count)
    kind, of_known, truth, count = _lines(people, target, known)
    start, value = sets.of(target)
    belief, total = _mixed_pairs(
        people.start, people.group, people.weight, kind, of_known, truth, start, value, together
    )
    return belief, count, total


@kernel
def _mixed_pairs(
    start: Ints,
    group: Codes,
    weight: Figures,
    kind: Codes,
    known: Codes,
    truth: Codes,
    set_start: Ints,
    set_value: Codes,
    together: Figures,
) -> tuple[Figures, Figures]:
    belief = np.zeros(len(kind))
    total = np.zeros(len(kind))
    for line in range(len(kind)):
        top, bottom = 0.0, 0.0
        if known[line] >= together.shape[0]:
            continue
        for edge in range(start[kind[line]], start[kind[line] + 1]):
            g = group[edge]
            hits, held = 0.0, 0.0
            for entry in range(set_start[g], set_start[g + 1]):
                seen = together[known[line], set_value[entry]]
                held += seen
                if set_value[entry] == truth[line]:
                    hits += seen
            if held > 0:
                top += weight[edge] * hits / held
                bottom += weight[edge]
                total[line] = max(total[line], held)
        if bottom > 0:
            belief[line] = top / bottom
    return belief, total


def _matched(
    sets: Sets, signatures: Signatures, known: int, begin: Ints, row: Codes
) -> tuple[Figures | None, bool]:
    """For each supporting row of each known value of each group its share of the worlds."""
    _, value = sets.of(known)
    mass = np.zeros(len(row))
    exact = True
    work = 0
    for one in np.unique(value):
        slots = np.flatnonzero(value == one)
        kinds = np.flatnonzero(signatures.codes[:, known] == one)
        work += len(slots) * len(kinds)
        if work > MATCHED:
            return None, False
        place = np.full(len(signatures.count), -1, np.int64)
        place[kinds] = np.arange(len(kinds))
        weight = np.zeros((len(slots), len(kinds)))
        for number, slot in enumerate(slots):
            weight[number, place[row[begin[slot] : begin[slot + 1]]]] = 1.0
        counted = signatures.count[kinds]
        if counted.sum() != len(slots):  # merged groups: how often is not published
            exact = False
        found, is_exact = matching_beliefs(weight, counted)
        exact = exact and is_exact
        for number, slot in enumerate(slots):
            rows = row[begin[slot] : begin[slot + 1]]
            mass[begin[slot] : begin[slot + 1]] = found[number, place[rows]]
    return mass, exact

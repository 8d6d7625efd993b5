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

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.attack import Attack, Finding, Scene, summarize
from discreet.attacks.link_through_sensitive import EDGES, link_through_sensitive_table
from discreet.attacks.permanents import matching_beliefs
from discreet.attacks.set_beliefs import Found, People, pair_beliefs, row_beliefs
from discreet.data.classes import group_codes
from discreet.data.published import GROUP
from discreet.data.table import Codes
from discreet.models.sa_diversity import ConditionalLDiversity
from discreet.releases.comparison import recoded
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
MATCHED = 5_000_000  # pairs of people and kinds of rows that are assigned to each other

Ints = NDArray[np.int64]
Figures = NDArray[np.float64]


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
            found = row_beliefs(people, sets, signatures, begin, row, target, None, scene.rng)
            share = _share(signatures, target)
            findings.append(
                summarize(
                    self, name, PEOPLE, found.belief, found.count, float(np.square(share).sum()),
                    scene.threshold, knowledge=self.knowledge,
                    method="rows of the sensitive table within the sets, each as likely",
                    sampled=found.sampled,
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
                readers = {"pair": pair_beliefs(people, sets, signatures, target, known, scene.rng)}
                if row is not None:
                    readers["row"] = row_beliefs(
                        people, sets, signatures, begin, row, target, known, scene.rng
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
            found = row_beliefs(
                people, sets, signatures, begin, row, target, known, scene.rng, mass
            )
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
        found: Found,
        method: str = "exact",
        certain: int | None = None,
    ) -> Finding:
        promised = [
            r.l
            for r in scene.requirements
            if isinstance(r, ConditionalLDiversity) and r.known == known_name and r.reader == reader
        ]
        bounds = None
        if promised:  # so many values are left, each with a row at least
            bounds = 1 - (max(promised) - 1) / np.maximum(found.weight, max(promised))
        details: dict[str, object] = {"known": [known_name], "reader": reader}
        if certain is not None:
            details["certain_people"] = certain
        return summarize(
            self, name, PEOPLE, found.belief, found.count, _baseline(signatures, target, known),
            scene.threshold, bounds, method=method,
            knowledge=f"{IN_GROUP}, the target's '{known_name}', and reads the sensitive table "
            f"by '{reader}'",
            sampled=found.sampled, details=details,
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

"""Beliefs of attackers on a decomposed release, who have T^S beside the groups' sets of values.

The attacker knows the target's group and, in *link-through-sensitive-table*, the target's value of
one attribute. A value weighs as many rows of T^S as support it: rows with the known value (reader
``pair``), rows with it that lie wholly within the group's sets (``row``), or all assignments of all
people to all rows (``matching``), which is what follows from the release. Without any
knowledge, *set-homogeneity* reads by ``row`` and by ``matching``.

``matching`` is exact where assignments can be counted (``assignment_shares``). Elsewhere it is an
estimate, marked as such, and no lower than the beliefs of the weaker attackers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from discreet.attacks import estimates
from discreet.attacks.base import TOLERANCE, Attack, Finding, Scene, summarize
from discreet.attacks.inference.assignment_shares import expected_rows
from discreet.attacks.inference.rows_at_risk import ALONE
from discreet.attacks.inference.set_beliefs import (
    PAIRS,
    Found,
    PossibleMembers,
    RowsOfGroups,
    pair_beliefs,
    row_beliefs,
)
from discreet.releases.kinds.base import Kind
from discreet.releases.kinds.decomposed.sensitive_sets import (
    PEOPLE,
    SENSITIVE,
    SensitiveSignatures,
    primary_of,
    read_sets,
    signatures_of,
)
from discreet.releases.kinds.decomposed.supported_sets import (
    rows_in_worlds,
    rows_within,
)
from discreet.requirements.sa_diversity import ConditionalLDiversity
from discreet.table.assignments import (
    EDGES,
    PossibleRows,
    Sets,
)
from discreet.table.classes import group_codes
from discreet.table.code_maps import recoded
from discreet.table.published import GROUP
from discreet.typing import Bools, Floats, Ints

IN_GROUP = "knows the quasi-identifiers of every row in the table"
MATCHED = 5_000_000  # possible rows of all groups; with more, ``matching`` is left out
ESTIMATE = "estimate: assignments by scaling, no lower than weaker attackers"


def read_people(scene: Scene, names: list[str]) -> PossibleMembers:
    """Place every person by exact quasi-identifiers."""
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
    return PossibleMembers(
        of_person,
        start,
        groups.codes[pairs.first_row][order],
        pairs.size[order] / alike[kind[order]],
        truth,
    )


class SetHomogeneity(Attack):
    """Which value the target has, by the rows of T^S that lie within the group's sets."""

    name: ClassVar[str] = "set-homogeneity"
    quick: ClassVar[bool] = True

    @classmethod
    def reads(cls, kind: Kind) -> bool:
        return kind.has_sensitive_table

    @property
    def knowledge(self) -> str:
        return IN_GROUP

    def run(self, scene: Scene) -> Iterator[Finding]:
        names, sets, signatures = _opened(scene)
        people = read_people(scene, names)
        estimated = scene.quick and len(people.kind) > estimates.TARGETS
        rows: RowsOfGroups | None
        if estimated:  # assignments are of all people, so ``matching`` has no sample to work on
            drawn = scene.rng.integers(0, len(people.kind), estimates.TARGETS)
            people, sets = people.drawn(drawn, sets)
            rows = RowsOfGroups.of_few(sets, signatures.codes) or _rows_within(sets, signatures)
            matching = None
            self.omit(scene, "reader 'matching'", "not among the readers of --quick")
        else:
            rows = _rows_within(sets, signatures)
            matching = _matching(self, scene, names, sets, signatures)
        if rows is None:
            self.omit(scene, "reader 'row'", _more_than(EDGES))
        for target, name in enumerate(names):
            seed = int(scene.rng.integers(2**32))
            readers = {}
            if rows is not None:
                readers["row"] = row_beliefs(
                    people, sets, signatures, rows, target, None, _rng(seed)
                )
            methods = {"row": "rows of the sensitive table within the sets, each as likely"}
            if matching is not None:
                readers["matching"] = matching.beliefs(
                    people, signatures, target, None, seed, readers
                )
                methods["matching"] = matching.method
            share = _share(signatures, target)
            covered = scene.discloses(name, np.arange(len(share)))
            baseline = float(np.square(share[covered]).sum() / max(share[covered].sum(), 1e-12))
            for reader, every in readers.items():
                found = every.of(scene.discloses(name, every.value))
                if reader == list(readers)[-1] and not estimated:  # the strongest
                    _list_rows(scene, name, ALONE, found, share, scene.threshold + TOLERANCE)
                yield summarize(
                    self, name, PEOPLE, found.belief, found.count, baseline, scene.threshold,
                    knowledge=f"{self.knowledge}, and uses the sensitive table ('{reader}')",
                    method=methods[reader], sampled=found.sampled, estimated=estimated,
                    details={"reader": reader},
                )  # fmt: skip

    def expected(self, scene: Scene) -> int:
        return 2 * len(scene.tables[SENSITIVE].sensitive)


class LinkThroughSensitiveTable(Attack):
    """One sensitive value from another by the table of whole sensitive rows."""

    name: ClassVar[str] = "link-through-sensitive-table"
    also_knows: ClassVar[str] = "other sensitive values of the target"
    slow: ClassVar[bool] = True

    @classmethod
    def reads(cls, kind: Kind) -> bool:
        return kind.has_sensitive_table

    @property
    def knowledge(self) -> str:
        return f"{IN_GROUP}, and one sensitive value of the target"

    def inapplicable(self, scene: Scene) -> str | None:
        reason = super().inapplicable(scene)
        if reason is None and len(scene.tables[SENSITIVE].sensitive) < 2:
            return "the release has one sensitive attribute"
        return reason

    def expected(self, scene: Scene) -> int:
        attributes = len(scene.tables[SENSITIVE].sensitive)
        return 3 * attributes * (attributes - 1)

    def run(self, scene: Scene) -> Iterator[Finding]:
        names, sets, signatures = _opened(scene)
        people = read_people(scene, names)
        rows = _rows_within(sets, signatures)
        matching = _matching(self, scene, names, sets, signatures)
        for known, known_name in enumerate(names):
            if rows is None:
                self.omit(scene, f"reader 'row' who knows '{known_name}'", _more_than(EDGES))
            for target, name in enumerate(names):
                if target == known:
                    continue
                seed = int(scene.rng.integers(2**32))
                readers = {}
                pair = pair_beliefs(people, sets, signatures, target, known, _rng(seed))
                if pair is not None:
                    readers["pair"] = pair
                else:
                    what = f"reader 'pair' on '{name}' who knows '{known_name}'"
                    self.omit(scene, what, f"the two have more than {PAIRS:,} pairs of values")
                if rows is not None:
                    readers["row"] = row_beliefs(
                        people, sets, signatures, rows, target, known, _rng(seed)
                    )
                if matching is not None:
                    readers["matching"] = matching.beliefs(
                        people, signatures, target, known, seed, readers
                    )
                for reader, every in readers.items():
                    found = every.of(scene.discloses(name, every.value))
                    if reader == list(readers)[-1]:  # the strongest
                        knows = f"{ALONE} and '{known_name}'"
                        share = _share(signatures, target)
                        _list_rows(scene, name, knows, found, share, 1 - TOLERANCE)
                    yield self._finding(
                        scene, signatures, name, known_name, reader, target, known, found,
                        matching.method if matching and reader == "matching" else "exact",
                    )  # fmt: skip

    def _finding(
        self,
        scene: Scene,
        signatures: SensitiveSignatures,
        name: str,
        known_name: str,
        reader: str,
        target: int,
        known: int,
        found: Found,
        method: str,
    ) -> Finding:
        promised = [
            r.l
            for r in scene.requirements
            if isinstance(r, ConditionalLDiversity) and r.known == known_name and r.reader == reader
        ]
        bounds = None
        if promised:  # so many values are left, each with a row at least
            bounds = 1 - (max(promised) - 1) / np.maximum(found.weight, max(promised))
        covered = scene.discloses(name, signatures.codes[:, target])
        return summarize(
            self, name, PEOPLE, found.belief, found.count,
            _baseline(signatures, target, known, covered), scene.threshold, bounds, method=method,
            knowledge=f"{IN_GROUP}, the target's '{known_name}', and uses the sensitive table "
            f"('{reader}')",
            sampled=found.sampled, details={"known": [known_name], "reader": reader},
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Matching:
    """The strongest reader: what follows from all assignments of people to rows."""

    sets: Sets
    rows: RowsOfGroups
    chance: Floats  # of each possible row, for a person of its group
    exact: bool

    @property
    def method(self) -> str:
        return "exact" if self.exact else ESTIMATE

    def beliefs(
        self,
        people: PossibleMembers,
        signatures: SensitiveSignatures,
        target: int,
        known: int | None,
        seed: int,
        weaker: Mapping[str, Found],
    ) -> Found:
        """Beliefs in the truth; an estimate is no lower than those of weaker attackers."""
        found = row_beliefs(
            people, self.sets, signatures, self.rows, target, known, _rng(seed), self.chance
        )
        if self.exact:
            return found
        beliefs = [found.belief, *(other.belief for other in weaker.values())]
        return replace(found, belief=np.maximum.reduce(beliefs))


def _matching(
    attack: Attack, scene: Scene, names: list[str], sets: Sets, signatures: SensitiveSignatures
) -> _Matching | None:
    """None where the graph of people and rows is too large, or no assignment exists."""
    primary = names.index(primary_of(scene.manifest))
    size = scene.tables[PEOPLE][GROUP].counts
    possible = rows_in_worlds(sets, signatures, primary, size)
    if possible is None or len(possible.row) > MATCHED:
        attack.omit(scene, "reader 'matching'", _more_than(MATCHED))
        return None
    if not possible.complete:
        attack.omit(scene, "reader 'matching'", "the files allow no assignment of people to rows")
        return None
    return sets.once(
        ("matching", signatures, primary),
        lambda: _shared_out(sets, signatures, primary, size, possible),
    )


def _shared_out(
    sets: Sets, signatures: SensitiveSignatures, primary: int, size: Ints, possible: PossibleRows
) -> _Matching:
    mass, exact = expected_rows(sets, signatures, primary, size, possible)
    chance = mass / np.repeat(size, np.diff(possible.start))
    return _Matching(sets, RowsOfGroups(possible.start, possible.row), chance, exact)


def _rows_within(sets: Sets, signatures: SensitiveSignatures) -> RowsOfGroups | None:
    """The rows of T^S within the sets of each group; None where they are too many."""
    begin, row = rows_within(sets, signatures, 0)
    if row is None:
        return None
    start, _ = sets.of(0)
    return sets.once(("rows of groups", signatures), lambda: RowsOfGroups(begin[start], row))


def _more_than(limit: int) -> str:
    return f"more than {limit:,} rows of the sensitive table lie within the sets of the groups"


def _rng(seed: int) -> np.random.Generator:
    """All attackers of one attribute look at the same sample of targets."""
    return np.random.default_rng(seed)


def _opened(scene: Scene) -> tuple[list[str], Sets, SensitiveSignatures]:
    sensitive = scene.tables[SENSITIVE]
    names = [column.name for column in sensitive.sensitive]
    return names, read_sets(scene.tables, names), signatures_of(sensitive, names)


def _list_rows(
    scene: Scene, name: str, knows: str, found: Found, share: Floats, limit: float
) -> None:
    """List the rows believed above a limit, unless they are so without the release."""
    if found.sampled:
        scene.omitted["rows at risk"] = "targets are a sample"
    without = np.append(share, 0.0)[np.minimum(found.value, len(share))]
    risky = np.append((found.belief >= limit) & (without < limit), False)
    rows = np.flatnonzero(risky[found.line_of_person])
    scene.list_rows(rows, name, knows, found.belief[found.line_of_person[rows]])


def _share(signatures: SensitiveSignatures, attribute: int) -> Floats:
    counted = np.bincount(signatures.codes[:, attribute], signatures.count)
    return np.asarray(counted / max(counted.sum(), 1), np.float64)


def _baseline(signatures: SensitiveSignatures, target: int, known: int, chosen: Bools) -> float:
    """The mean of P(true value | known value) in T^S as a whole, over chosen rows."""
    codes = signatures.codes
    pairs = group_codes(
        [codes[:, known], codes[:, target]],
        [int(codes[:, known].max()) + 1, int(codes[:, target].max()) + 1],
        len(codes),
    )
    joint = np.bincount(pairs.class_of_row, signatures.count, pairs.count)
    alone = np.bincount(codes[:, known], signatures.count)
    of_pair = alone[codes[pairs.first_row, known]]
    within = chosen[pairs.first_row]
    mean = (joint * joint / of_pair)[within].sum() / max(signatures.count[chosen].sum(), 1)
    return float(mean)

"""Minimality: an attacker who knows the algorithm keeps the tables on which it would do the same.

Only worlds on which the method publishes these very groups are kept. In four ways, and the finding
says which:

- *exact*: a table with few worlds; the method is run again on each (full-domain, mondrian,
  msa-diversity along the curve: they draw nothing at random).
- *at most share/acceptance* (full-domain): worlds are drawn, and one is kept where every node one
  step finer fails, which it must where this node was the cheapest. A belief is then at most the
  value's share over the share of worlds that are kept (its lower bound at z = 4).
- *leaf* (mondrian): each class by itself; a world of it is kept where every cut that sizes allow
  fails. Cuts of pooled children are not looked at.
- *not assessed*: larger tables grouped along the curve.

Immune, and so not attacked: groups formed without a look at quasi-identifiers, with ties broken by
chance (anatomy, decomposition), in blind blocks (msa-diversity with ``grouping: blocks``), or
without a look at sensitive values (requirements on sizes alone).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationError

from discreet.attacks.base import Attack, Finding, Scene, summarize, wilson
from discreet.attacks.class_attacks import IN_TABLE, baseline_of
from discreet.attacks.inference.beliefs import beliefs_in
from discreet.attacks.inference.minimality_mondrian import Judged, leaf_beliefs, share_of_truth
from discreet.attacks.inference.worlds import all_worlds, count_worlds
from discreet.errors import InfeasibleError
from discreet.methods.base import Bucketized, Generalized, Method, Task
from discreet.methods.registry import METHODS
from discreet.releases.adversary_view import AdversaryView
from discreet.releases.kinds.base import Kind
from discreet.requirements.base import Requirement, SizeRequirement
from discreet.table.classes import Classes, group_codes
from discreet.table.code_maps import recoded
from discreet.table.counts import count_classes
from discreet.typing import Codes

RERUN_ROWS = 200
DRAWN_CELLS = 20_000_000  # rows that are dealt out in all drawn worlds together
Z = 4.0


class Minimality(Attack):
    """What is betrayed by groups being no finer than they are."""

    name: ClassVar[str] = "minimality"
    also_knows: ClassVar[str] = "the method and its settings"
    slow: ClassVar[bool] = True
    inside: ClassVar[bool] = False

    worlds: int = Field(
        default=1000, ge=1, description="Greatest number of worlds to run the method on."
    )

    @classmethod
    def reads(cls, kind: Kind) -> bool:
        return kind.publishes_counts and not kind.spreads_sensitive

    @property
    def knowledge(self) -> str:
        return f"{IN_TABLE}, and the method with all its settings"

    def inapplicable(self, scene: Scene) -> str | None:
        manifest = scene.manifest
        method, parameters = manifest.method.name, manifest.method.parameters
        if not self.reads(scene.kind):
            return super().inapplicable(scene)
        if manifest.method.blind_to_quasi_identifiers:
            return "immune: groups depend on sensitive values alone, ties are broken at random"
        if method not in ("full-domain", "mondrian", "msa-diversity"):
            return f"not assessed for the method '{method}'"
        if parameters.get("levels") is not None:
            return "not assessed: the levels were given, not searched for"
        if method == "msa-diversity" and parameters.get("grouping") == "blocks":
            return (
                "immune: blocks are cut without a look at sensitive values; not assessed for rows "
                "that were placed across blocks, if any (the private file counts them)"
            )
        if all(isinstance(r, SizeRequirement) or not r.guides_groups for r in scene.requirements):
            return "immune: the groups do not depend on sensitive values"
        if any(r.needs_population for r in scene.requirements):
            return "not assessed where a requirement compares with a population"
        if manifest.suppressed_rows:
            return "not assessed where rows were suppressed"
        if any(not _everybody_certain(reading) for reading in scene.readings):
            return "not assessed where rows fit several groups"
        return None

    def run(self, scene: Scene) -> list[Finding]:
        (reading,) = scene.readings
        found = _by_running(scene, reading, self.worlds)
        how = "exact"
        method = scene.manifest.method.name
        if found is None and method == "full-domain":
            found, how = _by_predecessors(scene, reading)
        elif found is None and method == "mondrian":
            found, how = leaf_beliefs(scene, reading)
        if found is None:
            reason = how if how != "exact" else "too many worlds to run the method on each"
            self.omit(scene, "", f"not assessed: {reason}")
            return []
        findings = []
        for attribute in reading.sensitive:
            plain = beliefs_in(reading, attribute)
            if attribute not in found:
                self.omit(scene, attribute, f"not assessed: {how}")
                continue
            person, belief, sure = found[attribute]
            truth = recoded(reading.sensitive[attribute], scene.task.table[attribute])
            chosen = scene.discloses(attribute, truth[person])
            belief, sure = belief[chosen], sure[chosen]
            lines = scene.discloses(attribute, plain.value)
            without = (baseline_of(reading, attribute, plain) * plain.count)[lines].sum()
            findings.append(
                summarize(
                    self, attribute, reading.name, belief, np.ones(len(belief), np.int64),
                    float(without / max(plain.count[lines].sum(), 1)), scene.threshold,
                    knowledge=self.knowledge, method=how, sure=sure,
                    details={"mean_without_the_method": plain.mean},
                )
            )  # fmt: skip
        return findings


def _everybody_certain(reading: AdversaryView) -> bool:
    held = np.bincount(
        reading.group_of_person[reading.group_of_person >= 0], minlength=reading.groups
    )
    return bool((held == reading.size).all())


def _by_running(scene: Scene, reading: AdversaryView, most: int) -> dict[str, Judged] | None:
    """The beliefs over all worlds on which the method does the same; None if there are too many."""
    if scene.task.table.rows > RERUN_ROWS:
        return None
    method = _method(scene)
    columns = list(reading.sensitive.values())
    rows = group_codes([c.codes for c in columns], [c.cardinality for c in columns], reading.rows)
    members = [np.flatnonzero(reading.group_of_person == g) for g in range(reading.groups)]
    of_group = [
        rows.class_of_row[reading.group_of_row == g].tolist() for g in range(reading.groups)
    ]
    if method is None or count_worlds(of_group) > most:
        return None
    original = scene.task.table
    code_of_row = {  # the codes of a distinct sensitive row in the original's dictionaries
        c.name: recoded(original[c.name], c)[rows.first_row] for c in columns
    }
    kept = 0
    seen = {c.name: np.zeros((original.rows, c.cardinality)) for c in columns}
    everybody = np.arange(original.rows)
    for world in all_worlds(of_group):
        row_of_person = np.empty(original.rows, np.int64)
        for people, given in zip(members, world, strict=True):
            row_of_person[people] = given
        changed = {
            name: replace(original[name], codes=codes[row_of_person].astype(np.int32))
            for name, codes in code_of_row.items()
        }
        table = replace(original, columns={**original.columns, **changed})
        task = Task(
            table, scene.task.hierarchies, scene.task.requirements, np.random.default_rng(0)
        )
        if not _publishes(method, task, reading.group_of_person):
            continue
        kept += 1
        for c in columns:
            seen[c.name][everybody, c.codes[rows.first_row][row_of_person]] += 1
    if not kept:
        return None
    found = {}
    for c in columns:
        share = seen[c.name][everybody, recoded(c, original[c.name])] / kept
        found[c.name] = Judged(everybody, share, share)
    return found


def _method(scene: Scene) -> Method | None:
    """The method of the manifest with its parameters."""
    kind = METHODS.get(scene.manifest.method.name)
    try:
        return None if kind is None else kind.model_validate(scene.manifest.method.parameters)
    except ValidationError:
        return None


def _publishes(method: Method, task: Task, group_of_person: NDArray[np.int32]) -> bool:
    """Return whether the method forms these very groups."""
    try:
        outcome = method.run(task)
    except InfeasibleError:
        return False
    if isinstance(outcome, Generalized):
        formed = outcome.class_of_row
    elif isinstance(outcome, Bucketized):
        formed = outcome.group_of_row
    else:
        return False
    pairs = set(zip(formed.tolist(), group_of_person.tolist(), strict=True))
    return len(pairs) == len(set(formed.tolist())) == len(set(group_of_person.tolist()))


def _by_predecessors(scene: Scene, reading: AdversaryView) -> tuple[dict[str, Judged] | None, str]:
    """Upper bounds from the share of drawn worlds in which every finer node fails."""
    if scene.manifest.method.parameters.get("suppression"):
        return None, "rows might have been suppressed"
    finer = _finer_classes(scene, reading)
    requirements = scene.requirements
    on_size = [r for r in requirements if isinstance(r, SizeRequirement)]
    others = [r for r in requirements if not isinstance(r, SizeRequirement)]
    open_nodes = [classes for classes in finer if _passes(scene, reading, classes, None, on_size)]
    original = scene.task.table
    draws = max(20, min(1000, DRAWN_CELLS // max(original.rows, 1)))
    by_group = np.argsort(reading.group_of_person, kind="stable")
    rows_by_group = np.argsort(reading.group_of_row, kind="stable")
    kept = 0
    for number in range(draws if open_nodes else 0):
        scene.progress("minimality", number / draws)
        key = scene.rng.random(reading.rows)
        dealt = rows_by_group[np.lexsort((key, reading.group_of_row[rows_by_group]))]
        row_of_person = np.empty(original.rows, np.int64)
        row_of_person[by_group] = dealt
        kept += not any(
            _passes(scene, reading, classes, row_of_person, others) for classes in open_nodes
        )
    acceptance = wilson(kept, draws, Z)[0] if open_nodes else 1.0
    if acceptance <= 0.01:
        return None, "almost all sampled worlds are rejected"
    columns = reading.sensitive.values()
    truth = {column.name: recoded(column, original[column.name]) for column in columns}
    person = np.arange(original.rows)
    found = {
        name: Judged(person, np.minimum(share / acceptance, 1.0), share)
        for name, share in share_of_truth(reading, truth).items()
    }
    if not open_nodes:
        return found, "exact"
    return found, f"at most share/acceptance; acceptance at least {acceptance:.3f}"


def _finer_classes(scene: Scene, reading: AdversaryView) -> list[Classes]:
    """The classes of every node that is one step finer in one quasi-identifier."""
    table = scene.task.table
    levels = scene.manifest.method.levels_of(reading.name) or {}
    finer = []
    for lowered in table.quasi_identifiers:
        if not levels.get(lowered.name, 0):
            continue
        codes: list[Codes] = []
        cardinalities = []
        for column in table.quasi_identifiers:
            height = levels.get(column.name, 0) - (column.name == lowered.name)
            level = scene.task.hierarchies[column.name].levels[height]
            codes.append(level.node_of_leaf[column.codes])
            cardinalities.append(level.nodes)
        finer.append(group_codes(codes, cardinalities, table.rows))
    return finer


def _passes(
    scene: Scene,
    reading: AdversaryView,
    classes: Classes,
    row_of_person: NDArray[np.int64] | None,
    requirements: Sequence[Requirement],
) -> bool:
    """Return whether all classes meet some requirements, with each person's row as it was dealt."""
    columns = [] if row_of_person is None else [
        column.take(row_of_person) for column in reading.sensitive.values()
    ]  # fmt: skip
    refined = any(requirement.needs_refined_counts for requirement in requirements)
    counts = count_classes(classes, columns, refined=refined)
    return all(bool(r.passes(counts, scene.domains).all()) for r in requirements)

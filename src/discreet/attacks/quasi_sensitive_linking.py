"""Quasi-sensitive linking: an attacker looks the terms of a group up in an external table.

A row's terms link to every label of the knowledge table that has them all, each as likely; what is
believed of a person is the mean over the linked rows of the group. No person's true label is
written anywhere, so the figure is the belief in the likeliest label. Rows that link to nothing, or
of groups that do, are counted and are no targets.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from discreet.attacks.base import IN_TABLE, Attack, Finding, Scene, summarize
from discreet.releases.audit.shards import linked_domains
from discreet.releases.kinds.base import Kind
from discreet.releases.kinds.generalized import RECORDS
from discreet.requirements.quasi_sensitive import LabelPosteriors, QsClDiversity, QsTCloseness
from discreet.statements import Statement
from discreet.table.classes import classes_of
from discreet.table.counts import count_values


class QuasiSensitiveLinking(Attack):
    """Which label of the knowledge table a person's terms represent."""

    name: ClassVar[str] = "quasi-sensitive-linking"
    also_knows: ClassVar[str] = Statement("also-knows.labels")

    @classmethod
    def reads(cls, kind: Kind) -> bool:
        return kind.has_records

    knows: ClassVar[Statement] = Statement("knows.labels", first=IN_TABLE)

    def inapplicable(self, scene: Scene) -> str | None:
        reason = super().inapplicable(scene)
        if reason is None and not scene.task.knowledge:
            return Statement("inapplicable.no-labels")
        return reason

    def run(self, scene: Scene) -> list[Finding]:
        records = scene.tables[RECORDS]
        domains = linked_domains(scene.tables, scene.manifest, scene.task, {})
        classes = classes_of(records.quasi_identifiers, records.rows)
        findings = []
        for name, domain in domains.items():
            links = domain.links
            if links is None:
                continue
            values = count_values(classes, records[name])
            head, _ = LabelPosteriors(values, links, "equal").head_and_tail(1)
            is_linked = links.set_of_value[values.value] >= 0
            linked = np.bincount(
                values.class_of_entry[is_linked], values.count[is_linked], classes.count
            ).astype(np.int64)
            prior = links.prior
            greatest = float(prior.max()) if prior is not None and len(prior) else 0.0
            held = linked > 0
            limit = _bound(scene, name, greatest)
            findings.append(
                summarize(
                    self, f"the label of {name}", RECORDS, head[held], linked[held], greatest,
                    scene.threshold,
                    None if limit is None else np.full(int(held.sum()), limit),
                    knowledge=self.knowledge,
                    details={"rows_that_link_to_nothing": int(records.rows - linked.sum())},
                )
            )  # fmt: skip
        return findings


def _bound(scene: Scene, name: str, greatest_prior: float) -> float | None:
    """The greatest belief in a label that the guarantees leave."""
    limits = []
    for requirement in scene.requirements:
        if not isinstance(requirement, QsClDiversity | QsTCloseness):
            continue
        if requirement.weights != "equal" or (requirement.named and name not in requirement.named):
            continue
        if isinstance(requirement, QsTCloseness):  # no label is further from its prior than t
            limits.append(min(greatest_prior + requirement.t, 1.0))
        elif requirement.l > 1:  # p1 ≤ c·(p_l + …) ≤ c·(1 − p1)
            limits.append(requirement.c / (requirement.c + 1))
    return min(limits) if limits else None

"""What a pack is filled from: manifest, audit, the columns of the files, and what is private."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.addons.evidence.document import ThresholdTest
from discreet.addons.evidence.safe_harbor import IdentifierFinding, safe_harbor
from discreet.attacks.risk import Risk
from discreet.attacks.run import AttackReport
from discreet.job.model import Job
from discreet.releases.audit.audit import Audit
from discreet.releases.kinds.base import Kind, class_sizes
from discreet.releases.manifest import Manifest, SinglingOut
from discreet.releases.registry import kind_of
from discreet.releases.singling_out import singling_sentences
from discreet.report.pages.signing_page import verdict_of
from discreet.report.risk_verdict import REFUSE, Review, RiskVerdict
from discreet.table.classes import classes_of
from discreet.table.coded_table import CodedTable

PUBLIC_RELEASE = 0.09  # EMA, guidance on policy 0070; Health Canada, guidance on public release
CELLS, GROUP = "quasi-identifiers", "group"  # what rows that look the same have in common
SMALLEST_CELL = 11  # people of a cell, Centers for Medicare and Medicaid Services


@dataclass(frozen=True)
class FileRisk:
    """The chance to pick a row, from the files alone: 1 over the rows that look the same."""

    table: str
    alike_by: str  # what the rows have in common
    greatest: float
    mean: float
    unique: float  # the share of rows that look like no other

    @classmethod
    def of(cls, table: str, alike_by: str, size: NDArray[np.int64]) -> FileRisk:
        """The risk of rows in classes or groups of these sizes."""
        rows = max(int(size.sum()), 1)
        smallest = int(size.min(initial=np.iinfo(np.int64).max))
        unique = int((size == 1).sum()) / rows
        return cls(table, alike_by, 1 / smallest if len(size) else 0.0, len(size) / rows, unique)


def file_risks(tables: Mapping[str, CodedTable], kind: Kind) -> list[FileRisk]:
    """Return the risk by quasi-identifiers, and by group where rows of a group differ in them."""
    risks = [
        FileRisk.of(name, "quasi-identifiers", classes_of(table.quasi_identifiers, table.rows).size)
        for name, table in tables.items()
        if table.quasi_identifiers
    ]
    if not kind.makes_alike:
        risks += [
            FileRisk.of(name, GROUP, size) for name, size in class_sizes(kind, tables).items()
        ]
    return risks


@dataclass(frozen=True, eq=False)
class ReleaseFacts:
    """Everything that is known about a release when its pack is made."""

    manifest: Manifest
    manifest_sha256: str
    signed: bool  # whether a signature is beside the manifest
    audit: Audit
    risks: tuple[FileRisk, ...]
    identifiers: tuple[IdentifierFinding, ...]
    job: Job | None = None  # with it, the pack is private
    attacks: AttackReport | None = None
    private: Mapping[str, Any] = field(default_factory=dict)  # the private file, if it is there
    accepted_risk: str | None = None  # why it was published though it should not be

    @classmethod
    def of(
        cls,
        manifest: Manifest,
        manifest_sha256: str,
        signed: bool,
        audit: Audit,
        tables: Mapping[str, CodedTable],
    ) -> ReleaseFacts:
        """The facts of the files alone."""
        columns = [column for table in tables.values() for column in table]
        risks = tuple(file_risks(tables, kind_of(manifest.kind)))
        identifiers = tuple(safe_harbor(columns))
        return cls(manifest, manifest_sha256, signed, audit, risks, identifiers)

    @property
    def is_private(self) -> bool:
        """Whether the original was used."""
        return self.job is not None

    @property
    def attacked_tables(self) -> tuple[Risk, ...]:
        """The risk of each published table by the attacks; empty where none was tried."""
        return () if self.attacks is None else self.attacks.risks[1:]  # the first: the original

    @property
    def unit(self) -> str:
        """What the risk is counted in: persons where they have several rows, and else rows."""
        counts_persons = self.attacks is not None and self.attacks.persons is not None
        return "person" if counts_persons else "row"

    @property
    def singling_out(self) -> SinglingOut | None:
        """Who is unique by published cells: persons where the publisher knows them, else rows."""
        return self.audit.persons_singled_out or self.audit.singling_out

    @property
    def singling_sentences(self) -> list[str]:
        """The same in sentences."""
        return [] if self.singling_out is None else singling_sentences(self.singling_out)

    def _worst(self, figure: str) -> float | None:
        figures = [getattr(risk, figure) for risk in self.attacked_tables]
        known = [value for value in figures if value is not None]
        return max(known) if known else None

    def _of_files(self, figure: str, alike_by: str) -> float | None:
        figures = [getattr(risk, figure) for risk in self.risks if risk.alike_by == alike_by]
        return max(figures, default=None)

    @property
    def grouped(self) -> bool:
        """Whether rows of a group differ in quasi-identifiers, and share sensitive values only."""
        return any(risk.alike_by == GROUP for risk in self.risks)

    @property
    def _aim(self) -> str:
        return "a target's sensitive values" if self.grouped else f"a {self.unit}"

    @property
    def greatest_risk(self) -> float | None:
        """The greatest chance to pick a target's row: of the attacks, or else of the files.

        Where quasi-identifiers differ within a group, the chance to pick its sensitive values.
        """
        if self.attacked_tables:
            return self._worst("prosecutor")
        return self._of_files("greatest", GROUP if self.grouped else CELLS)

    @property
    def mean_risk(self) -> float | None:
        """The mean of the same chance."""
        if self.attacked_tables:
            return self._worst("marketer")
        return self._of_files("mean", GROUP if self.grouped else CELLS)

    @property
    def population_risk(self) -> float | None:
        """The greatest chance against the population; None where none was given or estimated."""
        counted = self._worst("journalist")
        return self.estimated_population.get("maximum") if counted is None else counted

    @property
    def mean_population_risk(self) -> float | None:
        """The mean chance against the population."""
        counted = self._worst("marketer_population")
        return self.estimated_population.get("average") if counted is None else counted

    @property
    def estimated_population(self) -> Mapping[str, Any]:
        """The population risk that was found while publishing, of the private file."""
        return self.private.get("utility", {}).get("population") or {}

    @cached_property
    def verdict(self) -> RiskVerdict | None:
        """The verdict about the release's risk; None without the original, which attacks need."""
        if self.job is None or self.attacks is None:
            return None
        return verdict_of(self.manifest, self.job, self.private, Review(self.attacks))

    @property
    def thresholds(self) -> tuple[ThresholdTest, ...]:
        """The figures beside the thresholds that reviewers use."""
        source = "EMA policy 0070, Health Canada (public release)"
        figures = {
            f"greatest risk of {self._aim}": self.greatest_risk,
            f"average risk of {self._aim}": self.mean_risk,
            "greatest risk in the population": self.population_risk,
            "average risk in the population": self.mean_population_risk,
        }
        if self.grouped:
            by_cells = self._of_files("greatest", CELLS)
            figures["greatest risk of a row by its quasi-identifiers"] = by_cells
        refused = self.verdict is not None and self.verdict.word == REFUSE
        tests = [
            ThresholdTest(source, name, value, PUBLIC_RELEASE, refused)
            for name, value in figures.items()
        ]
        cms = f"CMS cell size policy (at least {SMALLEST_CELL})"
        smallest = ThresholdTest(cms, tests[0].figure, tests[0].value, 1 / SMALLEST_CELL, refused)
        return (*tests, smallest)

    @property
    def figures(self) -> dict[str, Any]:
        """The exact figures, by name."""
        promises = self.audit.promises
        return {
            "guarantees": len(promises),
            "guarantees_kept": sum(promise.holds for promise in promises),
            "source_rows": self.manifest.all_rows,
            "published_rows": self.manifest.published_rows,
            "suppressed_rows": self.manifest.lost_rows,
            "greatest_risk": self.greatest_risk,
            "mean_risk": self.mean_risk,
            "population_risk": self.population_risk,
            "mean_population_risk": self.mean_population_risk,
            "risk_of_files": [vars(risk) for risk in self.risks],
            "risk_by_attacks": None
            if self.attacks is None
            else [risk.to_dict() for risk in self.attacks.risks],
            "loss": self.private.get("utility", {}).get("loss"),
            "singling_out": None
            if self.singling_out is None
            else self.singling_out.model_dump(mode="json", exclude_none=True),
        }

"""A release of any engine: its manifest, its tables, and the proof of its guarantees."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NoReturn

from typing_extensions import TypeVar

from discreet.errors import InputError
from discreet.io.atomic import write_private
from discreet.io.kept_types import ColumnSchema
from discreet.io.signatures import SigningKey
from discreet.io.writing import OutputFormat
from discreet.job.model import Job
from discreet.methods.base import Progress, Task, no_progress
from discreet.pipeline.engine import FormedTables, Reading
from discreet.pipeline.read import SourceRows
from discreet.pipeline.record import Draft
from discreet.regular_files import path_of
from discreet.releases.audit.audit import Audit
from discreet.releases.audit.figures import Picture
from discreet.releases.explanation import explain, explain_privately
from discreet.releases.manifest import Manifest
from discreet.result import Result
from discreet.statements import Statement, speaking
from discreet.table.coded_table import CodedTable
from discreet.table.counts import fixed_order

if TYPE_CHECKING:
    from discreet.attacks.run import AttackReport
    from discreet.ledger.ledger import Ledger
    from discreet.report.charts.chart import Chart
    from discreet.report.pieces import Page
    from discreet.report.risk_verdict import Review, RiskVerdict

Frame = TypeVar("Frame", default=Any)  # the kind of frame that was published
ATTACK_SECONDS = 60.0  # time limit of the attacks that the verdict rests on, unless one is given


def private_facts(source: SourceRows, tables: FormedTables, draft: Draft | None) -> dict[str, Any]:
    """Return the publisher's private facts about a run."""
    persons = source.persons if source.row_persons is None else source.row_persons
    rare = tables.task.secrets.rare
    facts = {
        "insecure_fixed_order": True if fixed_order() else None,
        **tables.private,
        "method": tables.facts,
        "persons": None if persons is None else asdict(persons.counts),
        "rare": None if rare is None else rare.to_dict(),
        "source_sha256": source.sha256,
        "held_back": None if draft is None else draft.held_back,
    }
    return {name: fact for name, fact in facts.items() if fact is not None}


@dataclass(frozen=True, eq=False)
class Proof:
    """The findings derived from the tables of a release, and the tables they come from."""

    reading: Reading  # the tables, as they were read
    manifest: Manifest  # with the findings
    audit: Audit
    utility: dict[str, Any] | None  # the publisher's; None where it was not measured
    attacks: AttackReport | None  # the findings of the job's attacks, if it asks for any
    with_series: bool  # whether the series that the release joins, if any, was judged


@dataclass(eq=False, repr=False)
class Release(Result, Generic[Frame]):
    """A release: its manifest, its tables, and the audit that they passed."""

    manifest: Manifest
    formed: FormedTables  # the tables, as the engine holds them
    job: Job
    # Facts that the release must not contain: source hash, seed, figures against the original, …
    private: dict[str, Any]
    draft: Draft | None = None  # the record for a ledger
    proof: Proof | None = None
    review: Review | None = None  # what the signer must see; made by ``save``

    @cached_property
    def tables(self) -> dict[str, Frame]:
        """The published tables, as the kind of frame that was given (else Polars)."""
        return self.formed.frames()

    @property
    def schema(self) -> dict[str, dict[str, ColumnSchema]]:
        """The type of each published column, and that of the frame that was given.

        ``change`` says why they differ: the cells were generalized, or the library has no column of
        the source's form.
        """
        return self.formed.schema(self.tables)

    def coded_tables(self) -> Mapping[str, CodedTable]:
        """The published tables, coded anew from their cells as a reader of files would."""
        reading = self.formed.read(self.manifest) if self.proof is None else self.proof.reading
        return reading.tables

    @property
    def task(self) -> Task:
        """The original table, as it was published."""
        return self.formed.original

    @property
    def audit(self) -> Audit | None:
        """The audit that the tables passed; None before ``publish`` or ``save`` has run it."""
        return None if self.proof is None else self.proof.audit

    @property
    def attacks(self) -> AttackReport | None:
        """The findings of the attacks that the job asks for."""
        return None if self.proof is None else self.proof.attacks

    def proof_of(self, reading: Reading) -> Proof | None:
        """Return the proof, if it is of exactly these tables and the manifest is unchanged."""
        proof = self.proof
        if proof is None or proof.utility is None or not proof.with_series:
            return None
        same = proof.manifest == self.manifest and proof.reading.same(reading)
        return proof if same else None

    def adopt(self, proof: Proof, manifest: Manifest) -> None:
        """Record a proof; it keeps its own copy of the manifest, to detect a change."""
        self.manifest = manifest
        self.proof = replace(proof, manifest=manifest.model_copy(deep=True))
        self.private["promises"] = [p.model_dump(mode="json") for p in proof.audit.promises]
        if proof.audit.series_warnings:
            self.private["series"] = list(proof.audit.series_warnings)
        persons = proof.audit.persons_singled_out
        if persons is not None:
            self.private["singling_out"] = persons.model_dump(mode="json", exclude_none=True)
        if proof.utility is not None:
            self.private["utility"] = proof.utility

    def __repr__(self) -> str:
        tables = ", ".join(
            f"{name}: {entry.rows} rows" for name, entry in self.manifest.tables.items()
        )
        suppressed = self.manifest.suppressed_rows
        return f"<Release by {self.manifest.method.name}; {tables}; {suppressed} rows suppressed>"

    def __getstate__(self) -> NoReturn:
        raise InputError(
            "A release in memory holds the source table beside the published ones, so it cannot be "
            "pickled or copied. Save it with release.save(), or use release.tables."
        )

    @property
    def explanation(self) -> list[str]:
        """Explain the release and its guarantees in sentences; the last are for the publisher."""
        return [*explain(self.manifest), *explain_privately(self.manifest, self.private)]

    def save(
        self,
        path: str | Path,
        *,
        format: OutputFormat | None = None,
        force: bool = False,
        report: bool = True,
        progress: Progress = no_progress,
        ledger: Ledger | None = None,
        sign: SigningKey | str | Path | None = None,
        attack: float | None = ATTACK_SECONDS,
        accept_risk: str | None = None,
    ) -> Path:
        """Write the release folder: tables, audit of the written files, manifest, report.

        ``format`` is ``csv``, but for a release that Spark made ``parquet``, unless it is given.
        With a ledger the release is recorded in the same step in which it appears; an open one may
        be given, whose lock the caller holds. ``sign`` is the private key that signs the
        manifest. ``attack`` is the time limit, in seconds, of the attacks that the verdict rests
        on; None tries no attacker. Raises ``RiskError`` where the verdict is *Do not publish*,
        unless ``accept_risk`` gives a reason, which is recorded.
        """
        from discreet.pipeline.run import save_release

        return save_release(
            self, path_of(path, "The output"), format=format, force=force, report=report,
            progress=progress, ledger=ledger, sign=sign, attack=attack, accept_risk=accept_risk,
        )  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Return the manifest as plain data."""
        written: dict[str, Any] = json.loads(self.manifest.to_json())
        return written

    def save_page(self, path: str | Path, language: str | None = None) -> Path:
        """Write the publisher's page, which must not be published, readable by its owner alone.

        It is in the language of the job's output, unless another one is named.
        """
        path = path_of(path, "The page")
        write_private(path, self.private_page(language).html())
        return path

    def _page(self) -> Page:
        return self.private_page()

    def _charts(self) -> Sequence[Chart | None]:
        from discreet.report.charts.result_charts import loss_charts, picture_charts

        utility = self.private.get("utility", {})
        return [*picture_charts(self._picture), *loss_charts(utility)]

    @property
    def _picture(self) -> Picture:
        return Picture() if self.audit is None else self.audit.picture

    def private_page(self, language: str | None = None) -> Page:
        """Return the publisher's page, with facts that the release must not contain."""
        from discreet.report.pages.signing_page import signing_page

        with speaking(language or self.job.output.language):
            return signing_page(
                self.manifest, self.job, self._picture, self.private, self._reviewed()
            )

    def verdict(self) -> RiskVerdict:
        """Return the verdict about the release's risk, by the job's ``sign_off``."""
        from discreet.report.pages.signing_page import verdict_of

        return verdict_of(self.manifest, self.job, self.private, self._reviewed())

    def _reviewed(self) -> Review:
        from discreet.report.risk_verdict import Review

        if self.review is not None:
            return self.review
        why = "" if self.attacks is not None else Statement("not-attacked.see-attack")
        return Review(self.attacks, why)

    def __str__(self) -> str:
        return "\n".join(self.explanation)

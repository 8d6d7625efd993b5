"""A pack: sections of computed statements and tables, gaps to fill, and what was not computed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

from markupsafe import Markup

from discreet.errors import InputError
from discreet.io.atomic import write_private
from discreet.io.signatures import SigningKey
from discreet.report.pieces import (
    Card,
    Page,
    Section,
    Tone,
    badge,
    joined,
    paragraph,
    sentences,
    subheading,
    table,
)
from discreet.report.risk_verdict import REFUSE, RiskVerdict
from discreet.result import Result
from discreet.statements import ENGLISH

TO_WRITE = "To be written by the publisher"
NOT_COMPUTED = "Not computed"
NO_VERDICT = "not given, for no attacker was tried. Make the pack again with --original JOB"
PRIVATE = (
    "PRIVATE: made with the original. It holds figures that the release must not contain. Give it "
    "only to reviewers who may see them."
)
PUBLIC = (
    "Made from the published files alone, and the publisher's reason where a risk was accepted. It "
    "holds no other fact than theirs."
)
ACCEPTED = (
    "The verdict about the risk of this release was 'Do not publish'. The publisher accepted the "
    "risk for this reason:"
)
_TONES: dict[str, Tone] = {
    "met": "good", "not met": "bad", "holds": "good", "not checked": "warn",
    "excludes nothing": "warn", "found": "bad", "look at": "warn", "not found": "good",
    "within the guarantee": "good", "no guarantee against this": "warn",
    "does no better than without the release": "good", "exceeds the guarantee": "bad",
    NOT_COMPUTED: "warn", REFUSE: "bad",
}  # fmt: skip


@dataclass(frozen=True)
class PackPart:
    """A part of a section."""

    kind: ClassVar[str]

    def html(self) -> Markup:
        """As a part of a page."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {"kind": self.kind, **asdict(self)}


@dataclass(frozen=True)
class Paragraph(PackPart):
    """A sentence that follows from what was computed, or from the rule that a section is about."""

    kind = "statement"
    text: str

    def html(self) -> Markup:
        return paragraph(self.text)


@dataclass(frozen=True)
class FactTable(PackPart):
    """Computed facts in rows; cells that are verdicts are shown as such."""

    kind = "table"
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: tuple[int, ...] = ()

    def html(self) -> Markup:
        rows = [
            [badge(cell, _TONES[cell]) if cell in _TONES else cell for cell in row]
            for row in self.rows
        ]
        return table(self.head, rows, self.numbers)

    def to_dict(self) -> dict[str, Any]:
        rows = [dict(zip(self.head, row, strict=True)) for row in self.rows]
        return {"kind": self.kind, "rows": rows}


@dataclass(frozen=True)
class ToWrite(PackPart):
    """A gap that only the publisher can fill: its mark, and room to write."""

    kind = "to-write"
    text: str

    def html(self) -> Markup:
        mark = Markup(f"<b>{TO_WRITE}:</b> ")
        return Markup(f"<div class='to-write'>{paragraph(joined([mark, self.text]))}</div>")


@dataclass(frozen=True)
class NotComputed(PackPart):
    """What the structure asks for and nothing here computed, with how to compute it."""

    kind = "not-computed"
    text: str
    remedy: str

    def html(self) -> Markup:
        mark = Markup(f"<b class='warn'>{NOT_COMPUTED}:</b> ")
        return paragraph(joined([mark, f"{self.text} {self.remedy}"]))


@dataclass(frozen=True)
class EvidenceSection:
    """A section that a framework asks for."""

    title: str
    short: str  # in the list of contents
    parts: tuple[PackPart, ...]


@dataclass(frozen=True)
class ThresholdTest:
    """A figure beside a threshold that reviewers use."""

    source: str  # who uses the threshold
    figure: str
    value: float | None  # None where it was not computed
    at_most: float
    refused: bool = False  # whether the verdict about the release is *Do not publish*

    @property
    def verdict(self) -> str:
        """Whether the figure is at most the threshold; never "met" against the verdict."""
        if self.value is None:
            return NOT_COMPUTED
        if self.value > self.at_most + 1e-12:
            return "not met"
        return REFUSE if self.refused else "met"

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        data = {**asdict(self), "verdict": self.verdict}
        del data["refused"]
        return data


@dataclass(frozen=True)
class Evidence(Result):
    """An evidence pack about a release, for one framework."""

    framework: str
    title: str
    about: tuple[str, ...]  # what the framework is and what the pack does not claim
    private: bool
    made: str  # the day, UTC
    release: Mapping[str, Any]  # method, kind, hashes
    sections: tuple[EvidenceSection, ...]
    thresholds: tuple[ThresholdTest, ...]
    figures: Mapping[str, Any]  # exact, by name
    verdict: RiskVerdict | None = None  # None without the original, which attacks need
    accepted_risk: str | None = None  # the publisher's reason against the verdict

    def _count(self, kind: type) -> int:
        return sum(isinstance(part, kind) for section in self.sections for part in section.parts)

    @property
    def to_write(self) -> int:
        """How many gaps the publisher must fill."""
        return self._count(ToWrite)

    @property
    def not_computed(self) -> int:
        """How much was asked for and not computed."""
        return self._count(NotComputed)

    def to_dict(self) -> dict[str, Any]:
        """The pack as plain data."""
        return {
            "framework": self.framework,
            "title": self.title,
            "about": list(self.about),
            "private": self.private,
            "made": self.made,
            "accepted_risk": self.accepted_risk,
            "release": dict(self.release),
            "to_write": self.to_write,
            "not_computed": self.not_computed,
            "verdict": None if self.verdict is None else self.verdict.to_dict(),
            "figures": dict(self.figures),
            "thresholds": [item.to_dict() for item in self.thresholds],
            "sections": [
                {"title": item.title, "parts": [part.to_dict() for part in item.parts]}
                for item in self.sections
            ],
        }

    def save(
        self, path: str | Path, *, sign: SigningKey | str | Path | None = None, force: bool = False
    ) -> Path:
        """Write the pack as HTML, or as JSON to a name that ends in .json.

        A private pack is readable by its owner alone. ``sign`` is the private key whose signature
        of the file is written beside it, with the ending .sig.
        """
        path = Path(path)
        key = sign if sign is None or isinstance(sign, SigningKey) else SigningKey.load(sign)
        if path.exists() and not force:
            raise InputError(f"{path}: already exists. Use --force to replace it.")
        if path.suffix == ".json":
            self._write(path, json.dumps(self.to_dict(), ensure_ascii=False, indent=1) + "\n")
        else:
            self._write(path, self._page().html())
        signature = path.with_name(f"{path.name}.sig")
        signature.unlink(missing_ok=True)  # of a pack that this one replaces
        if key is not None:
            key.sign_file(path, signature)
        return path

    def save_page(self, path: str | Path, language: str = "en") -> Path:
        """Write the pack as HTML, in English; a private one is readable by its owner alone."""
        if language != ENGLISH:
            raise InputError("An evidence pack is written in English only.")
        self._write(Path(path), self._page().html())
        return Path(path)

    def _write(self, path: Path, text: str) -> None:
        if self.private:
            write_private(path, text)
        else:
            path.write_text(text, encoding="utf-8")

    def _charts(self) -> Sequence[None]:
        return ()

    def _page(self) -> Page:
        return Page(
            kind="Evidence pack",
            subject=f"{self.framework.upper()}, made on {self.made}",
            heading=self.title,
            tone="" if self.verdict is None else self.verdict.tone,
            lede=(
                f"Verdict about risk: {NO_VERDICT if self.verdict is None else self.verdict.word}.",
                *self._accepted(),
                PRIVATE if self.private else PUBLIC,
                *self.about,
            ),
            cards=list(self._cards()),
            sections=[
                *self._verdict_section(),
                *(
                    Section(
                        section.title, joined(part.html() for part in section.parts), section.short
                    )
                    for section in self.sections
                ),
            ],
            declaration=Markup(""),
        )

    def _accepted(self) -> tuple[str, ...]:
        return () if self.accepted_risk is None else (f"{ACCEPTED} {self.accepted_risk}",)

    def _verdict_section(self) -> Iterator[Section]:
        verdict = self.verdict
        if verdict is None:
            return
        parts = [paragraph(verdict.about), sentences(verdict.reasons)]
        if verdict.stronger:
            parts += [subheading("Stronger than you asked for"), sentences(verdict.stronger)]
        yield Section(f"Verdict about risk: {verdict.word}", joined(parts), "Verdict")

    def _cards(self) -> Iterator[Card]:
        holding, total = self.figures["guarantees_kept"], self.figures["guarantees"]
        tone: Tone = "good" if holding == total and total else "warn"
        yield Card(
            "guarantees-kept", "guarantees kept", holding, f"{holding} of {total}", tone=tone
        )
        test = self.thresholds[0]
        if test.value is not None:
            limit: tuple[str, Tone] = ("", "")
            if self.framework == "ema":  # the one whose guidance names the threshold
                met = test.verdict == "met"
                limit = f"at most {test.at_most}", "good" if met else "bad"
            yield Card("greatest-risk", test.figure, test.value, f"{test.value:.4f}", *limit)
        singling_out = self.figures["singling_out"]
        if singling_out is not None and singling_out["unchanged"]:
            share = singling_out.get("at_most", singling_out["unique"]["2"]) / max(
                singling_out["counted"], 1
            )
            yield Card(
                "singled-out", f"unique by two of {singling_out['unchanged']:,} unchanged columns",
                share, f"{share:.1%}", tone="warn" if share else "good",
            )  # fmt: skip
        yield Card(
            "to-write", "parts to be written by the publisher", self.to_write, f"{self.to_write}",
            tone="warn" if self.to_write else "good",
        )  # fmt: skip
        yield Card(
            "not-computed", "parts that were not computed", self.not_computed,
            f"{self.not_computed}", tone="warn" if self.not_computed else "good",
        )  # fmt: skip

"""The verdict about a release's risk, for the person who signs: three figures and the reasons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.attacks.base import Finding
from discreet.job.sign_off import RiskLimits, SignOff
from discreet.releases.explanation import uncovered
from discreet.releases.manifest import Manifest
from discreet.report.pieces import Card, Tone

if TYPE_CHECKING:
    from discreet.attacks.run import AttackReport

READY, LOOK, REFUSE = "Ready to sign", "Look at these", "Do not publish"
_TONES: dict[str, Tone] = {READY: "good", LOOK: "warn", REFUSE: "bad"}
EMPTY = 0.9  # information loss from which a release says next to nothing


@dataclass(frozen=True)
class RiskFigure:
    """One of the figures that decide."""

    key: str
    name: str
    value: float
    shown: str
    sentence: str
    word: str  # of the verdict that this figure alone gives

    def card(self) -> Card:
        """The figure as a headline figure of a page."""
        return Card(self.key, self.name, self.value, self.shown, self.sentence, _TONES[self.word])


@dataclass(frozen=True)
class RiskVerdict:
    """Whether a release can be signed, and why."""

    word: str
    figures: tuple[RiskFigure, ...]
    remarks: tuple[str, ...]  # what else keeps it from being "Ready to sign"

    @property
    def tone(self) -> Tone:
        """The tone of the heading."""
        return _TONES[self.word]

    def lines(self) -> list[str]:
        """The verdict for a terminal."""
        lines = [f"Verdict about risk: {self.word.upper() if self.word == REFUSE else self.word}."]
        return [*lines, *(f"  - {reason}" for reason in self.reasons)]

    @property
    def reasons(self) -> list[str]:
        """Why the release is not ready to sign."""
        high = [one for one in self.figures if one.word != READY]
        return [*(f"{one.name}: {one.shown}. {one.sentence}" for one in high), *self.remarks]

    def to_dict(self) -> dict[str, Any]:
        """The verdict as plain data."""
        figures = {one.key: one.value for one in self.figures}
        return {"verdict": self.word, "figures": figures, "reasons": self.reasons}


def risk_verdict(
    manifest: Manifest,
    attacks: AttackReport | None,
    limits: SignOff,
    utility: Mapping[str, Any],
    not_attacked: str = "",
) -> RiskVerdict:
    """Judge a release by what attackers learned; ``not_attacked`` says why none was tried."""
    if attacks is None:
        reason = not_attacked or "No attacker was tried, so nothing is known about the risk."
        return RiskVerdict(LOOK, (), (reason, *_shortcomings(manifest, utility)))
    figures = tuple(_figures(attacks, limits))
    words = {one.word for one in figures} - {READY}
    remarks = list(_shortcomings(manifest, utility))
    if not attacks.ok:
        remarks.insert(0, "An attacker exceeds a guarantee of this release: it is broken.")
        words.add(REFUSE)
    if attacks.omitted:
        listed = ", ".join(attacks.omitted)
        remarks.append(f"Not everything was tried: {listed}. The list of attackers says why.")
    if attacks.ok and _limits_knowledge(manifest):
        words = {LOOK for _ in words}  # the attacks assume more knowledge than the guarantees do
    word = REFUSE if REFUSE in words else LOOK if words or remarks else READY
    return RiskVerdict(word, figures, tuple(remarks))


def _shortcomings(manifest: Manifest, utility: Mapping[str, Any]) -> Iterator[str]:
    """What a signer must know even where no attacker succeeds."""
    if not manifest.promises:
        yield "Nothing is guaranteed: the job states no requirement."
    for promise in manifest.promises:
        if promise.vacuous_for is not None:
            yield f"The guarantee '{promise.requirement}' excludes nothing."
        elif promise.unproved is not None:
            yield f"The guarantee '{promise.requirement}' was not checked: {promise.unproved}."
    if _limits_knowledge(manifest):
        yield (
            "Guarantees hold for attackers who know some columns. The attacks assume one who knows "
            "every quasi-identifier, against whom nothing is guaranteed: publish only if no "
            "attacker knows more than the guarantees say."
        )
    yield from uncovered(manifest)
    loss = utility.get("loss")
    if loss is not None and loss >= EMPTY:
        yield f"The quasi-identifiers say next to nothing: {loss:.0%} of their information is lost."


def _limits_knowledge(manifest: Manifest) -> bool:
    return any(promise.to_requirement().limits_knowledge for promise in manifest.promises)


def _figures(attacks: AttackReport, limits: SignOff) -> Iterator[RiskFigure]:
    values = attacks.about_values
    alone = [one for one in values if not one.also_knows]
    if alone:
        worst = max(alone, key=_believed)
        yield _figure(
            "believed", "values that an attacker guesses", _believed(worst), limits.believed,
            f"Who knows quasi-identifiers alone believes the true '{worst.aim}' of "
            f"{_of(worst, _believed(worst))} above {attacks.threshold:.0%}, and would not "
            "without the release.",
        )  # fmt: skip
    if values:
        worst = max(values, key=_certain)
        knows = f" and {worst.also_knows}" if worst.also_knows else ""
        yield _figure(
            "certain", "values that become certain", _certain(worst), limits.certain,
            f"To the worst attacker, who knows quasi-identifiers{knows}, '{worst.aim}' of "
            f"{_of(worst, _certain(worst))} becomes certain.",
        )  # fmt: skip
    tables = attacks.risks[1:]  # the first is the original
    if tables:
        chance = max(one.prosecutor for one in tables)
        yield _figure(
            "reidentified", "chance to pick the right row", chance, limits.reidentified,
            "The greatest chance that an attacker who knows a target's quasi-identifiers picks "
            f"the right row; in the original it is {attacks.risks[0].prosecutor:.0%}.",
        )  # fmt: skip


def _figure(key: str, name: str, value: float, limits: RiskLimits, sentence: str) -> RiskFigure:
    word = REFUSE if value > limits.refuse else LOOK if value > limits.look else READY
    return RiskFigure(key, name, value, f"{value:.1%}", sentence, word)


def _believed(finding: Finding) -> float:
    return max(finding.above - finding.above_without, 0.0)


def _certain(finding: Finding) -> float:
    return finding.newly_certain / max(finding.targets, 1)


def _of(finding: Finding, share: float) -> str:
    return f"{round(share * finding.targets):,} of {finding.targets:,} {finding.unit.plural}"

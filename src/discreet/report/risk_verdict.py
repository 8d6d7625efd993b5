"""The verdict about a release's risk, for the person who signs: whom it is about, and why.

The verdict is the worst over the attackers that the steward chose, by the figures of each and the
thresholds of the job's ``sign_off``. An attacker who was chosen and could not be run excludes
*Ready to sign*. What other attackers would learn is reported apart and decides nothing, except
that a broken guarantee always refuses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from discreet.attacks.attackers import StandardAttacker
from discreet.attacks.base import Finding
from discreet.job.attackers import Choice, JobAttackers
from discreet.job.parts import RiskLimits, SignOff
from discreet.releases.analyst_errors import AnalystErrors
from discreet.releases.explanation import uncovered
from discreet.releases.manifest import Known, Manifest, SinglingOut
from discreet.releases.singling_out import singling_reason, singling_sentences, units_of
from discreet.report.pieces import Card, Tone
from discreet.requirements.judge import limits_knowledge
from discreet.statements import Statement

if TYPE_CHECKING:
    from discreet.attacks.run import AttackReport
    from discreet.releases.column_shapes import ColumnShapes


READY, LOOK, REFUSE = "Ready to sign", "Look at these", "Do not publish"
_TONES: dict[str, Tone] = {READY: "good", LOOK: "warn", REFUSE: "bad"}
_SEVERITY = {READY: 0, LOOK: 1, REFUSE: 2}
EMPTY = 0.9  # information loss from which a release says next to nothing


@dataclass(frozen=True)
class RiskFigure:
    """One of the figures that decide."""

    key: str
    attacker: StandardAttacker
    name: str
    value: float
    shown: str
    sentence: str
    word: str  # of the verdict that this figure alone gives

    @property
    def reason(self) -> str:
        """The figure as a reason of the verdict."""
        return Statement("verdict.reason", name=self.name, value=self.value, sentence=self.sentence)

    def card(self) -> Card:
        """The figure as a headline figure of a page."""
        attacker = self.attacker.noun
        return Card(self.key, self.name, self.value, self.shown, attacker, _TONES[self.word])

    def to_dict(self) -> dict[str, Any]:
        """The figure as plain data."""
        return {
            "attacker": str(self.attacker),
            "figure": self.key,
            "value": self.value,
            "verdict": self.word,
        }


@dataclass(frozen=True)
class RiskVerdict:
    """Whether a release can be signed, whom that is about, and why."""

    word: str
    choice: Choice
    figures: tuple[RiskFigure, ...]  # of the chosen attackers
    remarks: tuple[str, ...]  # what else keeps it from being "Ready to sign"
    stronger: tuple[str, ...] = ()  # what attackers that were not chosen would learn
    utility: tuple[str, ...] = ()  # whether analysts gain anything

    @property
    def tone(self) -> Tone:
        """The tone of the heading."""
        return _TONES[self.word]

    @property
    def about(self) -> str:
        """Whom the verdict is about."""
        return self.choice.sentence

    @property
    def worst_figures(self) -> list[RiskFigure]:
        """Of each figure the one of the attacker who does best."""
        worst: dict[str, RiskFigure] = {}
        for figure in self.figures:
            before = worst.get(figure.key)
            if before is None or figure.value > before.value:
                worst[figure.key] = figure
        return list(worst.values())

    def lines(self) -> list[str]:
        """The verdict for a terminal."""
        word = self.word.upper() if self.word == REFUSE else self.word
        lines = [f"Verdict about risk: {word}.", f"  {self.about}"]
        lines += [f"  - {reason}" for reason in self.reasons]
        if self.stronger:
            lines += ["Stronger than you asked for:", *(f"  - {one}" for one in self.stronger)]
        return [*lines, *self.utility]

    @property
    def only_guesses(self) -> bool:
        """Whether nothing but undecided roles keeps the release from being ready to sign."""
        calm = all(figure.word == READY for figure in self.figures)
        ids = [getattr(remark, "id", "") for remark in self.remarks]
        return calm and ids == ["verdict.guessed-roles"]

    @property
    def reasons(self) -> list[str]:
        """Why the release is not ready to sign."""
        high = sorted(
            (figure for figure in self.figures if figure.word != READY),
            key=lambda figure: -_SEVERITY[figure.word],
        )
        return [*(figure.reason for figure in high), *self.remarks]

    def to_dict(self) -> dict[str, Any]:
        """The verdict as plain data."""
        chosen = [str(name) for name in self.choice.names]
        return {
            "verdict": self.word,
            "attackers": [*chosen, *self.choice.declared],
            "figures": [figure.to_dict() for figure in self.figures],
            "reasons": self.reasons,
            "stronger": list(self.stronger),
            "utility": list(self.utility),
        }


def risk_verdict(
    manifest: Manifest,
    review: Review,
    attackers: JobAttackers,
    limits: SignOff,
    utility: Mapping[str, Any],
    *,
    ledger: bool = False,
    series: Sequence[str] = (),
    singling_out: SinglingOut | None = None,
    unguarded: Sequence[str] = (),
    guessed: Sequence[str] = (),
) -> RiskVerdict:
    """Judge a release by what the chosen attackers learn, and by what is proved about it.

    ``series`` is what earlier releases of a ledger reveal together with this one. ``singling_out``
    counts persons, where only the publisher knows them; by default it is the manifest's.
    ``unguarded`` are the columns that a job publishes although they may identify persons, and
    ``guessed`` those whose roles nobody has decided.
    """
    # What decides beside the attackers' figures.
    choice = _choice(manifest, attackers, ledger)
    attacks, unique = review.attacks, singling_out or manifest.singling_out
    remarks = list(_shortcomings(manifest, utility))
    if guessed:
        remarks.insert(0, Statement("verdict.guessed-roles", columns=list(guessed)))
    if unguarded:
        remarks.insert(0, Statement("verdict.allowed-identifying", columns=list(unguarded)))
    if unique is None and StandardAttacker.COLLEAGUE in choice.names:
        remarks.append(Statement("verdict.colleague-not-judged"))
    # Without attacks, uniqueness alone is known.
    if attacks is None:
        reason = review.not_attacked
        reason = reason or Statement("verdict.not-attacked")
        figures = tuple(_singled_out(unique, choice, limits))
        return replace(
            _decided(choice, figures, [reason, *remarks]), utility=_worse_for_analysts(review)
        )
    # What the chosen attackers learn, and which of them were not run.
    figures = (*_figures(attacks, choice, limits), *_singled_out(unique, choice, limits))
    remarks += _not_run(attacks, choice)
    archivist = StandardAttacker.ARCHIVIST in choice.names
    if archivist:
        remarks += series if ledger else [Statement("verdict.archivist-without-ledger")]
    if choice.declared:
        remarks.append(Statement("verdict.declared-attackers"))
    decided = _decided(choice, figures, remarks)
    # A broken guarantee refuses, whoever was chosen.
    if not attacks.ok:
        broken = Statement("verdict.broken")
        decided = replace(decided, word=REFUSE, remarks=(broken, *decided.remarks))
    others = [
        *_stronger(attacks, choice),
        *_stronger_colleague(unique, choice),
        *(() if archivist else series),
    ]
    return replace(decided, stronger=tuple(others), utility=_worse_for_analysts(review))


def _decided(choice: Choice, figures: tuple[RiskFigure, ...], remarks: list[str]) -> RiskVerdict:
    words = [figure.word for figure in figures] + [LOOK for _ in remarks]
    word = max(words, key=_SEVERITY.__getitem__, default=READY)
    return RiskVerdict(word, choice, figures, tuple(remarks))


def _worse_for_analysts(review: Review) -> tuple[str, ...]:
    """Say where the release serves analysts no better than two tables without any link."""
    errors = review.errors
    if errors is None:
        return ()
    nothing = [Statement("verdict.no-better-than-unlinked")]
    return (
        *(nothing if errors.no_better_than_unlinked else []),
        *([] if errors.counts is None else errors.counts.worse_counts),
    )


def _choice(manifest: Manifest, attackers: JobAttackers, ledger: bool) -> Choice:
    """Return whom the verdict is about.

    Where a job names nobody and every guarantee is for attackers who know some columns, these are
    the attackers that the steward declared.
    """
    choice = attackers.chosen(ledger=ledger)
    asked = [promise.to_requirement() for promise in manifest.promises]
    named = attackers.names or attackers.preset is not None or choice.declared
    if named or not asked or not all(limits_knowledge(requirement) for requirement in asked):
        return choice
    declared = [name for one in asked for name in (one.attackers or [one.name])]
    return replace(choice, names=(), declared=tuple(dict.fromkeys(declared)))


def _shortcomings(manifest: Manifest, utility: Mapping[str, Any]) -> Iterator[str]:
    """What a signer must know even where no attacker succeeds."""
    if not manifest.promises:
        yield Statement("promises.none")
    for promise in manifest.promises:
        if promise.vacuous_for is not None:
            yield Statement("verdict.vacuous", requirement=promise.requirement)
        elif promise.unproved is not None:
            yield Statement(
                "verdict.not-checked", requirement=promise.requirement, reason=promise.unproved
            )
    yield from uncovered(manifest)
    loss = utility.get("loss")
    if loss is not None and loss >= EMPTY:
        yield Statement("verdict.empty", loss=loss)


def _not_run(attacks: AttackReport, choice: Choice) -> Iterator[str]:
    """Which chosen attackers could not be run, or not wholly, and why."""
    for name in choice.names:
        for what, why in attacks.not_run(name).items():
            yield Statement("verdict.not-run", attacker=name.noun, attack=what, reason=why)


def _singled_out(
    found: SinglingOut | None, choice: Choice, limits: SignOff
) -> Iterator[RiskFigure]:
    """Persons who are unique by what the chosen attackers know of the published columns.

    Attackers that a job declares know some quasi-identifiers only, by all of which persons may be
    unique: those count whom unchanged columns add.
    """
    if found is None:
        return
    if choice.declared or StandardAttacker.COLLEAGUE in choice.names:
        known: Known = "all" if choice.unchanged is None else "2"
        value = found.added(known) if choice.declared else found.singled_out(known)
        attacker = StandardAttacker.COLLEAGUE
    else:
        known, attacker = "0", StandardAttacker.ACQUAINTANCE
        value = found.singled_out(known)
    name, reason = Statement("singling.name", units=units_of(found)), singling_reason(found, known)
    yield _figure("singled_out", attacker, name, value, limits.singled_out, reason)


def _stronger_colleague(found: SinglingOut | None, choice: Choice) -> Iterator[str]:
    """Whom an attacker who knows unchanged columns finds, where none was chosen."""
    chosen = choice.declared or StandardAttacker.COLLEAGUE in choice.names
    if found is not None and not chosen and found.singled_out("2") > 0:
        yield from singling_sentences(found)[:2]


def _figures(attacks: AttackReport, choice: Choice, limits: SignOff) -> Iterator[RiskFigure]:
    for attacker in choice.names:
        findings = [finding for finding in attacks.about_values if finding.attacker is attacker]
        if findings:
            believed = max(findings, key=_believed)
            yield _figure(
                "believed", attacker, Statement("verdict.name.believed"), _believed(believed),
                limits.believed,
                _learned("believed", choice, believed, attacks.threshold),
            )  # fmt: skip
            certain = max(findings, key=_certain)
            yield _figure(
                "certain", attacker, Statement("verdict.name.certain"), _certain(certain),
                limits.certain,
                _learned("certain", choice, certain),
            )  # fmt: skip
    tables = attacks.risks[1:]  # the first is the original
    if tables and StandardAttacker.ACQUAINTANCE in choice.names:
        chance = max(one.prosecutor for one in tables)
        yield _figure(
            "reidentified", StandardAttacker.ACQUAINTANCE, Statement("verdict.name.reidentified"),
            chance, limits.reidentified,
            Statement(
                "verdict.reidentified",
                rows=_rows_alike(chance),
                original=_rows_alike(attacks.risks[0].prosecutor),
            ),
        )  # fmt: skip


def _figure(
    key: str, attacker: StandardAttacker, name: str, value: float, limits: RiskLimits, sentence: str
) -> RiskFigure:
    word = REFUSE if value > limits.refuse else LOOK if value > limits.look else READY
    return RiskFigure(key, attacker, name, value, f"{value:.1%}", sentence, word)


def _stronger(attacks: AttackReport, choice: Choice) -> Iterator[str]:
    """What the attackers that were not chosen would learn, each at its best."""
    for attacker in StandardAttacker:
        if attacker in choice.names:
            continue
        findings = [finding for finding in attacks.about_values if finding.attacker is attacker]
        gaining = [finding for finding in findings if finding.newly_certain or finding.newly_above]
        if gaining:
            worst = max(gaining, key=lambda one: (_certain(one), _believed(one)))
            if worst.newly_certain:
                yield _learned("certain", choice, worst)
            else:
                yield _learned("believed", choice, worst, attacks.threshold)


def _learned(
    figure: str, choice: Choice, finding: Finding, threshold: float | None = None
) -> Statement:
    """Return what an attacker learns, of how many targets."""
    targets = finding.newly_certain if threshold is None else finding.newly_above
    knows = choice.knows(finding.attacker)
    if targets and finding.attacker is StandardAttacker.ACQUAINTANCE and finding.also_knows:
        knows = Statement("attackers.knows.also", knows=knows, also=finding.also_knows)
    who = {"attacker": finding.attacker.noun, "knows": knows}
    limit = {} if threshold is None else {"threshold": threshold}
    if not targets:
        return Statement(f"verdict.{figure}.none", **who, **limit)
    return Statement(
        f"verdict.{figure}",
        **who,
        **limit,
        aim=finding.aim,
        learned=targets,
        targets=finding.targets,
        unit=Statement(f"unit.{finding.unit.plural}"),
    )


def _rows_alike(chance: float) -> int:
    """Return of how many rows one is the right one."""
    return max(int(1 / max(chance, 1e-12) + 1e-6), 1)


def _believed(finding: Finding) -> float:
    return finding.newly_above / max(finding.targets, 1)


def _certain(finding: Finding) -> float:
    return finding.newly_certain / max(finding.targets, 1)


@dataclass(frozen=True)
class SampledRows:
    """Some rows of one table: the quasi-identifiers of the source, and as they are published."""

    table: str
    names: Sequence[str]
    rows: Sequence[Sequence[tuple[str, str]]]  # before and after, by row and column


@dataclass(frozen=True)
class Review:
    """Attacks, errors and samples of a release."""

    attacks: AttackReport | None = None
    not_attacked: str = ""  # why no attacker was tried
    errors: AnalystErrors | None = None
    shapes: ColumnShapes | None = None
    samples: Sequence[SampledRows] = ()
    # By published column: name, role, different values before and after.
    columns: Sequence[tuple[str, str, int, int]] = ()
    facts: dict[str, str] = field(default_factory=dict)  # provenance

"""Parts that several frameworks ask for, each filled from the facts of a release."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from discreet.addons.evidence.document import (
    NOT_COMPUTED,
    FactTable,
    NotComputed,
    PackPart,
    Paragraph,
    ToWrite,
)
from discreet.addons.evidence.facts import PUBLIC_RELEASE, SMALLEST_CELL, ReleaseFacts
from discreet.addons.evidence.safe_harbor import (
    FOUND,
    IDENTIFIERS,
    LOOK_AT,
    NOT_FOUND,
    named_identifier,
)
from discreet.attacks.attackers import StandardAttacker
from discreet.attacks.base import Criterion, Finding
from discreet.knowledge.population_figures import SOURCES
from discreet.releases.explanation import (
    certain_attackers,
    collapsed,
    known_weaknesses,
    published,
    treatment,
    uncomputed,
    uncovered,
    warnings,
    worth,
)
from discreet.report.pieces import inline
from discreet.requirements.judge import stated
from discreet.table.roles import Role

WITH_ORIGINAL = "Make the pack again with --original JOB."
WITH_POPULATION = "Make the pack again with --original JOB and --population TABLE."
SHOWN = 8  # attackers of a criterion, the worst first


def release_parts(facts: ReleaseFacts) -> Iterator[PackPart]:
    """What was published, which files the pack is about, and whether the audit passed."""
    manifest, audit = facts.manifest, facts.audit
    yield Paragraph(published(manifest))
    yield FactTable(
        ("file", "rows", "sha256"),
        (
            *((table.file, f"{table.rows:,}", table.sha256) for table in manifest.tables.values()),
            ("manifest.json", "–", facts.manifest_sha256),
        ),
        (1,),
    )
    compared = (
        "The release was compared with the original: no row was lost or invented."
        if audit.compared
        else "The original was not given, so it was not checked whether rows were lost or invented."
    )
    yield Paragraph(f"The audit derived the guarantees again from these files. {compared}")
    signed = "is signed; the signature was not checked here" if facts.signed else "is not signed"
    yield Paragraph(f"The manifest {signed}.")


def variable_parts(facts: ReleaseFacts) -> Iterator[PackPart]:
    """Direct identifiers, quasi-identifiers and other columns, and what was done to each."""
    roles = {
        name: role
        for table in facts.manifest.tables.values()
        for name, role in table.columns.items()
        if role is not Role.STRUCTURE
    }
    rows = [(name, _VARIABLE[role], "published") for name, role in roles.items()]
    if facts.job is not None:
        hidden = {n: a.role for n, a in facts.job.attributes.items() if not a.role.published}
        rows += [(name, _VARIABLE[role], "not published") for name, role in hidden.items()]
    yield FactTable(("column", "kind of variable", "in the release"), tuple(rows))
    if facts.job is None:
        yield NotComputed(
            "Columns of the source that are not published are not named in the files.",
            WITH_ORIGINAL,
        )
    yield ToWrite(
        "why each column has its kind, and which of them an attacker may know from other sources."
    )


_VARIABLE = {
    Role.IDENTIFIER: "direct identifier",
    Role.QUASI_IDENTIFIER: "quasi-identifier",
    Role.SENSITIVE: "sensitive attribute",
    Role.QUASI_SENSITIVE: "quasi-sensitive attribute",
    Role.INSENSITIVE: "other attribute, published unchanged",
    Role.WEIGHT: "sampling weight, published unchanged",
    Role.HOUSEHOLD: "household number, not published",
    Role.DROP: "removed",
}


def technique_parts(facts: ReleaseFacts) -> Iterator[PackPart]:
    """The techniques, in the sentences of the release."""
    manifest = facts.manifest
    yield Paragraph(f"Method: {manifest.method.name}. Kind of release: {manifest.kind}.")
    for sentence in (*collapsed(manifest), *treatment(manifest)):
        yield Paragraph(sentence)


def guarantee_parts(facts: ReleaseFacts) -> Iterator[PackPart]:
    """Every guarantee with what was required and achieved; what no guarantee covers."""
    promises = facts.audit.promises
    if not promises:
        yield Paragraph("The release states no guarantee.")
        return
    rows = []
    for promise in promises:
        asked = {k: v for k, v in promise.parameters.items() if k != "attribute"}
        verdict = "holds" if promise.holds else "not checked"
        if promise.holds and promise.vacuous_for is not None:
            verdict = "excludes nothing"
        sentence = stated(promise.to_requirement(), facts.manifest.unit)
        achieved = promise.unproved or inline(promise.achieved)
        rows.append((promise.requirement, sentence, inline(asked), achieved, verdict))
    head = ("guarantee", "meaning", "required", "achieved", "verdict")
    yield FactTable(head, tuple(rows))
    for sentence in (*warnings(promises), *uncovered(facts.manifest)):
        yield Paragraph(sentence)


def risk_parts(facts: ReleaseFacts) -> Iterator[PackPart]:
    """Re-identification risk of the files, by the attacks, and against the population."""
    yield Paragraph(
        "The risk of a row is 1 over the number of rows that look the same to an attacker who "
        "knows that the target is in the table (prosecutor); its mean over all rows is the share "
        "that an attempt on every row gets right (marketer)."
    )
    yield FactTable(
        ("table", "rows alike by", "greatest", "average", "unique rows"),
        tuple(
            (risk.table or "all", risk.alike_by, f"{risk.greatest:.4f}", f"{risk.mean:.4f}",
             f"{risk.unique:.1%}")
            for risk in facts.risks
        ),
        (2, 3, 4),
    )  # fmt: skip
    if facts.grouped:
        yield Paragraph(
            "Rows keep quasi-identifiers in which rows of their group differ, so a person can be "
            "recognized by them; sensitive values are linked to the group only. The figures by "
            "group are the chance to pick the target's sensitive values."
        )
    if facts.manifest.keeps_rows:
        yield Paragraph("A person may have several rows: the figures of the files count rows.")
    for sentence in facts.singling_sentences:
        yield Paragraph(sentence)
    yield from _attacked_risks(facts)


def _attacked_risks(facts: ReleaseFacts) -> Iterator[PackPart]:
    if facts.attacks is None:
        yield NotComputed("The risk before publication, and of attackers.", WITH_ORIGINAL)
    else:
        yield FactTable(
            ("table", "greatest (prosecutor)", "average (marketer)", f"unique {facts.unit}s",
             "greatest in the population (journalist)"),
            tuple(
                (risk.table, f"{risk.prosecutor:.4f}", f"{risk.marketer:.4f}",
                 f"{risk.unique:.1%}",
                 NOT_COMPUTED if risk.journalist is None else f"{risk.journalist:.4f}")
                for risk in facts.attacks.risks
            ),
            (1, 2, 3, 4),
        )  # fmt: skip
    population = facts.estimated_population
    if population and population.get("source") in SOURCES:
        yield Paragraph(
            f"Risk in a population of {population['persons']:,.0f} persons, found while "
            f"publishing, {SOURCES[population['source']]}: {population['average']:.4f} on "
            f"average and at most {population['maximum']:.4f}."
        )
    if facts.population_risk is None:
        yield NotComputed(
            "The risk against the population that the table is a part of.", WITH_POPULATION
        )


def threshold_parts(facts: ReleaseFacts) -> Iterator[PackPart]:
    """The figures beside thresholds in use."""
    yield FactTable(
        ("threshold of", "figure", "computed", "at most", "verdict"),
        tuple(
            (test.source, test.figure, "–" if test.value is None else f"{test.value:.4f}",
             f"{test.at_most:.4f}", test.verdict)
            for test in facts.thresholds
        ),
        (2, 3),
    )  # fmt: skip
    yield Paragraph(
        f"A greatest risk of at most {PUBLIC_RELEASE} holds from {SMALLEST_CELL + 1} rows alike "
        f"on; {SMALLEST_CELL} rows give {1 / SMALLEST_CELL:.4f}."
    )


def attack_parts(facts: ReleaseFacts) -> Iterator[PackPart]:
    """What the strongest attackers learn, in a sentence and the tables of the three criteria."""
    if facts.attacks is None:
        yield NotComputed("No attacker was tried.", WITH_ORIGINAL)
        for sentence in certain_attackers(facts.audit.readers):
            yield Paragraph(sentence)
        return
    yield Paragraph(facts.attacks.summary)
    for criterion in Criterion:
        yield Paragraph(f"Attackers by criterion: {criterion}.")
        yield from criterion_parts(facts, criterion)
    yield from left_out_parts(facts)


def criterion_parts(facts: ReleaseFacts, criterion: Criterion) -> Iterator[PackPart]:
    """The attackers of one criterion of the Article 29 Working Party, the worst first."""
    if facts.attacks is None:
        yield NotComputed(f"No attacker was tried ({criterion}).", WITH_ORIGINAL)
        return
    findings = [finding for finding in facts.attacks.findings if finding.criterion is criterion]
    if not findings:
        yield NotComputed(f"No attack of this kind applies to the release ({criterion}).", "")
        return
    ranked = sorted(findings, key=lambda finding: finding.severity, reverse=True)
    head = (
        "attack", "the attacker", "aim", "targets", "greatest", "mean", "without the release",
        "verdict",
    )  # fmt: skip
    yield FactTable(head, tuple(_attacker(finding) for finding in ranked[:SHOWN]), (3, 4, 5, 6))
    if len(ranked) > SHOWN:
        yield Paragraph(
            f"{len(ranked) - SHOWN:,} more attackers of this criterion learn less; "
            "'discreet attack' lists all."
        )


def _attacker(finding: Finding) -> tuple[str, ...]:
    return (
        finding.title,
        finding.knowledge,
        finding.shown_aim,
        f"{finding.targets:,}",
        f"{finding.greatest:.1%}",
        f"{finding.mean:.1%}",
        f"{finding.baseline:.1%}",
        finding.verdict,
    )


def left_out_parts(facts: ReleaseFacts) -> Iterator[PackPart]:
    """Attacks that were cut off, and those that do not apply."""
    attacks = facts.attacks
    if attacks is None:
        return
    remedy = "" if attacks.seconds is None else "Allow more time with --seconds."
    for name, why in attacks.omitted.items():
        if name in list(StandardAttacker):  # nothing here computes it, with any setting
            yield Paragraph(f"Not tried: the {name}, for {why}.")
        else:
            yield NotComputed(f"{name}: {why}.", remedy)
    if attacks.inapplicable:
        listed = "; ".join(f"{name} ({why})" for name, why in attacks.inapplicable.items())
        yield Paragraph(f"Not run, because they do not apply: {listed}.")


def open_parts(facts: ReleaseFacts) -> Iterator[PackPart]:
    """What the guarantees do not cover."""
    weaknesses = [
        *uncomputed(facts.manifest, facts.manifest.readers),
        *known_weaknesses(facts.manifest),
    ]
    for sentence in weaknesses:
        yield Paragraph(sentence)


def utility_parts(facts: ReleaseFacts) -> Iterator[PackPart]:
    """What analysts lose."""
    manifest = facts.manifest
    gone = manifest.lost_share
    yield Paragraph(f"Suppressed rows: {manifest.lost_rows:,} ({gone:.1%}).")
    sentences = worth(manifest, facts.private.get("method", {}), facts.private.get("utility", {}))
    for sentence in sentences:
        yield Paragraph(sentence)
    if not sentences:
        yield NotComputed(
            "Information loss against the original.",
            "Keep the private file (RELEASE.private.json) beside the release and use --original "
            "JOB, or run 'discreet measure'.",
        )


def identifier_parts(facts: ReleaseFacts) -> Iterator[PackPart]:
    """The 18 identifiers of Safe Harbor against published columns."""
    rows = []
    for finding in facts.identifiers:
        reasons = {**finding.look_at, **finding.found}
        columns = "; ".join(f"{name}: {why}" for name, why in reasons.items()) or "–"
        row = (finding.letter, finding.name, finding.status, columns)
        rows.append(row if facts.job is None else (*row, _removed(facts, finding.letter)))
    head = ("", "identifier", "in the files", "columns")
    yield FactTable(head if facts.job is None else (*head, "not published"), tuple(rows))
    status = [finding.status for finding in facts.identifiers]
    yield Paragraph(
        f"{status.count(FOUND)} of {len(IDENTIFIERS)} identifiers were found by the form of "
        f"published cells, {status.count(LOOK_AT)} must be looked at, {status.count(NOT_FOUND)} "
        "were not found. Columns were judged by their names and by the form of their cells; an "
        "identifier that has neither is not recognized."
    )
    if facts.job is None:
        yield NotComputed("Which columns of the source were removed.", WITH_ORIGINAL)


def _removed(facts: ReleaseFacts, letter: str) -> str:
    if facts.job is None:
        return ""
    hidden = [n for n, a in facts.job.attributes.items() if not a.role.published]
    return ", ".join(name for name in hidden if named_identifier(name) == letter) or "–"


def code_parts(facts: ReleaseFacts) -> Iterator[PackPart]:
    """Whether the release has a column that recognizes persons."""
    if facts.manifest.keeps_rows and facts.manifest.keeping.numbered:
        yield Paragraph(
            "Rows carry a number of their person. It is random and new in every release, and not "
            "derived from information about the person."
        )
    else:
        yield Paragraph("The release has no column that discreet made to recognize persons.")


# By the names that frameworks use.
PARTS: dict[str, Callable[[ReleaseFacts], Iterator[PackPart]]] = {
    function.__name__.removesuffix("_parts"): function
    for function in (
        attack_parts, code_parts, guarantee_parts, identifier_parts, left_out_parts, open_parts,
        release_parts, risk_parts, technique_parts, threshold_parts, utility_parts, variable_parts,
    )
}  # fmt: skip

"""The report of a release, for the person who must sign for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from discreet.releases.audit.audit import Audit
from discreet.releases.explanation import (
    collapsed,
    explain_privately,
    people_of_rows,
    published,
    readers,
    treatment,
    uncovered,
    warnings,
)
from discreet.releases.group_summary import Picture
from discreet.releases.manifest import Manifest, Promise
from discreet.releases.weaknesses import known_weaknesses
from discreet.releases.wording import of_unit
from discreet.report.charts.chart import Chart
from discreet.report.charts.result_charts import loss_charts, share_chart, size_charts
from discreet.report.pages.measure_page import figure_table
from discreet.report.pages.provenance import origin
from discreet.report.pieces import (
    Card,
    Html,
    Page,
    Section,
    Tone,
    badge,
    explained,
    figures,
    inline,
    joined,
    paragraph,
    sentences,
    subheading,
    table,
)
from discreet.table.roles import Unit

if TYPE_CHECKING:
    from discreet.attacks.run import AttackReport
    from discreet.job.model import Job


def release_page(manifest: Manifest, picture: Picture) -> Page:
    """Return the page that is published: a function of the manifest and the published tables."""
    heading, tone = _headline(manifest)
    return Page(
        kind="Release report",
        subject=f"by {manifest.method.name}",
        heading=heading,
        tone=tone,
        lede=(
            *warnings(manifest.promises),
            *uncovered(manifest),
            published(manifest),
            "The figures below were derived from the published files before the release appeared, "
            "and can be derived again from the files.",
        ),
        cards=list(_cards(manifest, picture)),
        sections=[
            Section(
                "In plain words",
                sentences([*collapsed(manifest), *treatment(manifest)]),
                "In plain words",
            ),
            Section(
                "What is guaranteed", promise_table(manifest.promises, manifest.unit), "Guarantees"
            ),
            Section("What attackers can learn", _learnt(manifest, picture), "Attackers"),
            Section("Figures of the files", _figure_table(manifest), "Figures"),
            Section("What is in the folder", _tables(manifest)),
            *origin(manifest, None),
        ],
    )


def private_page(
    manifest: Manifest,
    job: Job,
    picture: Picture,
    private: Mapping[str, Any],
    attacks: AttackReport | None = None,
) -> Page:
    """Return the page for the person who signs: also what the release must not hold."""
    heading, tone = _headline(manifest)
    utility = private.get("utility", {})
    hidden = [name for name, one in job.attributes.items() if not one.role.published]
    said = [f"Never published: {', '.join(hidden)}."] if hidden else []
    said += [*collapsed(manifest), *treatment(manifest), *explain_privately(manifest, private)[1:]]
    sections = [
        Section("In plain words", sentences(said), "In plain words"),
        Section(
            "What is guaranteed", promise_table(manifest.promises, manifest.unit), " Guarantees"
        ),
        Section("What attackers can learn", _learnt(manifest, picture, attacks), "Attackers"),
        Section(
            "Information loss",
            figures(loss_charts(utility), beside=figure_table(utility)),
            "Loss",
        ),
        Section("What the method did", _method_facts(private.get("method", {}))),
        Section("What is in the folder", _tables(manifest)),
        *origin(manifest, job),
    ]
    return Page(
        kind="Private report",
        subject=f"by {manifest.method.name}",
        heading=heading,
        tone=tone,
        lede=(
            *warnings(manifest.promises),
            *uncovered(manifest),
            "PRIVATE: for the publisher only. Figures of this page were computed with the original "
            "and would let an attacker narrow down values. Do not publish it.",
            published(manifest, people_of_rows(manifest, private)),
        ),
        cards=list(_private_cards(manifest, picture, attacks, utility)),
        sections=[section for section in sections if section.body],
        to_sign=True,
    )


def _headline(manifest: Manifest) -> tuple[str, Tone]:
    """Return the verdict; a warning where no guarantee covers a sensitive attribute."""
    heading, tone = verdict(manifest.promises)
    return heading, "warn" if tone == "good" and uncovered(manifest) else tone


def _figure_table(manifest: Manifest) -> Html:
    return figure_table(manifest.utility.model_dump(exclude_none=True))


def _method_facts(facts: Mapping[str, Any]) -> Html:
    if not facts:
        return Html("")
    return table(("", ""), [(name.replace("_", " "), inline(fact)) for name, fact in facts.items()])


def audit_page(audit: Audit) -> Page:
    """Return what an audit found."""
    heading, tone = verdict(audit.promises)
    if audit.problems:
        heading, tone = "The files contradict the release", "bad"
    compared = (
        "The release was also compared with the original: no row may be lost or invented."
        if audit.compared
        else "The original was not given, so the audit did not check whether rows were invented."
    )
    parts = [promise_table(audit.promises, audit.unit)]
    if audit.problems:
        parts = [subheading("Problems"), sentences(audit.problems), *parts]
    sections = [Section("Guarantees", joined(parts), "Guarantees")]
    drawn = figures([*size_charts(audit.picture), share_chart(audit.picture)])
    if drawn:
        sections.append(Section("What the files show", drawn, "Groups"))
    return Page(
        kind="Audit",
        subject="from the published files",
        heading=heading,
        tone=tone,
        lede=(*warnings(audit.promises), compared),
        cards=[_kept(audit.promises)],
        sections=sections,
    )


def release_charts(picture: Picture, utility: Mapping[str, Any]) -> list[Chart]:
    """The plots of a release's private report."""
    found = [*size_charts(picture), share_chart(picture), *loss_charts(utility)]
    return [chart for chart in found if chart is not None]


def verdict(promises: Sequence[Promise]) -> tuple[str, Tone]:
    """Return the headline about some guarantees."""
    if not promises:
        return "Nothing is guaranteed", "warn"
    broken = [one for one in promises if not one.holds and one.unproved is None]
    unproved = [one for one in promises if one.unproved is not None]
    if broken:
        return f"{len(broken)} of {len(promises)} guarantees do not hold", "bad"
    if unproved:
        return f"{len(unproved)} of {len(promises)} guarantees could not be checked", "warn"
    vacuous = [one for one in promises if one.vacuous_for is not None]
    if vacuous:
        return f"{len(vacuous)} of {len(promises)} guarantees exclude nothing", "warn"
    words = {1: "The guarantee holds", 2: "Both guarantees hold"}
    return words.get(len(promises), f"All {len(promises)} guarantees hold"), "good"


def promise_table(promises: Sequence[Promise], unit: Unit) -> Html:
    """Return guarantees in words, with what was required and achieved."""
    if not promises:
        return paragraph("The job states no requirement, so nothing is guaranteed.")
    return table(
        ("guarantee", "required", "achieved", "verdict"),
        [
            (
                explained(promise.requirement, of_unit(promise.to_requirement().sentence(), unit)),
                inline(_asked(promise.parameters)),
                _achieved(promise),
                _badge(promise),
            )
            for promise in promises
        ],
        short=(1, 2),
    )


def _asked(parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in parameters.items() if name != "attribute"}


def _achieved(promise: Promise) -> str:
    if promise.unproved is not None:
        return promise.unproved
    return inline(promise.achieved) or "not stated"


def _badge(promise: Promise) -> Html:
    if promise.unproved is not None:
        return badge("not checked", "warn")
    if promise.holds and promise.vacuous_for is not None:
        return badge("excludes nothing", "warn")
    return badge("holds", "good") if promise.holds else badge("does not hold", "bad")


def _kept(promises: Sequence[Promise]) -> Card:
    kept = sum(promise.holds for promise in promises)
    _, tone = verdict(promises)
    return Card("promises-kept", "guarantees kept", kept, f"{kept} of {len(promises)}", tone=tone)


def _cards(manifest: Manifest, picture: Picture) -> Iterator[Card]:
    yield _kept(manifest.promises)
    gone = manifest.suppressed_rows
    share = manifest.published_rows / max(manifest.source_rows, 1)
    left_out = "no row suppressed" if not gone else f"{gone:,} left out"
    yield Card(
        "published-rows", "rows published", manifest.published_rows,
        f"{manifest.published_rows:,}", f"{share:.1%} of the source; {left_out}",
    )  # fmt: skip
    bands = [band for found in picture.sizes.values() for band in found]
    groups = sum(band.groups for band in bands)
    if groups:
        name = "groups of rows that look alike" if picture.alike else "groups of rows"
        mean = f"{sum(band.people for band in bands) / groups:,.1f} rows each on average"
        yield Card("groups", name, groups, f"{groups:,}", mean)
    beliefs = picture.beliefs
    if beliefs:
        name = max(beliefs, key=lambda one: beliefs[one].greatest)
        said = "greatest belief of an attacker who knows the groups"
        if manifest.keeps_rows:  # the files show rows, and the guarantees count persons
            said = "greatest share of a value among the rows of a group"
        yield Card(
            "greatest-share", said,
            beliefs[name].greatest, f"{beliefs[name].greatest:.1%}", f"in a value of '{name}'",
        )  # fmt: skip


def _private_cards(
    manifest: Manifest,
    picture: Picture,
    attacks: AttackReport | None,
    utility: Mapping[str, Any],
) -> Iterator[Card]:
    yield from _cards(manifest, picture)
    if attacks is not None and attacks.strongest is not None:
        worst = attacks.strongest
        tone: Tone = "good" if attacks.ok else "bad"
        yield Card(
            "strongest-reader", "strongest attacker that was tried", worst.greatest,
            f"{worst.greatest:.1%}", f"{worst.attack} on '{worst.aim}'", tone,
        )  # fmt: skip
    loss = utility.get("loss")
    if loss is not None:
        yield Card(
            "loss", "information loss of quasi-identifiers", loss, f"{loss:.1%}",
            "0 % = exact values, 100 % = suppressed",
        )  # fmt: skip


def _learnt(manifest: Manifest, picture: Picture, attacks: AttackReport | None = None) -> Html:
    parts: list[str] = []
    if picture.beliefs:
        parts.append(
            paragraph(
                "The simplest attacker knows the quasi-identifiers of every row in the table, "
                "finds the target's group, and believes each value with its share in the group."
            )
        )
    parts.append(figures([share_chart(picture), *size_charts(picture)]))
    said = readers(manifest)
    if said:
        parts += [subheading("Attackers with the sensitive table, or with several releases"),
                  sentences(said)]  # fmt: skip
    if attacks is not None:
        from discreet.report.pages.attack_page import attack_details, worst_attackers

        parts += [subheading("Attacks before publication"), paragraph(attacks.summary)]
        parts += [worst_attackers(attacks), attack_details(attacks)]
    parts += [
        subheading("What is not covered"),
        sentences(known_weaknesses(manifest)),
        paragraph(
            Html(
                "The word in brackets is the attack that measures it. To run the attacks: "
                "<code>discreet attack RELEASE --original JOB --page attacks.html</code>."
            )
        ),
    ]
    return joined(parts)


def _tables(manifest: Manifest) -> Html:
    rows = []
    for entry in manifest.tables.values():
        by_role: dict[str, list[str]] = {}
        for name, role in entry.columns.items():
            by_role.setdefault(str(role), []).append(name)
        columns = "; ".join(f"{role}: {', '.join(names)}" for role, names in by_role.items())
        rows.append((entry.file, f"{entry.rows:,}", columns))
    return joined(
        [
            table(("file", "rows", "columns by role"), rows, {1}),
            paragraph(
                Html("<code>manifest.json</code> contains the same information for programs.")
            ),
        ]
    )

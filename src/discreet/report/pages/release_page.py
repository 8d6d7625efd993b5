"""The report of a release, for the person who must sign for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from discreet.releases.audit.audit import Audit
from discreet.releases.explanation import (
    collapsed,
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
    exact,
    explained,
    figures,
    inline,
    joined,
    paragraph,
    phrase,
    sentences,
    subheading,
    table,
    with_numbers,
)
from discreet.table.roles import Unit

if TYPE_CHECKING:
    pass


def release_page(manifest: Manifest, picture: Picture) -> Page:
    """Return the page that is published: a function of the manifest and the published tables."""
    heading, tone = _headline(manifest, picture)
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
            Section("What is in the folder", tables_of(manifest)),
            *origin(manifest, None),
        ],
    )


def _headline(manifest: Manifest, picture: Picture) -> tuple[str, Tone]:
    """Return the verdict about guarantees; where all hold, what the files show of the risk."""
    heading, tone = verdict(manifest.promises)
    certain = max((one.certain for one in manifest.readers), default=0)
    if tone != "good":
        return heading, tone
    if certain:
        return f"{heading}; up to {certain:,} values are certain to an attacker", "warn"
    beliefs = picture.beliefs
    if beliefs:
        name = max(beliefs, key=lambda one: beliefs[one].greatest)
        most = beliefs[name].greatest
        if most >= 1 - 1e-9:
            return f"{heading}; some values of '{name}' are certain within a group", "warn"
        heading = f"{heading}; by its group, a value is believed at most {most:.0%}"
        tone = "good" if most <= 0.5 else "warn"
    return heading, "warn" if uncovered(manifest) else tone


def _figure_table(manifest: Manifest) -> Html:
    return figure_table(manifest.utility.model_dump(exclude_none=True))


def method_facts(facts: Mapping[str, Any]) -> Html:
    if not facts:
        return Html("")
    rows = [
        (exact(name.replace("_", " ")), with_numbers(inline(fact))) for name, fact in facts.items()
    ]
    return table(("", ""), rows)


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
                explained(
                    exact(promise.requirement), of_unit(promise.to_requirement().stated(), unit)
                ),
                with_numbers(inline(_asked(promise.parameters))),
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
    return with_numbers(inline(promise.achieved)) if promise.achieved else "not stated"


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
        value = "sensitive value" if name in manifest.disclosable else "value"
        said = "greatest belief of an attacker who knows the groups"
        if manifest.keeps_rows:  # the files show rows, and the guarantees count persons
            said = "greatest share of a value among the rows of a group"
        yield Card(
            "greatest-share", said,
            beliefs[name].greatest, f"{beliefs[name].greatest:.1%}", f"in a {value} of '{name}'",
        )  # fmt: skip


def _learnt(manifest: Manifest, picture: Picture) -> Html:
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
    parts += [
        subheading("What is not covered"),
        sentences(known_weaknesses(manifest)),
        paragraph(
            phrase(
                "The word in brackets is the attack that measures it. To run the attacks: {q1}.",
                q1=Html("<code>discreet attack RELEASE --original JOB --page attacks.html</code>"),
            )
        ),
    ]
    return joined(parts)


def tables_of(manifest: Manifest) -> Html:
    rows = []
    for entry in manifest.tables.values():
        by_role: dict[str, list[str]] = {}
        for name, role in entry.columns.items():
            by_role.setdefault(str(role), []).append(name)
        columns = [joined([role, ": ", exact(", ".join(names))]) for role, names in by_role.items()]
        rows.append((exact(entry.file), f"{entry.rows:,}", Html("; ".join(columns))))
    return joined(
        [
            table(("file", "rows", "columns by role"), rows, {1}),
            paragraph(
                phrase(
                    "{q1} contains the same information for programs.",
                    q1=Html("<code>manifest.json</code>"),
                )
            ),
        ]
    )

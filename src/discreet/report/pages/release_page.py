"""The published report of a release, and the pages of audits; where a release comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from discreet.releases.audit.audit import Audit
from discreet.releases.audit.figures import Picture
from discreet.releases.explanation import (
    collapsed,
    known_weaknesses,
    published,
    readers,
    singled_out,
    treatment,
    uncovered,
    warnings,
)
from discreet.releases.manifest import FILE_NAME, Manifest, Promise, SinglingOut
from discreet.releases.singling_out import singling_sentences, units_of
from discreet.report.charts.result_charts import picture_charts, series_chart
from discreet.report.pieces import (
    Card,
    Page,
    Section,
    Tone,
    badge,
    code,
    exact,
    explained,
    facts_table,
    figure_table,
    figures,
    figures_line,
    inline,
    joined,
    label,
    labels,
    paragraph,
    phrase,
    sentences,
    subheading,
    table,
    tag,
)
from discreet.requirements.judge import stated
from discreet.statements import Statement
from discreet.table.roles import Role, Unit

if TYPE_CHECKING:
    from discreet.job.model import Job


def release_page(manifest: Manifest, picture: Picture) -> Page:
    """Return the page that is published: a function of the manifest and the published tables."""
    heading, tone = _headline(manifest, picture)
    return Page(
        kind=label("release-report"),
        subject=label("by-method", method=manifest.method.name),
        heading=heading,
        tone=tone,
        lede=(
            *warnings(manifest.promises),
            *uncovered(manifest),
            *singled_out(manifest)[:1],
            published(manifest),
            label("derived-figures"),
        ),
        cards=list(_cards(manifest, picture)),
        sections=[
            Section(
                label("in-plain-words"),
                sentences([*collapsed(manifest), *treatment(manifest)]),
                label("in-plain-words"),
            ),
            *unchanged_columns(manifest.singling_out),
            Section(
                label("what-is-guaranteed"),
                promise_table(manifest.promises, manifest.unit),
                label("guarantees"),
            ),
            Section(
                label("what-attackers-can-learn"), _learnt(manifest, picture), label("attackers")
            ),
            Section(
                label("figures-of-the-files"),
                figure_table(manifest.utility.model_dump(exclude_none=True)),
                label("figures"),
            ),
            Section(label("what-is-in-the-folder"), tables_of(manifest)),
            *origin(manifest, None),
        ],
    )


def _headline(manifest: Manifest, picture: Picture) -> tuple[Statement, Tone]:
    """Return the verdict about guarantees; where all hold, what the files show of the risk."""
    heading, tone = verdict(manifest.promises)
    if tone != "good":
        return heading, tone
    certain = max((finding.certain for finding in manifest.readers), default=0)
    if certain:
        return Statement("headline.certain-values", first=heading, values=certain), "warn"
    beliefs = picture.beliefs
    if beliefs:
        name = max(beliefs, key=lambda attribute: beliefs[attribute].greatest)
        most = beliefs[name].greatest
        if most >= 1 - 1e-9:
            return Statement("headline.certain-in-group", first=heading, attribute=name), "warn"
        heading = Statement("headline.greatest-belief", first=heading, belief=most)
        tone = "good" if most <= 0.5 else "warn"
    unique = manifest.singling_out
    linked = unique is not None and unique.singled_out("2") > 0
    return heading, "warn" if uncovered(manifest) or linked else tone


def unchanged_columns(unique: SinglingOut | None) -> Iterator[Section]:
    """Yield the section about how unique published columns make persons."""
    if unique is not None:
        title = Statement("singling.title")
        yield Section(title, sentences(singling_sentences(unique)), title)


def audit_page(audit: Audit) -> Page:
    """Return what an audit found."""
    heading, tone = verdict(audit.promises)
    if audit.problems:
        heading, tone = Statement("headline.contradiction"), "bad"
    parts = [promise_table(audit.promises, audit.unit)]
    if audit.problems:
        parts = [subheading(label("problems")), sentences(audit.problems), *parts]
    sections = [Section(label("guarantees"), joined(parts), label("guarantees"))]
    drawn = figures(picture_charts(audit.picture))
    if drawn:
        sections.append(Section(label("what-the-files-show"), drawn, label("groups")))
    return Page(
        kind=label("audit"),
        subject=label("from-the-published-files"),
        heading=heading,
        tone=tone,
        lede=(
            *warnings(audit.promises),
            label("compared" if audit.compared else "not-compared"),
        ),
        cards=[_guarantee_card(audit.promises)],
        sections=sections,
    )


def verdict(promises: Sequence[Promise]) -> tuple[Statement, Tone]:
    """Return the headline about some guarantees."""
    total = len(promises)
    if not promises:
        return Statement("headline.nothing"), "warn"
    broken = sum(not promise.holds and promise.unproved is None for promise in promises)
    if broken:
        return Statement("headline.broken", count=broken, total=total), "bad"
    unproved = sum(promise.unproved is not None for promise in promises)
    if unproved:
        return Statement("headline.not-checked", count=unproved, total=total), "warn"
    vacuous = sum(promise.vacuous_for is not None for promise in promises)
    if vacuous:
        return Statement("headline.vacuous", count=vacuous, total=total), "warn"
    if total > 2:
        return Statement("headline.all-hold", count=total), "good"
    return Statement("headline.one-holds" if total == 1 else "headline.both-hold"), "good"


def promise_table(promises: Sequence[Promise], unit: Unit) -> Markup:
    """Return guarantees in words, with what was required and achieved."""
    if not promises:
        return paragraph(label("no-requirement"))
    return table(
        labels("guarantee", "required", "achieved", "verdict"),
        [
            (
                explained(exact(promise.requirement), stated(promise.to_requirement(), unit)),
                figures_line(inline(_asked(promise.parameters))),
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
    return figures_line(inline(promise.achieved)) if promise.achieved else label("not-stated")


def _badge(promise: Promise) -> Markup:
    if promise.unproved is not None:
        return badge(label("not-checked"), "warn")
    if promise.holds and promise.vacuous_for is not None:
        return badge(label("excludes-nothing"), "warn")
    if promise.holds:
        return badge(label("holds"), "good")
    return badge(label("does-not-hold"), "bad")


def _guarantee_card(promises: Sequence[Promise]) -> Card:
    holding = sum(promise.holds for promise in promises)
    _, tone = verdict(promises)
    shown = label("of", count=holding, total=len(promises))
    return Card("promises-kept", label("guarantees-kept"), holding, shown, tone=tone)


def _cards(manifest: Manifest, picture: Picture) -> Iterator[Card]:
    yield _guarantee_card(manifest.promises)
    gone = manifest.lost_rows
    share = manifest.published_rows / max(manifest.all_rows, 1)
    note = label("of-source", share=share)
    if gone:
        note = label("of-source.suppressed", share=share, suppressed=gone)
    rows = manifest.published_rows
    yield Card("published-rows", label("rows-published"), rows, f"{rows:,}", note)
    bands = [band for bands_of_table in picture.sizes.values() for band in bands_of_table]
    groups = sum(band.groups for band in bands)
    if groups:
        name = label("groups-of-rows-that-look-alike" if picture.alike else "groups-of-rows")
        mean = label("mean-rows", rows=sum(band.people for band in bands) / groups)
        yield Card("groups", name, groups, f"{groups:,}", mean)
    unique = manifest.singling_out
    if unique is not None and unique.unchanged:
        share = unique.share("2")
        yield Card(
            "singled-out", Statement("singling.card", units=units_of(unique)), share,
            f"{share:.1%}", Statement("singling.card-note", share=unique.share("0")),
            "good" if unique.singled_out("2") == 0 else "warn",
        )  # fmt: skip
    beliefs = picture.beliefs
    if beliefs:
        attribute = max(beliefs, key=lambda name: beliefs[name].greatest)
        value = "in-sensitive-value" if attribute in manifest.disclosable else "in-value"
        # the files show rows, and the guarantees may count persons
        name = label("greatest-share" if manifest.keeps_rows else "greatest-belief-by-group")
        most = beliefs[attribute].greatest
        note = label(value, attribute=attribute)
        yield Card("greatest-share", name, most, f"{most:.1%}", note)


def _learnt(manifest: Manifest, picture: Picture) -> Markup:
    parts: list[str] = []
    if picture.beliefs:
        parts.append(paragraph(label("simplest-attacker")))
    parts.append(figures(picture_charts(picture)))
    learned = readers(manifest)
    if learned:
        parts += [subheading(label("stronger-readers")), sentences(learned)]
    command = tag("code", exact("discreet attack RELEASE --original JOB --page attacks.html"))
    parts += [
        subheading(label("what-is-not-covered")),
        sentences(known_weaknesses(manifest)),
        paragraph(phrase("word-in-brackets", command=command)),
    ]
    return joined(parts)


def tables_of(manifest: Manifest) -> Markup:
    rows = []
    for entry in manifest.tables.values():
        by_role: dict[str, list[str]] = {}
        for name, role in entry.columns.items():
            by_role.setdefault(str(role), []).append(name)
        columns = [
            joined([Statement(f"role.{role}"), ": ", exact(", ".join(names))])
            for role, names in by_role.items()
        ]
        rows.append((exact(entry.file), f"{entry.rows:,}", Markup("; ").join(columns)))
    manifest_file = tag("code", exact(FILE_NAME))
    return joined(
        [
            table(labels("file", "rows", "columns-by-role"), rows, {1}),
            paragraph(phrase("for-programs", file=manifest_file)),
        ]
    )


HELD_BACK = "(not shown)"
VALUES = ("sensitive_values", "non_sensitive_values", "hierarchy")


def origin(manifest: Manifest | None, job: Job | None, *, hashes: bool = True) -> Iterator[Section]:
    """Yield the job that made a release and how to audit it, as far as they are given."""
    if job is not None:
        yield Section(label("job"), code(publishable_job(job)))
    if manifest is not None:
        facts = manifest.method.model_dump(mode="json", exclude_none=True)
        yield Section(label("method"), facts_table(facts.items()))
        yield Section(label("how-to-audit-the-release"), _checking(manifest, hashes))


def _checking(manifest: Manifest, with_hashes: bool) -> Markup:
    hashes = [
        (exact(entry.file), tag("code", exact(entry.sha256)))
        for entry in manifest.tables.values()
        if entry.sha256 and with_hashes
    ]
    parts = [
        paragraph(label("audit-derives")),
        code("discreet audit RELEASE\ndiscreet audit RELEASE --original JOB"),
    ]
    if hashes:
        parts += [paragraph(label("covered-files")), table(labels("file", "sha256"), hashes)]
    return joined(parts)


def publishable_job(job: Job) -> str:
    """Return the job as YAML, as a report may show it.

    Left out: where the table comes from and goes to, folders of files, and every value of a
    sensitive attribute that a job may name (which are sensitive, how they generalize), since it may
    occur in rows that were suppressed. Requirements may name such values too; the report has the
    guarantees instead.
    """
    import yaml  # which an audit does without

    data = job.model_dump(
        mode="json",
        exclude_none=True,
        exclude_defaults=True,
        exclude={"source", "output", "verify", "ledger", "measure", "requirements", "method"},
    )
    data["method"] = {job.method.name: job.method.parameters()}
    for name, attribute in data["attributes"].items():
        if job.attributes[name].role in (Role.SENSITIVE, Role.IDENTIFIER, Role.DROP):
            attribute.update({key: HELD_BACK for key in VALUES if key in attribute})
    return str(
        yaml.safe_dump(
            _without_folders(data), allow_unicode=True, sort_keys=False, default_flow_style=None
        )
    )


def _without_folders(data: Any) -> Any:
    if isinstance(data, dict):
        return {
            key: Path(value).name
            if key in ("path", "correlation", "hierarchy") and isinstance(value, str)
            else _without_folders(value)
            for key, value in data.items()
        }
    return [_without_folders(value) for value in data] if isinstance(data, list) else data


def series_page(
    findings: Sequence[str],
    releases: int,
    beliefs: Sequence[float],
    bound: float | None,
    heading: str,
    *,
    ok: bool,
    covered: bool,
) -> Page:
    """Return what was found in sentences, and where it is known the greatest belief by release."""
    sections = [Section(label("what-was-found"), sentences(findings), label("findings"))]
    if beliefs:
        drawn = figures([series_chart({label("all-releases"): beliefs}, bound)])
        sections.insert(0, Section(label("beliefs-over-the-series"), drawn, label("beliefs")))
    return Page(
        kind=label("audit-of-a-series"),
        subject=label("from-the-published-files"),
        heading=heading,
        tone="good" if ok and covered else "warn" if ok else "bad",
        lede=(label("all-releases-together"),),
        cards=[Card("releases", label("releases"), releases, f"{releases}")],
        sections=sections,
    )

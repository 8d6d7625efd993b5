"""A profile as tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from io import StringIO

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from discreet.job.table_profile import LinkProfile, Profile, SubsetRisk
from discreet.statements import Statement
from discreet.table.persons import PersonCounts

SHOWN_SUBSETS = 3  # of each size, the riskiest
SHOWN_PAIRS = 20  # of sensitive attributes; bits make thousands


def view_profile(profile: Profile) -> Group:
    """Render a profile with rich."""
    return Group(*_parts(profile))


def profile_text(profile: Profile) -> str:
    """Return a profile as plain text, in lines of any length."""
    written = StringIO()
    Console(file=written, width=200).print(view_profile(profile))
    return "\n".join(line.rstrip() for line in written.getvalue().splitlines())


def _parts(profile: Profile) -> Iterator[RenderableType]:
    yield _columns(profile)
    if profile.persons is not None:
        yield Text(f"{persons_sentence(profile, profile.persons)}\n")
    for warning in profile.warnings:
        yield Text(f"{warning}\n", style="yellow")
    if profile.proposals is not None:
        yield Text(f"{Statement('profile.proposed-roles')}\n")
    if profile.risk is not None:
        yield _risk_sentence(profile, profile.risk)
        yield _subsets(profile)
    if profile.population is not None:
        yield Text("\n".join(profile.population.sentences()) + "\n")
    if profile.sensitive:
        yield _sensitive(profile)
        yield Text(
            "l_per is the largest ℓ for which every belief can be kept at 1/ℓ; t is that of the "
            f"worst raw class. Suggested primary attribute: {profile.primary}.\n"
        )
        yield _suppression(profile)
    if profile.associations:
        yield _associations(profile)
    for secret in profile.secrets:
        yield Text(f"{secret.sentence} {Statement('secret.advice', columns=secret.columns)}\n")
    for links in profile.links:
        yield from _links(links, profile.rows)


def persons_sentence(profile: Profile, persons: PersonCounts) -> Statement:
    """Return how many rows persons have, and how many persons are unique."""
    counted = Statement(
        "profile.persons",
        rows=persons.rows,
        persons=persons.persons,
        by_rows=[
            Statement("profile.persons-by-rows", rows=rows, persons=count)
            for rows, count in persons.persons_by_rows.items()
        ],
    )
    if profile.unique_persons is None:
        return counted
    return Statement("profile.unique-persons", first=counted, share=profile.unique_persons)


def _columns(profile: Profile) -> Table:
    table = _table(f"{profile.rows:,} rows", "column", "role", "type", ">distinct", ">missing")
    if profile.proposals is not None:
        table.add_column("because")
    for column in profile.columns:
        cells = [column.name, column.role, column.type]
        cells += [f"{column.distinct:,}", f"{column.missing:,}"]
        if profile.proposals is not None:
            cells.append(profile.proposals[column.name].reason)
        table.add_row(*(Text(cell) for cell in cells))
    return table


def _risk_sentence(profile: Profile, risk: SubsetRisk) -> Text:
    return Text(
        f"An attacker who knows all {len(profile.quasi_identifiers)} quasi-identifiers "
        f"distinguishes {risk.classes:,} classes: average re-identification risk "
        f"{risk.average_risk:.4f}, "
        f"{risk.unique_share:.1%} of the rows unique.\n"
    )


def _subsets(profile: Profile) -> Table:
    sizes = profile.subset_sizes
    whole = len(profile.quasi_identifiers)
    covered = "all" if whole in sizes else f"of up to {sizes[-1]} columns, and the whole"
    table = _table(
        f"Riskiest sets of quasi-identifiers ({covered})",
        "quasi-identifiers",
        ">classes",
        ">alone",
        ">average risk",
    )
    shown: dict[int, int] = {}
    for risk in profile.subsets:
        size = len(risk.columns)
        shown[size] = shown.get(size, 0) + 1
        if shown[size] <= SHOWN_SUBSETS:
            names = Text(", ".join(risk.columns))
            figures = f"{risk.unique_share:.1%}", f"{risk.average_risk:.4f}"
            table.add_row(names, f"{risk.classes:,}", *figures)
    return table


def _sensitive(profile: Profile) -> Table:
    table = _table(
        "Sensitive attributes: the strongest feasible guarantees",
        "attribute",
        ">distinct ℓ",
        ">entropy ℓ",
        ">l_per",
        ">largest share",
        ">t",
    )
    for attribute in profile.sensitive:
        raw_t = "–" if attribute.raw_t is None else f"{attribute.raw_t:.3f}"
        figures = (
            f"{attribute.entropy_l:.2f}",
            f"{attribute.l_per}",
            f"{attribute.largest_share:.1%}",
            raw_t,
        )
        table.add_row(Text(attribute.name), f"{attribute.values:,}", *figures)
    return table


def _suppression(profile: Profile) -> Table:
    ells = [f">ℓ = {ell}" for ell in profile.least_suppressed]
    table = _table("Least share of rows that p-diversity must suppress", "attribute", *ells)

    def add(name: str, share_of_ell: Mapping[int, float]) -> None:
        table.add_row(Text(name), *(f"{share:.1%}" for share in share_of_ell.values()))

    for attribute in profile.sensitive:
        add(attribute.name, attribute.least_suppressed)
    if len(profile.sensitive) > 1:
        add("all at once", profile.least_suppressed)
    return table


def _associations(profile: Profile) -> Table:
    strongest = sorted(profile.associations, key=lambda pair: -pair.mutual_information)
    shown = strongest[:SHOWN_PAIRS]
    of_all = (
        f" (the strongest {len(shown)} pairs of {len(strongest)})"
        if strongest[len(shown) :]
        else ""
    )
    table = _table(
        f"Mutual information between sensitive attributes{of_all}",
        "attributes",
        ">nats",
        ">of the smaller entropy",
    )
    for pair in shown:
        figures = f"{pair.mutual_information:.4f}", f"{pair.normalized:.1%}"
        table.add_row(Text(f"{pair.first}, {pair.second}"), *figures)
    return table


def _links(links: LinkProfile, rows: int) -> Iterator[RenderableType]:
    share = links.single_rows / rows if rows else 0.0
    known = (
        "" if links.mean_labels is None else f" A linked row fits {links.mean_labels:.1f} labels"
    )
    yield Text(
        f"Looked up in a knowledge table of {links.labels:,} labels and {links.terms:,} terms, "
        f"'{links.name}' links {links.single_rows:,} rows ({share:.1%}) to exactly one label, "
        f"{links.unlinked_rows:,} to none and {links.open_rows:,} (without terms) to all."
        f"{known}"
    )
    notes = [
        (links.unknown_terms, f"terms, in {links.unknown_rows:,} rows, are in no label"),
        (len(links.labels_without_terms), "labels have no term"),
        (len(links.doubled_labels), "labels are on several lines, which were joined"),
    ]
    for count, note in notes:
        if count:
            yield Text(f"{count:,} {note}.")
    if links.exposed:
        table = _table(
            f"Labels that most rows of '{links.name}' link to alone", "label", ">rows", ">share"
        )
        for label, count in links.exposed:
            table.add_row(Text(label), f"{count:,}", f"{count / rows:.1%}")
        yield table


def _table(title: str, *headings: str) -> Table:
    """An empty table; a heading that begins with ``>`` is of figures, set to the right."""
    table = Table(title=title, title_justify="left")
    for heading in headings:
        right = heading.startswith(">")
        table.add_column(heading.removeprefix(">"), justify="right" if right else "left")
    return table

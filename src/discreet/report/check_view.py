"""A check as lines of a terminal: the verdict, each requirement with its figure, what fails."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from discreet.job.table_check import Check, CheckedRequirement, FailingClasses
from discreet.requirements.closeness import TCloseness
from discreet.table.roles import Unit

SHOWN_SIZES = 5  # of failing classes, the smallest
OF_FIGURE = {  # what a figure without a bound is called
    "k-anonymity": "k", "distinct-l-diversity": "l", "entropy-l-diversity": "l",
    "recursive-cl-diversity": "c for l = 2", "p-diversity": "l", "alpha-k-anonymity": "alpha",
    "t-closeness": "t", "beta-likeness": "beta", "delta-disclosure": "delta",
    "multi-attribute-l-diversity": "l",
}  # fmt: skip


def check_heading(found: Check) -> str:
    """Return the verdict in a few words."""
    count, broken = len(found.requirements), sum(not one.holds for one in found.requirements)
    if not count:
        return "Figures of the table; nothing was required"
    if broken:
        return f"{broken} of {count} requirements fail" if count > 1 else "The requirement fails"
    return f"All {count} requirements hold" if count > 1 else "The requirement holds"


def counted_sentence(found: Check) -> str:
    """Return what was counted."""
    quasi = ", ".join(found.quasi_identifiers)
    persons = found.persons
    unit = "rows" if persons is None else f"rows of {persons.persons:,} persons"
    said = f"{found.rows:,} {unit} in {found.classes:,} classes by {quasi}."
    if persons is not None and persons.unnamed:
        said += f" {persons.unnamed:,} rows have no identifier and count as a person each."
    return said


def failing_sentence(failing: FailingClasses, found: Check) -> str:
    """Return how many classes fail, and their sizes."""
    unit = "rows" if found.unit is Unit.ROW else "persons"
    sizes = list(failing.sizes.items())
    shown = ", ".join(f"{times:,} of size {size:,}" for size, times in sizes[:SHOWN_SIZES])
    more = len(sizes) - SHOWN_SIZES
    rest = f" and {more} larger size{'s' * (more > 1)}" if more > 0 else ""
    return (
        f"Failing classes: {failing.classes:,} of {found.classes:,}, with {failing.members:,} "
        f"{unit}: {shown}{rest}"
    )


def known_column_lines(one: CheckedRequirement, found: Check) -> Iterator[str]:
    """Return the figures by the number of columns that an attacker knows, and which sets fail."""
    known = one.attackers
    assert known is not None
    if len(known.by_length) > 1:
        yield "By the number of known columns: " + "; ".join(
            f"{length}: {figures_text(figures)}" for length, figures in known.by_length.items()
        )
    if known.failing_sets:
        unit = "rows" if found.unit is Unit.ROW else "persons"
        smallest = min(one.failing.sizes)
        yield (
            f"Failing sets of columns: {known.failing_sets:,} of {known.sets:,}, with "
            f"{one.failing.classes:,} groups; the smallest has {smallest:,} {unit} with the same "
            f"cells in {', '.join(known.worst_set)}"
        )


def figures_text(figures: Mapping[str, float]) -> str:
    """Return figures in one line."""
    return ", ".join(f"{name} = {number_text(figure)}" for name, figure in figures.items())


def number_text(figure: float) -> str:
    """Return a figure in at most six digits."""
    return f"{figure:.6g}" if math.isfinite(figure) else "unbounded"


def check_lines(found: Check) -> list[str]:
    """Return what a check found, on one screen."""
    lines = [f"{check_heading(found)}.", counted_sentence(found)]
    if found.requirements:
        lines.append("")
    for one in found.requirements:
        lines += _requirement_lines(one, found)
    if found.figures:
        lines += ["", *figure_lines(found)]
    about = () if found.population is None else found.population.sentences()
    said = [*about, *found.remarks, *distance_lines(found)]
    return [*lines, "", *said] if said else lines


def distance_lines(found: Check) -> Iterator[str]:
    """Return the distances between values, where t-closeness was judged."""
    judged = [one.requirement.name for one in found.requirements]
    if TCloseness.name in (*judged, *found.figures):
        listed = ", ".join(f"{name} {distance}" for name, distance in found.distances.items())
        yield f"Distance between values, for t-closeness: {listed}."


def _requirement_lines(one: CheckedRequirement, found: Check) -> Iterator[str]:
    verdict = "holds" if one.holds else "FAILS"
    achieved = figures_text(one.achieved)
    yield f"  - {verdict}: {found.sentence(one)} [{one.requirement.name}: {achieved}]"
    if len(one.by_attribute) > 1:
        yield f"    By attribute: {figures_text(one.by_attribute)}"
    if one.attackers is not None:
        yield from (f"    {line}" for line in known_column_lines(one, found))
    elif one.failing.classes:
        yield f"    {failing_sentence(one.failing, found)}"
    if one.holds and one.excludes_nothing:
        yield "    It excludes nothing: every partition of these rows keeps it."


def figure_lines(found: Check) -> Iterator[str]:
    """Return the figures of the table by every model, one line each."""
    yield "Figures of the table, the worst class of each:"
    width = max(len(name) for name in found.figures)
    for name, figures in found.figures.items():
        shown = ", ".join(
            f"{number_text(figure)} ({attribute})" if attribute else number_text(figure)
            for attribute, figure in figures.items()
        )
        yield f"  {name:<{width}}  {OF_FIGURE[name]} = {shown}"

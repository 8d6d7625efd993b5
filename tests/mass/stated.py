"""Every number under ``utility`` and ``method`` of a manifest, derived again from the files.

Nothing of discreet is imported here. ``CHOICES`` are numbers that a reader needs and that are no
figures: what the job asked for, and levels that were chosen.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from tests.mass.figures import Rows, equal_distance, ordered_distance

View = tuple[list[Rows], list[str]]  # groups of sensitive rows, and the attributes they have
CHOICES = re.compile(r"method\.(parameters|levels|l|hierarchies|n_people)(\..*)?")


def misstated(
    manifest: Any, tables: dict[str, Rows], views: list[View], ordered: set[str]
) -> Iterator[str]:
    """Numbers of the manifest that the files do not give."""
    found = derived(manifest, tables, views, ordered)
    for place, said in numbers({name: manifest[name] for name in ("utility", "method")}):
        if CHOICES.fullmatch(place):
            continue
        if place not in found:
            yield f"{place} cannot be derived from the files"
        elif not math.isclose(said, found[place], rel_tol=1e-9, abs_tol=1e-9):
            yield f"{place}: {said} is said, {float(found[place])} is found"


def numbers(value: Any, place: str = "") -> Iterator[tuple[str, float]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from numbers(inner, f"{place}.{name}" if place else name)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from numbers(inner, f"{place}.{number}")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield place, value


def derived(
    manifest: Any, tables: dict[str, Rows], views: list[View], ordered: set[str]
) -> dict[str, Any]:
    gone, source = manifest["suppressed_rows"], manifest["source_rows"]
    levels = manifest["method"].get("levels") or {}
    found: dict[str, Any] = {
        "method.groups": len(views[0][0]),
        "method.suppressed_rows": gone,
        "method.held_back": gone,
        "method.counterfeits": sum(int(row["count"]) for row in tables.get("counterfeits", [])),
        "utility.suppressed_share": gone / source,
        "utility.loss": gone / source,  # of exact quasi-identifiers; others state none
    }
    projected = manifest["kind"] == "projected"
    for name, (groups, _) in zip(tables, views, strict=False):
        place = f"utility.tables.{name}" if projected else "utility"
        sizes = [len(group) for group in groups]
        found[f"{place}.discernibility"] = sum(size**2 for size in sizes) + gone * source
        found[f"{place}.classes"] = len(sizes)
        found[f"{place}.class_size"] = source / max(len(sizes), 1)
        found[f"{place}.height"] = sum((levels.get(name, {}) if projected else levels).values())
    found["method.closeness"] = max(
        (
            distance(Counter(row[name] for row in group), whole)
            for groups, names in views
            for name in names
            for whole in [Counter(row[name] for group in groups for row in group)]
            for is_ordered in [name in ordered and "*" not in whole]  # a masked cell has no place
            for distance in [ordered_distance if is_ordered else equal_distance]
            for group in groups
        ),
        default=0,
    )
    for groups, names in views:
        for name in names:
            tallies = [Counter(row[name] for row in group) for group in groups]
            found[f"method.masked_cells.{name}"] = sum(tally["*"] for tally in tallies)
            shares = [
                count / tally.total()
                for tally in tallies
                for value, count in tally.items()
                if value != "*"
            ]
            found[f"method.greatest_share.{name}"] = max(shares, default=0)
        rows = [row for group in groups for row in group]
        for name in rows[0] if rows else ():
            found[f"method.emptied_rows.{name}"] = sum(row[name] == "*" for row in rows)
    return found

"""Measures of structure: they read the sizes of classes and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from discreet.table.classes import Classes


@dataclass(frozen=True)
class Structure:
    """How a release is cut into classes."""

    classes: int
    class_size: float | None  # C_avg: source rows over classes; None where nothing is published
    discernibility: int  # Σ |class|² + suppressed × source rows
    height: int | None  # Σ of the levels of a full-domain recoding; None for any other


def structure(
    classes: Classes, suppressed_rows: int, levels: Mapping[str, int] | None = None
) -> Structure:
    """Measure the classes of the published rows, the suppressed ones counted beside them."""
    source_rows = int(classes.size.sum()) + suppressed_rows
    return Structure(
        classes=classes.count,
        class_size=source_rows / classes.count if classes.count else None,
        discernibility=int((classes.size**2).sum()) + suppressed_rows * source_rows,
        height=None if levels is None else sum(levels.values()),
    )

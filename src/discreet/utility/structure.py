"""Measures of structure: they read the sizes of classes and nothing else."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Structure:
    """How a release is cut into classes."""

    classes: int
    class_size: float | None  # C_avg: source rows over classes; None where nothing is published
    discernibility: int  # Σ |class|² + suppressed × source rows
    height: int | None  # Σ of the levels of a full-domain recoding; None for any other

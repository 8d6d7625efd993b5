"""Text labels that have an order: brackets such as ``[70-80)``, ``65+``, ``<18``, and scales."""

from __future__ import annotations

import re
from collections.abc import Sequence

FEWEST_LABELS = 3

BRACKET = re.compile(
    r"^[\[(]?\s*(?:"
    r"(?P<below><=?|≤|under|below|unter|bis|moins de|menos de)\s*(?P<top>\d+(?:\.\d+)?)"
    r"|(?P<above>>=?|≥|over|above|über|ab|plus de|mas de|mais de)\s*(?P<bottom>\d+(?:\.\d+)?)"
    r"|(?P<low>\d+(?:\.\d+)?)\s*(?:-|–|to|bis|a|à|,)\s*(?P<high>\d+(?:\.\d+)?)"
    r"|(?P<from>\d+(?:\.\d+)?)\s*(?:\+|s|plus|and over|and older|or more|or older|und mehr)"
    r")\s*[\])]?$",
    re.IGNORECASE,
)
_SCALES = (
    ("very low", "low", "medium", "moderate", "high", "very high"),
    ("none", "mild", "moderate", "severe"),
    ("never", "rarely", "seldom", "sometimes", "sporadic", "often", "usually", "always"),
    ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
    ("poor", "fair", "good", "very good", "excellent"),
    ("small", "medium", "large", "very large"),
)


def label_order(labels: Sequence[str]) -> list[str] | None:
    """Return labels in their order; None where they have none that is certain.

    All must be brackets of numbers without two that begin alike, or all of one scale of words.
    """
    if len(labels) < FEWEST_LABELS:
        return None
    for scale in _SCALES:
        place = {word: at for at, word in enumerate(scale)}
        at = [place.get(label.strip().lower(), -1) for label in labels]
        if min(at) >= 0 and len(set(at)) == len(at):
            return [label for _, label in sorted(zip(at, labels, strict=True))]
    brackets = [_ends(label) for label in labels]
    ends = [end for end in brackets if end is not None]
    if len(ends) < len(labels) or len(set(ends)) < len(ends):
        return None
    ordered = sorted(zip(ends, labels, strict=True))
    return [label for _, label in ordered]


def _ends(label: str) -> tuple[float, float] | None:
    """The place of a bracket on the line of numbers."""
    bracket = BRACKET.match(label.strip())
    if bracket is None:
        return None
    if bracket["top"] is not None:
        return float("-inf"), float(bracket["top"])
    if bracket["low"] is not None:
        low, high = float(bracket["low"]), float(bracket["high"])
        return (low, high) if low <= high else None
    return float(bracket["bottom"] or bracket["from"]), float("inf")

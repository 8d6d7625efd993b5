"""Attributes of the kit's sample tables with a quasi-sensitive one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from discreet.testing.sample_tables import ATTRIBUTES


def quasi_sensitive(folder: Path) -> dict[str, Mapping[str, Any]]:
    """The attributes where a diagnosis is quasi-sensitive; its knowledge table is in a folder."""
    path = folder / "knowledge.csv"
    path.write_text("label,term\nflu,asthma\nflu,cold\nill,flu\nill,gout\nill,cold\n")
    knowledge = {"path": str(path), "label": "label", "term": "term"}
    entry = {"role": "quasi-sensitive", "multi_valued": " ", "knowledge": knowledge}
    return {**ATTRIBUTES, "diagnosis": entry}

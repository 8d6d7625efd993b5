"""A release folder for a page: its manifest, guarantees in words, and the record of sign-offs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from discreet.attacks.attackers import StandardAttacker
from discreet.errors import InputError, ReleaseError
from discreet.io.atomic import write_private
from discreet.pipeline.decide import require_reason
from discreet.regular_files import MOST_PRIVATE_BYTES, read_text
from discreet.releases.explanation import explain
from discreet.releases.manifest import FILE_NAME, Manifest, sha256_of
from discreet.report.pieces import label
from discreet.report.risk_verdict import REFUSE
from discreet.requirements.judge import stated
from discreet.statements import Statement, in_language

SIGN_OFFS = "sign_offs"
ACCEPTED_RISK = "accepted_risk"
LONGEST_NOTE = 10_000  # characters
SIGNER = ("name", "function", "purpose", "recipient", "expires", "note")


def summarize_release(folder: Path) -> dict[str, Any]:
    """Return what a release says of itself, as plain data."""
    manifest = Manifest.load(folder)
    return {
        "manifest": json.loads(manifest.to_json()),
        "explanation": explain(manifest),
        "tables": [
            {"name": name, "rows": table.rows, "columns": list(table.columns)}
            for name, table in manifest.tables.items()
        ],
        "promises": [
            {
                **promise.model_dump(mode="json"),
                "text": stated(promise.to_requirement(), manifest.unit),
                "warning": promise.warning,
            }
            for promise in manifest.promises
        ],
    }


def short_guarantees(manifest: Manifest) -> list[str]:
    """Return the guarantees of a release in a few words each, by the name of the requirement."""
    by_name: dict[str, list[str]] = {}
    for promise in manifest.promises:
        asked = promise.to_requirement().parameters()
        numbers = [f"{key} = {value:g}" for key, value in asked.items()
                   if isinstance(value, int | float) and not isinstance(value, bool)]  # fmt: skip
        by_name.setdefault(promise.requirement, []).append(", ".join(numbers))
    return [
        f"{name} × {len(figures)}" if len(figures) > 1 else f"{name} {figures[0]}".rstrip()
        for name, figures in by_name.items()
    ]


def private_facts(folder: Path) -> dict[str, Any]:
    """Return what the private record says: verdict, uniqueness, utility, signatures."""
    place = private_record(folder)
    record = _read(place) if place.is_file() else {}
    return {
        "verdict": record.get("verdict"),
        "singling_out": record.get("singling_out"),
        "utility": record.get("utility", {}),
        "accepted_risk": record.get(ACCEPTED_RISK),
        "signed": record.get(SIGN_OFFS, []),
        "private": place.is_file(),
    }


def private_record(folder: Path) -> Path:
    """Return the place of a release's private record."""
    folder = folder.resolve()
    return folder.with_name(f"{folder.name}.private.json")


def require_accepted(folder: Path) -> None:
    """Refuse a release whose verdict is *Do not publish* while no reason accepts its risk."""
    place = private_record(folder)
    if not place.is_file():
        raise ReleaseError(f"{place}: the private record is missing, so the verdict is unknown.")
    record = _read(place)
    if (record.get("verdict") or {}).get("verdict") == REFUSE and not record.get(ACCEPTED_RISK):
        raise InputError(
            f"The verdict about this release is '{REFUSE}'. Change the job, or give a reason to "
            "accept the risk; it is kept in the private record."
        )


def accept_risk_of(folder: Path, reason: str) -> str:
    """Record in the private record of a release why its risk is accepted."""
    line = require_reason(reason)
    assert line is not None
    place = private_record(folder)
    write_private(place, json.dumps({**_read(place), ACCEPTED_RISK: line}, indent=1) + "\n")
    return line


def declaration_of(verdict: Mapping[str, Any] | None) -> list[Statement]:
    """Return what a signature declares: the verdict, the attackers it is about, and the release."""
    stated = [Statement("declaration.read")]
    if verdict:
        word = label(verdict["verdict"].lower().replace(" ", "-"))
        names = verdict.get("attackers", [])
        considered = [attacker.noun for attacker in StandardAttacker if attacker in names]
        others = [attacker.noun for attacker in StandardAttacker if attacker not in names]
        declared = [name for name in names if name not in set(StandardAttacker)]
        stated.append(Statement("declaration.verdict", verdict=word))
        if considered:
            stated.append(Statement("attackers.about", attackers=considered))
        if declared:
            stated.append(Statement("attackers.declared", names=declared))
        if others:
            stated.append(Statement("declaration.not-considered", attackers=others))
    return [*stated, Statement("declaration.hand-over")]


def sign_off_release(folder: Path, given: Mapping[str, str]) -> dict[str, Any]:
    """Record in the private record of a release who signs its declaration, for which manifest."""
    signer = {key: given.get(key, "").strip() for key in SIGNER}
    if not signer["name"]:
        raise InputError("A sign-off needs the name of the person who signs.")
    if sum(map(len, signer.values())) > LONGEST_NOTE:
        raise InputError(f"The sign-off has more than {LONGEST_NOTE:,} characters. Shorten it.")
    if signer["expires"] and not _is_date(signer["expires"]):
        raise InputError("The day on which a sign-off expires is written as 2027-12-31.")
    place = private_record(folder)
    if not place.is_file():
        raise ReleaseError(
            f"{place}: the private record of the release is missing, so nobody can sign it off "
            "here. Put it beside the release."
        )
    require_accepted(folder)
    record = _read(place)
    signed = {
        **signer,
        "declaration": " ".join(map(in_language, declaration_of(record.get("verdict")))),
        "time": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "manifest_sha256": sha256_of(folder / FILE_NAME),
        "verdict": (record.get("verdict") or {}).get("verdict"),
    }
    record.setdefault(SIGN_OFFS, []).append(signed)
    write_private(place, json.dumps(record, indent=1) + "\n")
    return signed


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _read(place: Path) -> dict[str, Any]:
    try:
        record = json.loads(read_text(place, most=MOST_PRIVATE_BYTES))
    except (OSError, ValueError):
        record = None
    if not isinstance(record, dict):
        raise ReleaseError(f"{place}: not a private record that discreet wrote.")
    return record

"""JSON Schemas of what ``--json`` prints: the result of each command, and an error.

A result lists its keys with their types; a key with ``?`` may be absent. Statements (sentences with
an id and parameters) are objects. Further keys may come in a later version.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from discreet.errors import CODES

DRAFT = "https://json-schema.org/draft/2020-12/schema"
STATEMENT = {
    "type": "object",
    "properties": {
        "id": {"type": "string"}, "parameters": {"type": "object"}, "text": {"type": "string"}
    },
    "required": ["id", "parameters", "text"],
}  # fmt: skip
_RELEASED = (
    "discreet:string format:integer kind:string method:object tables:object attributes:object "
    "source_rows:integer published_rows:integer suppressed_rows:integer guarantees:array"
)
# By command, and what it was given where that decides: key:type|type …
RESULTS = {
    "apply": f"{_RELEASED} together:object",
    "attack": "ok:boolean summary:statement threshold:number persons?:integer rows?:integer "
    "seconds:number|null estimated?:integer findings:array criteria:object inapplicable:object "
    "omitted:object timings:object risks:array singling_out?:object",
    "attack of a series": "ok:boolean attacks:array joint:array|object|null problems:array",
    "attack of a table": "shape:string rows:integer original_rows:integer summary:statement "
    "attackers:array exact:object|null remarks:array",
    "audit of a series": "ok:boolean problems:array releases:array",
    "audit": "ok:boolean unproved:integer guarantees:array problems:array "
    "compared_with_original:boolean singling_out?:object",
    "check": "ok:boolean rows:integer persons:integer|null classes:integer sizes:array "
    "quasi_identifiers:array distances:object requirements:array figures:object remarks:array",
    "compare": "rows:integer ceiling:number points:array untried:array unlinked:object "
    "recommendations:array provenance:object",
    "compare-tables": "tables:array best:object dominated:object",
    "evidence": "path:string",
    "export": "path:string rows:integer table:string",
    "hierarchy show": "column:string hierarchy:string levels:array",
    "init": "job:string person:array|string|object|null persons:integer|null columns:array|object "
    "trial:array|null",
    "keys new": "key:string public_key:string",
    "ledger correlate": "correlation:string people:integer pairs:integer",
    "ledger init": "ledger:string key:string",
    "ledger show": "number:integer method:string published_rows:integer held_back:integer "
    "held_back_people:array",
    "ledger list": "releases:array",
    "ledger verify": "ok:boolean problems:array",
    "measure": "loss:number query_error?:object kl_divergence?:number divergence?:object",
    "measure of a table": "rows:integer original_rows:integer loss:number|null columns:array "
    "associations:object errors:object query_error:object|null",
    "profile": "rows:integer columns:array quasi_identifiers:array risk:object|null "
    "sensitive:array proposals:object|null notices:array",
    "publish": f"{_RELEASED} release:string explanation:array private:object",
    "report": "report:string",
    "repair": "job:string verdict:string|null reasons:array information_loss:number|null "
    "repairs:array tried:integer cut:boolean seconds:number seed:integer",
}


def result_schema() -> dict[str, Any]:
    """Return the schema of the result of any command, with that of each under ``$defs``."""
    known = {name: _schema_of(keys) for name, keys in RESULTS.items()}
    places = [{"$ref": f"#/$defs/{quote(name)}"} for name in known]
    return {"$schema": DRAFT, "anyOf": places, "$defs": known}


def error_schema() -> dict[str, Any]:
    """Return the schema of the object that stands in the place of a result."""
    statuses = sorted(set(CODES.values()))
    pairs = [
        {"properties": {"code": {"const": code}, "exit_status": {"const": status}}}
        for code, status in CODES.items()
    ]
    return {
        "$schema": DRAFT,
        "type": "object",
        "properties": {
            "error": {"type": "string", "description": "What is wrong, and what to do."},
            "code": {"enum": list(CODES)},
            "exit_status": {"enum": statuses},
            "problems": {"type": "array", "description": "All problems of a job."},
            "failures": {"type": "array", "description": "By requirement, what was achieved."},
            "risk": {"type": "object", "description": "The verdict that refuses a release."},
            "private_report": {"type": "string"},
        },
        "required": ["error", "code", "exit_status"],
        "oneOf": pairs,
    }


def _schema_of(keys: str) -> dict[str, Any]:
    """Return the schema of an object from its keys and their types."""
    properties, required = {}, []
    for key in keys.split():
        name, _, types = key.partition(":")
        if not name.endswith("?"):
            required.append(name)
        allowed = [
            STATEMENT if kind == "statement" else {"type": kind} for kind in types.split("|")
        ]
        properties[name.removesuffix("?")] = allowed[0] if len(allowed) == 1 else {"anyOf": allowed}
    return {"type": "object", "properties": properties, "required": required}

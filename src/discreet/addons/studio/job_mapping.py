"""A job as plain data, which a page edits, and as the text of a job file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from discreet.errors import InputError
from discreet.job.yaml_lines import load_yaml

HEAD = "# Made with discreet studio. Publish it: discreet publish job.yaml\n"
LONGEST_LINE = 160
_FIRST = ("source", "attributes", "others", "person", "unit", "requirements", "method")


def read_mapping(text: str, place: str = "job") -> dict[str, Any]:
    """Return the data of a job file, ready for JSON; keys are text as they are written."""
    data, _, doubled = load_yaml(text, place)
    if doubled:
        raise InputError(f"{place}: {'; '.join(doubled)}")
    plain: dict[str, Any] = json.loads(json.dumps(data, default=str))
    return plain


def write_mapping(job: Mapping[str, Any]) -> str:
    """Return a job file: an attribute and a requirement on each line."""
    known = [key for key in _FIRST if key in job]
    lines = []
    for key in [*known, *(key for key in job if key not in known)]:
        value = job[key]
        if value is None:
            continue
        if isinstance(value, Mapping) and value and key == "attributes":
            lines += ["attributes:", *(_entry(name, one) for name, one in value.items())]
        elif isinstance(value, list) and value and key == "requirements":
            lines += ["requirements:", *(f"  - {_flow(one)}" for one in value)]
        else:
            lines.append(f"{_flow(key)}: {_flow(value)}")
    return HEAD + "\n".join(lines) + "\n"


def with_absolute_paths(job: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return a job whose files are found from any folder; its output stays as it is."""
    placed: dict[str, Any] = json.loads(json.dumps(job))

    def place(mapping: Any, key: str) -> None:
        if isinstance(mapping, dict) and isinstance(mapping.get(key), str):
            mapping[key] = str((folder / mapping[key]).resolve())

    place(placed, "population")
    for part in ("source", "verify"):
        place(placed.get(part), "path" if part == "source" else "population")
    for key in ("path", "key"):
        place(placed.get("ledger"), key)
    for attribute in placed.get("attributes", {}).values():
        if not isinstance(attribute, dict):
            continue
        place(attribute.get("knowledge"), "path")
        place(attribute.get("hierarchy"), "path")
        if attribute.get("hierarchy") not in ("suppress", "automatic"):
            place(attribute, "hierarchy")
    return placed


def _entry(name: str, attribute: Any) -> str:
    line = f"  {_flow(name)}: {_flow(attribute)}"
    if len(line) <= LONGEST_LINE:
        return line
    block = yaml.safe_dump(attribute, allow_unicode=True, sort_keys=False, width=LONGEST_LINE)
    return f"  {_flow(name)}:\n" + "\n".join(f"    {one}" for one in block.splitlines())


def _flow(value: object) -> str:
    """A value as YAML on one line."""
    text = yaml.safe_dump(
        value, default_flow_style=True, allow_unicode=True, sort_keys=False, width=10**9
    )
    return text.removesuffix("\n").removesuffix("\n...")

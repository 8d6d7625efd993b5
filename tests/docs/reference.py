"""The reference page, from the code: commands, requirements.

``python -m tests.docs.reference`` writes it, as ``make docs`` does; a test says when it is stale.
"""

from __future__ import annotations

import types
import typing
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Any

import typer.main
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from discreet.cli.app import app
from discreet.requirements.base import Requirement
from discreet.requirements.registry import REQUIREMENTS

Row = tuple[str, ...]
OF_COMMANDS, OF_REQUIREMENTS = 2, 3  # tables with the same row, from which on it is listed once
PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference.md"
EVERY_REQUIREMENT = (
    "[The job file](job.md#requirements) says what each asks. Each takes `attackers` too; by "
    "default those of the job. Here `!` is a required key:"
)

MOST_COMMANDS = (
    "Most commands take `--json`, `--quiet` and `--debug`; `--help` of a command says so."
)


def reference() -> str:
    """Return the whole page."""
    lines = [
        "# Reference", "",
        "Made from the code by `make docs`. Keys of a job are on [a page of their own](job.md), "
        "parameters of a method on [the page of the method](which-method.md).", "",
        "- [Commands](#commands)", "- [Requirements](#requirements)", "",
        "## Commands", "", *_commands(),
    ]  # fmt: skip
    lines += ["## Requirements", "", EVERY_REQUIREMENT, "", *_requirements()]
    lines += ["Parameters of attacks: [attacks](attacks.md#parameters).", ""]
    return "\n".join(lines).rstrip() + "\n"


def _commands() -> Iterator[str]:
    """Yield the options that several commands have, then every command with its own."""
    commands = list(_leaves(typer.main.get_command(app), "discreet"))
    rows_of = {name: _options(command) for name, command in commands}
    shared = _shared(rows_of.values(), OF_COMMANDS)
    yield from ("### Options of several commands", "", MOST_COMMANDS, "")
    yield from (*_table(("option", "meaning", "default"), shared), "")
    for name, command in commands:
        arguments = [one for one in command.params if one.param_type_name == "argument"]
        shown = " ".join(
            (one.metavar or one.name or "").upper() + ("…" if one.nargs == -1 else "")
            for one in arguments
        )
        yield from (f"### `{f'{name} {shown}'.strip()}`", "", _sentence(command.help or ""), "")
        yield from _rows_beside(("option", "meaning", "default"), rows_of[name], shared)


def _leaves(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Yield the commands that do something, with their whole names; those of add-ons too."""
    if not hasattr(command, "commands"):
        yield name, command
        return
    for inner in command.list_commands(None):
        yield from _leaves(command.get_command(None, inner), f"{name} {inner}")


def _options(command: Any) -> list[Row]:
    return [
        (
            f"`{', '.join(one.opts)}`",
            _cell(one.help or ""),
            "!" if one.required else _default(one.default),
        )
        for one in command.params
        if one.param_type_name == "option" and "--help" not in one.opts
    ]


def _requirements() -> Iterator[str]:
    """Yield the keys that several requirements have, then those of each requirement alone."""
    listed = list(REQUIREMENTS.built_in.values())
    rows_of = {kind: _parameters(kind) for kind in listed}
    shared = _shared(rows_of.values(), OF_REQUIREMENTS)
    head = ("key", "type", "default", "meaning")
    yield from (*_table(head, shared), "")
    rows: list[Row] = []
    for kind in listed:
        common = [row[0] for row in rows_of[kind] if row in shared]
        name = f"`{kind.name}`{'; also ' if common else ''}{', '.join(common)}"
        for number, row in enumerate(row for row in rows_of[kind] if row not in shared):
            rows.append((name if number == 0 else " ", *row))
    yield from (*_table(("requirement", *head), rows), "")


def _shared(all_rows: Iterable[list[Row]], several: int) -> list[Row]:
    """Return the rows that so many tables have or more, in the order in which they come."""
    counts = Counter(row for rows in all_rows for row in rows)
    return [row for row, count in counts.items() if count >= several]


def _rows_beside(head: Row, rows: list[Row], shared: list[Row]) -> Iterator[str]:
    """Yield a table of the rows that are not shared, and the names of those that are."""
    if single := [row for row in rows if row not in shared]:
        yield from (*_table(head, single), "")
    if names := [row[0] for row in rows if row in shared and row[0] not in MOST_COMMANDS]:
        yield from (f"Also {', '.join(names)}.", "")


def _parameters(model: type[BaseModel]) -> list[Row]:
    return [
        (f"`{name}`", _cell(_type(field.annotation)), _default(_default_of(field)),
         _cell(field.description or ""))
        for name, field in model.model_fields.items()
        if name != "attackers" or not issubclass(model, Requirement)  # the same in each
    ]  # fmt: skip


def _default_of(field: Any) -> Any:
    if field.is_required():
        return PydanticUndefined
    return field.get_default(call_default_factory=True)


def _default(value: Any) -> str:
    if value is PydanticUndefined:
        return "!"
    if value is None or value is False or value in ((), ""):
        return "–"
    if isinstance(value, BaseModel):
        return f"`{getattr(value, 'name', None) or '{}'}`"
    if isinstance(value, Enum):
        return f"`{value.value}`"
    return f"`{value}`" if isinstance(value, str | int | float | Path) else "–"


def _type(annotation: Any) -> str:
    """An annotation as a reader of a job writes it."""
    origin = typing.get_origin(annotation)
    inner = typing.get_args(annotation)
    if origin is typing.Annotated:
        return _type(inner[0])
    if origin is typing.Literal:
        return " or ".join(f"`{value}`" for value in inner)
    if origin in (typing.Union, types.UnionType):
        found = [_type(one) for one in inner if one is not type(None)]
        return " or ".join(dict.fromkeys(found))
    if origin in (tuple, list, frozenset):
        return f"list of {_type(inner[0])}" if inner else "list"
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return f"{_type(inner[0])} → {_type(inner[1])}"
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return " or ".join(f"`{one.value}`" for one in annotation if one.value != "structure")
    names = {str: "text", int: "integer", float: "number", bool: "true/false", Path: "path"}
    if annotation in names:
        return names[annotation]
    written = getattr(annotation, "name", None) or getattr(annotation, "__name__", "value")
    return str(written)


def _sentence(text: str) -> str:
    """The first paragraph, in one line."""
    return " ".join(text.partition("\n\n")[0].split())


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'|'.join('---' for _ in head)}|"
    for row in rows:
        yield f"| {' | '.join(cell or '–' for cell in row)} |"


if __name__ == "__main__":
    PAGE.write_text(reference(), encoding="utf-8")

"""The reference page, from the code: commands, job keys, requirements, methods, attacks, Python.

``python -m tests.docs.reference`` writes it, as ``make docs`` does; a test says when it is stale.
"""

from __future__ import annotations

import inspect
import re
import types
import typing
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Any

import typer.main
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

import discreet as dc
from discreet.attacks.registry import ATTACKS
from discreet.cli.app import app
from discreet.io.knowledge import KnowledgeSource
from discreet.io.source import Source
from discreet.job.model import Job
from discreet.job.parts import Attribute, Output, Verify
from discreet.ledger.settings import LedgerSettings
from discreet.methods.registry import METHODS
from discreet.requirements.attackers.attacker import Attacker
from discreet.requirements.base import Requirement
from discreet.requirements.registry import REQUIREMENTS
from discreet.result import Result
from discreet.utility.settings import MeasureSettings

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference.md"
JOB_PARTS: dict[str, type[BaseModel]] = {
    "job": Job, "source": Source, "attributes.NAME": Attribute,
    "attributes.NAME.knowledge": KnowledgeSource, "attackers.NAME": Attacker, "output": Output,
    "ledger": LedgerSettings,
    "verify": Verify, "measure": MeasureSettings,
}  # fmt: skip

EVERY_REQUIREMENT = (
    "Each also takes `attackers`, by name as `attackers.NAME` above: the attackers that it holds "
    "for; by default those of the job, or one who knows all quasi-identifiers."
)


def reference() -> str:
    """The whole page."""
    lines = [
        "# Reference", "",
        "Made from the code by `make docs`; the other pages say what things are for.", "",
        "- [Commands](#commands)", "- [Job keys](#job-keys)", "- [Requirements](#requirements)",
        "- [Methods](#methods)", "- [Attacks](#attacks)", "- [Python](#python)", "",
        "## Commands", "", *_commands(typer.main.get_command(app), "discreet"),
        "## Job keys", "",
    ]  # fmt: skip
    for place, model in JOB_PARTS.items():
        lines += [f"### {place}", "", *_parameters(model), ""]
    for title, kinds in (
        ("Requirements", REQUIREMENTS.built_in.values()),
        ("Methods", METHODS.built_in.values()),
        ("Attacks", ATTACKS.built_in.values()),
    ):
        more = [EVERY_REQUIREMENT, ""] if title == "Requirements" else []
        lines += [f"## {title}", "", *more, *_named(kinds)]
    lines += ["## Python", "", *_python()]
    return "\n".join(lines).rstrip() + "\n"


def _commands(command: Any, name: str) -> Iterator[str]:
    if hasattr(command, "commands"):
        for inner in command.list_commands(None):  # those of add-ons too
            yield from _commands(command.get_command(None, inner), f"{name} {inner}")
        return
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    options = [one for one in command.params if one.param_type_name == "option"]
    shown = " ".join(
        (one.metavar or one.name or "").upper() + ("…" if one.nargs == -1 else "")
        for one in arguments
    )
    yield from (f"### `{f'{name} {shown}'.strip()}`", "", _sentence(command.help or ""), "")
    rows = [
        (
            f"`{', '.join(one.opts)}`",
            _cell(one.help or ""),
            "required" if one.required else _default(one.default),
        )
        for one in options
        if "--help" not in one.opts
    ]
    if rows:
        yield from _table(("option", "meaning", "default"), rows)
        yield ""


def _named(kinds: Iterable[type[BaseModel]]) -> Iterator[str]:
    for kind in kinds:
        name = typing.cast(Any, kind).name
        public = kind.__name__ if kind.__name__ in dc.__all__ else None
        yield from (f"### `{name}`", "", _sentence(inspect.getdoc(kind) or ""), "")
        if public:
            yield from (f"Python: `dc.{public}`", "")
        rows = list(_parameters(kind))
        if rows:
            yield from (*rows, "")


def _parameters(model: type[BaseModel]) -> list[str]:
    rows = [
        (f"`{name}`", _cell(_type(field.annotation)), _default(_default_of(field)),
         _cell(field.description or ""))
        for name, field in model.model_fields.items()
        if name != "attackers" or not issubclass(model, Requirement)  # the same in each
    ]  # fmt: skip
    return list(_table(("key", "type", "default", "meaning"), rows)) if rows else []


def _default_of(field: Any) -> Any:
    if field.is_required():
        return PydanticUndefined
    return field.get_default(call_default_factory=True)


def _default(value: Any) -> str:
    if value is PydanticUndefined:
        return "required"
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
    names = {str: "text", int: "whole number", float: "number", bool: "yes or no", Path: "path"}
    if annotation in names:
        return names[annotation]
    written = getattr(annotation, "name", None) or getattr(annotation, "__name__", "value")
    return str(written)


def _python() -> Iterator[str]:
    functions, classes, errors = [], [], []
    named = {
        kind.__name__ for kind in (*REQUIREMENTS.built_in.values(), *METHODS.built_in.values())
    }
    for name in dc.__all__:
        value = getattr(dc, name)
        if name in named or name == "__version__":
            continue
        said = _cell(_sentence(inspect.getdoc(value) or ""))
        if inspect.isfunction(value):
            functions.append((name, f"{name}{inspect.signature(value)}", said))
        elif issubclass(value, Exception):
            errors.append((f"`dc.{name}`", said))
        else:
            classes.append((name, value, said))
    for _, signature, said in functions:
        yield from (f"### `dc.{_short(signature)}`", "", said, "")
    yield from ("### Classes", "")
    for name, value, said in classes:
        members = ", ".join(
            f"`{one}`" for one in sorted(vars(value)) if not one.startswith(("_", "model_"))
        )
        yield f"- `dc.{name}`: {said}" + (f" Has {members}." if members else "")
    yield from ("", "### What every result can do", "")
    for name in ("to_dict", "save_page", "charts"):
        yield f"- `{name}`: {_sentence(inspect.getdoc(getattr(Result, name)) or '')}"
    yield from ("- in a notebook it draws itself with the pieces of the report", "")
    yield from ("### Errors", "", *_table(("error", "raised when"), errors))


def _short(signature: str) -> str:
    """A signature without the types' rooms and with one line."""
    shown = re.sub(r"'([^']*)'", r"\1", signature)
    shown = re.sub(r" = <function no_progress at [^>]*>", " = …", shown)
    return re.sub(r"<[^>]*>", "…", shown)


def _sentence(text: str) -> str:
    """The first paragraph, in one line."""
    return " ".join(text.partition("\n\n")[0].split())


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"| {' | '.join('---' for _ in head)} |"
    for row in rows:
        yield f"| {' | '.join(cell or '–' for cell in row)} |"


if __name__ == "__main__":
    PAGE.write_text(reference(), encoding="utf-8")

"""YAML with places: the data of a file, and the line of every key and entry in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import yaml

from discreet.errors import InputError

Trail = tuple[str | int, ...]


@dataclass(frozen=True)
class Places:
    """The places of the parts of a file: the line of each trail of keys and indices."""

    lines: dict[Trail, int] = field(default_factory=dict)

    def describe(self, trail: Trail, message: str) -> str:
        """A message behind its trail and, where it is known, its line."""
        name = ""
        for part in trail:
            name += f"[{part}]" if isinstance(part, int) else f"{'.' if name else ''}{part}"
        line = self.line(trail)
        where = f"line {line}, " if line else ""
        return f"{where}{name}: {message}" if name else f"{where}{message}"

    def line(self, trail: Trail) -> int | None:
        """The line of the longest known part of a trail."""
        for length in range(len(trail), 0, -1):
            if trail[:length] in self.lines:
                return self.lines[trail[:length]]
        return None


class _ScalarError(Exception):
    """A value whose text does not match its form or its tag."""


def load_yaml(text: str, place: str) -> tuple[Any, Places, list[str]]:
    """Read YAML text; return its data, its places, and its duplicate keys as problems."""
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        reason = getattr(error, "problem", None) or str(error)
        if "'\\t'" in reason:
            reason = "tab used for indentation; use spaces"
        raise InputError(f"{place}{where}: not valid YAML: {reason}") from None
    places = Places()
    doubled: list[str] = []
    if root is None:
        raise InputError(f"{place}: the file is empty. Write a first job with 'discreet init'.")
    try:
        data = _construct(root, (), places, doubled)
    except RecursionError:
        raise InputError(f"{place}: an alias refers to itself. Write out its content.") from None
    except _ScalarError as error:
        raise InputError(f"{place}, {error}") from None
    if not isinstance(data, dict):
        raise InputError(f"{place}: a job is a mapping with 'attributes', 'requirements', …")
    return data, places, doubled


def _construct(node: yaml.Node, trail: Trail, places: Places, doubled: list[str]) -> Any:
    places.lines.setdefault(trail, node.start_mark.line + 1)
    # Keys as they are written, each with its line.
    if isinstance(node, yaml.MappingNode):
        data: dict[str, Any] = {}
        for key, value in node.value:
            name = str(key.value)  # as written: a column called 2020 or yes is a column
            inner = (*trail, name)
            line = key.start_mark.line + 1
            if name in data:
                first = places.lines[inner]
                doubled.append(f"line {line}: duplicate key '{name}' (first used on line {first})")
            places.lines[inner] = line
            data[name] = _construct(value, inner, places, doubled)
        return data
    if isinstance(node, yaml.SequenceNode):
        return [
            _construct(value, (*trail, index), places, doubled)
            for index, value in enumerate(node.value)
        ]
    # A value as YAML reads it.
    loader = yaml.SafeLoader("")
    try:
        return loader.construct_object(node)
    except (yaml.YAMLError, ValueError):
        line, kind = node.start_mark.line + 1, node.tag.removeprefix("tag:yaml.org,2002:")
        raise _ScalarError(
            f"line {line}: {node.value!r} can't be read as {kind}. Quote it if it is text, and"
            " remove tags (!)."
        ) from None
    finally:
        loader.dispose()

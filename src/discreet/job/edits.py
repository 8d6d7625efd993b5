"""Edits of a job: applied to a job in memory, and to the text of its file.

An edit sets or removes one key at a trail, such as ``("attributes", "age", "role")``. In a file it
changes only what it names: comments, order and spelling of all else stay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from discreet.errors import InputError
from discreet.job.model import Job
from discreet.job.yaml_lines import Trail, load_yaml
from discreet.requirements.base import Requirement

BEFORE = "before discreet repair:"  # of the comment above an edited entry


class _Removed:
    def __repr__(self) -> str:
        return "REMOVED"


REMOVED = _Removed()  # the value of an edit that removes its key


@dataclass(frozen=True)
class Edit:
    """One key of a job with a new value.

    The trail names a key of an attribute, a parameter of a requirement
    (``("requirements", 0, "k-anonymity", "k")``), a new requirement (its number is that of the
    requirements before it), or the method.
    """

    trail: Trail
    value: Any  # plain data, or REMOVED

    @property
    def entry(self) -> Trail:
        """The part of the job that has a line of its own: an attribute, a requirement, …"""
        return self.trail[: 1 if self.trail[0] == "method" else 2]


def edited_job(job: Job, edits: Sequence[Edit]) -> Job:
    """Return a job with some edits; raise a JobError where the result is not valid."""
    fields: dict[str, Any] = {}
    attributes: dict[str, Any] = dict(job.attributes)
    requirements: list[Any] = list(job.requirements)
    for edit in edits:
        part, *rest = edit.trail
        if part == "method":
            fields["method"] = edit.value
        elif part == "attributes":
            name, key = str(rest[0]), str(rest[1])
            attribute = attributes[name]
            written = attribute if isinstance(attribute, dict) else _written(attribute)
            if edit.value is REMOVED:
                attributes[name] = {one: value for one, value in written.items() if one != key}
            else:
                attributes[name] = {**written, key: edit.value}
        else:
            number = int(rest[0])
            if number == len(requirements):
                requirements.append(edit.value)
            else:
                requirements[number] = _with_parameter(requirements[number], edit)
    return job.changed(**fields, attributes=attributes, requirements=requirements)


def _written(attribute: Any) -> dict[str, Any]:
    """The keys of an attribute that were written, with their values."""
    return {key: getattr(attribute, key) for key in attribute.model_fields_set}


def _with_parameter(requirement: Requirement | Mapping[str, Any], edit: Edit) -> dict[str, Any]:
    name, key = str(edit.trail[2]), str(edit.trail[3])
    if isinstance(requirement, Requirement):
        return {name: {**requirement.parameters(), key: edit.value}}
    return {name: {**requirement[name], key: edit.value}}


def edited_text(text: str, edits: Sequence[Edit], place: str = "job") -> str:
    """Return the text of a job file with some edits, each below a comment with what was before.

    Raise an InputError where the text cannot be edited so that it says exactly this.
    """
    expected = edited_job(Job.parse(text, place=place), edits)
    changed = text
    for edit in edits:
        changed = _with_edit(changed, edit, place)
    before = load_yaml(text, place)[0]
    for entry in dict.fromkeys(edit.entry for edit in edits):
        changed = _with_comment(changed, entry, before)
    if Job.parse(changed, place=place).model_dump() != expected.model_dump():
        raise InputError(
            f"{place}: aliases or an unusual layout keep the file from being edited. Write the "
            "lines of the repair by hand."
        )
    return changed


def _with_edit(text: str, edit: Edit, place: str) -> str:
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    node: yaml.Node = root
    for depth, part in enumerate(edit.trail):
        child = _child(node, part)
        if child is None:
            if edit.value is REMOVED:
                return text
            value = edit.value
            for missing in reversed(edit.trail[depth + 1 :]):
                value = [value] if isinstance(missing, int) else {missing: value}
            return _with_added(text, node, part, value, place)
        if depth == len(edit.trail) - 1:
            if edit.value is REMOVED:
                return _without(text, node, part)
            return _with_node(text, child, edit.value)
        if isinstance(child, yaml.ScalarNode):  # such as `- k-anonymity`, or an empty value
            value = edit.value
            for part_below in reversed(edit.trail[depth + 1 :]):
                value = {part_below: value}
            return _with_node(text, child, value)
        node = child
    return text


def _child(node: yaml.Node, part: str | int) -> yaml.Node | None:
    if isinstance(node, yaml.MappingNode):
        return next((value for key, value in node.value if key.value == str(part)), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        entry: yaml.Node = node.value[part]
        return entry
    return None


def _with_node(text: str, node: yaml.Node, value: Any) -> str:
    start, end = node.start_mark.index, _end(node)
    space = " " if start == end else ""  # an empty value directly behind its colon
    if not _is_flow(node) and not isinstance(node, yaml.ScalarNode):
        # A block takes the lines below its key; the new value stays on the line of the key.
        line = text.rfind("\n", 0, start)
        if text[line + 1 : start].strip() == "":
            start, space = len(text[:line].rstrip()) if line >= 0 else start, " "
    return text[:start] + space + flow(value) + text[end:]


def _with_added(text: str, node: yaml.Node, part: str | int, value: Any, place: str) -> str:
    """Add a key to a mapping, or an entry to a sequence."""
    if not isinstance(node, yaml.CollectionNode):
        raise InputError(f"{place}: there is no place for '{part}'. Write it by hand.")
    item = flow(value) if isinstance(part, int) else flow({part: value})[1:-1]
    if _is_flow(node):
        end = _end(node) - 1
        comma = ", " if node.value else ""
        return text[:end].rstrip() + comma + item + text[end:]
    column = node.start_mark.column
    last = node.value[-1]
    end = _end(last[1] if isinstance(last, tuple) else last)
    line = text.find("\n", end)
    line = len(text) if line < 0 else line
    dash = "- " if isinstance(node, yaml.SequenceNode) else ""
    item = item[1:-1] if dash and item.startswith("{") else item
    return f"{text[:line]}\n{' ' * column}{dash}{item}{text[line:]}"


def _without(text: str, node: yaml.Node, part: str | int) -> str:
    """Remove a key of a mapping."""
    names = [key.value for key, _ in node.value]
    number = names.index(str(part))
    key, value = node.value[number]
    start, end = key.start_mark.index, _end(value)
    if _is_flow(node):
        if number + 1 < len(names):
            end = node.value[number + 1][0].start_mark.index
        elif number:
            start = _end(node.value[number - 1][1])
        return text[:start] + text[end:]
    line = text.find("\n", end)
    begin = text.rfind("\n", 0, start) + 1
    return text[:begin] + ("" if line < 0 else text[line + 1 :])


def _is_flow(node: yaml.Node) -> bool:
    return isinstance(node, yaml.CollectionNode) and bool(node.flow_style)


def _end(node: yaml.Node) -> int:
    """The end of a node; PyYAML ends a block only where the next token begins."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end(last[1] if isinstance(last, tuple) else last)
    end: int = node.end_mark.index
    return end


def _with_comment(text: str, entry: Trail, before: Mapping[str, Any]) -> str:
    """Say above an edited entry what it was."""
    written: Any = before
    for part in entry:
        known = part in written if isinstance(written, Mapping) else int(part) < len(written)
        if not known:
            return text  # a new entry
        written = written[part]
    node = yaml.compose(text, Loader=yaml.SafeLoader)
    start = 0
    for part in entry:
        if isinstance(node, yaml.MappingNode):
            key = next(key for key, _ in node.value if key.value == str(part))
            start = key.start_mark.index
        child = _child(node, part)
        assert child is not None  # it was edited
        start = start if isinstance(node, yaml.MappingNode) else child.start_mark.index
        node = child
    begin = text.rfind("\n", 0, start) + 1
    margin = text[begin:start].replace("- ", "  ")
    if margin.strip():  # within a flow mapping, where a comment would end the line
        return text
    margin = " " * (len(text[begin:start]) - len(text[begin:start].lstrip()))
    return f"{text[:begin]}{margin}# {BEFORE} {flow(written)}\n{text[begin:]}"


def flow(value: object) -> str:
    """A value as YAML on one line."""
    text = yaml.safe_dump(
        value, default_flow_style=True, allow_unicode=True, sort_keys=False, width=10**9
    )
    return text.removesuffix("\n").removesuffix("\n...")

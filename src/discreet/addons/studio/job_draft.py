"""The job that the pages of a table edit: one on the server, the only truth.

A page shows what the answer to its last edit says and keeps no job of its own, so a control never
shows what the job does not have. Each edit raises the revision; an edit of an older revision, from
a second tab, is refused. What an edit changes beyond what it names is listed for the person who
clicked; settings of a column that its role does not use are remembered until it has the role again.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from discreet.addons.studio.answers import RefusedError
from discreet.job.parts import ROLES, UNCHANGED
from discreet.table.roles import Role, ValueType

NOT_PUBLISHED = tuple(str(role) for role in ROLES if not role.published)
COLUMN_KEYS = ("type", "format", "collapse")  # of a column in every role that publishes it
TYPES = tuple(map(str, ValueType))
_ROLE_NAMES = (*map(str, ROLES), UNCHANGED)


class JobDraft:
    """A job that is being edited, and its revision."""

    def __init__(
        self,
        columns: Mapping[str, Mapping[str, str]],  # type and format of each, by its values
        proposed: Mapping[str, Any],
        job: Mapping[str, Any] | None = None,
    ) -> None:
        self._columns, self._proposed = columns, normalized(proposed)
        self._job = self._proposed if job is None else normalized(job)
        self._settings: dict[tuple[str, str], dict[str, Any]] = {}  # by column and earlier role
        self._rules: dict[str, str] = {}  # by column, of rows of a person that become one
        self._lock = threading.Lock()
        self.revision = 1
        self.also: list[dict[str, Any]] = []  # what the last edit changed beyond its words

    @property
    def job(self) -> dict[str, Any]:
        """A copy of the job."""
        job: dict[str, Any] = plain(self._job)
        return job

    def at(self, revision: object) -> dict[str, Any]:
        """Return the job; refuse a page that shows an older one."""
        with self._lock:
            self._require(revision)
            return self.job

    def edit(self, revision: object, edits: Sequence[Mapping[str, Any]]) -> None:
        """Apply all edits, or none where one of them is refused."""
        with self._lock:
            self._require(revision)
            before, self.also = self._job, []
            settings, rules = dict(self._settings), dict(self._rules)
            self._job = plain(before)
            try:
                for edit in edits:
                    self._apply(edit)
            except BaseException:
                self._job, self._settings, self._rules = before, settings, rules
                raise
            self.revision += 1

    def _require(self, revision: object) -> None:
        if revision is not None and revision != self.revision:
            raise RefusedError(
                409, "The job was changed in another tab. This page now shows it as it is."
            )

    def _apply(self, edit: Mapping[str, Any]) -> None:
        if "job" in edit or edit.get("reset") is True:
            self._job = normalized(edit["job"]) if "job" in edit else plain(self._proposed)
            self._settings.clear()
            self._rules.clear()
        elif "trails" in edit:
            self._job = normalized(_with_trails(self._job, edit["trails"]))
        elif "person" in edit:
            self._set_person(edit["person"])
        elif "unit" in edit:
            self._set_key("unit", edit["unit"])
            person = self._job.get("person")
            if edit["unit"] is not None and person is not None:
                del self._job["person"]
                self._note("person-removed", column=", ".join(person["column"]))
                self._fit_collapse()
        elif "secret" in edit:
            self._set_secret(self._named(edit["secret"]), stated=bool(edit.get("stated")))
        else:
            names = self._named(edit.get("columns"))
            if "role" in edit:
                for name in names:
                    self._set_role(name, edit["role"])
                self._confirm(names)
            elif edit.get("confirm") is True:
                self._confirm(names)
            elif "type" in edit:
                self._set_types(names, edit["type"])
            elif "collapse" in edit:
                self._set_of_columns(names, "collapse", edit["collapse"])
            elif "harmless" in edit:
                self._set_harmless(names, edit["harmless"])
            else:
                raise RefusedError(422, "The edit names nothing to change.")

    def _named(self, names: object) -> list[str]:
        if not isinstance(names, list) or not names:
            raise RefusedError(422, "The edit names no column.")
        unknown = [name for name in names if not isinstance(name, str) or name not in self._columns]
        if unknown:
            raise RefusedError(422, "The edit names a column that the table does not have.")
        return list(dict.fromkeys(names))

    # Roles

    def role(self, name: str) -> str:
        """Return the role of a column; what a job does not mention is not published."""
        attribute = self._job["attributes"].get(name)
        return str(attribute.get("role", Role.DROP)) if attribute else str(Role.DROP)

    def _set_role(self, name: str, role: object) -> None:
        """Give a column another role, with what is known of it in this role."""
        if role not in _ROLE_NAMES:
            raise RefusedError(422, f"Unknown role. Allowed: {', '.join(_ROLE_NAMES)}.")
        role = UNCHANGED if role == Role.INSENSITIVE else str(role)
        before = self._job["attributes"].get(name) or {"role": str(Role.DROP)}
        if before.get("role") == role:
            return
        self._settings[name, before["role"]] = before
        proposed = self._proposed["attributes"].get(name, {})
        known = self._settings.get((name, role), proposed if proposed.get("role") == role else {})
        attribute = plain({**known, "role": role})
        if role in NOT_PUBLISHED:
            attribute = {"role": role}
        else:
            attribute |= self._of_column(name, before)
            if role == Role.QUASI_IDENTIFIER:
                attribute.setdefault("hierarchy", "automatic")
        self._job["attributes"][name] = attribute
        self._leave_secrets(name, role)
        person = self._job.get("person")
        if person is not None and name in person["column"] and role != Role.IDENTIFIER:
            del self._job["person"]
            self._note("person-removed", column=name)
        self._fit_collapse()

    def _confirm(self, names: Sequence[str]) -> None:
        """A person has decided the roles of columns, which the proposal guessed."""
        guesses = [name for name in self._job.get("unconfirmed") or [] if name not in names]
        self._set_key("unconfirmed", guesses or None)

    def _of_column(self, name: str, before: Mapping[str, Any]) -> dict[str, Any]:
        """Type, format and rule of a column, which do not depend on its role."""
        proposed = self._proposed["attributes"].get(name, {"role": str(Role.DROP)})
        earlier = [
            attribute for (column, _), attribute in reversed(self._settings.items())
            if column == name
        ]  # fmt: skip
        published = [
            one for one in (before, *earlier, proposed) if one["role"] not in NOT_PUBLISHED
        ]
        known = published[0] if published else self._columns[name]
        keys = COLUMN_KEYS if self.collapsing else COLUMN_KEYS[:2]
        return {key: known[key] for key in keys if key in known}

    def _leave_secrets(self, name: str, role: str) -> None:
        if role == Role.SENSITIVE:
            return
        secrets = self._job.get("secrets") or []
        if any(name in secret for secret in secrets):
            self._note("secret-removed", column=name)
            self._set_key("secrets", [secret for secret in secrets if name not in secret] or None)

    # Persons

    def _set_person(self, person: object) -> None:
        if person is None:
            if self._job.pop("person", None) is not None:
                self._fit_collapse()
            return
        if not isinstance(person, dict) or "column" not in person:
            raise RefusedError(422, "'person' must be an object with a column, or null.")
        columns = person["column"]
        for name in self._named([columns] if isinstance(columns, str) else columns):
            if self.role(name) != Role.IDENTIFIER:
                self._set_role(name, str(Role.IDENTIFIER))
                self._note("became-identifier", column=name)
        self._job["person"] = in_full(person)
        if self._job.pop("unit", None) is not None:
            self._note("unit-removed")
        self._fit_collapse()

    @property
    def collapsing(self) -> bool:
        """Whether the rows of a person become one."""
        rows = (self._job.get("person") or {}).get("rows", "one")
        return rows not in ("one", "keep")

    def _fit_collapse(self) -> None:
        """Rules for rows that become one are for jobs in which they do; else they wait."""
        dropped = []
        for name, attribute in self._job["attributes"].items():
            rule = attribute.get("collapse")
            if rule is not None and not self.collapsing:
                self._rules[name] = attribute.pop("collapse")
                dropped.append(name)
            elif rule is None and self.collapsing and attribute["role"] not in NOT_PUBLISHED:
                proposed = self._proposed["attributes"].get(name, {}).get("collapse")
                known = self._rules.pop(name, proposed)
                if known is not None:
                    attribute["collapse"] = known
        if dropped:
            self._note("rules-removed", n=len(dropped))

    # Settings of columns

    def _published(self, names: Sequence[str]) -> list[dict[str, Any]]:
        for name in names:
            if self.role(name) in NOT_PUBLISHED:
                raise RefusedError(422, "A column that is not published has no such setting.")
        return [self._job["attributes"][name] for name in names]

    def _set_types(self, names: Sequence[str], kind: object) -> None:
        if kind not in TYPES:
            raise RefusedError(422, f"Unknown type. Allowed: {', '.join(TYPES)}.")
        for name, attribute in zip(names, self._published(names), strict=True):
            attribute["type"] = kind
            attribute.pop("format", None)
            if kind == ValueType.DATE and "format" in self._columns[name]:
                attribute["format"] = self._columns[name]["format"]

    def _set_of_columns(self, names: Sequence[str], key: str, value: object) -> None:
        if not self.collapsing:
            raise RefusedError(422, "Only rows of a person that become one need a rule.")
        for attribute in self._published(names):
            attribute.pop(key, None)
            if value is not None:
                attribute[key] = value

    def _set_harmless(self, names: Sequence[str], values: object) -> None:
        if not isinstance(values, list) or not all(isinstance(one, str) for one in values):
            raise RefusedError(422, "'harmless' must be a list of values.")
        for name in names:
            if self.role(name) != Role.SENSITIVE:
                raise RefusedError(422, "Only a sensitive column has harmless values.")
            attribute = self._job["attributes"][name]
            attribute.pop("sensitive_values", None)
            attribute.pop("non_sensitive_values", None)
            if values:
                attribute["non_sensitive_values"] = list(dict.fromkeys(values))

    def _set_secret(self, names: Sequence[str], *, stated: bool) -> None:
        secrets = [one for one in self._job.get("secrets") or [] if not set(names) & set(one)]
        self._set_key("secrets", [*secrets, list(names)] if stated else secrets or None)

    def _set_key(self, key: str, value: Any) -> None:
        if value is None:
            self._job.pop(key, None)
        else:
            self._job[key] = value

    def _note(self, what: str, **given: Any) -> None:
        self.also.append({"what": what, **given})


def normalized(job: object) -> dict[str, Any]:
    """Return a job as the page edits it: roles by one name, persons in full, no source."""
    if not isinstance(job, Mapping) or not isinstance(job.get("attributes", {}), Mapping):
        raise RefusedError(422, "The job must be an object with 'attributes'.")
    mapping: dict[str, Any] = plain(job)
    mapping.pop("source", None)
    attributes = mapping.setdefault("attributes", {})
    for name, attribute in attributes.items():
        if not isinstance(attribute, dict):
            raise RefusedError(422, "Each attribute must be an object with a role.")
        role = attribute.setdefault("role", str(Role.DROP))
        if not isinstance(role, str):
            raise RefusedError(422, "A role must be text.")
        attributes[name]["role"] = UNCHANGED if role == Role.INSENSITIVE else role
    for key in ("requirements", "secrets", "unconfirmed"):
        if not isinstance(mapping.get(key) or [], list):
            raise RefusedError(422, f"'{key}' must be a list.")
    if mapping.get("person") is None:
        mapping.pop("person", None)
    else:
        mapping["person"] = in_full(mapping["person"])
    return mapping


def in_full(person: object) -> dict[str, Any]:
    """Return the persons of a job with their columns as a list, and what becomes of their rows."""
    if not isinstance(person, dict):
        person = {"column": person}
    columns = person.get("column")
    listed = [columns] if isinstance(columns, str) else columns
    if not isinstance(listed, list) or not all(isinstance(name, str) for name in listed):
        raise RefusedError(422, "'person' must name a column.")
    return {"rows": "one", **person, "column": listed}


def _with_trails(job: dict[str, Any], edits: object) -> dict[str, Any]:
    """Return a job with the edits of a repair, each a key at a trail: set, or removed."""
    if not isinstance(edits, list) or not all(isinstance(edit, dict) for edit in edits):
        raise RefusedError(422, "'trails' must be a list of objects.")
    for edit in edits:
        trail = edit.get("trail")
        if not isinstance(trail, list) or not trail:
            raise RefusedError(422, "An edit needs a trail.")
        node: Any = job
        for part in trail[:-1]:
            if isinstance(node, dict) and isinstance(part, str):
                node = node.setdefault(part, [] if part == "requirements" else {})
            elif isinstance(node, list) and isinstance(part, int) and 0 <= part <= len(node):
                if part == len(node):
                    node.append({})
                node = node[part]
            else:
                raise RefusedError(409, "The job was changed since; search for repairs again.")
        last = trail[-1]
        if isinstance(node, list) and isinstance(last, int) and 0 <= last <= len(node):
            node[last : last + 1] = [edit.get("value")]
        elif isinstance(node, dict) and isinstance(last, str):
            if edit.get("remove"):
                node.pop(last, None)
            else:
                node[last] = edit.get("value")
        else:
            raise RefusedError(409, "The job was changed since; search for repairs again.")
    return job


def plain(data: Any) -> Any:
    """Return a copy of plain data."""
    return json.loads(json.dumps(data))

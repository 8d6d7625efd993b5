"""The job: the roles of the columns, the guarantees, the method, and the output.

A job comes from YAML (``Job.load``) or from Python (``Job(attributes=…, …)``). Every problem of a
job is reported at once; those of a file with their line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import (
    BaseModel,
    Field,
    PrivateAttr,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_core import ErrorDetails, PydanticCustomError

from discreet.attacks.registry import ATTACKS
from discreet.by_name import nearest
from discreet.errors import InputError, JobError
from discreet.extras import require_unforked
from discreet.hierarchies.specs import HIERARCHY_KINDS
from discreet.io.knowledge import KnowledgeSource
from discreet.io.source import Source
from discreet.job.attackers import JobAttackers
from discreet.job.parts import Attribute, Output, Part, SignOff, Verify
from discreet.job.person import Person, person_problems
from discreet.job.yaml_lines import Places, load_yaml
from discreet.ledger.settings import LedgerSettings
from discreet.methods.base import Ability, Method
from discreet.methods.registry import METHODS, AnyMethod, unmet
from discreet.regular_files import named_text, path_of
from discreet.requirements.attackers.attacker import Attacker
from discreet.requirements.base import AttributeRequirement, Requirement
from discreet.requirements.covered_values import LevelledRequirement
from discreet.requirements.judge import for_attackers, judged_on_items, limits_knowledge
from discreet.requirements.quasi_sensitive import LinkRequirement
from discreet.requirements.registry import REQUIREMENTS, AnyRequirement
from discreet.requirements.republication import SeriesBcfAnonymity
from discreet.table.persons import CollapseRule
from discreet.table.roles import Role
from discreet.utility.settings import MeasureSettings


class Job(Part):
    """A whole job."""

    source: Source | None = Field(
        default=None, description="The table; not needed when a frame is given."
    )
    attributes: dict[str, Attribute] = Field(
        description="The columns of the table, by name; those that are not named are not published."
    )
    others: Literal["drop"] = Field(
        default="drop",
        description="Columns of the table that `attributes` does not name are not published.",
    )
    requirements: tuple[AnyRequirement, ...] = Field(
        default=(), description="Guarantees of the release; all must hold."
    )
    attackers: JobAttackers = Field(
        default_factory=JobAttackers,
        description="Whom the verdict is about: a preset (internal, research, public), or a list "
        "of standard attackers. Or a mapping that declares what attackers know: by name a list of "
        "quasi-identifiers, or {any: 3, of: [a, b, …]}. Requirements then hold for each of them, "
        "not for one who knows everything.",
    )
    secrets: tuple[tuple[str, ...], ...] = Field(
        default=(),
        description="Sensitive columns that reveal each other, such as a score and its grade: a "
        "list for each secret, its finest column first. Guarantees without `attribute` are asked "
        "of the finest column, and an attacker who knows a column of a secret is no insider about "
        "the others.",
    )
    unconfirmed: tuple[str, ...] = Field(
        default=(),
        description="Columns whose role is a guess of `discreet init`. Remove a name once its role "
        "is decided: a release that publishes such a column is never 'Ready to sign'.",
    )
    population: str | None = Field(
        default=None,
        description="A table with the quasi-identifiers of everybody who might be in the source; "
        "for delta-presence, k-map, population-risk, and for attacks on membership.",
    )
    population_size: int | None = Field(
        default=None,
        ge=1,
        description="The number of persons of whom the rows are a random sample; for estimates of "
        "population risk where there is neither a population table nor a weight.",
    )
    person: Person | None = Field(
        None,
        description="The identifier that rows of the same person share, and what becomes of them.",
    )
    unit: Literal["rows"] | None = Field(
        default=None,
        description="'rows' states that guarantees count rows, not people: repeated values of an "
        "identifier show that a person may have several.",
    )
    method: AnyMethod = Field(
        default_factory=lambda: METHODS["full-domain"](),
        description="Method that produces the release.",
    )
    output: Output = Field(default_factory=Output)
    ledger: LedgerSettings | None = Field(
        default=None, description="Record of earlier releases; needed for re-publication."
    )
    verify: Verify | None = Field(
        default=None,
        description="Attacks to run before the release appears: 'attacks', or their settings.",
    )

    sign_off: SignOff = Field(
        default_factory=SignOff,
        description="Thresholds of the verdict about risk in the report for the signer.",
    )
    measure: MeasureSettings = Field(
        default_factory=MeasureSettings, description="How releases are measured and compared."
    )

    _folder: Path = PrivateAttr(default_factory=Path.cwd)

    if TYPE_CHECKING:  # the parts of a job, as callers may write them

        def __init__(
            self,
            *,
            attributes: Mapping[str, Attribute | Mapping[str, Any]],
            requirements: Sequence[Requirement | Mapping[str, Any] | str] = ...,
            method: Method | Mapping[str, Any] | str = ...,
            source: Source | Mapping[str, Any] | None = ...,
            attackers: JobAttackers
            | str
            | Sequence[str]
            | Mapping[str, Attacker | Mapping[str, Any] | Sequence[str]] = ...,
            secrets: Sequence[Sequence[str]] = ...,
            unconfirmed: Sequence[str] = ...,
            population: str | None = ...,
            population_size: int | None = ...,
            person: Person | Mapping[str, Any] | str | None = ...,
            others: Literal["drop"] = ...,
            unit: Literal["rows"] | None = ...,
            output: Output | Mapping[str, Any] = ...,
            ledger: LedgerSettings | Mapping[str, Any] | None = ...,
            verify: Verify | Mapping[str, Any] | Literal["attacks"] | None = ...,
            sign_off: SignOff | Mapping[str, Any] = ...,
            measure: MeasureSettings | Mapping[str, Any] | Literal["none"] = ...,
        ) -> None: ...

    else:

        def __init__(self, **data: Any) -> None:
            try:
                super().__init__(**data)
            except ValidationError as error:
                raise JobError(_problems(error, Places())) from error

    @classmethod
    def of(cls, job: Job | Mapping[str, Any] | str | Path, *, folder: Path | None = None) -> Job:
        """Return a job as it is, from a mapping of its keys, or from the path of its file.

        Relative paths of a mapping start from ``folder``, by default the present one.
        """
        require_unforked()
        if isinstance(job, Job):
            return job
        if isinstance(job, Mapping):
            made = cls(**{str(key): value for key, value in job.items()})
            made._folder = folder or made._folder
            return made
        if not isinstance(job, str | Path):
            raise InputError(
                f"The job is of the type {type(job).__name__}. Give a Job, a mapping of its "
                "keys, or the path of a job file."
            )
        return cls.load(job)

    @classmethod
    def load(cls, path: str | Path) -> Job:
        """Read a job file; relative paths in it are relative to its folder."""
        path = path_of(path, "The job file")
        text = named_text(path, "Job file")
        return cls.parse(text, place=str(path), folder=path.resolve().parent)

    @classmethod
    def parse(cls, text: str, *, place: str = "job", folder: Path | None = None) -> Job:
        """Read a job from YAML text."""
        data, places, doubled = load_yaml(text, place)
        problems = list(doubled)
        try:
            job = cls.model_validate(data)
        except JobError as error:  # raised by __init__, which does not know the lines
            cause = error.__cause__
            problems += _problems(cause, places) if isinstance(cause, ValidationError) else []
        if problems:
            raise JobError(problems, place)
        if folder is not None:
            job._folder = folder
        return job

    @property
    def folder(self) -> Path:
        """The folder that relative paths of the job start from."""
        return self._folder

    @property
    def ledger_person(self) -> tuple[str, ...]:
        """The identifiers that name a person to a ledger."""
        known = self.with_role(Role.IDENTIFIER)
        named = self.ledger.person if self.ledger is not None else None
        if self.person is not None and named in (None, *self.person.column):
            return self.person.column
        if named is None and len(known) == 1:
            return (known[0],)
        allowed = ", ".join(f"'{name}'" for name in known) or "none, no column has that role"
        if named is None or named not in known:
            raise JobError(
                [f"ledger: 'person' must name an identifier. Identifiers of the job: {allowed}."]
            )
        return (named,)

    def series_guarantees(self) -> tuple[Requirement, ...]:
        """What the ledger of this job asks for, across all releases of its series."""
        if self.ledger is None or self.ledger.bcf_anonymity is None:
            return ()
        return (SeriesBcfAnonymity(k=self.ledger.bcf_anonymity),)

    def with_ledger(self, place: str) -> Job:
        """The same job with a ledger at another place, a path (from here) or a URL."""
        others = {} if self.ledger is None else self.ledger.model_dump(exclude={"path", "url"})
        here = place if "://" in place else str(Path(place).absolute())
        settings = LedgerSettings.at(here, **others)
        return self.model_copy(update={"ledger": settings})

    def with_language(self, language: str) -> Job:
        """The same job with its reports in another language."""
        output = self.output.model_dump() | {"language": language}
        return self.model_copy(update={"output": Output.model_validate(output)})

    def using(self, method: Method | Mapping[str, Any] | str) -> Job:
        """Return the same job by another method; raise a JobError where it does not fit the job."""
        return self.changed(method=method)

    def changed(self, **fields: Any) -> Job:
        """Return the same job with other fields; raise a JobError where it is not valid."""
        written: dict[str, Any] = {name: getattr(self, name) for name in self.model_fields_set}
        job = Job(**{**written, **fields})
        job._folder = self._folder
        return job

    def confirmed(self) -> Job:
        """Return the same job as if the role of every column were decided."""
        return self.model_copy(update={"unconfirmed": ()})

    @property
    def guessed(self) -> list[str]:
        """The published columns whose roles nobody has decided."""
        return [name for name in self.unconfirmed if self.attributes[name].role.published]

    def with_role(self, role: Role) -> list[str]:
        """The names of the attributes with a role, in the job's order."""
        return [name for name, attribute in self.attributes.items() if attribute.role is role]

    @field_validator("attributes")
    @classmethod
    def _some_attribute(cls, attributes: dict[str, Attribute]) -> dict[str, Attribute]:
        if not any(attribute.role.published for attribute in attributes.values()):
            raise PydanticCustomError(
                "nothing_published",
                "no attribute would be published. Give at least one a role other than "
                "identifier and drop.",
            )
        return attributes

    @model_validator(mode="after")
    def _requirements_fit(self) -> Job:
        """Check that requirements cover attributes that exist, and that the method can protect."""
        # Persons and attackers.
        problems = list(person_problems(self.person, self.attributes))
        if self.person is not None and self.unit is not None:
            problems.append("unit: 'rows' contradicts `person:`. Remove one of the two.")
        for name, attacker in self.attackers.declared.items():
            problems += self._unfit_attacker(f"attackers.{name}", attacker)
        # Each requirement has attributes, and a method that can meet it.
        for number, requirement in enumerate(self.requirements):
            problems += self._unfit_for_attackers(f"requirements[{number}]", requirement)
            if not isinstance(requirement, AttributeRequirement):
                continue
            place = f"requirements[{number}]: {requirement.name}"
            role = requirement.role
            known = self.with_role(role)
            allowed = ", ".join(f"'{name}'" for name in known) or "none, the job has no such role"
            if not known:
                problems.append(f"{place} needs a {role} attribute. Give one that role.")
            problems += [
                f"{place}: '{name}' is not a {role} attribute. Allowed: {allowed}."
                for name in requirement.named
                if name not in known and not (role is Role.SENSITIVE and self._may_be_bit(name))
            ]
            levelled = isinstance(requirement, LevelledRequirement) and requirement.level
            if levelled:
                problems += unmet(f"{place} at a level", Ability.COUNTS, self.method)
            if not requirement.coverage.stricter_on_all_values:
                demand = f"{place} with 'ruled_out: harmless'"
                problems += unmet(demand, Ability.RULED_OUT, self.method)
            if role is Role.QUASI_SENSITIVE and not judged_on_items(requirement):
                problems += self._unlinked(place, requirement.named or tuple(known))
        # Columns that are claimed twice.
        problems += self._claimed_twice()
        problems += self._unfit_secrets()
        problems += [
            f"unconfirmed: '{name}' is not an attribute. {nearest(name, list(self.attributes))}"
            for name in self.unconfirmed
            if name not in self.attributes
        ]
        for role in (Role.WEIGHT, Role.HOUSEHOLD):
            named = self.with_role(role)
            if len(named) > 1:
                problems.append(
                    f"attributes.{named[1]}: '{named[0]}' is the job's {role} already. Give one of "
                    "the two the role 'unchanged' or 'drop'."
                )
        if Ability.TERMS in self.method.abilities and not any(
            isinstance(requirement, LinkRequirement) for requirement in self.requirements
        ):
            problems.append(
                "method: quasi-sensitive needs qs-cl-diversity or qs-t-closeness under "
                "`requirements:`. Add one, or use the method mondrian."
            )
        if problems:
            raise PydanticCustomError(
                "requirements", "{problems}", {"problems": "\n".join(problems)}
            )
        return self

    def _unfit_attacker(self, place: str, attacker: Attacker) -> list[str]:
        """Return what an attacker knows that the job does not publish for it to be known by."""
        problems = []
        for role, names in (
            (Role.QUASI_IDENTIFIER, attacker.named),
            (Role.SENSITIVE, attacker.knows),
        ):
            known = self.with_role(role)
            allowed = ", ".join(f"'{name}'" for name in known) or "none, the job has no such role"
            problems += [
                f"{place}: '{name}' is not a {role} attribute. Allowed: {allowed}."
                for name in names
                if name not in known
            ]
        return problems

    def _unfit_secrets(self) -> list[str]:
        """Return where a secret names other columns than sensitive ones, or one twice."""
        known = self.with_role(Role.SENSITIVE)
        named = [name for secret in self.secrets for name in secret]
        problems = [
            f"secrets[{number}]: a secret has two columns or more. Add one, or remove the list."
            for number, secret in enumerate(self.secrets)
            if len(set(secret)) < 2
        ]
        problems += [
            f"secrets: '{name}' is not a sensitive attribute. {nearest(name, known)}"
            for name in dict.fromkeys(named)
            if name not in known
        ]
        problems += [
            f"secrets: '{name}' is multi-valued. Leave it out."
            for name in dict.fromkeys(named)
            if name in known and self.attributes[name].multi_valued is not None
        ]
        return problems + [
            f"secrets: '{name}' is named twice. Name each column once."
            for name in dict.fromkeys(named)
            if named.count(name) > 1
        ]

    def _unfit_for_attackers(self, place: str, requirement: Requirement) -> list[str]:
        """Return why a requirement cannot hold for attackers who know some columns."""
        # Attackers of the requirement's own.
        stated = requirement.attackers or {}
        problems = [
            problem
            for name, attacker in stated.items()
            for problem in self._unfit_attacker(f"{place}: attackers.{name}", attacker)
        ]
        if not limits_knowledge(requirement) and not self.attackers.declared:
            return problems
        # The method protects against them, and the requirement means something to them.
        named = f"{place}: {requirement.name}"
        if judged_on_items(requirement):
            problems += unmet(named, Ability.ITEMS, self.method)
        else:
            demand = f"{named} for attackers who know some columns"
            problems += unmet(demand, Ability.ATTACKERS, self.method)
        knowing = for_attackers(requirement, self.attackers.declared).attackers or {}
        if requirement.algebra.refined and any(one.knows for one in knowing.values()):
            problems.append(
                f"{named} already assumes that other sensitive values are known. Remove 'knows' "
                "from the attackers that it holds for, or give it attackers of its own."
            )
        problems += self._known_to_all(named, requirement, knowing)
        if requirement.counting.sizes != "rows":
            problems.append(
                f"{named} is not judged for attackers who know some columns. Remove it, or use "
                "requirements such as k-anonymity, lkc-privacy, l-diversity or t-closeness."
            )
        if self.person is not None and self.person.rows == "keep":
            problems.append(
                f"{named} for attackers who know some columns counts rows. Use 'person: {{…, rows: "
                "collapse}}', so that each row is a person."
            )
        return problems

    def _known_to_all(
        self, place: str, requirement: Requirement, attackers: Mapping[str, Attacker]
    ) -> list[str]:
        """Return a requirement that protects nothing: every attacker knows what it is about."""
        if not isinstance(requirement, AttributeRequirement) or not attackers:
            return []
        protected = requirement.named or tuple(self.with_role(requirement.role))
        if not protected or not all(set(protected) <= set(one.knows) for one in attackers.values()):
            return []
        listed = ", ".join(f"'{name}'" for name in protected)
        knowing = ", ".join(attackers)
        return [
            f"{place} protects {listed}, which every attacker that it holds for already knows "
            f"({knowing}). Remove it from their 'knows', or give the requirement attackers of its "
            "own who do not know it."
        ]

    def _claimed_twice(self) -> list[str]:
        """Return columns that are a member of a set and an attribute, or of two sets."""
        claims = Counter(list(self.attributes))
        for attribute in self.attributes.values():
            claims.update(attribute.columns or ())
        return [
            f"attributes.{name}: '{member}' is used twice, in 'columns' and as another attribute. "
            "Use it once; the set needs a name of its own."
            for name, attribute in self.attributes.items()
            for member in attribute.columns or ()
            if claims[member] > 1
        ]

    @property
    def source_columns(self) -> set[str]:
        """The columns of the table that attributes name, or that are members of their sets."""
        named = {name for name, one in self.attributes.items() if one.columns is None}
        return named.union(*(one.columns or () for one in self.attributes.values()))

    def _may_be_bit(self, name: str) -> bool:
        """Return whether a name may be that of a bit, which only the data decides."""
        return any(self.becomes_set(of) and name.startswith(f"{of}=") for of in self.attributes)

    @property
    def collapses(self) -> bool:
        """Whether the rows of a person are reduced to one."""
        return self.person is not None and self.person.rows == "collapse"

    @property
    def person_rules(self) -> dict[str, CollapseRule] | None:
        """The collapse rule of each published attribute; None where rows are not collapsed."""
        if self.person is None or not self.collapses:
            return None
        return {
            name: attribute.collapse_rule
            for name, attribute in self.attributes.items()
            if attribute.role.published and name != self.person.count
        }

    def becomes_set(self, name: str) -> bool:
        """Return whether an attribute's cells are sets, of the source or of a person's rows."""
        attribute = self.attributes[name]
        collected = self.collapses and attribute.collapse_rule is CollapseRule.SET
        several = attribute.multi_valued is not None or attribute.columns is not None
        return several or collected

    def _unlinked(self, place: str, names: tuple[str, ...]) -> list[str]:
        """Return the reasons why a requirement on linked labels cannot be met."""
        problems = [
            f"{place}: '{name}' has no knowledge table. Add `knowledge: {{path: …, label: …, "
            "term: …}` to it."
            for name in names
            if name in self.attributes and self.attributes[name].knowledge is None
        ]
        return problems + unmet(place, Ability.LINKS, self.method)


def _problems(error: ValidationError, places: Places) -> list[str]:
    """Each problem of a validation error as a line with its place."""
    lines = []
    for detail in error.errors(include_url=False):
        trail = tuple(part for part in detail["loc"] if part not in HIERARCHY_KINDS)
        if trail[:2] == ("attackers", "declared"):  # a mapping is written without this word
            trail = ("attackers", *trail[2:])
        for message in _worded(detail, trail).split("\n"):
            below = _PLACE.match(message)  # found where all of the job was given
            if below and not trail:
                where = ("attackers", below[2]) if below[2] else ("requirements", int(below[1]))
                lines.append(places.describe(where, message[below.end() :]))
            else:
                lines.append(places.describe(trail, message))
    return lines


def _worded(detail: ErrorDetails, trail: tuple[str | int, ...]) -> str:
    """Return a problem in the terms of YAML, not of Python."""
    message = _WORDS.get(detail["type"], str(detail["msg"])).removeprefix("Value error, ")
    if detail["type"] == "extra_forbidden":
        return "unknown key. " + _known_keys(trail)
    if detail["type"] == "missing":
        return "is missing"
    if detail["type"] in _OWN_ERRORS:
        return message
    shown = "a mapping" if isinstance(detail["input"], Mapping) else _found(detail["input"])
    return f"{message}; found {shown}"


def _found(written: object) -> str:
    return "nothing" if written is None else repr(written)


_PLACE = re.compile(r"(?:requirements\[(\d+)\]|attackers\.([^:]+)): ")

_WORDS = {
    "dict_type": "must be a mapping, such as {key: value}",
    "model_type": "must be a mapping, such as {key: value}",
    "tuple_type": "must be a list, such as [a, b]",
    "string_type": 'must be text, in quotes if YAML reads it as anything else: "999"',
    "path_type": "must be the path of a file",
}

_OWN_ERRORS = {
    "named_unknown", "named_form", "requirements", "nothing_published", "source_place",
    "source_table", "source_url", "output_url", "ledger_place", "ledger_url", "value_error",
    "role_unknown", "person_rows", "attacker_form",
}  # fmt: skip


def _known_keys(trail: tuple[str | int, ...]) -> str:
    """Return a hint at the known key nearest to an unknown one."""
    *above, key = trail
    # The parts of a job that have keys, by their own key or by name.
    parts: dict[str, type[BaseModel]] = {
        "source": Source,
        "output": Output,
        "verify": Verify,
        "ledger": LedgerSettings,
        "person": Person,
        "measure": MeasureSettings,
    }
    named: dict[str | int, Mapping[str, type[BaseModel]]] = {
        "method": METHODS, "requirements": REQUIREMENTS, "verify": ATTACKS
    }  # fmt: skip
    kind: type[BaseModel] | None = None
    if not above:
        kind = Job
    elif above[0] == "attributes" and len(above) == 2:
        kind = Attribute
    elif above[0] == "attackers" and len(above) == 2:
        kind = Attacker
    elif above[0] == "attributes" and above[2:] == ["knowledge"]:
        kind = KnowledgeSource
    elif len(above) == 1:
        kind = parts.get(str(above[0]))
    else:
        kind = named.get(above[0], {}).get(str(above[-1]))
    if kind is None or not kind.model_fields:
        return "Remove it."
    return nearest(str(key), kind.model_fields)

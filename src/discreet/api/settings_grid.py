"""The jobs that a comparison runs: methods, and the places that take a varied parameter.

A parameter goes to the method and to every requirement of the job that has a parameter of this
name. ``l`` means the same to all methods, the number of values that an attacker can't tell apart,
under any name that a method gives it. Where neither the method nor a requirement takes ``k``,
``l`` or ``t``, the usual requirement with this parameter is added.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from pydantic import TypeAdapter, ValidationError

from discreet.by_name import nearest
from discreet.errors import InputError, JobError
from discreet.job.model import Job
from discreet.methods.base import Ability, Method
from discreet.methods.registry import METHODS, AnyMethod
from discreet.methods.series.m_invariance.m_invariance import MInvariance
from discreet.methods.series.rho_different.rho_different import RhoDifferent
from discreet.requirements.base import Requirement
from discreet.requirements.closeness import TCloseness
from discreet.requirements.diversity import PDiversity
from discreet.requirements.k_anonymity import KAnonymity
from discreet.requirements.registry import requirement_from_mapping
from discreet.table.roles import Role

USUAL: dict[str, type[Requirement]] = {"k": KAnonymity, "l": PDiversity, "t": TCloseness}

# A method's own name of a parameter, where it differs.
_OTHER_NAMES: dict[tuple[str, str], Callable[[Any], dict[str, Any]]] = {
    (MInvariance.name, "l"): lambda ell: {"m": ell},
    (RhoDifferent.name, "l"): lambda ell: {"rho": 1 / ell},
}


@dataclass(frozen=True)
class Setting:
    """One method with some parameters, which turns a job into its own."""

    method: str
    parameters: Mapping[str, Any]  # that were varied
    given: Mapping[str, Any]  # the method's other parameters
    note: str | None = None  # how the job's requirements were translated; None as they are

    @property
    def label(self) -> str:
        varied = [f"{name}={value}" for name, value in self.parameters.items()]
        return " ".join([self.method, *varied])

    def job(self, base: Job, sensitive: Sequence[str]) -> Job:
        """Return the job, or raise a JobError with the reason."""
        parameters = dict(self.given)
        requirements = [] if self.note else list(base.requirements)
        for name, value in self.parameters.items():
            taken = _of_method(self.method, name, value, sensitive)
            parameters |= taken or {}
            taking = [name in type(one).model_fields for one in requirements]
            requirements = [
                _with(one, name, value) if takes else one
                for one, takes in zip(requirements, taking, strict=True)
            ]
            if taken is None and not any(taking) and name in USUAL:
                requirements.append(requirement_from_mapping({USUAL[name].name: {name: value}}))
        job = Job(
            attributes=base.attributes,
            person=base.person,
            secrets=base.secrets,
            requirements=requirements,
            # other methods protect against one who knows all quasi-identifiers, which is stricter
            attackers=base.attackers if Ability.ATTACKERS in METHODS[self.method].abilities else {},
            method={self.method: parameters},
        )
        job._folder = base.folder
        return job

    def applied(self, base: Job) -> Job:
        """Return the whole job, with its source and output, by this method and setting."""
        varied = self.job(base, base.with_role(Role.SENSITIVE))
        changed = {name: getattr(varied, name) for name in ("method", "requirements", "attackers")}
        return base.model_copy(update=changed)


def suited_settings(job: Job) -> list[Setting]:
    """Return the methods that fit a job, with what its k and l mean to each.

    Those for several attributes come first, after the job's own.

    Each method runs with the job's own l, then with larger ones: a coarse search that a time
    budget may cut.
    """
    ell = _asked_l(job)
    several = len(job.with_role(Role.SENSITIVE)) > 1
    asked = Setting(job.method.name, {}, job.method.parameters())
    parameters_of: dict[str, dict[str, Any]] = {
        "mondrian": {},
        "local-recoding": {},
        "msa-diversity": {},
    }
    parameters_of["decomposition" if several else "anatomy"] = {}
    if several:
        parameters_of["codip"] = {"recoding": "mondrian"}
    rounds = []
    for number, l_value in enumerate(dict.fromkeys([ell, ell + 1, 2 * ell])):
        for method, parameters in parameters_of.items():
            note = _SETS_ALONE if method == "decomposition" else None
            varied: list[dict[str, Any]] = [{"l": l_value}]
            if method == "codip":
                varied = [{"l": l_value, "beta": beta} for beta in _BETAS[number % len(_BETAS)]]
            rounds += [Setting(method, one, parameters, note) for one in varied]
    stated = any(getattr(one, "l", None) == ell for one in job.requirements)
    same = Setting(asked.method, {"l": ell}, asked.given)  # the job's own, under another name
    return [asked, *(one for one in rounds if not stated or one != same)]


_BETAS = ((0.5,), (0.25,), (0.75,))  # the greatest information exposure, by round
_SETS_ALONE = (
    "groups list at least l values of each attribute (sa-diversity), which is what this method can "
    "promise; the job's other requirements are left out"
)


def _asked_l(job: Job) -> int:
    """The l of a job's requirements or method, at least 2."""
    asked = [getattr(one, "l", None) for one in (*job.requirements, job.method)]
    plain = [v for one in asked for v in (one.values() if isinstance(one, Mapping) else [one])]
    return max([2, *(math.ceil(v) for v in plain if isinstance(v, int | float))])


def settings_of(
    job: Job, methods: Sequence[Method | str | Mapping[str, Any]], vary: Mapping[str, Sequence[Any]]
) -> list[Setting]:
    """Every method with every combination of the parameters that it takes."""
    if not methods:
        raise InputError(f"Name the methods to compare. {nearest('', list(METHODS))}")
    chosen = [_parsed(method, job) for method in methods]
    doubled = [name for name, times in Counter(n for n, _ in chosen).items() if times > 1]
    if doubled:
        raise InputError(f"methods: {', '.join(doubled)} is named twice. Name each once.")
    _check_names(job, [name for name, _ in chosen], vary)
    settings = []
    for method, given in chosen:
        taken = {name: values for name, values in vary.items() if _takes(job, method, name)}
        settings += [
            Setting(method, dict(zip(taken, values, strict=True)), given)
            for values in product(*taken.values())
        ]
    return settings


def _parsed(method: Method | str | Mapping[str, Any], job: Job) -> tuple[str, dict[str, Any]]:
    """A method's name and parameters; a bare name takes the job's where it is the job's method."""
    if isinstance(method, str):
        if method not in METHODS:
            raise InputError(
                f"methods: unknown method '{method}'. {nearest(method, list(METHODS))}"
            )
        return method, job.method.parameters() if job.method.name == method else {}
    if isinstance(method, Mapping) and len(method) == 1:
        # parameters that are still to be varied may be missing, so they are checked later
        ((name, parameters),) = method.items()
        return _parsed(str(name), job)[0], dict(parameters or {})
    try:
        parsed: Method = TypeAdapter(AnyMethod).validate_python(method)
    except ValidationError as error:
        problems = [one["msg"] for one in error.errors(include_url=False)]
        raise JobError(problems, "methods") from None
    return parsed.name, parsed.parameters()


def _check_names(job: Job, methods: Sequence[str], vary: Mapping[str, Sequence[Any]]) -> None:
    known = {name for method in methods for name in METHODS[method].model_fields}
    known |= {name for one in job.requirements for name in type(one).model_fields} | set(USUAL)
    problems = [
        f"'{name}' is not a parameter of {', '.join(methods)} or of a requirement of the job. "
        + nearest(name, sorted(known))
        for name in vary
        if not any(_takes(job, method, name) for method in methods)
    ]
    problems += [
        f"'{name}' has no value. Give some: {name}=2,3." for name in vary if not vary[name]
    ]
    if problems:
        raise JobError(problems, "vary")


def _takes(job: Job, method: str, name: str) -> bool:
    fields = METHODS[method].model_fields
    asked = any(name in type(one).model_fields for one in job.requirements)
    return name in fields or (method, name) in _OTHER_NAMES or asked or name in USUAL


def _of_method(
    method: str, name: str, value: Any, sensitive: Sequence[str]
) -> dict[str, Any] | None:
    """The parameters of a method that a varied one becomes; None where it takes none."""
    if (method, name) in _OTHER_NAMES:
        return _OTHER_NAMES[method, name](value)
    field = METHODS[method].model_fields.get(name)
    if field is None:
        return None
    if "Mapping" in str(field.annotation):  # one for each attribute
        return {name: dict.fromkeys(sensitive, value)}
    return {name: value}


def _with(requirement: Requirement, name: str, value: Any) -> Requirement:
    parameters = requirement.parameters()
    if isinstance(parameters.get(name), Mapping):
        value = dict.fromkeys(parameters[name], value)
    return requirement_from_mapping({requirement.name: {**parameters, name: value}})

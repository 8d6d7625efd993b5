"""Every requirement by the name that a job gives it: built-ins, then those of plugins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import ValidationError
from pydantic_core import PydanticCustomError

from discreet.by_name import ByName
from discreet.errors import JobError
from discreet.plugins import Registry
from discreet.requirements.base import Requirement
from discreet.requirements.closeness import TCloseness
from discreet.requirements.k_anonymity import KAnonymity
from discreet.requirements.multi_attribute import DIVERSITIES, MultiAttributeLDiversity
from discreet.requirements.quasi_sensitive import QsClDiversity, QsTCloseness
from discreet.requirements.republication import (
    MInvarianceRequirement,
    RhoDifference,
    SeriesMInvariance,
    SeriesRhoDifference,
)
from discreet.requirements.sa_diversity import ConditionalLDiversity, SaDiversity
from discreet.requirements.value_bounds import AlphaKAnonymity, BetaLikeness, DeltaDisclosure

_KINDS: tuple[type[Requirement], ...] = (
    KAnonymity,
    *DIVERSITIES,
    MultiAttributeLDiversity,
    TCloseness,
    AlphaKAnonymity,
    BetaLikeness,
    DeltaDisclosure,
    SaDiversity,
    ConditionalLDiversity,
    QsClDiversity,
    QsTCloseness,
)
# What methods promise and no job may ask of another method.
PROMISED: tuple[type[Requirement], ...] = (
    MInvarianceRequirement,
    RhoDifference,
    SeriesMInvariance,
    SeriesRhoDifference,
)
REQUIREMENTS: Registry[Requirement] = Registry(
    "requirement", "discreet.requirements", Requirement, (*_KINDS, *PROMISED)
)

_by_name = ByName(REQUIREMENTS.without(kind.name for kind in PROMISED), "requirement")
AnyRequirement = Annotated[Requirement, _by_name]  # a field of a job that holds any of them


def requirement_from_mapping(written: Mapping[str, object] | str) -> Requirement:
    """Read ``{"k-anonymity": {"k": 5}}``, or raise a JobError that says all that is wrong."""
    try:
        return _by_name.parse(written)
    except ValidationError as error:
        problems = [
            f"{'.'.join(str(part) for part in one['loc'])}: {one['msg']}" for one in error.errors()
        ]
        raise JobError(problems, "requirement") from None
    except PydanticCustomError as error:
        raise JobError([error.message()], "requirement") from None

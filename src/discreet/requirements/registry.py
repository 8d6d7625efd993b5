"""Every requirement by the name that a job gives it: built-ins, then those of plugins.

A requirement is imported when its name is first asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import ValidationError
from pydantic_core import PydanticCustomError

from discreet.by_name import ByName
from discreet.errors import JobError
from discreet.plugins import Registry
from discreet.requirements.base import Requirement

_HOMES = {
    "k-anonymity": "discreet.requirements.k_anonymity:KAnonymity",
    "distinct-l-diversity": "discreet.requirements.diversity:DistinctLDiversity",
    "entropy-l-diversity": "discreet.requirements.diversity:EntropyLDiversity",
    "recursive-cl-diversity": "discreet.requirements.diversity:RecursiveClDiversity",
    "pd-recursive-cl-diversity": "discreet.requirements.diversity:PdRecursiveClDiversity",
    "npd-recursive-cl-diversity": "discreet.requirements.diversity:NpdRecursiveClDiversity",
    "p-diversity": "discreet.requirements.diversity:PDiversity",
    "m-diversity": "discreet.requirements.diversity:MDiversity",
    "multi-attribute-l-diversity": "discreet.requirements.multi_attribute:MultiAttributeLDiversity",
    "t-closeness": "discreet.requirements.closeness:TCloseness",
    "alpha-k-anonymity": "discreet.requirements.value_bounds:AlphaKAnonymity",
    "lkc-privacy": "discreet.requirements.value_bounds:LkcPrivacy",
    "km-anonymity": "discreet.requirements.attackers.km_anonymity:KmAnonymity",
    "delta-presence": "discreet.requirements.population:DeltaPresence",
    "k-map": "discreet.requirements.population:KMap",
    "population-risk": "discreet.requirements.population:PopulationRisk",
    "beta-likeness": "discreet.requirements.value_bounds:BetaLikeness",
    "delta-disclosure": "discreet.requirements.value_bounds:DeltaDisclosure",
    "sa-diversity": "discreet.requirements.sa_diversity:SaDiversity",
    "conditional-l-diversity": "discreet.requirements.sa_diversity:ConditionalLDiversity",
    "qs-cl-diversity": "discreet.requirements.quasi_sensitive:QsClDiversity",
    "qs-t-closeness": "discreet.requirements.quasi_sensitive:QsTCloseness",
}
# What methods promise and no job may ask of another method.
PROMISED = {
    "m-invariance": "discreet.requirements.republication:MInvarianceRequirement",
    "rho-different": "discreet.requirements.republication:RhoDifference",
    "m-invariance-in-series": "discreet.requirements.republication:SeriesMInvariance",
    "rho-different-in-series": "discreet.requirements.republication:SeriesRhoDifference",
    "bcf-anonymity-in-series": "discreet.requirements.republication:SeriesBcfAnonymity",
}
REQUIREMENTS: Registry[Requirement] = Registry(
    "requirement", "discreet.requirements", Requirement, _HOMES | PROMISED
)

_by_name = ByName(REQUIREMENTS.without(PROMISED), "requirement")
AnyRequirement = Annotated[Requirement, _by_name]  # a field of a job that holds any of them


def requirement_from_mapping(written: Mapping[str, object] | str) -> Requirement:
    """Read ``{"k-anonymity": {"k": 5}}``, or raise a JobError that says all that is wrong."""
    try:
        return _by_name.parse(written)
    except ValidationError as error:
        problems = [
            f"{'.'.join(str(part) for part in problem['loc'])}: {problem['msg']}"
            for problem in error.errors()
        ]
        raise JobError(problems, "requirement") from None
    except PydanticCustomError as error:
        raise JobError([error.message()], "requirement") from None

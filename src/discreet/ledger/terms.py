"""The terms of a series, which its first ρ-different release fixes for all later ones.

A belief about a series rests on the correlation table, on the rule for entries that the table does
not state, and on the domain of values. Each release states its guarantee for the whole series, so
a later release under other terms would change the beliefs of an attacker who has the earlier ones.
For example, a value that is new to the domain takes part of the mass that the table does not
state, and turns a group that listed all values into evidence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from discreet.errors import InputError
from discreet.ledger.record import Contents, Entry
from discreet.methods.series.beliefs.correlation import Correlation

RHO_DIFFERENT = "rho-different"
M_INVARIANCE = "m-invariance"
CORRELATION_HASH = "correlation_sha256"
BCF_ANONYMITY = "bcf_anonymity"


def terms_of(parameters: Mapping[str, Any], correlation: Correlation | None) -> dict[str, Any]:
    """Return the parameters that the ledger records: a method's own, and the hash of C."""
    if correlation is None:
        return dict(parameters)
    return {**parameters, CORRELATION_HASH: correlation.sha256}


def greatest_k(parameters: Sequence[Mapping[str, Any]]) -> int | None:
    """Return the greatest k of BCF-anonymity: each is stated for the whole series."""
    return max(
        (int(stated[BCF_ANONYMITY]) for stated in parameters if BCF_ANONYMITY in stated),
        default=None,
    )


def least_rho(parameters: Sequence[Mapping[str, Any]]) -> float | None:
    """Return the least ρ of some ρ-different releases: each is stated for the whole series."""
    return min((float(stated["rho"]) for stated in parameters), default=None)


def require_same_terms(
    name: str, entries: Sequence[Entry], method: str, parameters: Mapping[str, Any]
) -> None:
    """Refuse a release whose terms differ from those of the series in the ledger ``name``."""
    earlier = [entry for entry in entries if entry.method == RHO_DIFFERENT]
    if not earlier:
        return
    first = earlier[0]
    begun = f"Release {first.number} of the ledger '{name}' "
    if method != RHO_DIFFERENT:
        raise InputError(
            f"{begun}guarantees rho-different for the whole series, which a release by '{method}' "
            "can break. Publish with rho-different, or use another ledger for other records."
        )
    rho = least_rho([entry.parameters for entry in earlier])
    if rho is not None and parameters["rho"] > rho:
        raise InputError(
            f"An earlier release of the ledger '{name}' guarantees rho = {rho:g} for the whole "
            f"series; the job asks for rho = {parameters['rho']:g}. Use at most {rho:g}."
        )
    stated = first.parameters.get("unstated", parameters["unstated"])
    if parameters["unstated"] != stated:
        raise InputError(
            f"{begun}uses 'unstated: {stated}', the job 'unstated: {parameters['unstated']}'. The "
            f"guarantee covers the whole series under one rule. Use '{stated}'."
        )
    known = first.parameters.get(CORRELATION_HASH, parameters[CORRELATION_HASH])
    if parameters[CORRELATION_HASH] != known:
        raise InputError(
            f"{begun}uses another correlation table than the job. The guarantee covers the "
            "whole series under one table. Use the table of that release, or begin a new series "
            "of other records with a new ledger."
        )


def domain_of_series(
    entries: Sequence[Entry], past: Sequence[Contents], attribute: str
) -> tuple[str | None, ...] | None:
    """Return the domain that the first ρ-different release fixed; None where there is none."""
    for entry, contents in zip(entries, past, strict=True):
        if entry.method == RHO_DIFFERENT:
            return contents.signatures[attribute].values
    return None

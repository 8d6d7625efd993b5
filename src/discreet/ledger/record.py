"""One release as a ledger keeps it: each person's group, and the published values of each group.

The arrays of a record are packed into one block of bytes, so that a million people cost one row of
the database. The record's seal is an HMAC over the block, over the other facts of the release
and over the seal before it: a change anywhere breaks the chain.

The terms of a series, which its first ρ-different release fixes for all later ones.

A belief about a series rests on the correlation table, on the rule for entries that the table does
not state, and on the domain of values. Each release states its guarantee for the whole series, so
a later release under other terms would change the beliefs of an attacker who has the earlier ones.
For example, a value that is new to the domain takes part of the mass that the table does not
state, and turns a group that listed all values into evidence.

From the contents of a ledger to the history that a method may know.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import InputError
from discreet.ledger.settings import authenticate
from discreet.methods.series.beliefs.correlation import Correlation
from discreet.table.past_releases import History, PastRelease
from discreet.typing import Ints, Ints32, PersonHashes

if TYPE_CHECKING:
    from discreet.ledger.ledger import Ledger


class DamagedLedgerError(InputError):
    """A ledger that was tampered with or damaged; ``problem`` says where."""

    def __init__(self, name: str, problem: str) -> None:
        self.name, self.problem = name, problem
        super().__init__(
            f"The ledger '{name}' is damaged: {problem}. Restore an intact copy; 'discreet ledger "
            "verify' lists the damage."
        )

    def __reduce__(self) -> tuple[type[DamagedLedgerError], tuple[str, str]]:
        return DamagedLedgerError, (self.name, self.problem)


FIRST_SEAL = "0" * 64
ACCEPTED_RISK = "accepted_risk"  # among the parameters of a release


@dataclass(frozen=True, eq=False)
class GroupSignatures:
    """The published values of every group, for one attribute."""

    start: Ints  # (groups + 1,)
    value: Ints32  # (entries,) ascending in a group
    count: Ints32  # (entries,) counterfeits included
    values: tuple[str | None, ...]  # the dictionary


@dataclass(frozen=True, eq=False)
class Contents:
    """The people of a release with their groups, and the groups with their values."""

    people: PersonHashes  # (people, 2), in random order
    group: Ints32  # (people,) −1 for a person that is not published
    counterfeits: Ints32  # (groups,)
    signatures: Mapping[str, GroupSignatures]  # by sensitive attribute

    @property
    def groups(self) -> int:
        return len(self.counterfeits)

    def pack(self) -> bytes:
        """The block of bytes that a database keeps."""
        arrays: dict[str, Any] = {
            "people": self.people,
            "group": self.group,
            "counterfeits": self.counterfeits,
        }
        names = []
        for number, (name, signatures) in enumerate(self.signatures.items()):
            arrays[f"start{number}"] = signatures.start
            arrays[f"value{number}"] = signatures.value
            arrays[f"count{number}"] = signatures.count
            names.append([name, list(signatures.values)])
        text = json.dumps(names, ensure_ascii=False).encode()
        arrays["attributes"] = np.frombuffer(text, np.uint8)
        packed = io.BytesIO()
        np.savez(packed, **arrays)
        return packed.getvalue()

    @classmethod
    def unpack(cls, data: bytes) -> Contents:
        """The arrays in a block of bytes, whose seal was checked before."""
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            names = json.loads(arrays["attributes"].tobytes())
            signatures = {
                name: GroupSignatures(
                    arrays[f"start{number}"],
                    arrays[f"value{number}"],
                    arrays[f"count{number}"],
                    tuple(values),
                )
                for number, (name, values) in enumerate(names)
            }
            return cls(arrays["people"], arrays["group"], arrays["counterfeits"], signatures)


@dataclass(frozen=True)
class Entry:
    """The facts of a release in a ledger beside its contents."""

    number: int
    folder: str  # where it was published
    folder_hash: str
    recorded: str  # the time, UTC
    method: str
    parameters: dict[str, Any] = field(default_factory=dict)
    published_rows: int = 0
    held_back: int = 0
    counterfeits: int = 0
    groups: int = 0
    contents_hash: str = ""
    seal: str = ""
    pending: bool = False  # announced, and not known to be in its place yet

    @property
    def accepted_risk(self) -> str | None:
        """The reason for which the release was published against its verdict, if it was."""
        reason: str | None = self.parameters.get(ACCEPTED_RISK)
        return reason

    def accepting(self, reason: str | None) -> Entry:
        """Return the entry with the reason, under its seal like every parameter."""
        if reason is None:
            return self
        return replace(self, parameters={**self.parameters, ACCEPTED_RISK: reason})

    def facts(self) -> dict[str, Any]:
        """All that the seal covers, but for the seal before it."""
        return {name: fact for name, fact in vars(self).items() if name not in ("seal", "pending")}

    def sealed_by(self, key: bytes, before: str) -> str:
        """The seal that the entry must carry."""
        facts = json.dumps(self.facts(), sort_keys=True, ensure_ascii=False)
        return authenticate(key, f"{before}\n{facts}".encode(errors="surrogatepass"))


def hash_of_contents(data: bytes) -> str:
    """Return the hash of a block of bytes, as its entry has it."""
    return hashlib.sha256(data).hexdigest()


def require_people(people: PersonHashes, place: str) -> None:
    """Refuse a table with two rows of one person."""
    order = np.lexsort((people[:, 1], people[:, 0]))
    doubled = int((np.diff(people[order], axis=0) == 0).all(axis=1).sum())
    if doubled:
        raise InputError(
            f"Column '{place}': {doubled} rows repeat an identifier that another row has. A ledger "
            "recognizes records by it, so each has one row. Join the rows, or choose another "
            "identifier with 'ledger: {person: …}'."
        )


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
    # A guarantee for the whole series binds every later release.
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
    # Beliefs rest on the same rule and the same correlation table throughout.
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


def past_contents(ledger: Ledger, entries: Sequence[Entry], attribute: str) -> list[Contents]:
    """The contents of all releases so far; each must have published the attribute."""
    past = []
    for entry in entries:
        contents = ledger.contents(entry)
        if attribute not in contents.signatures:
            raise InputError(
                f"Release {entry.number} of the ledger '{ledger.name}' has no sensitive attribute "
                f"'{attribute}'. Keep a ledger for each series of releases of one attribute."
            )
        past.append(contents)
    return past


def values_of(past: Sequence[Contents], attribute: str) -> set[str | None]:
    """All values that were published in the past."""
    return {
        signatures.values[code]
        for signatures in (contents.signatures[attribute] for contents in past)
        for code in np.unique(signatures.value)
    }


def history_of(
    past: Sequence[Contents],
    attribute: str,
    people: PersonHashes,
    values: Sequence[str | None],
    *,
    fixed: bool = False,
) -> History:
    """The history for a table of some people; ``values`` holds all that were ever published."""
    numbers, count = _numbered([people, *(contents.people for contents in past)])
    place = {value: code for code, value in enumerate(values)}
    releases = []
    for number, contents in zip(numbers[1:], past, strict=True):
        signatures = contents.signatures[attribute]
        code = np.array([place.get(value, -1) for value in signatures.values], np.int32)
        published = contents.group >= 0
        value = code[signatures.value]
        group = np.repeat(np.arange(contents.groups), np.diff(signatures.start))
        order = np.lexsort((value, group))
        releases.append(
            PastRelease(
                number[published],
                contents.group[published],
                signatures.start,
                value[order],
                signatures.count[order],
            )
        )
    return History(tuple(releases), numbers[0], count, tuple(values), fixed)


def _numbered(parts: Sequence[PersonHashes]) -> tuple[list[Ints32], int]:
    """One number for each person, the same in every part."""
    together = np.concatenate(parts)
    order = np.lexsort((together[:, 1], together[:, 0]))
    ordered = together[order]
    fresh = np.ones(len(ordered), bool)
    fresh[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    number = np.empty(len(ordered), np.int32)
    number[order] = np.cumsum(fresh) - 1
    ends = np.cumsum([len(part) for part in parts])
    return np.split(number, ends[:-1]), int(fresh.sum())

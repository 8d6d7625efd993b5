"""One release as a ledger keeps it: each person's group, and the published values of each group.

The arrays of a record are packed into one block of bytes, so that a million people cost one row of
the database. The record's seal is an HMAC over the block, over the other facts of the release
and over the seal before it: a change anywhere breaks the chain.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.ledger.keys import authenticate
from discreet.typing import Ints, PersonHashes

SignatureArrays = tuple[Ints, Ints, Ints, tuple[str | None, ...]]


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

    start: NDArray[np.int64]  # (groups + 1,)
    value: NDArray[np.int32]  # (entries,) ascending in a group
    count: NDArray[np.int32]  # (entries,) counterfeits included
    values: tuple[str | None, ...]  # the dictionary


@dataclass(frozen=True, eq=False)
class Contents:
    """The people of a release with their groups, and the groups with their values."""

    people: PersonHashes  # (people, 2), in random order
    group: NDArray[np.int32]  # (people,) −1 for a person that is not published
    counterfeits: NDArray[np.int32]  # (groups,)
    signatures: Mapping[str, GroupSignatures]  # by sensitive attribute

    @property
    def groups(self) -> int:
        return len(self.counterfeits)

    @property
    def signature_arrays(self) -> dict[str, SignatureArrays]:
        """By attribute: where the values of each group start, the values, their counts, texts."""
        return {
            name: (
                signature.start,
                signature.value.astype(np.int64),
                signature.count.astype(np.int64),
                signature.values,
            )
            for name, signature in self.signatures.items()
        }

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
        return {
            "number": self.number,
            "folder": self.folder,
            "folder_hash": self.folder_hash,
            "recorded": self.recorded,
            "method": self.method,
            "parameters": self.parameters,
            "published_rows": self.published_rows,
            "held_back": self.held_back,
            "counterfeits": self.counterfeits,
            "groups": self.groups,
            "contents_hash": self.contents_hash,
        }

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

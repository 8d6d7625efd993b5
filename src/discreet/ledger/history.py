"""From the contents of a ledger to the history that a method may know."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.ledger.ledger import Ledger
from discreet.ledger.record import Contents, Entry
from discreet.table.past_releases import History, PastRelease
from discreet.typing import PersonHashes


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


def _numbered(parts: Sequence[PersonHashes]) -> tuple[list[NDArray[np.int32]], int]:
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

"""Between a release and the ledger: the record, and the step in which both appear."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, ReleaseError
from discreet.io.atomic import hash_of_folder
from discreet.job.model import Job
from discreet.ledger.settings import LedgerSettings
from discreet.methods.base import Bucketized, Counterfeits, Generalized, Outcome, Task
from discreet.releases.kinds.bucketized import PEOPLE
from discreet.table.classes import group_codes
from discreet.table.coded_table import Column
from discreet.table.counts import order_by_class
from discreet.table.published import GROUP, PublishedTable

if TYPE_CHECKING:
    from discreet.ledger.ledger import Ledger
    from discreet.ledger.record import Contents, Entry, GroupSignatures


@dataclass(frozen=True, eq=False)
class Draft:
    """A release that is ready to be recorded, and the state of the ledger that it builds on."""

    settings: LedgerSettings
    head: str
    entry: Entry
    contents: Contents

    @property
    def held_back(self) -> list[str]:
        """The keyed hashes of the people that the release does not contain."""
        from discreet.ledger.settings import hex_of

        return hex_of(self.contents.people[self.contents.group < 0])


def open_ledger(job: Job) -> Ledger | None:
    """The ledger that a job names."""
    if job.ledger is None:
        return None
    from discreet.ledger.ledger import Ledger

    return Ledger.open(job.ledger.located(job.folder))


@contextmanager
def ledger_for_reading(job: Job) -> Iterator[Ledger | None]:
    """Open the ledger that a job names, to read one state of it."""
    ledger = open_ledger(job)
    if ledger is None:
        yield None
        return
    with ledger, ledger.reading():
        yield ledger


@contextmanager
def ledger_for_writing(job: Job, path: Path) -> Iterator[Ledger | None]:
    """Open and lock the ledger that a job names, for a release that is to appear in a place."""
    ledger = open_ledger(job)
    if ledger is None:
        yield None
        return
    with ledger, ledger.writing():
        ledger.require_new_place(path)
        yield ledger


@contextmanager
def locked_ledger(
    draft: Draft | None, ledger: Ledger | None, path: Path
) -> Iterator[Ledger | None]:
    """Lock the ledger that is to record a release: the one given, or the one of its draft."""
    if draft is None:
        yield ledger
        return
    with ExitStack() as stack:
        if ledger is None:
            from discreet.ledger.ledger import Ledger

            ledger = stack.enter_context(Ledger.open(draft.settings))
        stack.enter_context(ledger.writing())
        ledger.require_new_place(path)
        require_current(draft, ledger)
        yield ledger


def require_ledger(job: Job) -> None:
    """Refuse a method that needs the earlier releases if there is no ledger."""
    if job.method.needs_history and job.ledger is None:
        raise InputError(
            f"The method '{job.method.name}' must know what was published before. Make a ledger "
            "with 'discreet ledger init people.ledger' and add 'ledger: {path: people.ledger}' to "
            "the job, or publish with --ledger."
        )


def draft_of(
    ledger: Ledger,
    job: Job,
    task: Task,
    outcome: Outcome,
    published: Mapping[str, PublishedTable],
) -> Draft:
    """Return the draft of an outcome for the ledger."""
    group, fakes = published_groups(outcome, published)
    numbered = isinstance(outcome, Bucketized)
    return draft_of_groups(ledger, job, task, group, task.table.sensitive, numbered, fakes)


def draft_of_groups(
    ledger: Ledger,
    job: Job,
    task: Task,
    group: NDArray[np.int32],
    sensitive: Sequence[Column],
    numbered: bool,
    fakes: Counterfeits | None = None,
) -> Draft:
    """Return the draft for the ledger of the group of every row, −1 for one held back.

    ``numbered`` says whether the files have the numbers of groups.
    """
    from discreet.ledger.record import BCF_ANONYMITY, Contents, Entry, terms_of

    people = task.basis.people
    assert people is not None
    assert job.ledger is not None
    groups = int(group.max(initial=-1)) + 1
    # The values of each group, counterfeits among them.
    counterfeits = np.zeros(groups, np.int32)
    if fakes is not None:
        counterfeits += np.bincount(fakes.group, minlength=groups).astype(np.int32)
    signatures = {column.name: _signatures(column, group, groups, fakes) for column in sensitive}
    order = np.lexsort((people[:, 1], people[:, 0]))  # hides the source's order
    # The terms that all releases of the series keep.
    parameters = terms_of(job.method.parameters(), task.past.correlation)
    if job.ledger.bcf_anonymity is not None:
        if not numbered or len(signatures) != 1:
            raise InputError(
                "ledger: bcf_anonymity needs releases with numbered groups and one sensitive "
                "attribute. Use m-invariance, rho-different, anatomy or msa-diversity with "
                "'publish: buckets'."
            )
        parameters[BCF_ANONYMITY] = job.ledger.bcf_anonymity
    # What the ledger takes.
    contents = Contents(people[order], group[order], counterfeits, signatures)
    entry = Entry(
        number=0,
        folder="",
        folder_hash="",
        recorded="",
        method=job.method.name,
        parameters=parameters,
        published_rows=int((group >= 0).sum()),
        held_back=int((group < 0).sum()),
        counterfeits=int(counterfeits.sum()),
        groups=groups,
    )
    return Draft(job.ledger.located(job.folder), ledger.head, entry, contents)


def published_groups(
    outcome: Outcome, published: Mapping[str, PublishedTable]
) -> tuple[NDArray[np.int32], Counterfeits | None]:
    """The group of every row as it is published, less 1; and counterfeits with such groups."""
    if isinstance(outcome, Generalized):
        return outcome.class_of_row, None
    if not isinstance(outcome, Bucketized):
        raise InputError(
            "A ledger records releases in which each row is in one group: generalized and "
            "bucketized ones. Publish this one without a ledger."
        )
    (column,) = [column for column in published[PEOPLE].columns if column.name == GROUP]
    is_published = outcome.group_of_row >= 0
    group = np.full(len(is_published), -1, np.int32)
    group[is_published] = column.codes
    fakes = outcome.counterfeits
    if fakes is None:
        return group, None
    number = np.zeros(int(outcome.group_of_row.max(initial=-1)) + 1, np.int32)
    number[outcome.group_of_row[is_published]] = column.codes
    return group, Counterfeits(number[fakes.group], fakes.value)


def _signatures(
    column: Column, group: NDArray[np.int32], groups: int, fakes: Counterfeits | None
) -> GroupSignatures:
    from discreet.ledger.record import GroupSignatures

    is_published = group >= 0
    of_row, codes = group[is_published], column.codes[is_published]
    if fakes is not None:
        of_row = np.concatenate([of_row, fakes.group])
        codes = np.concatenate([codes, fakes.value[column.name]]).astype(np.int32)
    entries = group_codes([of_row, codes], [groups, column.cardinality], len(of_row))
    of_group, value = of_row[entries.first_row], codes[entries.first_row]
    start, order = order_by_class(of_group, value, groups, column.cardinality)
    return GroupSignatures(
        start, value[order], entries.size[order].astype(np.int32), tuple(column.text.to_list())
    )


def require_current(draft: Draft, ledger: Ledger) -> None:
    """Refuse a release that was made before the ledger's last one was recorded."""
    if ledger.head != draft.head:
        raise ReleaseError(
            f"Another release was recorded in the ledger '{ledger.name}' in the meantime. "
            "Publish this one again."
        )


@contextmanager
def announced(
    draft: Draft | None,
    ledger: Ledger | None,
    partial: Path,
    place: Path,
    accepted_risk: str | None = None,
) -> Iterator[None]:
    """Announce a release to the ledger; settle it after the block, which moves the folder.

    ``accepted_risk`` is the reason for which its risk was accepted, where it needed one.
    """
    if draft is None or ledger is None:
        yield
        return
    require_current(draft, ledger)
    ledger.require_new_place(place)
    entry = replace(draft.entry, folder=str(place.absolute()), folder_hash=hash_of_folder(partial))
    entry = entry.accepting(accepted_risk)
    entry = ledger.announce(entry, draft.contents)
    try:
        yield
    except BaseException:
        ledger.withdraw(entry)
        raise
    ledger.settle(entry)

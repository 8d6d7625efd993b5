"""What an attacker who has all releases of a series believes, if values stay.

Where no guarantee covers the releases together, this is what the series reveals beside what each
release guarantees by itself. Targets are all persons whose beliefs another release can change:
those in several releases, and those who share a group with one of them, directly or through
others. A person who left is such a target: what the others have tells what the person had.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import islice, pairwise
from typing import Any

import numpy as np

from discreet.attacks.series.series_view import TOLERANCE, Series, connected, members_of
from discreet.methods.series.beliefs.components import BeliefStatus, beliefs, greatest_beliefs
from discreet.methods.series.beliefs.correlation import Correlation
from discreet.statements import Statement
from discreet.typing import Bools, Floats

STAY = Correlation(unstated="stay")
MOST_COMPONENTS = 20_000  # in which beliefs in sensitive values are told from others


@dataclass(frozen=True)
class Together:
    """The beliefs in the values of one attribute over all releases."""

    attribute: str
    returning: int  # people who are in two releases or more
    targets: int  # people whose beliefs were enumerated
    not_assessed: int  # people among too many others, or whose values changed
    greatest: float
    certain: int  # targets whose value all releases show for certain, and no release alone
    above: int  # targets with a belief above what a release guarantees by itself

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def sentence(self) -> Statement:
        """The beliefs in words."""
        said = Statement(
            "series.together",
            attribute=self.attribute,
            certain=self.certain,
            targets=self.targets,
            greatest=self.greatest,
        )
        if not self.not_assessed:
            return said
        return Statement("series.not-assessed", together=said, records=self.not_assessed)


def beliefs_together(series: Series) -> tuple[Floats, Bools, Bools]:
    """The greatest belief about each person by all releases; who is a target; who is assessed.

    Beliefs are in sensitive values, and targets those for whom one is possible.
    """
    component, joined = connected(series)
    greatest, found = greatest_beliefs(
        series.group_of, series.groups, STAY.matrix(series.values), component
    )
    status = np.append(found, BeliefStatus.IMPOSSIBLE)[component]  # the last: who never appears
    belief, exact = greatest.max(axis=0, initial=0.0), joined & (status == BeliefStatus.EXACT)
    if not series.harmless:
        return belief, joined, exact
    assessed = np.zeros(len(exact), bool)
    members, start = members_of(np.where(exact, component, -1))
    for begin, end in islice(pairwise(start), MOST_COMPONENTS):
        people = members[begin:end]
        if not len(people):
            continue
        _, every = beliefs(series.group_of[:, people], series.groups, STAY.matrix(series.values))
        belief[people] = every[:, :, series.sensitive].max(axis=(0, 2), initial=0.0)
        assessed[people] = True
    safe = assessed & (belief <= TOLERANCE)  # who certainly has a value that is not sensitive
    return belief, joined & ~safe, assessed & ~safe


def together(series: Series, attribute: str, bounds: Sequence[float]) -> Together:
    """Compare the beliefs by all releases with ``bounds``, the guarantee of each; inf for none."""
    belief, joined, assessed = beliefs_together(series)
    groups = series.groups
    entries = np.diff(groups.start)
    of_entry = np.repeat(np.arange(len(entries)), entries)
    size = np.bincount(of_entry, groups.count, len(entries))
    share = np.zeros(len(entries) + 1)  # the last for who is absent
    told = series.sensitive[groups.value]
    np.maximum.at(share, of_entry[told], (groups.count / size[of_entry])[told])
    present = series.group_of >= 0
    alone = np.where(present, share[series.group_of], 0.0).max(axis=0, initial=0.0)
    own = np.where(present, np.asarray(bounds, np.float64)[:, None], np.inf)
    sure = belief >= 1 - TOLERANCE
    return Together(
        attribute,
        int((present.sum(axis=0) > 1).sum()),
        int(assessed.sum()),
        int((joined & ~assessed).sum()),
        float(belief[assessed].max(initial=0.0)),
        int((assessed & sure & (alone < 1)).sum()),
        int((assessed & (belief > own.min(axis=0, initial=np.inf) + TOLERANCE)).sum()),
    )

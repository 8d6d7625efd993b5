"""Quasi-identifiers that say the same: one of them is published."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import combinations

import numpy as np

from discreet.job.proposing.role_judgement import Proposal
from discreet.table.coded_table import Column
from discreet.table.roles import Role
from discreet.table.secrets import are_versions, find_secrets


def without_derived(
    columns: Iterable[Column], roles: Mapping[str, Proposal]
) -> dict[str, Proposal]:
    """Propose that a quasi-identifier which follows from another one is not published.

    Two cells that say the same are coarsened apart from each other, and together tell more than
    either. Of two ordered columns of which neither follows from the other, such as a birth date
    and an age, the finer one is not published.
    """
    quasi = [c for c in columns if roles[c.name].role is Role.QUASI_IDENTIFIER]
    found: dict[str, str] = {}
    for secret in find_secrets(quasi):
        for name in secret.columns[1:]:
            sources = [one for one in secret.dependencies if one.second == name]
            source = next((one for one in sources if one.first not in found), None)
            if source is not None:
                nearly = "" if source.exact else "nearly "
                found[name] = f"it {nearly}follows from '{source.first}', which is published"
    left = [column for column in quasi if column.name not in found]
    for pair in combinations(left, 2):
        if are_versions(*pair) and not {column.name for column in pair} & set(found):
            finer, coarser = sorted(pair, key=lambda column: -np.count_nonzero(column.counts))
            found[finer.name] = f"'{coarser.name}' says the same more coarsely, and is published"
    dropped = {
        name: replace(
            roles[name],
            role=Role.DROP,
            reason=f"{roles[name].reason}; {reason}. To publish it, write 'role: quasi-identifier'",
            confidence="medium",
            if_wrong="analysts lose it",
        )
        for name, reason in found.items()
    }
    return {**roles, **dropped}

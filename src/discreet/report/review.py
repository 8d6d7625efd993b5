"""What the person who signs a release must see beside its manifest; for the publisher alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from discreet.releases.analyst_errors import AnalystErrors

if TYPE_CHECKING:
    from discreet.attacks.run import AttackReport


@dataclass(frozen=True)
class SampledRows:
    """Some rows of one table: the quasi-identifiers of the source, and as they are published."""

    table: str
    names: Sequence[str]
    rows: Sequence[Sequence[tuple[str, str]]]  # before and after, by row and column


@dataclass(frozen=True)
class ColumnChange:
    """One published column: different values before and after."""

    name: str
    role: str
    before: int
    after: int


@dataclass(frozen=True)
class Review:
    """Attacks, errors and samples of a release."""

    attacks: AttackReport | None = None
    not_attacked: str = ""  # why no attacker was tried
    errors: AnalystErrors | None = None
    samples: Sequence[SampledRows] = ()
    columns: Sequence[ColumnChange] = ()
    facts: dict[str, str] = field(default_factory=dict)  # provenance

"""How a release can end."""

from __future__ import annotations

from typing import NamedTuple

PUBLISHED = "published"
INFEASIBLE = "infeasible"
REFUSED = "refused input"
BROKEN = "broken guarantee"
OWN_AUDIT = "refused by its own audit"
EXCEPTION = "undocumented exception"
HANG = "hang"
OUTCOMES = (PUBLISHED, INFEASIBLE, REFUSED, BROKEN, OWN_AUDIT, EXCEPTION, HANG)
DEFECTS = OUTCOMES[3:]


class Ending(NamedTuple):
    """How one release of a case ended, and why."""

    outcome: str
    detail: str = ""

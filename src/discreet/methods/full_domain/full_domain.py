"""Full-domain generalization: every column recoded to one level of its hierarchy, at least cost.

LeFevre and others, "Incognito: efficient full-domain k-anonymity"; Machanavajjhala and others,
"ℓ-diversity: privacy beyond k-anonymity", section 5; Li and others, "t-closeness".

======================  =======================================================================
papers                  here
======================  =======================================================================
generalization lattice  ``lattice_search.Lattice``
frequency set, rollup   ``frequency_sets.FrequencySet``, ``roll_up``
suppression threshold   ``suppression``, a share of the rows
minimal generalization  ``minimal_nodes``
======================  =======================================================================

Departures. Incognito walks the lattices of all subsets of the quasi-identifiers; with the table
compressed, examining a node costs far less than that, so here nodes of the full lattice are
examined, chosen so that each closes many others (``lattice_search``). The optimum is found without
all minimal nodes.

Which monotonicity holds. *Without suppression* every requirement is closed under merging passing
classes, and the reference distribution of t-closeness is that of the whole table at every node; so
a node above one that holds holds too. *With suppression* the failing classes of a node are taken
out, and as requirements against the table compare with the published rows alone, this is repeated
until nothing fails or the budget is passed. A merged class passes an ``absorbing`` requirement
(k-anonymity, distinct ℓ) if one of its parts does, so the rows that fail those only get fewer
upward. The others (entropy, recursive, t-closeness) lack this: a passing class may be spoiled by a
failing one, and the reference moves, so a node above one that can be published may have to
suppress more. What does get easier upward is a lower bound on the rows that have to go
(``least_removed``, zero for some requirements): where it passes the budget, nothing
below can be published either. A node that fails otherwise says nothing about others; there only
the bounds on the cost speak.

Cost: the compression is linear in the rows; then each examined node is linear in the classes of
the nearest set below it.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

from pydantic import Field, NonNegativeInt

from discreet.methods.base import NOT_NUMBERED, Ability, Generalized, Method, Spread, Task
from discreet.methods.full_domain.costs import Measure
from discreet.methods.full_domain.lattice_search import NodeResult
from discreet.methods.full_domain.lattice_search import minimal_nodes as search_minimal_nodes
from discreet.methods.full_domain.manifest_entry import FullDomainEntry
from discreet.methods.full_domain.person_recodings import recodings_of
from discreet.methods.full_domain.recodings import Recodings
from discreet.methods.manifest_entry import MethodEntry
from discreet.methods.shared.lattice import Node
from discreet.table.interrupts import stop_flag
from discreet.table.persons import Keeping


class FullDomain(Method):
    """Recode every quasi-identifier to one level, the same for all rows, at the least cost."""

    name: ClassVar[str] = "full-domain"
    abilities: ClassVar[frozenset[Ability]] = frozenset(
        {
            Ability.COUNTS,
            Ability.RULED_OUT,
            Ability.SENSITIVE_VALUES,
            Ability.ATTACKERS,
            Ability.POPULATION,
            Ability.PRESENCE,
            Ability.PERSONS,
        }
    )
    entry: ClassVar[type[MethodEntry]] = FullDomainEntry
    spread: ClassVar[Spread | None] = Spread.COUNTS

    suppression: float = Field(
        default=0.0, ge=0, le=1, description="The share of the rows that may be suppressed."
    )
    minimize: Measure = Field(
        default="loss", description="Cost function that the best node minimizes."
    )
    levels: dict[str, NonNegativeInt] | None = Field(
        default=None,
        description="Publish at these levels, one for each quasi-identifier, without a search.",
    )
    seconds: float | None = Field(
        default=None,
        gt=0,
        description="How long the search may take; the best levels found by then are published.",
    )

    @property
    def needs_hierarchies(self) -> bool:
        return True

    def unfit_for_persons(self, keeping: Keeping) -> str | None:
        return NOT_NUMBERED.format(self.name) if keeping.numbered else None

    def most_suppressed(self, rows: int) -> int:
        return suppression_budget(self.suppression, rows)

    def run(self, task: Task) -> Generalized:
        """The cheapest recoding that meets all requirements, or InfeasibleError."""
        domain = recodings_of(task, self.most_suppressed)
        if self.levels is not None:
            return domain.at_levels(self.levels)
        search = domain.search(self.minimize)

        def examine(node: Node) -> NodeResult:
            task.progress("searching", search.share_closed)
            return domain.examine(node, self.minimize)

        with stop_flag(self.seconds) as stop:
            optimum = search.run(examine, stop)
        if optimum is None and not search.complete:
            optimum = search.examine_top(examine)
        if optimum is None:
            raise domain.infeasible(search.examined) if search.complete else domain.not_found()
        facts: dict[str, Any] = {
            "levels": domain.levels(optimum.node),
            "cost": optimum.cost,
            "nodes": domain.lattice.nodes,
            "nodes_examined": len(search.examined),
            "proved_optimal": search.complete,
        }
        return domain.outcome(optimum.node, facts)


def minimal_nodes(task: Task) -> list[dict[str, int]]:
    """All minimal recodings that meet the requirements without suppression, by their levels.

    Minimal: with any attribute one level lower, and the others no higher, some requirement fails.
    In lexicographic order; empty if not even the most general recoding meets them.
    """
    domain = Recodings(task, 0)
    nodes = search_minimal_nodes(domain.lattice, lambda node: domain.judge(node).publishable)
    return [domain.levels(node) for node in nodes]


def suppression_budget(share: float, rows: int) -> int:
    """How many rows may be suppressed: the share rounded down, but for the noise of floats."""
    return min(rows, math.floor(share * rows + 1e-9))

"""CODIP and CODIP*: several tables about the same people, each with some sensitive attributes.

Fang, Ashrafi and Ng, "Privacy beyond single sensitive attribute", 2011. Each table holds all
quasi-identifiers, generalized on its own, and a disjoint subset of the sensitive attributes; its
rows are in a random order of their own. Fewer sensitive attributes in a table means that each can
be closer to the table's distribution (Theorem 1), and that an attacker who knows one value of a
person can join it to fewer others; the price is the association between attributes in different
tables.

=====================  =======================================================================
paper                  here
=====================  =======================================================================
A, Q                   the sensitive attributes and quasi-identifiers of the task
Φ(A1, …, Ar)           ``plans.Plan``
bitmap transformation  ``table.bitmaps``, done for every method when the data are prepared
Γα ≤ α, Γβ ≤ β         ``alpha``, ``beta``; ``requirements.mutual_information``
k, t                   the job's requirements, any class model, asked of each table
d_m                    ``dm``, a ceiling on Σ|class|² of each table
CheckPlan              ``Projector.accepts``
CODIP*                 ``plan: greedy``, ``plans.merge_steps``
=====================  =======================================================================

Departures. CheckPlan tests Γβ first, which is arithmetic; then each block is looked up in a table
of (node, attribute) verdicts that is made once (``node_table``), so a plan costs microseconds where
a search for each block would cost seconds. Of the nodes at which a block passes, the cheapest by
``minimize`` is published. ``plan: exhaustive`` finds the plan with the least Γα, so that the gap of
the greedy one can be seen; ``plan: given`` checks a plan that the job writes. Full-domain recoding
is crude, so each table is cut locally (``local_projections``) unless the job says ``recoding:
full-domain``. Γβ is an average and bounds no belief, and by default all attributes may share a
table; ``insider`` therefore also asks for multi-attribute ℓ-diversity within each table, and
joins attributes only where that costs the quasi-identifiers at most a tenth of their information.

No row is suppressed: tables without different rows would reveal which rows are outliers,
and leaving rows out of one table would move the distribution that its t compares with.

Which monotonicity holds: without suppression all requirements are closed under merging of classes,
so a node above one that passes passes; the ceiling cuts from above.

Cost: one pass over the rows for each sensitive attribute and pair of them; then nodes × attributes
on compressed counts; then O(s²) for each of s − 1 merges. Exhaustive: Bell(s) plans, s ≤ 9.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Literal

from pydantic import Field, NonNegativeInt, model_validator
from pydantic_core import PydanticCustomError

from discreet.by_name import nearest
from discreet.errors import InfeasibleError, InputError, JobError
from discreet.methods.base import (
    NOT_NUMBERED,
    Ability,
    Method,
    Projected,
    Projection,
    Spread,
    Task,
    projection_name,
)
from discreet.methods.codip.frontier import Frontier, frontier_of
from discreet.methods.codip.local_projections import LocalRecoder, mean_loss
from discreet.methods.codip.node_table import NodeTable, PersonNodes
from discreet.methods.codip.plans import (
    TIE,
    Block,
    Plan,
    Ratios,
    least,
    merge_steps,
    ordered,
    partitions,
    singletons,
)
from discreet.methods.codip.recoder import Recoder, failure_of
from discreet.methods.full_domain.costs import Measure
from discreet.methods.manifest_entry import MethodEntry, StatedRelease, level_problems
from discreet.requirements.base import Requirement
from discreet.requirements.multi_attribute import DIVERSITIES, MultiAttributeLDiversity
from discreet.statements import Statement
from discreet.table.persons import Keeping
from discreet.table.roles import Role

EXHAUSTIVE_LIMIT = 9  # attributes; Bell(9) = 21 147 plans
MOST_LOSS = 0.1  # of quasi-identifiers, that sharing a table may cost where values are known


class CodipEntry(MethodEntry):
    """What a manifest says of codip: its projections."""

    name: Literal["codip"]
    plan: list[list[str]]  # sensitive attributes by table
    # By table and quasi-identifier; empty where recoding is local.
    levels: dict[str, dict[str, NonNegativeInt]] = Field(default_factory=dict)
    closeness: float = 0.0  # of the worst class of any table

    @property
    def publishes_tight_cells(self) -> bool:
        return not self.levels

    def levels_of(self, table: str) -> Mapping[str, int] | None:
        return self.levels.get(table)

    def problems(self, release: StatedRelease) -> list[str]:
        unknown = [
            f"levels of '{table}', which is not a table"
            for table in set(self.levels) - {*release.tables}
        ]
        return unknown + [
            line
            for table, levels in self.levels.items()
            for line in level_problems(f"levels.{table}", levels, release.quasi_identifiers)
        ]

    def private_sentences(self, facts: Mapping[str, Any], utility: Mapping[str, Any]) -> list[str]:
        if "association_loss" not in facts:
            return []
        return [
            Statement(
                "codip.association",
                association_loss=facts["association_loss"],
                information_exposure=facts["information_exposure"],
            )
        ]


class Codip(Method):
    """Publish several tables with disjoint sensitive attributes, chosen by information."""

    name: ClassVar[str] = "codip"
    abilities: ClassVar[frozenset[Ability]] = frozenset(
        {Ability.COUNTS, Ability.RULED_OUT, Ability.SENSITIVE_VALUES, Ability.PERSONS}
    )
    entry: ClassVar[type[MethodEntry]] = CodipEntry
    spread: ClassVar[Spread | None] = Spread.COUNTS

    plan: Literal["greedy", "exhaustive", "given"] = Field(
        default="greedy", description="How the plan is found: CODIP*, all plans, or the job's own."
    )
    tables: tuple[tuple[str, ...], ...] | None = Field(
        default=None, description="For plan: given, the sensitive attributes of each table."
    )
    alpha: float = Field(default=1.0, ge=0, le=1, description="The greatest association loss.")
    beta: float = Field(default=1.0, ge=0, le=1, description="The greatest information exposure.")
    dm: float | None = Field(
        default=None, gt=0, description="The greatest discernibility of a table, Σ |class|²."
    )
    insider: bool = Field(
        default=True,
        description="Let attributes share a table only where the diversity that the job asks for "
        "also holds for an attacker who knows the table's other sensitive values. Not for plan: "
        "given.",
    )
    recoding: Literal["full-domain", "mondrian"] = Field(
        default="mondrian",
        description="Whether each table's quasi-identifiers are recoded to one level for all rows, "
        "or cut in ever smaller parts.",
    )
    minimize: Measure = Field(
        default="loss",
        description="Cost function that a full-domain recoding of each table minimizes.",
    )

    @property
    def needs_hierarchies(self) -> bool:
        return self.recoding == "full-domain"

    def unfit_for_persons(self, keeping: Keeping) -> str | None:
        return NOT_NUMBERED.format(self.name) if keeping.numbered else None

    @model_validator(mode="after")
    def _tables_fit(self) -> Codip:
        if (self.plan == "given") != (self.tables is not None):
            raise PydanticCustomError(
                "codip_tables",
                "'tables' and 'plan: given' go together: give the sensitive attributes of each "
                "table, such as {example}, or let the plan be found.",
                {"example": "tables: [[diagnosis, drug], [income]]"},
            )
        return self

    def most_suppressed(self, rows: int) -> int:
        return 0

    def promises(self, task: Task) -> tuple[Requirement, ...]:
        """Return the job's diversity where the other values of a table are known.

        An attribute that is alone in its table meets it as it meets the job's: rows of different
        tables are not linked, so a value in another table rules no row out.
        """
        if not self.insider or self.plan == "given" or len(task.table.sensitive) < 2:
            return ()
        return tuple(
            MultiAttributeLDiversity(
                inner=requirement.model_copy(update={"attribute": None}),
                attribute=requirement.attribute,
            )
            for requirement in task.requirements
            if isinstance(requirement, DIVERSITIES)
        )

    def run(self, task: Task) -> Projected:
        """The projections of a plan within all bounds, or InfeasibleError."""
        projector = Projector(task, self)
        return projector.outcome(projector.find())

    def explore(self, task: Task) -> Frontier:
        """The whole frontier of CODIP*: what each number of tables loses, exposes and reaches."""
        return Projector(task, self).frontier()


class Projector:
    """One task's plans: finding, checking, publishing."""

    def __init__(self, task: Task, method: Codip) -> None:
        _require_fit(task)
        self.promises = method.promises(task)
        task = replace(task, requirements=[*task.requirements, *self.promises])
        self.task = task
        self.method = method
        self.names = tuple(column.name for column in task.table.sensitive)
        task.progress("information", 0.0)
        self.information = task.information
        self.ratios = Ratios(self.information)
        self.recoder = _recoder(task, method)
        self._loss: dict[Block, float] = {}

    # ---- finding a plan

    def find(self) -> Plan:
        """The plan that the method publishes."""
        if self.method.plan == "given":
            plan = self.given()
            if not self.accepts(plan) or not self._keeps_enough(plan):
                raise self.infeasible(plan)
            return plan
        chosen = self._greedy() if self.method.plan == "greedy" else self._exhaustive()
        if chosen is None or not self._keeps_enough(chosen):
            raise self.infeasible(chosen)
        return chosen

    def accepts(self, plan: Plan) -> bool:
        """CheckPlan*: Γβ is within β, and every block passes somewhere.

        Diversity against known values coarsens the cells of a shared table, where a table of its
        own for each attribute would not: sharing that costs too much is refused.
        """
        if self.ratios.exposure(plan) > self.method.beta + TIE:
            return False
        can_publish = self.recoder.can_publish
        for block in plan:
            if not can_publish(block):
                return False
            if self.promises and len(block) > 1 and self.loss(block) > MOST_LOSS:
                return False
        return True

    def loss(self, block: Block) -> float:
        """The mean information loss of a cell of a block that can be published."""
        if block not in self._loss:
            self._loss[block] = mean_loss(self.task, self.recoder.recoded(block).outcome)
        return self._loss[block]

    def _keeps_enough(self, plan: Plan) -> bool:
        return self.ratios.association_loss(plan) <= self.method.alpha + TIE

    def _greedy(self) -> Plan | None:
        """CODIP*: the last plan before a merge is refused; None if the singletons are."""
        accepted = None
        for plan in merge_steps(self.information):
            if not self.accepts(plan):
                break
            accepted = plan
        return accepted

    def _exhaustive(self) -> Plan | None:
        if len(self.names) > EXHAUSTIVE_LIMIT:
            raise InputError(
                f"codip: 'plan: exhaustive' tries all partitions of up to {EXHAUSTIVE_LIMIT} "
                f"sensitive attributes; there are {len(self.names)}. Use 'plan: greedy'."
            )
        accepted = (plan for plan in partitions(len(self.names)) if self.accepts(plan))
        return least(accepted, self.ratios)

    def given(self) -> Plan:
        """The plan that the job writes; a multi-valued attribute represents all its bits."""
        bitmaps = self.task.bitmaps
        blocks = [
            [bit for name in table for bit in (bitmaps[name].bits if name in bitmaps else (name,))]
            for table in self.method.tables or ()
        ]
        named = [name for block in blocks for name in block]
        doubled = sorted({name for name in named if named.count(name) > 1})
        unknown = [name for name in dict.fromkeys(named) if name not in self.names]
        absent = [name for name in self.names if name not in named]
        problems = [f"method.codip.tables: '{name}' is listed twice." for name in doubled]
        problems += [
            f"method.codip.tables: '{name}' is not a sensitive attribute. "
            f"{nearest(name, self.names)}"
            for name in unknown
        ]
        problems += [f"method.codip.tables: '{name}' is in no table. Add it." for name in absent]
        if any(not block for block in blocks):
            problems.append("method.codip.tables: a table has no attribute. Remove it.")
        if problems:
            raise JobError(problems)
        number = {name: i for i, name in enumerate(self.names)}
        return ordered([number[name] for name in block] for block in blocks)

    # ---- what is published

    def outcome(self, plan: Plan) -> Projected:
        """The tables of a plan that was accepted."""
        recoded = [self.recoder.recoded(block) for block in plan]
        levels = {projection_name(u): found.levels for u, found in enumerate(recoded)}
        facts: dict[str, Any] = {
            "plan": [list(self.named(block)) for block in plan],
            "association_loss": self.ratios.association_loss(plan),
            "information_exposure": self.ratios.exposure(plan),
            "closeness": max(found.closeness for found in recoded),
        }
        if self.method.recoding == "full-domain":
            facts |= {"levels": levels}
        facts |= self.recoder.facts()
        projections = tuple(
            Projection(self.named(block), found.outcome)
            for block, found in zip(plan, recoded, strict=True)
        )
        return Projected(projections, facts, self.promises)

    def named(self, block: Iterable[int]) -> tuple[str, ...]:
        """The names of a block's attributes."""
        return tuple(self.names[attribute] for attribute in block)

    def frontier(self) -> Frontier:
        """Every merge step, whether the bounds accept it or not."""
        plans = list(merge_steps(self.information))
        return frontier_of(plans, self.ratios, self.recoder, self.names)

    # ---- when it can't be met

    def infeasible(self, plan: Plan | None) -> InfeasibleError:
        """Return which bound is in the way, by how much, and the nearest point of the frontier."""
        blocks = plan or singletons(len(self.names))
        impassable = [block for block in blocks if not self.recoder.can_publish(block)]
        if impassable:
            message, failures = self.recoder.why_not(impassable)
            step = self.frontier().closest()
            near = "" if step is None else f" The frontier's nearest point: {step.sentence()}."
            return InfeasibleError(f"codip: {message}{near}", failures)
        assert plan is not None  # else a single attribute would be impassable
        message, failures = self._beyond_bounds(plan)
        return InfeasibleError(f"codip: {message}", failures)

    def _beyond_bounds(self, plan: Plan) -> tuple[str, list[dict[str, object]]]:
        """α, or for a plan that the job gives β, is in the way."""
        alpha, beta = self.ratios.association_loss(plan), self.ratios.exposure(plan)
        asked = {"alpha": self.method.alpha, "beta": self.method.beta}
        failures = [failure_of("codip", asked, {"alpha": alpha, "beta": beta})]
        which = "The given plan" if self.method.plan == "given" else "The best plan within beta"
        message = (
            f"{which} has {len(plan)} tables, association loss {alpha:.6g} (alpha = "
            f"{self.method.alpha:g}) and information exposure {beta:.6g} (beta = "
            f"{self.method.beta:g})."
        )
        row = self.frontier().nearest(self.method.alpha, self.method.beta)
        if row is not None:
            message += f" The frontier's nearest point: {row.sentence()}."
        return f"{message} Raise that bound.", failures


def _recoder(task: Task, method: Codip) -> Recoder:
    """How the quasi-identifiers of every table are recoded."""
    if method.recoding == "mondrian":
        return LocalRecoder(task, method.dm)
    nodes = NodeTable if task.basis.persons is None else PersonNodes
    return nodes(task, method.minimize, method.dm)


def _require_fit(task: Task) -> None:
    problems = []
    if not task.table.sensitive:
        problems.append("codip: no attribute is sensitive. Give one the role 'sensitive'.")
    if task.table.with_role(Role.QUASI_SENSITIVE):
        problems.append(
            "codip: quasi-sensitive attributes belong to no projection. Use the method "
            "'quasi-sensitive', or give them the role 'sensitive' or 'drop'."
        )
    if problems:
        raise JobError(problems)

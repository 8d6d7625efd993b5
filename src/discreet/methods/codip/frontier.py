"""The frontier of CODIP*: for every number of tables, what is lost, exposed and reached."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from discreet.methods.codip.plans import TIE, Plan, Ratios
from discreet.methods.codip.recoder import Recoder


@dataclass(frozen=True)
class FrontierStep:
    """One plan on the way from a table for each attribute to a single table."""

    tables: int
    plan: tuple[tuple[str, ...], ...]
    association_loss: float  # Γα
    information_exposure: float  # Γβ
    closeness: float | None  # the least t that all tables reach; None where no node is valid
    improvement: float | None  # 1 − t'/t against the single table; None where that is 0 or absent
    chosen_closeness: float | None  # the t of the nodes that the utility measure would choose
    feasible: bool  # whether every table meets the job's requirements at some node

    @property
    def reduced_join_threat(self) -> float:
        """1 − Γβ."""
        return 1.0 - self.information_exposure

    def sentence(self) -> str:
        """The step in words."""
        reached = "no valid node" if self.closeness is None else f"t = {self.closeness:.6g}"
        noun = "table" if self.tables == 1 else "tables"
        return (
            f"{self.tables} {noun}, association loss {self.association_loss:.6g}, information "
            f"exposure {self.information_exposure:.6g}, {reached}"
        )


@dataclass(frozen=True)
class Frontier:
    """All merge steps, the single table, which is the baseline, last."""

    attributes: tuple[str, ...]
    steps: tuple[FrontierStep, ...]
    nodes: int = 0  # of the lattice of full-domain recodings
    nodes_valid: int = 0  # that meet the requirements on sizes and the ceiling

    @property
    def baseline(self) -> FrontierStep:
        """The single table."""
        return self.steps[-1]

    def nearest(self, alpha: float, beta: float) -> FrontierStep | None:
        """The feasible step that passes the bounds by least; of those the one with fewer tables."""

        def excess(step: FrontierStep) -> float:
            over = max(step.association_loss - alpha, 0.0)
            return over + max(step.information_exposure - beta, 0.0)

        feasible = [step for step in self.steps if step.feasible]
        return min(feasible, key=lambda step: (excess(step), step.tables), default=None)

    def closest(self) -> FrontierStep | None:
        """The step that reaches the least t, with as few tables as that takes."""
        reached = {step: step.closeness for step in self.steps if step.closeness is not None}
        bound = min(reached.values(), default=0.0) + TIE
        within = [step for step, t in reached.items() if t <= bound]
        return min(within, key=lambda step: step.tables, default=None)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "attributes": list(self.attributes),
            "nodes": self.nodes,
            "nodes_valid": self.nodes_valid,
            "steps": [
                {**asdict(step), "reduced_join_threat": step.reduced_join_threat}
                for step in self.steps
            ],
        }


def frontier_of(
    plans: Sequence[Plan], ratios: Ratios, recoder: Recoder, names: Sequence[str]
) -> Frontier:
    """Return what a recoding reaches for every plan."""
    baseline = recoder.best_closeness(plans[-1][0])
    steps = []
    for plan in plans:
        closeness = _worst([recoder.best_closeness(block) for block in plan])
        chosen = _worst([recoder.chosen_closeness(block) for block in plan])
        improved = closeness is not None and baseline is not None and baseline > TIE
        steps.append(
            FrontierStep(
                tables=len(plan),
                plan=tuple(tuple(names[a] for a in block) for block in plan),
                association_loss=ratios.association_loss(plan),
                information_exposure=ratios.exposure(plan),
                closeness=closeness,
                improvement=1.0 - (closeness or 0.0) / (baseline or 1.0) if improved else None,
                chosen_closeness=chosen,
                feasible=chosen is not None,
            )
        )
    return Frontier(tuple(names), tuple(steps), **recoder.facts())


def _worst(figures: Sequence[float | None]) -> float | None:
    """The greatest of the tables' figures; None where one of them has none."""
    known = [figure for figure in figures if figure is not None]
    return max(known) if len(known) == len(figures) else None

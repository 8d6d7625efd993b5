"""Quasi-sensitive attributes: generalize for k-anonymity, then remove terms that give labels away.

Shi, Xiong and Fung, "Anonymizing data with quasi-sensitive attribute values".

===========================  =====================================================================
paper                        here
===========================  =====================================================================
D, E, K(tp)                  the table, ``knowledge.table.Knowledge``, ``knowledge.table.Links``
QI group G, D^g              a class of ``Mondrian`` (phase 1)
QS principles                ``requirements.quasi_sensitive``
inverse weighted cost T      ``removal``: Σ (1/w + 1/(w−1) + …) over removed terms, normalized
search tree, tailset, Δl'    ``experiments/paper_term_removal.py``; here whole rows, see below
===========================  =====================================================================

Departures. (1) The search goes over whole rows, not occurrences: the subsets of a row's terms
collapse to its distinct label sets (``outcomes``), a greedy over rows finds a first solution
and a branch and bound improves it or proves it (``search``). The paper's Δl' is flat as long
as single removals do not change a label set, so it nibbles at every row where the optimum guts
two; on the paper's own setting its first solution costs nearly twice as much. (2) Rows that link
to nothing hold no belief: they are left alone, and counted. (3) The budget counts nodes of a group,
so that a run can be repeated; seconds are for the whole search. (4) Neither principle is monotone
under removal, so that no removal may pass; the rows of such a group are suppressed, and reported.

Phase 1 meets the job's other requirements, on explicit sensitive attributes too; phase 2 changes
no class. Where a suppressed group moves what a requirement against the table compares with, classes
that then fail are suppressed in turn.

Cost: phase 1 as Mondrian; then each failing group by its budget. A row of w terms has at most 2^w
outcomes, in practice a few hundred at w = 9; a first solution looks at each a few times.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field

from discreet.errors import InfeasibleError, JobError
from discreet.hierarchies.cells import SUPPRESSED
from discreet.knowledge.table import Links, Terms, term_rows, terms_of
from discreet.methods.base import (
    NOT_NUMBERED,
    Ability,
    Generalized,
    Method,
    RowColumn,
    Spread,
    Task,
)
from discreet.methods.manifest_entry import MethodEntry
from discreet.methods.mondrian.mondrian import Mondrian
from discreet.methods.quasi_sensitive.manifest_entry import QuasiSensitiveEntry
from discreet.methods.quasi_sensitive.person_removal import (
    PersonRemoval,
    remove_from_persons,
    without_drift,
)
from discreet.methods.quasi_sensitive.removal import (
    OPTIMAL,
    Removal,
    TermGroups,
    remove_terms,
)
from discreet.methods.quasi_sensitive.state import ABSOLUTE, DIVERSITY, EUCLIDEAN, Principles
from discreet.methods.shared.judged_persons import counts_on_persons
from discreet.methods.shared.person_groups import group_persons
from discreet.requirements.base import Domain, Requirement
from discreet.requirements.quasi_sensitive import LinkRequirement, QsClDiversity, QsTCloseness
from discreet.table.classes import Classes
from discreet.table.coded_table import Column
from discreet.table.counts import ValueCounts, count_classes, count_values, order_by_class
from discreet.table.kernels.lists import entries_of
from discreet.table.persons import Keeping, Persons, Scope
from discreet.typing import Bools, Codes, Ints


class QuasiSensitive(Method):
    """Group people by Mondrian, then remove the terms that link a group to too few labels."""

    name: ClassVar[str] = "quasi-sensitive"
    entry: ClassVar[type[MethodEntry]] = QuasiSensitiveEntry
    spread: ClassVar[Spread | None] = Spread.CUTS
    abilities: ClassVar[frozenset[Ability]] = frozenset(
        {Ability.TERMS, Ability.COUNTS, Ability.SENSITIVE_VALUES, Ability.PERSONS, Ability.LINKS}
    )

    search: Literal["rows", "exact", "paper"] = Field(
        default="rows",
        description="Within the budget (`paper` is accepted and means the same), or to its end.",
    )
    order: Literal["adaptive", "plain"] = Field(
        default="adaptive", description="Without effect; accepted in jobs for `search: paper`."
    )
    nodes: int = Field(
        default=1000, ge=0, description="How far the search of a group goes after a first solution."
    )
    seconds: float | None = Field(
        default=None,
        gt=0,
        description="How long the search may take, instead of nodes; also ends an exact search.",
    )
    cuts: Literal["strict", "relaxed"] = Field(
        default="strict", description="As for mondrian, which forms the groups."
    )
    cells: Literal["free", "levels"] = Field(
        default="free", description="As for mondrian, which forms the groups."
    )

    @property
    def needs_hierarchies(self) -> bool:
        return self._grouping.needs_hierarchies

    @property
    def _grouping(self) -> Mondrian:
        return Mondrian(cuts=self.cuts, cells=self.cells)

    def run(self, task: Task) -> Generalized:
        """The groups with the terms that stay, or InfeasibleError where no group can pass."""
        linked = [r for r in task.requirements if isinstance(r, LinkRequirement)]
        others = [r for r in task.requirements if not isinstance(r, LinkRequirement)]
        if task.basis.persons is not None:
            return self._on_persons(task, task.basis.persons, linked, others)
        # Phase 1: groups that meet the other requirements.
        grouped = self._grouping.run(replace(task, requirements=others, knowledge={}))
        size = np.bincount(grouped.class_of_row).astype(np.int64)
        classes = Classes(grouped.class_of_row, np.zeros(len(size), np.int64), size)
        # Phase 2: remove terms from the groups that fail.
        works = [
            self._remove(task, classes, task.table[name], links, linked)
            for name, links in task.links.items()
        ]
        passes = np.ones(classes.count, bool)
        for work in works:
            passes &= work.passes
        # Suppress the groups that still fail, and those that then drift from the table.
        refined = any(r.algebra.refined for r in others)
        counts = cache(lambda: count_classes(classes, task.table.sensitive, refined=refined))
        passes = without_drift(others, lambda _: counts(), task.domains, passes)
        if not passes.any():
            raise _infeasible(works)
        class_of_row = np.where(passes[grouped.class_of_row], grouped.class_of_row, -1)
        return Generalized(
            class_of_row.astype(np.int32),
            grouped.cells,
            {**grouped.facts, **_facts(works, passes, class_of_row)},
            row_cells={w.column.name: w.cells() for w in works if w.removed_any},
        )

    def _on_persons(
        self,
        task: Task,
        persons: Persons,
        linked: Sequence[LinkRequirement],
        others: Sequence[Requirement],
    ) -> Generalized:
        """The groups of persons with the terms that stay."""
        plain = replace(task, requirements=others, knowledge={})
        grouped = group_persons(self._grouping, plain, persons)
        group = grouped.class_of_row

        def remove(column: Column, links: Links, classes: Classes) -> _Work:
            return self._remove(task, classes, column, links, linked)

        removal = remove_from_persons(task, persons, group, linked, remove)
        classes = Classes.of_numbers(group)
        passes = without_drift(
            others,
            lambda asked: counts_on_persons(asked, classes, persons, task.table.sensitive),
            task.domains,
            removal.passes,
        )
        if not passes.any():
            raise _infeasible([w for w in removal.works if isinstance(w, _Work)])
        class_of_row = np.where(passes[group], group, -1).astype(np.int32)
        facts = _facts_on_persons(task, removal, passes, class_of_row)
        cells = {name: RowColumn(c.codes, c.text) for name, c in removal.columns.items()}
        return Generalized(class_of_row, grouped.cells, facts, row_cells=cells)

    def unfit_for_persons(self, keeping: Keeping) -> str | None:
        if self.cells == "levels":
            return "with several rows of a person, groups may be merged. Use 'cells: free'"
        if keeping.scope is Scope.ROWS:
            return "quasi-sensitive groups persons. Use 'scope: persons'"
        return NOT_NUMBERED.format(self.name) if keeping.numbered else None

    def joined_facts(self, parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """The cost is a mean over groups; of an attribute only removals are counted by part."""
        joined = super().joined_facts(parts)
        joined["cost"] = sum(p["cost"] * p["groups"] for p in parts) / max(joined["groups"], 1)
        for name, facts in joined["attributes"].items():
            of_parts = [part["attributes"][name] for part in parts]
            for counted in ("suppressed_terms", "unlinked_rows"):
                facts[counted] = sum(part[counted] for part in of_parts)
        return joined

    def _remove(
        self,
        task: Task,
        classes: Classes,
        column: Column,
        links: Links,
        requirements: Sequence[LinkRequirement],
    ) -> _Work:
        """Search the failing groups of one attribute."""
        name = column.name
        domain = Domain(links.knowledge.labels, links=links)
        asked = [r for r in requirements if r.attribute is None or name in r.named]
        values = count_values(classes, column)
        failing = np.zeros(classes.count, bool)
        for requirement in asked:
            failing |= ~requirement.admits(values, classes.size, domain)
        terms = terms_of(column)
        work = _Work(column, links, terms, classes, asked, failing)
        work.removal = remove_terms(
            work.groups,
            principles_of(asked, links),
            nodes=self.nodes,
            seconds=self.seconds,
            exact=self.search == "exact",
            progress=lambda share: task.progress(f"removing terms of '{name}'", share),
        )
        return work


def principles_of(requirements: Sequence[LinkRequirement], links: Links) -> Principles:
    """The requirements of one attribute as the search reads them."""
    assert links.prior is not None
    weights = {requirement.weights for requirement in requirements}
    if len(weights) > 1:
        raise JobError(
            ["requirements of one quasi-sensitive attribute have different `weights`. Use one."]
        )
    kinds, bounds, ells = [], [], []
    for requirement in requirements:
        if isinstance(requirement, QsClDiversity):
            kinds.append(DIVERSITY)
            bounds.append(requirement.c)
            ells.append(requirement.l)
        elif isinstance(requirement, QsTCloseness):
            kinds.append(EUCLIDEAN if requirement.distance == "l2" else ABSOLUTE)
            bounds.append(requirement.t)
            ells.append(0)
    return Principles(
        np.array(kinds, np.int64),
        np.array(bounds, np.float64),
        np.array(ells, np.int64),
        links.prior,
        links.prior if weights == {"prior"} else np.ones(len(links.prior)),
    )


class _Work:
    """The removal of one attribute's terms."""

    def __init__(
        self,
        column: Column,
        links: Links,
        terms: Terms,
        classes: Classes,
        requirements: Sequence[LinkRequirement],
        failing: Bools,
    ) -> None:
        self.column = column
        self.links = links
        self.terms = terms
        self.requirements = requirements
        self.failing = np.flatnonzero(failing)  # classes
        searched = failing[classes.class_of_row] & (links.set_of_value[column.codes] >= 0)
        rows = np.flatnonzero(searched)
        number = (np.cumsum(failing) - 1).astype(np.int32)
        of_group = number[classes.class_of_row[rows]]
        start, order = order_by_class(
            of_group, column.codes[rows], len(self.failing), column.cardinality
        )
        self.rows = rows[order]  # those that are searched, by group
        values = column.codes[self.rows]
        term_start = np.concatenate(([0], np.cumsum(terms.length[values]))).astype(np.int64)
        of_knowledge = terms.codes_in(links.knowledge.terms)
        self.groups = TermGroups(
            start,
            term_start,
            of_knowledge[entries_of(terms.start, values)[0]],
            links.knowledge.labels_of_term,
        )
        self.removal: Removal
        self._classes = classes.count

    @property
    def passes(self) -> Bools:
        """Which classes pass once the terms are removed."""
        passes = np.ones(self._classes, bool)
        passes[self.failing] = self.removal.status > 0
        return passes

    @property
    def removed_any(self) -> bool:
        return not bool(self.removal.stays.all())

    def removed_of_row(self) -> Ints:
        """Return how many terms each searched row loses."""
        gone = np.concatenate(([0], np.cumsum(~self.removal.stays)))
        return np.asarray(np.diff(gone[self.groups.term_start]), np.int64)

    def cells(self) -> RowColumn:
        """The published cells: the terms that stay, ``*`` where none of some does."""
        changed = np.flatnonzero(self.removed_of_row())
        values = self.column.codes[self.rows[changed]]
        start = self.groups.term_start
        entry, row = entries_of(start, changed)
        kept_terms = self.removal.stays[entry]
        terms_of_rows = self.terms.term[entries_of(self.terms.start, values)[0]]
        row = row[kept_terms]
        joined = (
            pl.DataFrame(
                {"row": row, "term": self.terms.names.gather(pl.Series(terms_of_rows[kept_terms]))}
            )
            .group_by("row", maintain_order=True)
            .agg(pl.col("term").str.join(self.column.separator or ""))
        )
        text = pl.Series([SUPPRESSED]).extend_constant(SUPPRESSED, len(changed) - 1)
        text = text.scatter(joined["row"], joined["term"])
        return _with_cells(self.column, self.rows[changed], text)


def _with_cells(column: Column, rows: Ints, cells: pl.Series) -> RowColumn:
    """A column with other cells in some rows, and a dictionary of what then occurs."""
    old = pl.DataFrame({"cell": column.text}).with_row_index("code")
    new = pl.DataFrame({"cell": cells.unique(maintain_order=True)})
    new = new.join(old, on="cell", how="left", maintain_order="left")
    fresh = new["code"].is_null()
    codes = new["code"].cast(pl.Int64).to_numpy().copy() if not fresh.any() else None
    if codes is None:
        counted = (fresh.cast(pl.Int64).cum_sum() - 1 + column.cardinality).to_numpy()
        codes = np.where(fresh.to_numpy(), counted, new["code"].fill_null(0).to_numpy())
    number = pl.DataFrame({"cell": new["cell"], "code": codes.astype(np.int32)})
    of_row = pl.DataFrame({"cell": cells}).join(
        number, on="cell", how="left", maintain_order="left"
    )["code"]
    result = column.codes.copy()
    result[rows] = of_row.to_numpy()
    return RowColumn(result, pl.concat([column.text, new["cell"].filter(fresh)]))


def _facts(works: Sequence[_Work], passes: Bools, class_of_row: Codes) -> dict[str, Any]:
    """Return what the manifest says of the removal."""
    groups = int(passes.sum())
    optimal = passes.copy()
    cost = 0.0
    suppressed_terms: dict[str, int] = {}
    for work in works:
        published = passes[work.failing]
        optimal[work.failing[work.removal.status < OPTIMAL]] = False
        cost += float(work.removal.cost[published].sum())
        kept_rows = class_of_row[work.rows] >= 0
        suppressed_terms[work.column.name] = int(work.removed_of_row()[kept_rows].sum())
    return {
        "groups": groups,
        "failing_groups": int(np.unique(np.concatenate([w.failing for w in works])).size),
        "optimal_groups": int(optimal.sum()),
        "unsolved_groups": int((~passes).sum()),
        "cost": cost / max(groups * len(works), 1),
        "suppressed_terms": sum(suppressed_terms.values()),
        "attributes": {work.column.name: _facts_of(work, suppressed_terms) for work in works},
    }


def _facts_on_persons(
    task: Task, removal: PersonRemoval, passes: Bools, class_of_row: Codes
) -> dict[str, Any]:
    """The same where a person has several rows; terms are counted in published rows."""
    shown = np.flatnonzero(class_of_row >= 0)
    removed = {}
    for name, column in removal.columns.items():
        before, after = task.table[name].take(shown), column.take(shown)
        removed[name] = term_rows(before).height - term_rows(after).height
    works = [work for work in removal.works if isinstance(work, _Work)]
    return {
        "groups": int(passes.sum()),
        "failing_groups": int(removal.failed.sum()),
        "optimal_groups": int((passes & ~removal.failed).sum()),
        "unsolved_groups": int((~passes).sum()),
        "suppressed_rows": int((class_of_row < 0).sum()),
        "suppressed_terms": sum(removed.values()),
        "attributes": {work.column.name: _facts_of(work, removed) for work in works},
    }


def _facts_of(work: _Work, suppressed_terms: dict[str, int]) -> dict[str, int]:
    knowledge = work.links.knowledge
    known = set(knowledge.terms)
    return {
        "suppressed_terms": suppressed_terms[work.column.name],
        "labels": len(knowledge.labels),
        "labels_without_terms": len(knowledge.without_terms),
        "doubled_labels": len(knowledge.doubled),
        "unknown_terms": sum(name not in known for name in work.terms.names.to_list()),
        "unlinked_rows": work.links.unlinked_rows(work.column.counts),
    }


def _infeasible(works: Sequence[_Work]) -> InfeasibleError:
    """Return what fails where no group can be published, and what no terms at all would reach."""
    failures: list[dict[str, object]] = []
    sentences = []
    bounded = True
    for work in works:
        for requirement in work.requirements:
            # What a group without any terms reaches.
            reached = _with_no_terms(requirement, work.links)
            bounded &= bool(np.isfinite(reached))
            name = requirement.algebra.figure
            failures.append(
                {
                    "requirement": requirement.name,
                    "parameters": requirement.parameters(),
                    "achieved": {name: reached},
                    "feasible": {name: reached} if np.isfinite(reached) else {},
                }
            )
            sentences.append(
                f"{requirement.name} on '{work.column.name}' reaches {name} = {reached:g} where "
                "every term is removed"
            )
    less = "Ask for no more than that, u" if bounded else "U"
    return InfeasibleError(
        "quasi-sensitive: no removal of terms that was found lets any group pass: "
        f"{'; '.join(sentences)}. {less}se `weights: prior`, with which groups without terms say "
        "nothing new, form larger groups, or search further (`nodes`, `search: exact`).",
        failures,
    )


def _with_no_terms(requirement: LinkRequirement, links: Links) -> float:
    """The figure of a group in which no person has any term."""
    labels = len(links.knowledge.labels)
    everything = replace(
        links,
        set_of_value=np.zeros(1, np.int32),
        start=np.array([0, labels], np.int64),
        label=np.arange(labels, dtype=np.int32),
    )
    single = np.ones(1, np.int64)
    row = ValueCounts(np.array([0, 1], np.int64), np.zeros(1, np.int32), single, 1)
    domain = Domain(links.knowledge.labels, links=everything)
    return float(requirement.measure(row, single, domain)[0])

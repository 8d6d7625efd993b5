"""Changes of a job that may make its release publishable: the candidates of a repair.

Each function of ``CANDIDATES`` proposes changes of one sort, the most promising first, for the
problems that it can solve. A change is one or several edits of the job and its cost in words. No
change weakens a requirement; one that declares values harmless is the steward's decision, and is
marked so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from math import ceil
from typing import Any

import numpy as np

from discreet.errors import HierarchyError
from discreet.hierarchies.automatic import propose
from discreet.hierarchies.hierarchy import count_levels
from discreet.hierarchies.specs import Automatic
from discreet.job.direct_identifiers import UNIQUE_AT_MOST
from discreet.job.edits import REMOVED, Edit
from discreet.job.model import Job
from discreet.methods.registry import METHODS
from discreet.statements import Statement
from discreet.table.coded_table import CodedTable, Column
from discreet.table.roles import Role


class Problem(StrEnum):
    """What keeps a release from being ready to sign."""

    REFUSED = "refused"  # a column that must not be published in its role
    INFEASIBLE = "infeasible"  # no release meets the requirements
    SINGLED_OUT = "singled_out"
    BELIEVED = "believed"
    CERTAIN = "certain"
    REIDENTIFIED = "reidentified"
    EMPTY = "empty"  # the quasi-identifiers say next to nothing
    COARSE = "coarse"  # they lose too much
    UNCOVERED = "uncovered"  # no guarantee covers a sensitive attribute


@dataclass(frozen=True)
class Change:
    """One change of a job."""

    sort: str  # of the function that proposes it
    edits: tuple[Edit, ...]
    action: Statement  # what is done
    cost: Statement  # what analysts lose, or the steward decides
    steward: bool = False  # whether it is right only if the steward decides so
    columns: tuple[str, ...] = ()  # where it does the same to several columns, the worst first
    solves: frozenset[Problem] = frozenset()  # problems that it may solve

    @property
    def entries(self) -> frozenset[tuple[str | int, ...]]:
        """The parts of the job that it edits; two changes of one part do not go together."""
        return frozenset(edit.entry for edit in self.edits)

    def of(self, columns: Sequence[str]) -> Change:
        """Return the same change of some of its columns."""
        return replace(
            self,
            edits=tuple(edit for edit in self.edits if edit.trail[1] in columns),
            action=Statement(self.action.id, columns=list(columns)),
            cost=Statement(self.cost.id, columns=list(columns)),
            columns=tuple(columns),
        )


@dataclass(frozen=True, eq=False)
class Situation:
    """A job, its table, and what its release suffers from."""

    job: Job
    table: CodedTable  # the published columns of the job
    problems: frozenset[Problem]
    refused: tuple[str, ...] = ()  # columns that must not be published in their role
    accused: tuple[str, ...] = ()  # sensitive attributes that the release fails for, worst first
    levels: Mapping[str, int] = field(default_factory=dict)  # of hierarchies at which it does
    losses: Mapping[str, float] = field(default_factory=dict)  # by quasi-identifier

    def columns(self, role: Role) -> list[Column]:
        """The columns of a role, in the job's order."""
        return [self.table[name] for name in self.job.with_role(role) if name in self.table.columns]

    def largest_share(self, name: str) -> float:
        """The share of the rows that have the most frequent value of a column."""
        counts = self.table[name].counts
        return float(counts.max(initial=0) / max(counts.sum(), 1))


Candidates = Callable[[Situation], Iterator[Change]]
CANDIDATES: list[tuple[frozenset[Problem], Candidates]] = []

_RISKS = (Problem.BELIEVED, Problem.CERTAIN)
_GROUPS = (Problem.INFEASIBLE, Problem.EMPTY, Problem.COARSE)  # too large, or not to be formed


def solves(*problems: Problem) -> Callable[[Candidates], Candidates]:
    """Register candidates for some problems."""

    def register(candidates: Candidates) -> Candidates:
        CANDIDATES.append((frozenset(problems), candidates))
        return candidates

    return register


def proposed_changes(situation: Situation) -> list[list[Change]]:
    """Return the changes that may help, in rounds: the first of each sort, then the second, …"""
    sorts = [
        [replace(change, solves=problems) for change in candidates(situation)]
        for problems, candidates in CANDIDATES
        if problems & situation.problems
    ]
    return [
        [changes[number] for changes in sorts if number < len(changes)]
        for number in range(max(map(len, sorts), default=0))
    ]


def _unpublished(job: Job, name: str) -> list[Edit]:
    written = job.attributes[name].model_fields_set - {"role"}
    edits = [Edit(("attributes", name, key), REMOVED) for key in sorted(written)]
    return [Edit(("attributes", name, "role"), str(Role.DROP)), *edits]


def _unpublishing(situation: Situation, sort: str, names: Sequence[str]) -> Change:
    edits = [edit for name in names for edit in _unpublished(situation.job, name)]
    return Change(
        sort,
        tuple(edits),
        Statement("repair.unpublish", columns=list(names)),
        Statement("repair.unpublish.cost", columns=list(names)),
        columns=tuple(names),
    )


def _growing(names: Sequence[str]) -> Iterator[list[str]]:
    """All names, then the first half of them, then the first."""
    sizes = [len(names), (len(names) + 1) // 2, 1]
    for size in dict.fromkeys(size for size in sizes if 0 < size <= len(names)):
        yield list(names[:size])


def _by_entropy(columns: Sequence[Column]) -> list[str]:
    """Columns with more than one value, those first that distinguish more persons."""

    def entropy(column: Column) -> float:
        share = column.counts[column.counts > 0] / max(column.counts.sum(), 1)
        return float(-(share * np.log(share)).sum())

    several = [column for column in columns if column.cardinality > 1]
    return [column.name for column in sorted(several, key=lambda one: (-entropy(one), one.name))]


@solves(Problem.REFUSED)
def unpublish_refused(situation: Situation) -> Iterator[Change]:
    """Do not publish the columns that ``publish`` refuses."""
    if situation.refused:
        yield _unpublishing(situation, "unpublish-refused", situation.refused)


@solves(*_GROUPS, *_RISKS, Problem.REIDENTIFIED)
def remove_link(situation: Situation) -> Iterator[Change]:
    """Publish quasi-identifiers and sensitive attributes in two tables without a link.

    It takes one pass over the rows, so it comes early: a search that is short of time finds it.
    """
    if situation.job.method.name != "unlinked":
        yield Change(
            "unlinked",
            (Edit(("method",), {"unlinked": {}}),),
            Statement("repair.method", method="unlinked"),
            Statement("repair.unlinked.cost"),
        )


@solves(Problem.SINGLED_OUT)
def unpublish_unchanged(situation: Situation) -> Iterator[Change]:
    """Do not publish the unchanged columns, or weights, that distinguish most persons."""
    unchanged = [*situation.columns(Role.INSENSITIVE), *situation.columns(Role.WEIGHT)]
    for names in _growing(_by_entropy(unchanged)):
        yield _unpublishing(situation, "unpublish-unchanged", names)


@solves(Problem.SINGLED_OUT)
def coarsen_unchanged(situation: Situation) -> Iterator[Change]:
    """Make unchanged columns quasi-identifiers, which are coarsened."""
    allowed = {"type", "format", "collapse", "allow_identifying", "escape"}
    for names in _growing(_by_entropy(situation.columns(Role.INSENSITIVE))):
        edits = []
        for name in names:
            attribute = situation.job.attributes[name]
            at = ("attributes", name)
            edits.append(Edit((*at, "role"), str(Role.QUASI_IDENTIFIER)))
            extra = sorted(attribute.model_fields_set - {"role"} - allowed)
            edits += [Edit((*at, key), REMOVED) for key in extra]
        yield Change(
            "coarsen-unchanged",
            tuple(edits),
            Statement("repair.coarsen", columns=names),
            Statement("repair.coarsen.cost", columns=names),
            columns=tuple(names),
        )


@solves(Problem.REFUSED, Problem.SINGLED_OUT, Problem.REIDENTIFIED, *_RISKS)
def coarsen_lowest_levels(situation: Situation) -> Iterator[Change]:
    """Publish quasi-identifiers no finer than the next level of their hierarchies.

    Those that are refused; or else those that distinguish most persons.
    """
    refused = [name for name in situation.refused if name in situation.job.attributes]
    quasi = situation.columns(Role.QUASI_IDENTIFIER)
    names = _by_entropy([column for column in quasi if not refused or column.name in refused])
    level_of = {name: _next_level(situation, name) for name in names}
    for chosen in _growing([name for name in names if level_of[name]]):
        edits = [Edit(("attributes", name, "finest"), level_of[name]) for name in chosen]
        yield Change(
            "finest",
            tuple(edits),
            Statement("repair.finest", columns=chosen),
            Statement("repair.finest.cost", columns=chosen),
            columns=tuple(chosen),
        )


def _next_level(situation: Situation, name: str) -> int | None:
    """The first level that joins values above the present finest one, and says something.

    Of a column that is refused: at which few rows have a label of their own.
    """
    attribute = situation.job.attributes[name]
    try:
        spec = attribute.hierarchy or Automatic()
        hierarchy = spec.build(situation.table[name], situation.job.folder)
    except HierarchyError:
        return None
    present = (hierarchy.number_of(attribute.finest) if attribute.finest else 0) or 0
    counts = count_levels(situation.table[name], hierarchy)
    alone = UNIQUE_AT_MOST if name in situation.refused else 1.0
    for number in range(present + 1, hierarchy.height + 1):
        rows = np.array(counts[number].rows)
        if 1 < len(rows) < len(counts[present].rows) and (rows == 1).sum() <= alone * rows.sum():
            return number
    return None


@solves(*_RISKS, Problem.INFEASIBLE)
def unpublish_accused(situation: Situation) -> Iterator[Change]:
    """Do not publish the sensitive attributes that an attacker guesses, or that block a release."""
    for names in _growing(situation.accused):
        yield _unpublishing(situation, "unpublish-sensitive", names)


@solves(*_RISKS)
def bound_beliefs(situation: Situation) -> Iterator[Change]:
    """Bound the share of each guessed value in a group, which bounds the belief in it.

    By one half; or where one value fills more than half of the table, by the distance from the
    table, so that the others stay below one half. That is impossible where a second value nearly
    does, and unlikely at a level of a hierarchy: the first change does not publish these.
    """
    plain = [name for name in situation.accused if name not in situation.levels]
    balanced = [name for name in plain if situation.largest_share(name) <= MAJORITY]
    distance = {name: _room(situation.table[name]) for name in plain if name not in balanced}
    close = [name for name in distance if distance[name] >= CLOSEST]
    changes = [_shares_bound(situation, balanced)] if balanced else []
    changes += [
        _distance_bound(situation, [name for name in close if distance[name] == t], t)
        for t in sorted({distance[name] for name in close})
    ]
    dropped = [name for name in situation.accused if name not in (*balanced, *close)]
    if changes and dropped:
        yield _together([*changes, _unpublishing(situation, "unpublish-sensitive", dropped)])
    if balanced and close:
        yield _together([changes[0], _unpublishing(situation, "unpublish-sensitive",
                                                   [*close, *dropped])])  # fmt: skip
    if changes:
        yield _together(changes)


MAJORITY = 0.5  # share of a value that is believed already without the release
CLOSEST = 0.1  # a smaller distance from the table leaves hardly any groups


def _room(column: Column) -> float:
    """By how much the second value's share may grow in a group, to stay a minority; rounded."""
    second = np.sort(column.counts)[-2:][0] / max(column.counts.sum(), 1)
    return float(np.floor((MAJORITY - second) * 20) / 20)


def _shares_bound(situation: Situation, names: Sequence[str]) -> Change:
    """No value fills more than half of a group."""
    return _requiring(
        situation,
        {"p-diversity": {"attribute": list(names), "l": 2}},
        Statement("repair.shares", columns=list(names)),
    )


def _distance_bound(situation: Situation, names: Sequence[str], t: float) -> Change:
    """Shares of values in a group are near those of the table."""
    change = _requiring(
        situation,
        {"t-closeness": {"attribute": list(names), "t": t}},
        Statement("repair.closeness", columns=list(names), t=t),
    )
    apart = [
        Edit(("attributes", name, "distance"), "equal")
        for name in names
        if situation.table[name].type.ordered
    ]
    return replace(change, edits=(*change.edits, *apart))


def _requiring(situation: Situation, requirement: dict[str, Any], action: Statement) -> Change:
    place = ("requirements", len(situation.job.requirements))
    cost = Statement("repair.stronger.cost")
    return Change("bound-beliefs", (Edit(place, requirement),), action, cost)


def _together(changes: Sequence[Change]) -> Change:
    """Return several changes as one; further requirements come after one another."""
    joined, *others = changes
    for change in others:
        new = sum(edit.trail[0] == "requirements" for edit in joined.edits)
        edits = tuple(
            replace(edit, trail=(edit.trail[0], int(edit.trail[1]) + new))
            if edit.trail[0] == "requirements"
            else edit
            for edit in change.edits
        )
        same = joined.cost == change.cost
        joined = Change(
            joined.sort,
            (*joined.edits, *edits),
            Statement("repair.both", first=joined.action, second=change.action),
            joined.cost
            if same
            else Statement("repair.both", first=joined.cost, second=change.cost),
        )
    return joined


@solves(Problem.REIDENTIFIED, Problem.SINGLED_OUT, *_RISKS)
def raise_parameters(situation: Situation) -> Iterator[Change]:
    """Ask for a larger k, or for a larger l."""
    least = ceil(1 / max(situation.job.sign_off.reidentified.look, 0.01))
    sensitive = situation.columns(Role.SENSITIVE)
    fewest = min((column.cardinality for column in sensitive), default=0)
    for number, requirement in enumerate(situation.job.requirements):
        for key in ("k", "l"):
            value: Any = requirement.parameters().get(key)
            if not isinstance(value, int | float) or isinstance(value, bool):
                continue
            higher = max(2 * value, least) if key == "k" else value + 1
            if key == "l" and higher > fewest:
                continue
            yield Change(
                f"raise-{key}",
                (Edit(("requirements", number, requirement.name, key), higher),),
                Statement("repair.raise", requirement=requirement.name, parameter=key,
                          value=higher),
                Statement("repair.stronger.cost"),
            )  # fmt: skip


@solves(*_GROUPS)
def declare_harmless(situation: Situation) -> Iterator[Change]:
    """Declare the most frequent value of skewed attributes harmless; the steward decides."""
    for columns in _skewed(situation):
        plain = [
            column
            for column in columns
            if not situation.job.becomes_set(column.name)
            and not {"sensitive_values", "non_sensitive_values"}
            & situation.job.attributes[column.name].model_fields_set
        ]
        if not plain:
            continue
        names = [column.name for column in plain]
        edits = [
            Edit(
                ("attributes", column.name, "non_sensitive_values"),
                [column.text[int(column.counts.argmax())]],
            )
            for column in plain
        ]
        yield Change(
            "harmless",
            tuple(edits),
            Statement("repair.harmless", columns=names),
            Statement("repair.harmless.cost", columns=names),
            steward=True,
        )


@solves(*_GROUPS, *_RISKS)
def treat_rare_values(situation: Situation) -> Iterator[Change]:
    """Lift rare values along a hierarchy, or mask them, or suppress their rows.

    Numbers and dates get a hierarchy: the lowest level of a column most of whose values are rare
    becomes coarser.
    """
    attributes = situation.job.attributes
    sensitive = situation.columns(Role.SENSITIVE)
    fine = [column for column in sensitive if _mostly_rare(column) and column.type.ordered]
    for columns in (fine, *_skewed(situation)):
        edits = []
        treated = [one for one in columns if "rare" not in attributes[one.name].model_fields_set]
        for column in treated:
            lifted = column in fine
            if lifted and attributes[column.name].hierarchy is None:
                edits.append(Edit(("attributes", column.name, "hierarchy"), propose(column)))
            edits.append(Edit(("attributes", column.name, "rare"), "lift" if lifted else "auto"))
        if treated:
            names = [column.name for column in treated]
            action = "repair.lift" if columns is fine else "repair.rare"
            cost = Statement("repair.rare.cost", columns=names)
            yield Change("rare", tuple(edits), Statement(action, columns=names), cost)


FEW = 5  # rows of a value that lifting joins with its neighbours
MOSTLY = 0.5  # of the rows


def _mostly_rare(column: Column) -> bool:
    """Whether most rows have a value that few have."""
    rare = column.counts[column.counts < FEW].sum()
    return bool(rare > MOSTLY * column.counts.sum())


@solves(*_GROUPS)
def unpublish_skewed(situation: Situation) -> Iterator[Change]:
    """Do not publish sensitive attributes whose values nearly all are the same."""
    for columns in _skewed(situation):
        yield _unpublishing(situation, "unpublish-sensitive", [column.name for column in columns])


SKEWED = (0.9, 0.99, 0.75, 0.5, 0.999)  # shares of the most frequent value


def _skewed(situation: Situation) -> Iterator[list[Column]]:
    """Sensitive attributes by the share of their most frequent value, the most skewed first."""
    columns = situation.columns(Role.SENSITIVE)
    share = {column.name: situation.largest_share(column.name) for column in columns}
    columns.sort(key=lambda column: (-share[column.name], column.name))
    sets = [[c for c in columns if share[c.name] >= least] for least in SKEWED]
    seen: set[int] = set()
    for chosen in [*sets, columns[:1]]:
        if chosen and len(chosen) not in seen:
            seen.add(len(chosen))
            yield chosen


@solves(*_GROUPS)
def unpublish_quasi_identifiers(situation: Situation) -> Iterator[Change]:
    """Do not publish the quasi-identifiers of which least is left."""
    quasi = situation.job.with_role(Role.QUASI_IDENTIFIER)
    losses = situation.losses
    if len(quasi) < 2:
        return
    columns = {column.name: column for column in situation.columns(Role.QUASI_IDENTIFIER)}
    order = sorted(
        columns, key=lambda name: (-losses.get(name, 0.0), -columns[name].cardinality, name)
    )
    lost = [name for name in order if losses.get(name, 0.0) >= 0.9]
    sizes = [len(lost), len(order) // 2, len(order) // 4, 1, 3 * len(order) // 4]
    for names in [order[:size] for size in dict.fromkeys(sizes)]:
        if 0 < len(names) < len(order):
            yield _unpublishing(situation, "unpublish-quasi-identifier", names)


@solves(*_GROUPS, *_RISKS, Problem.SINGLED_OUT)
def suppress_rows(situation: Situation) -> Iterator[Change]:
    """Allow the method to suppress some rows, where it can."""
    method = situation.job.method
    present = method.parameters().get("suppression")
    if not isinstance(present, int | float):
        return
    for share in (0.02, 0.05):
        if share > present:
            parameters = {**method.parameters(), "suppression": share}
            written = {key: value for key, value in parameters.items() if value is not None}
            yield Change(
                "suppression",
                (Edit(("method",), {method.name: written}),),
                Statement("repair.suppression", share=share),
                Statement("repair.suppression.cost", share=share),
            )


OTHER_METHODS: dict[str, dict[str, Any]] = {
    "local-recoding": {},
    "msa-diversity": {},
    "mondrian": {},
    "full-domain": {"suppression": 0.05},
}


@solves(*_GROUPS, *_RISKS)
def use_another_method(situation: Situation) -> Iterator[Change]:
    """Use another method that takes the job's requirements as they are."""
    for name, parameters in OTHER_METHODS.items():
        if name == situation.job.method.name or name not in METHODS:
            continue
        yield Change(
            "method",
            (Edit(("method",), {name: parameters}),),
            Statement("repair.method", method=name),
            Statement("repair.method.cost", method=name),
        )


@solves(Problem.UNCOVERED)
def cover_sensitive(situation: Situation) -> Iterator[Change]:
    """Require at least two values of every sensitive attribute in a group."""
    number = len(situation.job.requirements)
    yield Change(
        "raise-l",
        (Edit(("requirements", number), {"distinct-l-diversity": {"l": 2}}),),
        Statement("repair.require", requirement="distinct-l-diversity", parameter="l", value=2),
        Statement("repair.stronger.cost"),
    )

"""The seam of every attack: a scene goes in, findings come out.

An attack is a frozen, validated value with a name and parameters. It reads the published tables
and what its stated knowledge gives it, never the private state of a run; the original table lends
it the people's quasi-identifiers and, to score what was believed, the truth.

Where a target fits one group, a belief is a ratio of counts, and is compared as one: with no more
tolerance than such a ratio and a bound computed from a parameter are rounded (``ROUNDING``). The
wider ``TOLERANCE`` remains for sums: beliefs over several placements or worlds, means of shares,
and bounds of guarantees whose own figures are sums of logarithms or of shares.

Estimates from targets drawn at random: intervals that hold the exact figure at a stated rate.

Targets are drawn with replacement, so both intervals hold at any size of the sample: that of a
share by Clopper and Pearson (1934), that of a mean of beliefs by Maurer and Pontil (2009, theorem
4), whose width follows the variance of the beliefs that were found.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.attackers import StandardAttacker
from discreet.by_name import Named
from discreet.methods.base import Progress, Task, no_progress
from discreet.releases.registry import kind_of
from discreet.releases.singling_out import RATE, Interval, share_interval
from discreet.releases.worlds.placement import EXACT
from discreet.requirements.judge import limits_knowledge
from discreet.statements import Statement
from discreet.table.interrupts import TimeBudget
from discreet.table.kernels.lists import entries_of
from discreet.table.roles import Unit
from discreet.typing import AnyInts, Bools, Floats, Ints

if TYPE_CHECKING:
    from discreet.attacks.views import PersonView
    from discreet.knowledge.population import Population
    from discreet.releases.adversary_view import AdversaryView
    from discreet.releases.kinds.base import Kind
    from discreet.releases.manifest import Manifest
    from discreet.requirements.base import Domains, Requirement
    from discreet.table.coded_table import CodedTable, Column

BINS = 20  # of the plot of beliefs
TOLERANCE = 1e-9
ROUNDING = 8 * float(np.finfo(np.float64).eps)
LINES = 6  # worst attackers that a report shows first
WITHIN = Statement("finding.within")
EXCEEDED = Statement("finding.exceeded")
NO_GUARANTEE = Statement("finding.no-guarantee")
NO_BETTER = Statement("finding.no-better")
TARGETS = 4000  # drawn
IN_TABLE = Statement("knows.in-table")
ALL_ROWS = Statement("knows.all-rows")
ALONE = "quasi-identifiers"
OTHERS = "quasi-identifiers and all other sensitive values"


class Criterion(StrEnum):
    """What an attacker succeeds in, by the criteria of the Article 29 Working Party (WP 216)."""

    SINGLING_OUT = "singling out"
    LINKABILITY = "linkability"
    INFERENCE = "inference"


@dataclass(frozen=True, eq=False)
class Scene:
    """Everything that attacks look at."""

    manifest: Manifest
    tables: Mapping[str, CodedTable]  # as published
    task: Task  # the original: people's quasi-identifiers, and the truth to score by
    readings: Sequence[AdversaryView]
    domains: Domains  # of the sensitive attributes, from the release
    population: Population | None = None  # every person, also outside the table
    threshold: float = 0.5
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    progress: Progress = no_progress
    # a view for each table, where a person may have several published rows
    persons: Sequence[PersonView] | None = None
    omitted: dict[str, str] = field(default_factory=dict)  # what attacks left out, and why
    at_risk: RowsAtRisk | None = None  # where rows are to be listed
    quick: bool = False  # whether targets are drawn to estimate
    budget: TimeBudget = field(default_factory=TimeBudget)  # of the attack that runs

    def drawn(self) -> Scene:
        """Return the scene with some targets, drawn with replacement; a small one as it is."""
        return replace(
            self,
            readings=[drawn_targets(view, self.rng) for view in self.readings],
            persons=None if self.persons is None
            else [view.drawn(self.rng, TARGETS) for view in self.persons],
            quick=True,
        )  # fmt: skip

    @property
    def targets(self) -> int:
        """Return how many targets the largest table has."""
        persons = [view.persons.count for view in self.persons or ()]
        rows = [view.targets for view in self.readings]
        return max([*persons, *rows, self.task.table.rows])

    def list_rows(self, rows: Ints, attribute: str, knows: str, belief: Floats) -> None:
        """List rows of the table, counted from 0, whose value an attacker learns.

        Where a row is a person, all rows of the person in the source are listed.
        """
        if self.at_risk is None:
            return
        if self.task.secrets.rare is not None:
            rows = self.task.secrets.rare.rows[rows]
        if (
            self.task.basis.one_row_each is not None
            and self.task.basis.one_row_each.person_of_row is not None
        ):
            person = self.task.basis.one_row_each.person_of_row
            source = np.argsort(person, kind="stable")
            start = np.searchsorted(person[source], np.arange(person.max(initial=-1) + 2))
            entry, place = entries_of(start, rows)
            rows, belief = source[entry], belief[place]
        self.at_risk.add(rows, attribute, knows, belief)

    @property
    def kind(self) -> Kind:
        """The kind of the release."""
        return kind_of(self.manifest.kind)

    @property
    def sensitive(self) -> list[Mapping[str, Column]]:
        """The sensitive columns of each table that an attacker sees."""
        return [view.sensitive for view in self.persons or self.readings]

    @property
    def guarantees(self) -> list[Requirement]:
        """The guarantees of the release, on rows or on persons.

        Those for attackers who know few columns bound no belief of one who knows them all.
        """
        promised = (promise.to_requirement() for promise in self.manifest.promises)
        return [requirement for requirement in promised if not limits_knowledge(requirement)]

    def is_sensitive(self, attribute: str, domains: Domains | None = None) -> Bools | None:
        """(published values + 1,) Which are sensitive; the last: others. None where all are.

        To believe in a value that is not sensitive discloses nothing.
        """
        marks = self.task.secrets.sensitive_values.get(attribute)
        domains = self.domains if domains is None else domains
        if marks is None or marks.all() or attribute not in domains:
            return None
        texts = self.task.table[attribute].text.to_list()
        spared = {text for text, marked in zip(texts, marks, strict=True) if not marked}
        return np.array([*(v not in spared for v in domains[attribute].values), True])

    def discloses(self, attribute: str, truth: NDArray[np.integer]) -> Bools:
        """Which true values, in published codes, are sensitive."""
        sensitive = self.is_sensitive(attribute)
        if sensitive is None:
            return np.ones(len(truth), bool)
        chosen: Bools = sensitive[np.minimum(truth, len(sensitive) - 1)]
        return chosen

    @property
    def requirements(self) -> list[Requirement]:
        """The guarantees that bound shares of rows: none where they count persons."""
        return self.guarantees if self.persons is None else []


@dataclass(frozen=True)
class Finding:
    """How well one attacker does, over all targets."""

    attack: str
    knowledge: str  # what the attacker knows beside the release, in words
    aim: str  # the attribute, or what else is to be found out
    table: str
    targets: int
    mean: float  # mean belief in the truth
    greatest: float
    above: float  # the share of targets believed in above the threshold
    certain: float  # the share of targets whose truth is certain
    baseline: float  # the mean belief of the same attacker from the two tables without any link
    bound: float | None  # the greatest belief that the release's promises allow
    exceeded: bool  # whether some target is above its bound
    inside: bool  # whether some requirement covers such an attacker
    method: str = EXACT  # or by which approximation
    interval: Interval | None = None  # of ``above``, where targets are sampled
    mean_interval: Interval | None = None  # where targets are drawn to estimate
    certain_interval: Interval | None = None
    histogram: tuple[int, ...] = ()  # targets by belief, in equal steps from 0 to 1
    is_belief: bool = True  # else an accuracy: never compared with a ceiling on belief
    also_knows: str = ""  # beside the quasi-identifiers, in a few words
    # Targets that are certain, or above the threshold, and are not by the baseline: counted one
    # by one, for others may be certain by the baseline alone.
    newly_certain: int = 0
    newly_above: int = 0
    attacker: StandardAttacker = StandardAttacker.ACQUAINTANCE
    details: Mapping[str, Any] = field(default_factory=dict)
    unit: Unit = Unit.ROW  # of targets
    criterion: Criterion = Criterion.INFERENCE
    target: str = ""  # what a target is, in the plural, where it is no row and no person

    @property
    def counted(self) -> str:
        """What targets are, in the plural."""
        return self.target or self.unit.plural

    @property
    def title(self) -> str:
        """The attack, with what sets it apart from others of its name."""
        if "bits" in self.details:
            return f"{self.attack} (i = {self.details['bits']})"
        if "reader" in self.details:
            return f"{self.attack} ({self.details['reader']})"
        return self.attack

    @property
    def shown_aim(self) -> str:
        """The aim, with the attributes that the attacker starts from."""
        known = self.details.get("known")
        if "associated_with" in self.details:
            return f"{self.aim} ~ {self.details['associated_with']}"
        return f"{self.aim} ← {', '.join(known)}" if known else self.aim

    @property
    def verdict(self) -> Statement:
        """Whether a guarantee of the release covers this attacker, and holds."""
        if self.inside and self.exceeded:
            return EXCEEDED
        if self.inside and self.bound is not None and self.bound < 1 - TOLERANCE:
            return WITHIN
        return NO_GUARANTEE if self.gains else NO_BETTER

    @property
    def gains(self) -> bool:
        """Whether the release helps: by a greater mean, or more targets certain or above."""
        return self.mean > self.baseline + TOLERANCE or bool(self.newly_certain or self.newly_above)

    @property
    def severity(self) -> tuple[bool, float, float, float]:
        """The order of findings: broken guarantees, then what the release adds."""
        certain = self.newly_certain / max(self.targets, 1)
        grown = self.greatest if self.gains else 0.0
        return self.inside and self.exceeded, certain, grown, self.mean - self.baseline

    def to_dict(self) -> dict[str, Any]:
        """The finding as plain data."""
        details = {
            "attacker" if key == "reader" else key: part for key, part in self.details.items()
        }
        return {**asdict(self), "verdict": self.verdict, "details": details}


class Attack(Named):
    """One adversary: what is known, and how the release is read with it."""

    targets_persons: ClassVar[bool] = False  # whether targets are persons who have several rows
    inside: ClassVar[bool] = True  # whether a target above a promised bound is a failed audit
    # Whether its targets may be rows where a person has several; no guarantee bounds it then.
    may_count_rows: ClassVar[bool] = False
    # Whether it runs where targets are drawn to estimate: its figures follow from single targets.
    quick: ClassVar[bool] = False
    slow: ClassVar[bool] = False  # whether it runs after the others, which a time limit spares
    samples: ClassVar[bool] = False  # whether it draws targets itself, until its time is spent
    also_knows: ClassVar[str] = ""  # beside the quasi-identifiers, in a few words
    criterion: ClassVar[Criterion] = Criterion.INFERENCE
    # Whose knowledge it uses; of several, each finding says which.
    attackers: ClassVar[tuple[StandardAttacker, ...]] = (StandardAttacker.ACQUAINTANCE,)

    @classmethod
    def reads(cls, kind: Kind) -> bool:
        """Whether it reads releases of a kind: by default those that count values by group."""
        return kind.publishes_counts

    knows: ClassVar[Statement] = IN_TABLE  # beside the release

    @property
    def knowledge(self) -> str:
        """What the attacker knows beside the release, in words that follow "an attacker who"."""
        return self.knows

    def inapplicable(self, scene: Scene) -> str | None:
        """Why it can't be run on this release; None where it can."""
        if not self.reads(scene.kind):
            return Statement("inapplicable.kind", kind=scene.manifest.kind)
        return self.lacking(scene)

    def lacking(self, scene: Scene) -> str | None:
        """What a release of a kind that it reads lacks; None where nothing is lacking."""
        return None

    def unassessed(self, scene: Scene) -> str | None:
        """Why it is not run though it may learn something; None where it is run."""
        return None

    @abstractmethod
    def run(self, scene: Scene) -> Iterable[Finding]:
        """Attack, and report; a slow attack yields each finding as soon as it has it."""

    def expected(self, scene: Scene) -> int:
        """How many findings there will be, to estimate the remaining time."""
        return sum(len(columns) for columns in scene.sensitive)

    def omit(self, scene: Scene, part: str, reason: str) -> None:
        """Report what the attack leaves out, and why."""
        scene.omitted[f"{self.name} ({part})" if part else self.name] = reason


def summarize(
    attack: Attack,
    aim: str,
    table: str,
    belief: Floats,
    count: NDArray[np.int64],
    baseline: Floats | float,
    threshold: float,
    bounds: Floats | None = None,
    *,
    knowledge: str,
    method: str = EXACT,
    sampled: bool = False,
    estimated: bool = False,
    sure: Floats | None = None,
    details: Mapping[str, Any] | None = None,
    attacker: StandardAttacker | None = None,
    tolerance: float = TOLERANCE,
    bound_tolerance: float = TOLERANCE,
) -> Finding:
    """A finding from lines of beliefs and how many targets each represents.

    ``baseline`` is the belief of the same attacker, with the same knowledge, from the two tables
    without any link: of each line, or of all where it is the same for all. Where worlds were drawn,
    ``sure`` has a lower bound of each belief; no target is called above the threshold, or certain,
    by less. ``attacker`` is the one of the attack, where it has several.
    The tolerances are of beliefs, and of their comparison with ``bounds``.
    """
    surely = belief if sure is None else sure
    without = np.broadcast_to(np.asarray(baseline, np.float64), belief.shape)
    targets = int(count.sum())
    total = max(targets, 1)
    is_above, is_certain = surely > threshold + tolerance, surely >= 1 - tolerance
    above, certain = int(count[is_above].sum()), int(count[is_certain].sum())
    interval = wilson(above, targets) if sampled else None
    bin_of_line = np.clip((belief * BINS - TOLERANCE).astype(np.int64), 0, BINS - 1)
    bounded = bounds is not None and bool((bounds < 1 - TOLERANCE).any())
    return Finding(
        attack.name,
        knowledge,
        aim,
        table,
        targets,
        mean=float((belief * count).sum() / total),
        greatest=float(belief.max()) if len(belief) else 0.0,
        above=above / total,
        certain=certain / total,
        baseline=float((without * count).sum() / targets) if targets else 0.0,
        bound=min(float(bounds.max()), 1.0) if bounded and bounds is not None else None,
        exceeded=bounds is not None and bool((belief > bounds + bound_tolerance).any()),
        inside=attack.inside,
        method=method,
        interval=share_interval(above, targets) if estimated else interval,
        mean_interval=mean_interval(belief, count) if estimated else None,
        certain_interval=share_interval(certain, targets) if estimated else None,
        histogram=tuple(int(n) for n in np.bincount(bin_of_line, count, BINS)),
        details=dict(details or {}),
        also_knows=attack.also_knows,
        newly_certain=int(count[is_certain & (without < 1 - TOLERANCE)].sum()),
        newly_above=int(count[is_above & (without <= threshold + TOLERANCE)].sum()),
        attacker=attacker or attack.attackers[0],
    )


def wilson_low(share: Floats, trials: int | NDArray[np.int64], z: float = 4.0) -> Floats:
    """The lower ends of Wilson's intervals; z = 4 before a single target is called above."""
    spread = z * z / trials
    reach = z * np.sqrt(share * (1 - share) / trials + spread / (4 * trials))
    return np.maximum((share + spread / 2 - reach) / (1 + spread), 0.0)


def wilson(successes: float, trials: int, z: float = 1.96) -> tuple[float, float]:
    """Wilson's interval for a proportion."""
    if trials == 0:
        return 0.0, 1.0
    ends = wilson_low(np.array([successes / trials, 1 - successes / trials]), trials, z)
    return float(ends[0]), 1 - float(ends[1])


def drawn_targets(view: AdversaryView, rng: np.random.Generator) -> AdversaryView:
    """Return the view with some of its targets, drawn with replacement; a small view as it is."""
    if view.estimated or view.targets <= TARGETS:
        return view
    drawn = rng.integers(0, view.targets, TARGETS)
    return replace(
        view,
        place_of_target=view.place_of_target[drawn],
        truth={name: codes[drawn] for name, codes in view.truth.items()},
        estimated=True,
    )


def mean_interval(belief: Floats, count: AnyInts) -> Interval:
    """Return the interval of the mean belief, each line having been drawn so many times."""
    trials = int(count.sum())
    if trials < 2:
        return 0.0, 1.0
    mean = float(belief @ count) / trials
    variance = float(np.square(belief - mean) @ count) / (trials - 1)
    rest = math.log(4 / (1 - RATE))
    reach = math.sqrt(2 * variance * rest / trials) + 7 * rest / (3 * (trials - 1))
    return max(mean - reach, 0.0), min(mean + reach, 1.0)


class RowAtRisk(NamedTuple):
    """One row of the source, and the attacker who learns its value."""

    row: int  # of the source, counted from 1
    attribute: str
    knows: str
    belief: float


@dataclass(eq=False)
class RowsAtRisk:
    """Rows as attacks find them, each with the first attacker who learns its value."""

    parts: list[tuple[Ints, str, str, Floats]] = field(default_factory=list)
    known: dict[str, Ints] = field(default_factory=dict)  # by attribute: rows, ascending

    def add(self, rows: Ints, attribute: str, knows: str, belief: Floats) -> None:
        """Note rows of the source, counted from 0, and the belief in the value of each."""
        before = self.known.get(attribute, np.zeros(0, np.int64))
        rows, first = np.unique(rows, return_index=True)
        new = ~np.isin(rows, before, assume_unique=True)
        self.parts.append((rows[new], attribute, knows, belief[first[new]]))
        self.known[attribute] = np.union1d(before, rows)

    @property
    def listed(self) -> tuple[RowAtRisk, ...]:
        """All of them in the order of the source."""
        every = np.concatenate([np.zeros(0, np.int64), *(rows for rows, *_ in self.parts)])
        belief = np.concatenate([np.zeros(0), *(beliefs for *_, beliefs in self.parts)])
        sizes = np.array([len(rows) for rows, *_ in self.parts], np.int64)
        about = np.repeat(np.arange(len(self.parts)), sizes)
        # By row, then by attribute, of which each row has one.
        rank = np.argsort(np.argsort([attribute for _, attribute, *_ in self.parts], kind="stable"))
        order = np.lexsort((rank[about], every))
        places = zip(
            (every[order] + 1).tolist(), about[order].tolist(), belief[order].tolist(), strict=True
        )
        names, knows = [part[1] for part in self.parts], [part[2] for part in self.parts]
        return tuple(RowAtRisk(row, names[n], knows[n], learned) for row, n, learned in places)

"""Search for changes of a job after which its release may be published.

Changes are tried on a sample: each by itself, then the most promising ones together with further
changes for what still keeps the release from being ready to sign. The best are then verified on the
whole table, by the audit, the attacks of the chosen attackers and the verdict of ``publish``. Only
these are listed, so a repair never promises a verdict that the whole table does not give.

A time budget ends the search; each trial gets a share of it, and a trial that takes longer is
abandoned. With the same seed, and a budget that does not cut, the result is the same.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from discreet.api.compare import Original
from discreet.api.job_changes import Change, Problem, Situation, proposed_changes
from discreet.api.trials import Grade, Trial, try_job
from discreet.errors import InputError, JobError
from discreet.io.atomic import hidden_file
from discreet.io.frames import plain_frame
from discreet.job.edits import REMOVED, Edit, edited_job, edited_text, flow
from discreet.job.model import Job
from discreet.job.yaml_lines import load_yaml
from discreet.methods.base import Progress, no_progress
from discreet.pipeline.expected_cost import announce_cost
from discreet.regular_files import path_of, read_text
from discreet.report.risk_verdict import READY
from discreet.statements import Statement
from discreet.table.budgets import SAMPLE

BUDGET = 60.0  # seconds
LISTED = 5  # repairs
BLOCKING = 0.05  # share of the rows without the most frequent value, below which groups grow
NAMED = 8  # columns of a repair that are named in a line
ENOUGH = 3  # sorts of trials that are ready to sign, after which no more changes are put together
SEEDS = 3  # trials that are extended at each depth
DEPTH = 4  # changes of one repair
PRUNED = 2  # trials of which changes are taken back, where they are not needed
SHARE = 0.1  # of the budget, for a trial on the sample, unless the first took a quarter of it
SEARCHING = 0.5  # share of the budget, at most, for trials on the sample


@dataclass(frozen=True)
class Repair:
    """One way to a better verdict, verified on the whole table."""

    changes: tuple[Change, ...]
    job: Job  # after it
    trial: Trial
    lines: tuple[tuple[tuple[int, ...], str], ...]  # of the job file, and what to write there

    @property
    def edits(self) -> tuple[Edit, ...]:
        """All edits of the job, in order."""
        return tuple(edit for change in self.changes for edit in change.edits)

    @property
    def verdict(self) -> str:
        """The verdict after it."""
        return self.trial.word or ""

    @property
    def needs_decision(self) -> bool:
        """Whether it is right only if the steward decides so."""
        return any(change.steward for change in self.changes)

    def to_dict(self) -> dict[str, Any]:
        """The repair as plain data."""
        error = self.trial.count_error
        return {
            "verdict": self.verdict,
            "reasons": list(self.trial.reasons),
            "changes": [change.action for change in self.changes],
            "write": [{"lines": list(numbers), "text": text} for numbers, text in self.lines],
            "information_loss": self.trial.loss,
            "count_error": None if error is None else error.release,
            "count_error_unlinked": None if error is None else error.unlinked,
            "rows_lost": self.trial.rows_lost,
            "rows": self.trial.rows,
            "cost": [change.cost for change in self.changes],
            "needs_decision": self.needs_decision,
            "edits": [
                {"trail": list(edit.trail), "remove": True}
                if edit.value is REMOVED
                else {"trail": list(edit.trail), "value": edit.value}
                for edit in self.edits
            ],
        }

    def text(self) -> list[str]:
        """The repair in lines of text."""
        trial = self.trial
        figures = [f"information loss {_percent(trial.loss)}"]
        error = trial.count_error
        if error is not None and not trial.worse_counts:
            figures.append(
                f"error of counts {error.release:.1%} (without any link {error.unlinked:.1%})"
            )
        figures.append(f"rows lost {trial.rows_lost:,} of {trial.rows:,}")
        return [
            " ".join([f"{self.verdict}, with {', '.join(figures)}.", *trial.worse_counts]),
            *(f"     {_at(numbers)}{text}" for numbers, text in self.lines),
            f"   Cost: {' '.join(dict.fromkeys(change.cost for change in self.changes))}",
        ]


def _at(numbers: Sequence[int]) -> str:
    """The lines of a file, before what is to be written there."""
    if not numbers:
        return ""
    shown = ", ".join(map(str, numbers[:NAMED])) + (", …" if len(numbers) > NAMED else "")
    return f"{'line' if len(numbers) == 1 else 'lines'} {shown}: "


def _percent(share: float | None) -> str:
    return "not measured" if share is None else f"{share:.1%}"


@dataclass(frozen=True)
class Repairs:
    """The verdict of a job as it is, and its verified repairs, the best first."""

    before: Trial
    repairs: tuple[Repair, ...]
    tried: int  # changes and combinations, on the sample and on the whole table
    cut: bool  # whether the time ended the search
    seconds: float
    seed: int
    blocking: str = ""  # which sensitive attributes keep groups from being small
    untried: int = 0  # changes that were to be tried when the time ended

    @property
    def needed(self) -> bool:
        """Whether the job is not ready to sign as it is, or says too little."""
        return self.before.grade is not Grade.READY

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data."""
        return {
            "verdict": self.before.word,
            "reasons": list(self.before.reasons),
            "information_loss": self.before.loss,
            **({"blocking": self.blocking} if self.blocking else {}),
            "repairs": [
                {"number": number, **repair.to_dict()}
                for number, repair in enumerate(self.repairs, 1)
            ],
            "tried": self.tried,
            "untried": self.untried,
            "cut": self.cut,
            "seconds": round(self.seconds, 3),
            "seed": self.seed,
        }

    def lines(self, job: str = "job.yaml") -> list[str]:
        """The result for a terminal."""
        before = self.before
        if not self.needed:
            return [f"Verdict: {READY}. Nothing to repair. Publish it: discreet publish {job}"]
        word = "nothing can be published" if before.word is None else before.word
        lines = [f"Verdict now: {word}.", *(f"  - {reason}" for reason in before.reasons)]
        coarse = Problem.COARSE in before.problems and Problem.EMPTY not in before.problems
        if coarse and before.loss is not None:
            lines.append(f"  - the quasi-identifiers lose {before.loss:.1%} of their information.")
        lines += [
            f"  - {sentence}" for sentence in (self.blocking, *before.worse_counts) if sentence
        ]
        ended = ""
        if self.cut:
            more = f" with {self.untried} changes untried" if self.untried else ""
            ended = f" The time ended the search{more}: --budget gives more."
        if not self.repairs:
            return [
                *lines,
                f"No repair was found among {self.tried} trials.{ended} Publish fewer columns, or "
                "review the roles of the columns that the reasons name.",
            ]
        lines += ["", f"Repairs, each verified on all {self.repairs[0].trial.rows:,} rows:"]
        for number, repair in enumerate(self.repairs, 1):
            first, *others = repair.text()
            lines += [f"{number}. {first}", *others]
        lines += ["", f"{self.tried} trials in {self.seconds:.0f} s.{ended}"]
        lines.append(f"Apply the first: discreet repair {job} --apply 1")
        return lines

    def __str__(self) -> str:
        return "\n".join(self.lines())


def repair(
    data: Any,
    job: Job | Mapping[str, Any] | str | Path,
    *,
    budget: float = BUDGET,
    seed: int = 0,
    unusable_only: bool = False,
    progress: Progress = no_progress,
) -> Repairs:
    """Search for changes of a job that make its release ready to sign, or at least publishable.

    ``data`` is a frame, a path, or None for the job's own source. After ``budget`` seconds the
    search ends. With ``unusable_only`` it begins only where nothing may be published, or where the
    quasi-identifiers would say next to nothing. Each repair of the result was verified on the whole
    table; its ``job`` can be published as it is. ``apply_repair`` writes one to a job file.
    """
    if not budget > 0:
        raise InputError(f"budget: must be more than 0 seconds; found {budget:g}.")
    text = None
    if isinstance(job, str | Path):
        text = read_text(path_of(job, "The job file"), "Job file")
    search = _Search(Job.of(job), plain_frame(data), text, budget, seed, progress)
    return search.run(unusable_only=unusable_only)


@dataclass(frozen=True, eq=False)
class _Attempt:
    """A job after some changes, and what came of it on the sample or on the whole table."""

    changes: tuple[Change, ...]
    trial: Trial

    @property
    def edits(self) -> list[Edit]:
        return [edit for change in self.changes for edit in change.edits]

    @property
    def edits_of(self) -> frozenset[str]:
        return frozenset(map(repr, self.edits))

    @property
    def sorts(self) -> frozenset[str]:
        return frozenset(change.sort for change in self.changes)

    def takes(self, change: Change) -> bool:
        """Whether a further change edits other parts of the job."""
        return not any(change.entries & earlier.entries for earlier in self.changes)


class _Search:
    def __init__(
        self,
        job: Job,
        data: Any,
        text: str | None,
        budget: float,
        seed: int,
        progress: Progress,
    ) -> None:
        self._job, self._data, self._text, self._seed = job, data, text, seed
        self._progress, self._budget = progress, budget
        self._begun = time.monotonic()
        self._ends = self._begun + budget
        self._tried, self._untried, self._cut = 0, 0, False
        self._usual = 0.0  # seconds of the first trial on the sample
        self._coarser = 1.0  # by how much the sample loses more than the whole table
        self._seen: set[frozenset[str]] = set()  # edits that were tried on the sample
        self._columns: list[str] = []  # that the job publishes and that have several values

    def run(self, *, unusable_only: bool) -> Repairs:
        """Judge the job, and search for repairs where it needs some."""
        original = Original.read(self._job, self._data, self._told("reading"))
        self._columns = [column.name for column in original.coded if column.cardinality > 1]
        announce_cost(
            self._progress, original.table, self._job.method.name, attack_seconds=self._budget,
            times=2 * LISTED, budget=self._budget,
        )  # fmt: skip
        rows = original.coded.rows
        chosen = None
        if rows > SAMPLE:
            chosen = np.random.default_rng(self._seed).choice(rows, SAMPLE, replace=False)
            chosen.sort()
        self._original, self._frame = original, original.frame(chosen)
        before = self._whole(())
        if before is None:
            raise InputError(
                f"The job as it is was not judged within {self._budget:g} s. Use a larger --budget."
            )
        listed: list[_Attempt] = []
        if before.grade and not (unusable_only and before.usable):
            listed = self._found(_Attempt((), before), 1 if unusable_only else LISTED)
        return Repairs(
            before,
            tuple(self._repair(node) for node in listed),
            self._tried,
            self._cut,
            time.monotonic() - self._begun,
            self._seed,
            _blocking(original, before),
            self._untried,
        )

    def _found(self, root: _Attempt, wanted: int) -> list[_Attempt]:
        """Search on the sample, verify on the whole table; return what is better, best first.

        Enough is verified once so many need no decision of the steward and are ready to sign, and
        one of them, or the best that is not, publishes a link.
        """
        explored = self._explore(root, time.monotonic() + SEARCHING * self._left())
        verified: list[_Attempt] = []
        for node in self._in_turn(explored):
            ready = [
                one
                for one in verified
                if one.trial.grade is Grade.READY and not any(c.steward for c in one.changes)
            ]
            if len(ready) >= wanted and any(one.trial.linked for one in verified):
                break
            self._verify(node.changes, root, verified)
        # What the sample did not show: go on from the best link on the whole table.
        for _ in range(DEPTH):
            best = self._best_linked(verified)
            if best is None or best.trial.grade is Grade.READY:
                break
            for change in [one for changes in self._proposed(best) for one in changes]:
                self._verify((*best.changes, change), root, verified)
                if verified[-1].trial.grade is Grade.READY:
                    break
            if self._best_linked(verified) is best:
                break
        better = [node for node in verified if self._rank(node)[:2] < self._rank(root)[:2]]
        decided = [node for node in better if node.trial.grade < root.trial.grade]
        usable = [node for node in decided if node.trial.usable]
        return self._listed(sorted(usable or decided or better, key=self._order))

    def _best_linked(self, nodes: Sequence[_Attempt]) -> _Attempt | None:
        """Return the best that tells which sensitive values go with quasi-identifiers."""
        linked = [node for node in nodes if node.trial.linked]
        return min(linked or nodes, key=self._rank, default=None)

    def _verify(
        self, changes: tuple[Change, ...], root: _Attempt, verified: list[_Attempt]
    ) -> None:
        """Try changes on the whole table, if there is time for it."""
        slowest = max(node.trial.seconds for node in (root, *verified))
        if self._left() < slowest / 2:  # the first one also compiled and loaded what others use
            self._cut = True
            self._untried += 1
            return
        trial = self._whole(changes)
        if trial is not None:
            verified.append(_Attempt(changes, trial))

    def _listed(self, ordered: list[_Attempt]) -> list[_Attempt]:
        """Return at most five; first those that do different things."""
        first: dict[frozenset[str], _Attempt] = {}
        for node in ordered:
            first.setdefault(node.sorts, node)
        others = [node for node in ordered if first[node.sorts] is not node]
        return sorted([*first.values(), *others][:LISTED], key=self._order)

    def _explore(self, root: _Attempt, ends: float) -> list[_Attempt]:
        """Try changes on the sample, alone and together, and return every trial.

        First only the foremost change of each sort, as deep as needed; then all others.
        """
        explored: list[_Attempt] = []
        same = self._sampled((), ends)
        if same is not None and same.loss and root.trial.loss:
            self._coarser = max(same.loss / root.trial.loss, 1.0)
        for changes in self._at_once(root):
            trial = self._sampled(changes, ends)
            if trial is not None:
                explored.append(_Attempt(changes, trial))
        for rounds in (1, None):
            seeds, expanded = [root], set()
            for _ in range(DEPTH):
                extensions = self._extensions(seeds, rounds)
                for number, (change, seed) in enumerate(extensions):
                    if time.monotonic() > ends:
                        self._cut = True
                        self._untried += len(extensions) - number
                        return explored
                    trial = self._sampled((*seed.changes, change), ends)
                    if trial is not None:
                        explored.append(_Attempt((*seed.changes, change), trial))
                expanded |= {id(seed) for seed in seeds}
                ready = [node for node in explored if node.trial.grade is Grade.READY]
                linked = any(node.trial.linked for node in ready)
                if linked and len({node.sorts for node in ready}) >= ENOUGH:
                    return [*explored, *self._pruned(ready, ends)]
                waiting = [
                    node
                    for node in explored
                    if id(node) not in expanded
                    and Grade.READY < node.trial.grade < Grade.IMPOSSIBLE
                ]
                seeds = sorted(waiting, key=self._rank)[:SEEDS]
        ready = [node for node in explored if node.trial.grade is Grade.READY]
        return [*explored, *self._pruned(ready, ends)]

    def _at_once(self, root: _Attempt) -> list[tuple[Change, ...]]:
        """The foremost changes for each of several problems, all at once; then the next two."""
        together = []
        first = [change for changes in self._proposed(root)[:1] for change in changes]
        for skipped in range(3):
            chosen: tuple[Change, ...] = ()
            for problem in sorted(root.trial.problems):
                able = [change for change in first if problem in change.solves]
                change = able[min(skipped, len(able) - 1)] if able else None
                if change is not None and _Attempt(chosen, root.trial).takes(change):
                    chosen = (*chosen, change)
            edits = frozenset(repr(edit) for change in chosen for edit in change.edits)
            if len(chosen) > 1 and edits not in self._seen:
                self._seen.add(edits)
                together.append(chosen)
        return together

    def _extensions(
        self, seeds: Sequence[_Attempt], rounds: int | None
    ) -> list[tuple[Change, _Attempt]]:
        """Further changes of some trials that were not tried yet, round by round."""
        proposed = [self._proposed(seed)[:rounds] for seed in seeds]
        longest = max(map(len, proposed), default=0)
        fresh = []
        for number in range(longest):
            for changes, seed in zip(proposed, seeds, strict=True):
                for change in changes[number] if number < len(changes) else ():
                    edits = frozenset(map(repr, (*seed.edits, *change.edits)))
                    if edits not in self._seen:
                        self._seen.add(edits)
                        fresh.append((change, seed))
        return fresh

    def _pruned(self, ready: Sequence[_Attempt], ends: float) -> list[_Attempt]:
        """Publish again what need not be left out, from the least harmful column on."""
        pruned = []
        for node in sorted(ready, key=self._order)[:PRUNED]:
            best = node
            for change in node.changes:
                columns = change.columns
                if not columns:
                    continue
                step = len(columns) // 2
                while step and time.monotonic() < ends:
                    present = next(one for one in best.changes if one.sort == change.sort
                                   and set(one.columns) <= set(columns))  # fmt: skip
                    fewer = present.of(present.columns[:-step]) if step else present
                    changes = tuple(fewer if one is present else one for one in best.changes)
                    trial = self._sampled(changes, ends)
                    if trial is None:
                        break  # out of time
                    node_of_fewer = _Attempt(changes, trial)
                    if self._order(node_of_fewer) < self._order(best):
                        best = node_of_fewer
                        step = min(step, len(fewer.columns) - 1)
                    else:
                        step //= 2
            if best is not node:
                pruned.append(best)
        return pruned

    def _proposed(self, node: _Attempt) -> list[list[Change]]:
        """Changes for what still keeps a trial from being ready to sign, in rounds.

        Another method, which may take long, is tried first or not at all.
        """
        trial = node.trial
        situation = Situation(
            edited_job(self._original.job, node.edits),
            self._original.coded,
            trial.problems,
            trial.refused,
            trial.accused,
            trial.levels,
            trial.losses,
        )
        return [
            [
                change
                for change in changes
                if node.takes(change) and not (node.changes and change.sort == "method")
            ]
            for changes in proposed_changes(situation)
        ]

    def _in_turn(self, explored: Sequence[_Attempt]) -> list[_Attempt]:
        """What is worth a trial on the whole table: first the best that do different things.

        The best one that publishes a link is second at the latest. One that changes more than
        another needs, to no better end, is not tried.
        """
        ordered: list[_Attempt] = []
        for node in sorted(explored, key=self._order):
            less = any(one.edits_of < node.edits_of for one in ordered)
            if node.trial.grade < Grade.IMPOSSIBLE and not less:
                ordered.append(node)
        first: dict[frozenset[str], _Attempt] = {}
        for node in ordered:
            if node.trial.grade == ordered[0].trial.grade:
                first.setdefault(node.sorts, node)
        best = self._best_linked(ordered)
        leading = list(first.values())
        leading[1:1] = [best] if best is not None and best not in leading[:2] else []
        leading = list({id(node): node for node in leading}.values())
        return [*leading, *(node for node in ordered if node not in leading)][: 2 * LISTED]

    def _rank(self, node: _Attempt) -> tuple[int, float, float]:
        """The order of promise: the verdict, the excess of risk, the cost."""
        trial = node.trial
        return trial.grade, round(trial.excess, 3), trial.cost(self._columns)

    def _order(self, node: _Attempt) -> tuple[int, bool, float, int]:
        """The order of a list: the verdict, decisions of the steward, the cost, the edits."""
        trial = node.trial
        decided = any(change.steward for change in node.changes)
        cost = trial.cost(self._columns) + (trial.excess if trial.grade else 0.0)
        return trial.grade, decided, round(cost, 4), len(node.edits)

    def _left(self) -> float:
        return self._ends - time.monotonic()

    def _told(self, what: str) -> Progress:
        """Report the share of the budget that is used."""

        def tell(phase: str, share: float) -> None:
            used = (time.monotonic() - self._begun) / self._budget
            self._progress(what, min(used, 1.0))

        return tell

    def _sampled(self, changes: tuple[Change, ...], ends: float) -> Trial | None:
        """Try changes on the sample; None where they do not fit together or take too long."""
        share = min(ends - time.monotonic(), max(self._budget * SHARE, 4 * self._usual))
        try:
            job = edited_job(self._original.job, [e for c in changes for e in c.edits])
        except JobError:
            return None
        attributes = {
            name: attribute.model_copy(update={"allow_identifying": True})
            for name, attribute in job.attributes.items()
        }  # a value that is frequent in the table may be unique in the sample
        relaxed = job.model_copy(update={"attributes": attributes})
        what = Statement("repair.progress.sample", trial=self._tried + 1)
        trial = self._timed(relaxed, self._frame, share, what, judged=job)
        self._usual = self._usual or (0.0 if trial is None else trial.seconds)
        return None if trial is None else trial.of_larger_table(self._coarser)

    def _whole(self, changes: tuple[Change, ...]) -> Trial | None:
        """Judge the job with some changes on the whole table."""
        try:
            job = edited_job(self._job, [e for c in changes for e in c.edits])
        except JobError:
            return None
        what = Statement("repair.progress.whole", trial=self._tried + 1)
        return self._timed(job, self._data, self._left(), what, errors=True)

    def _timed(
        self, job: Job, data: Any, seconds: float, what: str, **options: Any
    ) -> Trial | None:
        """Run a trial in its share of the time; None where it takes longer."""
        self._tried += 1
        trial = try_job(job, data, self._seed, seconds, self._told(what), **options)
        self._cut |= trial is None
        return trial

    def _repair(self, node: _Attempt) -> Repair:
        job = edited_job(self._job, node.edits)
        return Repair(node.changes, job, node.trial, tuple(_lines(node.edits, job, self._text)))


def _blocking(original: Original, before: Trial) -> str:
    """Name the sensitive attributes nearly all of whose values are the same, if that does harm."""
    if not before.problems & {Problem.EMPTY, Problem.INFEASIBLE}:
        return ""
    rare = {
        column.name: int(column.counts.sum() - column.counts.max(initial=0))
        for column in original.coded.sensitive
    }
    names = sorted((name for name in rare if rare[name] < BLOCKING * original.coded.rows),
                   key=lambda name: (rare[name], name))  # fmt: skip
    if not names:
        return ""
    counts = {"rare": rare[names[0]], "rows": original.coded.rows}
    return Statement("repair.blocking", worst=names[0], columns=names[:NAMED], **counts)


def _lines(edits: Sequence[Edit], job: Job, text: str | None) -> list[tuple[tuple[int, ...], str]]:
    """What to write, by line of the job file; columns that get the same are joined."""
    places = None if text is None else load_yaml(text, "job")[1]
    written: dict[str, list[str]] = {}
    numbers: dict[str, list[int]] = {}
    for entry in dict.fromkeys(edit.entry for edit in edits):
        of_entry = [edit for edit in edits if edit.entry == entry]
        if entry[0] == "attributes":
            name, keys = str(entry[1]), [edit for edit in of_entry if edit.value is not REMOVED]
            value = flow({str(edit.trail[2]): edit.value for edit in keys})
        elif entry[0] == "method":
            name, value = "method", flow(of_entry[-1].value)
        else:
            requirement = job.requirements[int(entry[1])]
            written_there = of_entry[-1].value if len(of_entry[-1].trail) == 2 else None
            parameters = (written_there or {}).get(requirement.name) or requirement.parameters()
            name, value = "- " + requirement.name, flow(parameters)
        line = None if places is None else places.lines.get(entry)
        numbers.setdefault(value, []).extend([] if line is None else [line])
        written.setdefault(value, []).append(name)
    return [
        (tuple(numbers[value]), f"{_named(names)}: {value}") for value, names in written.items()
    ]


def _named(names: Sequence[str]) -> str:
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")


def stored_repairs(job: str | Path) -> Path:
    """The file beside a job that keeps its last repairs for ``--apply``."""
    path = path_of(job, "The job file")
    return path.with_name(f"{path.stem}.repairs.json")


def store_repairs(job: str | Path, found: Repairs) -> None:
    """Keep repairs beside their job, for as long as the job is not changed."""
    text = read_text(path_of(job, "The job file"), "Job file")
    stored = {"job_sha256": _sha256(text), **found.to_dict()}
    with hidden_file(stored_repairs(job)) as partial:
        partial.write_text(json.dumps(stored, indent=1, default=str) + "\n", encoding="utf-8")
        partial.replace(stored_repairs(job))


def read_repairs(job: str | Path) -> list[list[Edit]] | None:
    """Return the edits of the repairs that are stored for a job; None if it was changed since."""
    text = read_text(path_of(job, "The job file"), "Job file")
    try:
        stored = json.loads(read_text(stored_repairs(job), "Repairs"))
        if stored["job_sha256"] != _sha256(text):
            return None
        return [
            [
                Edit(tuple(one["trail"]), REMOVED if one.get("remove") else one["value"])
                for one in repair["edits"]
            ]
            for repair in stored["repairs"]
        ]
    except (OSError, ValueError, KeyError, TypeError):
        return None


def apply_repair(job: str | Path, edits: Sequence[Edit]) -> Path:
    """Write a repair to a job file; comments and order of the file stay."""
    path = path_of(job, "The job file")
    text = edited_text(read_text(path, "Job file"), edits, str(path))
    with hidden_file(path) as partial:
        partial.write_text(text, encoding="utf-8")
        shutil.copymode(path, partial)
        partial.replace(path)
    stored_repairs(job).unlink(missing_ok=True)
    return path


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()

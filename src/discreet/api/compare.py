"""Several methods on one table: the utility of each release, and one attacker's beliefs.

The table is read once. Every setting then runs as a job of its own, is audited as it would be
published, and is measured by the same figures; a setting that fails reports its reason and does
not stop the others. Methods that need a ledger run as if nothing had been published before.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet import __version__
from discreet.api.settings_grid import Setting, settings_of, suited_settings
from discreet.api.trials import try_job
from discreet.attacks.downcoding import pinned_share
from discreet.by_name import nearest
from discreet.errors import DiscreetError, InputError, PromiseError
from discreet.job.model import Job
from discreet.job.parts import Attribute
from discreet.ledger.ledger import Ledger
from discreet.ledger.settings import LedgerSettings
from discreet.methods.base import Method, Progress, no_progress
from discreet.methods.unlinked.unlinked import Unlinked
from discreet.pipeline.expected_cost import announce_cost
from discreet.pipeline.prepare import expand_sets, sensitive_marks
from discreet.pipeline.read import read_data, read_source
from discreet.pipeline.release import Release
from discreet.pipeline.run import make_release, prove_release
from discreet.regular_files import read_text
from discreet.releases.measure import read_utility
from discreet.releases.registry import kind_of
from discreet.report.risk_verdict import REFUSE
from discreet.table.code_maps import code_of_text
from discreet.table.coded_table import CodedTable
from discreet.table.interrupts import OutOfTimeError, within
from discreet.table.persons import Persons
from discreet.table.roles import Role
from discreet.typing import Codes
from discreet.utility.comparison import CEILING, Comparison, Point, Use, mark_dominated, recommend
from discreet.utility.divergence import distance, fixed_reader
from discreet.utility.implied import ImpliedUnlinked
from discreet.utility.learning import DRAWS, Learning, Teacher, split_people, targets_of
from discreet.utility.queries import QueryWorkload, query_errors

JUDGING = 0.25  # share of a time budget that is kept for the verdicts of recommended releases
UNLINKED = Setting(Unlinked.name, {}, {})
_ROW = "row of a comparison"  # the identifier of rows for a ledger
_PERSON = "person of a comparison"  # the identifier of persons who keep several rows


@dataclass(frozen=True, eq=False)
class Original:
    """A job's table, read once, and its job without the columns that are not coded."""

    job: Job
    coded: CodedTable  # as it was read
    row_persons: Persons | None = None  # where persons keep several rows: the person of each

    @classmethod
    def read(cls, job: Job, data: Any = None, progress: Progress = no_progress) -> Original:
        """Read a job's source, a path or a frame; with one row for each person that it names.

        Where persons keep several rows, a number stands for their identifier.
        """
        progress("reading", 0.0)
        row_persons = None
        if job.person is None:
            table = read_data(job, data, lambda share: progress("reading", share))
        else:
            source = read_source(job, data, None, lambda share: progress("reading", share))
            table, row_persons = source.table, source.row_persons
        # The frame has cells as they are published: dates in ISO form, sets joined and collapsed.
        plain: dict[str, Any] = dict.fromkeys(("collapse", "columns", "format"))
        attributes = {
            column.name: job.attributes[column.name].model_copy(
                update={**plain, "type": column.type, "multi_valued": column.separator}
            )
            for column in table
        }
        unread: dict[str, Any] = dict.fromkeys(("source", "person", "ledger", "verify"))
        if row_persons is not None and job.person is not None:
            attributes[_PERSON] = Attribute(role=Role.IDENTIFIER)
            unread["person"] = job.person.model_copy(update={"column": (_PERSON,)})
        inner = job.model_copy(update={**unread, "attributes": attributes})
        return cls(inner, table, row_persons)

    @cached_property
    def table(self) -> CodedTable:
        """The table as measures read it: sets as bits."""
        return expand_sets(self.job, self.coded)[0]

    @cached_property
    def sensitive_values(self) -> dict[str, NDArray[np.bool_]]:
        """By attribute whose values the job names: (values,) which are sensitive."""
        table, bitmaps = expand_sets(self.job, self.coded)
        return sensitive_marks(self.job, table, bitmaps)[0]

    def frame(self, rows: NDArray[np.int64] | None = None) -> pl.DataFrame:
        """The table again, or some of its rows, as text."""
        columns = [
            column.text.gather(
                pl.Series(column.codes if rows is None else column.codes[rows])
            ).alias(column.name)
            for column in self.coded
        ]
        if self.row_persons is not None:
            number = self.row_persons.number if rows is None else self.row_persons.number[rows]
            columns.append(pl.Series(_PERSON, number).cast(pl.String))
        return pl.DataFrame(columns)

    def release(
        self, job: Job, seed: int, rows: NDArray[np.int64] | None, progress: Progress
    ) -> Release:
        """Run a job on the table or on some rows, audited as it would be published."""
        frame = self.frame(rows)
        if not job.method.needs_history:
            release = make_release(frame, job, seed=seed, progress=progress)
            return prove_release(release, progress, measured=False)
        with _new_ledger() as (settings, ledger):
            attributes = {**job.attributes, _ROW: Attribute(role=Role.IDENTIFIER)}
            job = job.model_copy(update={"attributes": attributes, "ledger": settings})
            frame = frame.with_columns(pl.int_range(len(frame)).cast(pl.String).alias(_ROW))
            release = make_release(frame, job, seed=seed, progress=progress, ledger=ledger)
            return prove_release(release, progress, ledger, measured=False)


@contextmanager
def _new_ledger() -> Iterator[tuple[LedgerSettings, Ledger]]:
    """A ledger without earlier releases, removed when the release is made."""
    with TemporaryDirectory() as folder:
        place = Path(folder) / "ledger"
        settings = LedgerSettings(path=place, key=place.with_suffix(".key"), person=_ROW)
        with Ledger.create(settings) as ledger:
            yield settings, ledger


class School:
    """The people to learn from and to be tested on, the same for every release."""

    def __init__(self, original: Original, targets: Sequence[str], seed: int) -> None:
        self._original = original
        self._rng = np.random.default_rng(seed)
        table = original.table
        self._split = split_people(table.rows, self._rng, original.row_persons)
        chosen = targets_of(table, targets)
        self._teacher = Teacher(table, self._split, chosen, self._rng)

    def learning(self, job: Job, seed: int, progress: Progress) -> Learning:
        """Run a job again on the people to learn from, and learn from its release."""
        release = self._original.release(job, seed, self._split.train, progress)
        reading = read_utility(release.coded_tables(), release.task, release.manifest)

        def draws() -> Iterator[Mapping[str, Codes]]:
            for number in range(DRAWS):
                progress("learning", number / DRAWS)
                drawn = reading.implied.draw(self._rng)
                yield {name: self._recoded(reading.original, name, drawn[name]) for name in drawn}

        return self._teacher.teach(draws())

    def _recoded(self, part: CodedTable, name: str, codes: Codes) -> Codes:
        """Codes of the part's dictionary in the original's; −1 for values that it lacks."""
        places = code_of_text(self._original.table[name].text, part[name].text)
        return places.astype(np.int32)[codes]


def compare(
    data: Any,
    job: Job | Mapping[str, Any] | str | Path,
    *,
    methods: Sequence[Method | str | Mapping[str, Any]] | None = None,
    vary: Mapping[str, Sequence[Any]] | None = None,
    settings: Sequence[Setting] | None = None,
    uses: Sequence[Use | str] | Use | str | None = None,
    learning: bool = False,
    queries: int | None = None,
    ceiling: float = CEILING,
    seed: int = 0,
    budget: float | None = None,
    progress: Progress = no_progress,
) -> Comparison:
    """Run several methods on one table, and compare utility against disclosure risk.

    ``data`` is a frame, a path, or None for the job's own source. ``methods`` are names or methods
    with parameters, by default all that suit the job, with its k and l translated and some larger
    l. ``budget``, in seconds, is kept by the clock: a setting that exceeds its share is stopped,
    and what was not tried is listed. ``vary`` gives values of parameters, and every method runs
    with each combination of those that it takes; ``settings`` names each setting instead.
    ``uses`` are the purposes of a release (``queries``, ``associations``, ``records``,
    ``learning``; all but the last if left out). A release is recommended only where the belief of
    99 in 100 people is at most ``ceiling``, two tables without a link do not dominate it, and its
    verdict is not *Do not publish*.
    """
    job = Job.of(job)
    if not 0 <= ceiling <= 1:
        raise InputError(f"ceiling: a belief is between 0 and 1; found {ceiling:g}.")
    wanted = _uses(uses, learning)
    if settings is None and methods is None and not vary:
        settings = suited_settings(job)
    elif settings is None:
        settings = settings_of(job, methods or [job.method.name], vary or {})
    settings = [setting for setting in settings if setting != UNLINKED]  # the baseline
    begun = time.monotonic()
    ends = math.inf if budget is None else begun + budget * (1 - JUDGING)
    original = Original.read(job, data, progress)
    last = math.inf if budget is None else begun + budget
    announce_cost(
        progress, original.table, job.method.name, attack_seconds=math.inf,
        times=len(settings) + 1, budget=last - time.monotonic(),
    )  # fmt: skip
    workload = job.measure.workload(queries)
    taught = None
    if learning or Use.LEARNING in wanted:
        taught = School(original, job.measure.targets, seed)
    runner = _Runner(original, workload, taught, seed)
    unlinked = runner.unlinked()
    points, untried = runner.points(settings, ends, progress)
    marked = mark_dominated(points, unlinked)
    # What is recommended must be publishable: the next best one takes the place of a refused one.
    verdicts: dict[str, str | None] = {}
    while True:
        marked = tuple(replace(one, verdict=verdicts.get(one.label)) for one in marked)
        unlinked = replace(unlinked, verdict=verdicts.get(unlinked.label))
        recommendations = tuple(recommend(marked, unlinked, use, ceiling) for use in wanted)
        labels = [one.label for one in recommendations if one.label not in (None, *verdicts)]
        if not labels or time.monotonic() > last:
            break
        (point,) = (one for one in (*marked, unlinked) if one.label == labels[0])
        verdicts[point.label] = _verdict(point, job, data, seed, last, progress)
    return Comparison(
        marked,
        unlinked,
        recommendations,
        original.table.rows,
        ceiling,
        None if original.row_persons is None else original.row_persons.count,
        untried=tuple(untried),
        sensitive_only=not all(mark.all() for mark in original.sensitive_values.values()),
        provenance={
            "version": __version__,
            "data_sha256": sha256(original.frame().write_csv().encode()).hexdigest(),
            "requirements": [{one.name: one.parameters()} for one in original.job.requirements],
            "queries": None if workload is None else workload.model_dump(),
            "seed": seed,
        },
    )


def _verdict(
    point: Point, job: Job, data: Any, seed: int, ends: float, progress: Progress
) -> str | None:
    """Return what ``publish`` would say of a release; None where that is not known in time."""
    applied = _setting_of(point).applied(job)
    if applied.method.needs_history:
        return None  # its verdict is about a series, in a ledger

    def tell(phase: str, share: float) -> None:
        progress(f"{point.label}: verdict, {phase}", share)

    trial = try_job(applied, data, seed, ends - time.monotonic(), tell)
    return None if trial is None else trial.word or REFUSE


def _setting_of(point: Point) -> Setting:
    return Setting(point.method, point.parameters, point.given, point.note)


def compared_job(
    job: Job | Mapping[str, Any] | str | Path, folder: str | Path | None, name: str | None
) -> Job:
    """Return a job by the method and setting of a compared release, to publish it by its name."""
    job = Job.of(job)
    if folder is None or name is None:
        raise InputError("--compared and --release go together: a folder, and a release in it.")
    place = Path(folder) / "comparison.json"
    try:
        written = json.loads(read_text(place, "Comparison"))
        points = [*written["points"], written["unlinked"]]
        point_of = {point["label"]: point for point in points if "failure" not in point}
    except (ValueError, KeyError, TypeError):
        raise InputError(f"{place}: not a comparison that discreet wrote.") from None
    if name not in point_of:
        raise InputError(f"{place}: no release '{name}'. {nearest(name, sorted(point_of))}")
    point = point_of[name]
    setting = Setting(
        point["method"], point["parameters"], point.get("given", {}), point.get("note")
    )
    return setting.applied(job)


def _uses(uses: Sequence[Use | str] | Use | str | None, learning: bool) -> list[Use]:
    if uses is None:
        return [use for use in Use if learning or use is not Use.LEARNING]
    named = [uses] if isinstance(uses, str) else list(uses)
    unknown = [str(use) for use in named if str(use) not in list(Use)]
    if unknown:
        raise InputError(f"Unknown use {', '.join(map(repr, unknown))}. Known: {', '.join(Use)}.")
    return [Use(use) for use in named]


def _harder(setting: Setting, point: Point) -> bool:
    """Whether a setting asks a method for no less than what it was found unable to do."""
    if not point.infeasible or point.method != setting.method or point.given != setting.given:
        return False
    asked = point.parameters
    rising = {"k", "l", "m"}
    return set(asked) == set(setting.parameters) and all(
        setting.parameters[name] >= value if name in rising else setting.parameters[name] == value
        for name, value in asked.items()
    )


@dataclass(frozen=True, eq=False)
class _Runner:
    original: Original
    workload: QueryWorkload | None
    taught: School | None
    seed: int

    def points(
        self, settings: Sequence[Setting], ends: float, progress: Progress
    ) -> tuple[list[Point], list[str]]:
        """Run settings in turn; return their points, and what was left out, with the reason.

        The first setting of each method has an equal share of the time that is left, so that each
        gets its turn. Where a method cannot meet an l or a k, larger ones are not run.
        """
        points: list[Point] = []
        untried: list[str] = []
        waiting = {setting.method for setting in settings}
        for number, setting in enumerate(settings):
            easier = next((one for one in points if _harder(setting, one)), None)
            left = ends - time.monotonic()
            if easier is not None:
                untried.append(f"{setting.label} (infeasible, as {easier.label} is)")
                continue
            if left <= 0:
                untried.append(setting.label)
                continue
            share = left / max(len(waiting), 1)
            waiting.discard(setting.method)

            def tell(phase: str, part: float, place: int = number, of: Setting = setting) -> None:
                done = (place + min(part, 1.0) / 2) / len(settings)  # a phase is not a setting
                progress(f"{of.label} ({place + 1} of {len(settings)}): {phase}", done)

            def run(tell_of_time: Progress, of: Setting = setting) -> Point:
                return self.point(of, tell_of_time)

            try:
                points.append(within(share, run, tell))
            except OutOfTimeError:
                untried.append(f"{setting.label} (stopped after {share:.0f} s)")
        return points, untried

    def point(self, setting: Setting, progress: Progress) -> Point:
        """Return the result of one setting; a failure is a point too."""
        started = time.perf_counter()
        point = Point(
            setting.label, setting.method, dict(setting.parameters), given=dict(setting.given),
            note=setting.note,
        )  # fmt: skip
        try:
            job = setting.job(self.original.job, [c.name for c in self.original.table.sensitive])
            release = self.original.release(job, self.seed, None, progress)
            point = replace(point, seconds=round(time.perf_counter() - started, 3))
            progress("measures", 0.0)
            point = self._measured(point, release)
            if self.taught is not None:
                taught = self.taught.learning(job, self.seed, progress)
                point = replace(point, skill=taught.skill, accuracy=taught.accuracy)
        except OutOfTimeError:
            raise
        except DiscreetError as error:
            return replace(point, failure=str(error), infeasible=isinstance(error, PromiseError))
        except Exception as error:  # a failing method does not stop the others
            return replace(point, failure=f"failed unexpectedly ({type(error).__name__})")
        return point

    def _measured(self, point: Point, release: Release) -> Point:
        manifest, tables = release.manifest, release.coded_tables()
        reading = read_utility(tables, release.task, manifest, release.formed.source_rows())
        reading = replace(reading, imply_weighted=None)  # rows are counted for kinds of all sorts
        measures = reading.measured(self.workload, self.seed)
        divergence, errors = measures.divergence, measures.query_error
        task = release.task
        belief = fixed_reader(
            reading.original, reading.implied, task.basis.persons, task.secrets.sensitive_values
        )
        away = None if divergence is None else divergence.release
        population = measures.population
        return replace(
            point,
            kind=manifest.kind,
            pinned=(
                pinned_share(tables, release.task, manifest)
                if kind_of(manifest.kind).makes_alike
                else None
            ),
            has_records=kind_of(manifest.kind).has_records,
            divergence_ratio=None if away is None else away.ratio,
            belief_99=None if belief is None else belief.percentile_99,
            belief_max=None if belief is None else belief.greatest,
            query_error=None if errors is None else errors.release.median,
            kl_divergence=None if away is None else away.kl_divergence,
            association=None if away is None else away.association,
            association_sensitive=None if away is None else away.association_sensitive,
            loss=measures.loss,
            loss_sensitive=measures.loss_sensitive,
            suppressed_rows=manifest.suppressed_rows,
            suppressed_share=manifest.lost_share,
            population_risk=None if population is None else population.average,
            population_risk_max=None if population is None else population.maximum,
        )

    def unlinked(self) -> Point:
        """Return the baseline point: tables without a link between quasi-identifiers and values."""
        table = self.original.table
        implied = ImpliedUnlinked((table.quasi_identifiers, table.sensitive), table.rows)
        belief = fixed_reader(
            table, implied, self.original.row_persons, self.original.sensitive_values
        )
        errors, failure = None, None
        started = time.perf_counter()
        try:
            self.original.release(UNLINKED.job(self.original.job, ()), self.seed, None, no_progress)
        except DiscreetError as error:  # it stays the baseline, and is not recommended
            failure = error
        seconds = round(time.perf_counter() - started, 3)
        if self.workload is not None:
            errors = query_errors(table, implied, self.workload, self.seed)
        away = distance(table, implied)
        return Point(
            UNLINKED.label,
            UNLINKED.method,
            {},
            failure=None if failure is None else str(failure),
            infeasible=isinstance(failure, PromiseError),
            seconds=seconds,
            divergence_ratio=away.ratio,
            belief_99=None if belief is None else belief.percentile_99,
            belief_max=None if belief is None else belief.greatest,
            query_error=None if errors is None else errors.unlinked.median,
            kl_divergence=away.kl_divergence,
            association=away.association,
            association_sensitive=away.association_sensitive,
            skill=None if self.taught is None else 0.0,
        )

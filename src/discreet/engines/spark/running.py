"""Running a method: once on counts, or on every part with the same code as on a whole table."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
from pyspark import Broadcast
from pyspark.sql import DataFrame, SparkSession

from discreet.algorithms.full_domain import FullDomain
from discreet.algorithms.hilbert import task_keys
from discreet.algorithms.method import Outcome, Spread, Task
from discreet.algorithms.msa_diversity import MsaDiversity
from discreet.algorithms.share_bounds import bounds_of, require_feasible, too_many
from discreet.algorithms.top_cuts import CutTree, top_cuts
from discreet.data.roles import Role
from discreet.data.table import CodedTable
from discreet.engines.parts import PartResult, Plan, part_of_outcome, recodings_of, stage_part
from discreet.engines.placing import (
    Assign,
    ByCuts,
    ByDealing,
    ByStretches,
    all_together,
    passing_parts,
)
from discreet.engines.spark.session import COLLECTED, ROWS_OF_PART, each, setting, spread, stream
from discreet.errors import InfeasibleError, InputError
from discreet.models.links import LinkRequirement
from discreet.models.requirement import SizeRequirement

SAMPLE = 200_000  # rows that the driver learns the first cuts from, and
SAMPLE_OF_PART = 2_000  # at least so many of each part
STRETCHES, STRETCH = 64, 4096  # of the curve in a part at most, and rows of one at least
FEWER = 4  # times fewer parts are tried where some part can't keep a promise that all can


class Runner:
    """One run of a method on the encoded rows of a table."""

    def __init__(self, session: SparkSession, plan: Plan, staging: Path) -> None:
        self.session = session
        self.plan = plan
        self.staging = staging
        self.rows = plan.task.table.rows
        self.place_of = {name: f"c{place}" for place, name in enumerate(plan.specs)}
        self.rows_of_part = setting(session, ROWS_OF_PART)
        (staging / "tables").mkdir()

    def run(self, rows: DataFrame) -> list[PartResult]:
        """Stage the tables of all parts."""
        spread_ = self.plan.job.method.spread
        if spread_ is Spread.COUNTS:
            return self._by_counts(rows)
        parts = max(1, -(-self.rows // self.rows_of_part))
        if spread_ is Spread.CURVE:
            bounds = bounds_of(self.plan.task)
            assert isinstance(self.plan.job.method, MsaDiversity)
            require_feasible(self.plan.task, bounds, self.plan.job.method.suppression)
        while True:
            try:
                return self._by_parts(rows, spread_, parts)
            except InfeasibleError:
                if parts == 1:
                    raise
                parts = max(1, parts // FEWER)

    # ---- methods whose choice follows from counts

    def _by_counts(self, rows: DataFrame) -> list[PartResult]:
        plan = self.plan
        table = self._tuples(rows)
        task = replace(
            plan.task,
            table=table,
            rng=np.random.default_rng([plan.seed, 0]),
        )
        outcome = plan.job.method.run(task)
        recodings = recodings_of(outcome)
        quasi = [self.place_of[column.name] for column in table.quasi_identifiers]
        known = pl.DataFrame(
            {
                **{self.place_of[c.name]: c.codes for c in table.quasi_identifiers},
                **{f"k{n}": recoding.class_of_row for n, recoding in enumerate(recodings)},
            }
        ).unique(quasi or None)
        path = self.staging / "classes.parquet"
        known.write_parquet(path)
        classes = self.session.read.parquet(path.as_uri())
        joined = rows.join(classes, quasi) if quasi else rows.crossJoin(classes)
        parts = max(1, -(-self.rows // self.rows_of_part))
        bare = part_of_outcome(outcome, [np.zeros(0, np.int32)] * len(recodings))
        shared = self._share((plan, bare))
        folder, place_of = self.staging / "tables", self.place_of

        def kernel(part: pa.Table) -> PartResult:
            plan, outcome = shared.value
            frame = _sorted(part)
            number = int(frame["row"][0] % 2**31)
            task = _task(plan, frame, place_of, np.random.default_rng([plan.seed, 1, number]))
            classes = [frame[f"k{n}"].to_numpy() for n in range(len(recodings_of(outcome)))]
            return stage_part(plan, task, part_of_outcome(outcome, classes), 0, folder, _name())

        return each(joined.repartition(parts, "row"), kernel)

    def _tuples(self, rows: DataFrame) -> CodedTable:
        """The distinct tuples of codes, counted; only where they fit the driver."""
        plan = self.plan
        names = [
            n for n in plan.coded if plan.specs[n].role is not Role.SENSITIVE or self._needs_values
        ]
        counted = rows.groupBy(*(self.place_of[name] for name in names)).count()
        folder = self.staging / "tuples"
        counted.write.parquet(folder.as_uri())
        scanned = pl.scan_parquet(str(folder / "*.parquet"))
        found, limit = (
            int(scanned.select(pl.len()).collect().item()),
            setting(self.session, COLLECTED),
        )
        if found > limit:
            raise InputError(
                f"{plan.job.method.name}: the table has {found:,} distinct tuples of "
                f"quasi-identifiers and sensitive values, and the driver may hold {limit:,}. Make "
                f"quasi-identifiers coarser, use mondrian, or raise {COLLECTED} where the driver "
                "has the memory (about 100 bytes a tuple)."
            )
        frame = scanned.sort(pl.all()).collect()
        codes = {name: frame[self.place_of[name]].to_numpy() for name in names}
        task = plan.task_of(codes, {}, plan.task.rng)
        columns = {c.name: replace(c, total=None) for c in task.table}
        return CodedTable(columns, len(frame)).counted(frame["count"].to_numpy().astype(np.int64))

    @property
    def _needs_values(self) -> bool:
        """Whether the search looks at sensitive values at all."""
        sizes = all(isinstance(r, SizeRequirement) for r in self.plan.task.requirements)
        return not (sizes and isinstance(self.plan.job.method, FullDomain))

    # ---- methods that run on parts

    def _by_parts(self, rows: DataFrame, spread_: Spread | None, parts: int) -> list[PartResult]:
        assign, parts = self._assignment(rows, spread_, parts)
        left_over = spread_ is Spread.CURVE
        results = self._run_parts(rows, assign, parts, 0, left_over)
        files = [result.left for result in results if result.left is not None]
        if files:
            left = self.session.read.parquet(*(Path(file).as_uri() for file in files))
            again = max(1, -(-sum(r.suppressed for r in results) // self.rows_of_part))
            results = [replace(result, suppressed=0) for result in results]
            results += self._run_parts(
                left, self._along_curve(left, again), again, parts, left_over
            )
        if left_over:
            self._require_few(sum(result.suppressed for result in results))
        return [result for result in results if result.tables or result.suppressed]

    def _require_few(self, suppressed: int) -> None:
        method, task = self.plan.job.method, self.plan.task
        assert isinstance(method, MsaDiversity)
        bounds = bounds_of(task)
        if suppressed > method.suppression * self.rows + 1e-9 or suppressed == self.rows:
            least = require_feasible(task, bounds, method.suppression)
            raise too_many(task, bounds, suppressed, least, method.suppression)

    def _run_parts(
        self, rows: DataFrame, assign: Assign, parts: int, first: int, left_over: bool
    ) -> list[PartResult]:
        """Bring each part together and run the method on it; parts are numbered from ``first``."""
        plan = self.plan
        if left_over:  # what a part can't place is no failure yet
            method = plan.job.method.model_copy(update={"suppression": 1.0})
            plan = replace(plan, job=plan.job.using(method))
        shared = self._share((plan, assign))
        place_of, staging = self.place_of, self.staging

        def place(tables: Any) -> Any:
            _, assign = shared.value
            for table in tables:
                columns = {
                    n: table.column(n).to_numpy() for n in table.column_names if _coded(table, n)
                }
                found = assign(columns).astype(np.int32)
                yield table.append_column("part", pa.array(found))

        def kernel(part: pa.Table) -> list[PartResult]:
            plan, _ = shared.value
            frame = _sorted(part)
            found = []
            for number in frame["part"].unique().sort().to_list():
                own = frame.filter(pl.col("part") == number).drop("part")
                found.append(_run_part(plan, own, place_of, first + number, staging, left_over))
            return found

        schema = ", ".join(f"`{x.name}` {x.dataType.simpleString()}" for x in rows.schema.fields)
        placed = stream(rows, place, f"{schema}, part int")
        together = spread(placed, "part", parts)
        return [result for results in each(together, kernel) for result in results]

    def _assignment(
        self, rows: DataFrame, spread_: Spread | None, parts: int
    ) -> tuple[Assign, int]:
        if parts == 1:
            return all_together, 1
        if spread_ is Spread.CUTS:
            tree = self._cuts(rows, parts)
            columns = [self.place_of[c.name] for c in self.plan.task.table.quasi_identifiers]
            return ByCuts(tree, columns), tree.parts
        if spread_ is Spread.CURVE:
            return self._along_curve(rows, parts), parts
        return self._dealt(rows, parts), parts

    def _sample(self, rows: DataFrame, parts: int) -> tuple[Task, float]:
        """A sample of the rows as a task, and its share of them."""
        wanted = max(SAMPLE, SAMPLE_OF_PART * parts)
        share = min(1.0, wanted / self.rows)
        names = [self.place_of[name] for name in self.plan.coded]
        folder = self.staging / f"sample-{_name()}"
        chosen = rows if share == 1.0 else rows.sample(share, self.plan.seed % 2**31)
        chosen.select("row", *names).write.parquet(folder.as_uri())
        frame = pl.read_parquet(str(folder / "*.parquet")).sort("row")
        rng = np.random.default_rng([self.plan.seed, 2])
        return _task(self.plan, frame, self.place_of, rng, plain=False), share

    def _cuts(self, rows: DataFrame, parts: int) -> CutTree:
        """The first cuts, without those that leave a part which can't keep a promise."""
        task, share = self._sample(rows, parts)
        asked = [r for r in task.requirements if not isinstance(r, LinkRequirement)]
        of_part = max(1, int(self.rows_of_part * share / 2))
        tree = top_cuts(replace(task, requirements=asked, knowledge={}), of_part)
        counted = self._counts_of_parts(rows, tree)
        while tree.parts > 1:
            passes = passing_parts(replace(self.plan.task, requirements=asked), counted)
            if passes.all():
                break
            tree, new = tree.without(~passes)
            counted = counted.with_columns(part=pl.Series(new)[counted["part"]].cast(pl.Int32))
        return tree

    def _counts_of_parts(self, rows: DataFrame, tree: CutTree) -> pl.DataFrame:
        """Each part's number of rows with each combination of sensitive values."""
        columns = [self.place_of[c.name] for c in self.plan.task.table.quasi_identifiers]
        sensitive = list(
            dict.fromkeys(
                self.place_of[self.plan.source_of(c.name)] for c in self.plan.task.table.sensitive
            )
        )
        shared = self._share(ByCuts(tree, columns))

        def place(tables: Any) -> Any:
            for table in tables:
                found = shared.value({n: table.column(n).to_numpy() for n in columns})
                chosen = {n: table.column(n) for n in sensitive}
                yield pa.table({**chosen, "part": pa.array(found.astype(np.int32))})

        schema = ", ".join([*(f"{n} int" for n in sensitive), "part int"])
        placed = stream(rows.select(*{*columns, *sensitive}), place, schema)
        folder = self.staging / f"parts-{_name()}"
        placed.groupBy("part", *sensitive).count().write.parquet(folder.as_uri())
        found = pl.scan_parquet(str(folder / "*.parquet"))
        entries, limit = found.select(pl.len()).collect().item(), setting(self.session, COLLECTED)
        if entries > limit:
            raise InputError(
                f"{self.plan.job.method.name}: the parts have {entries:,} combinations of "
                f"sensitive values, and the driver may hold {limit:,}. Raise {COLLECTED} where it "
                f"has the memory, or {ROWS_OF_PART}, for fewer parts."
            )
        frame = found.collect()
        names = {self.place_of[name]: name for name in self.plan.coded}
        return frame.rename({n: names[n] for n in sensitive})

    def _along_curve(self, rows: DataFrame, parts: int) -> Assign:
        """Stretches of the curve, dealt to the parts: near rows together, all sorts in each."""
        if parts == 1:
            return all_together
        task, _ = self._sample(rows, parts)
        keys = np.sort(task_keys(task))
        stretches = parts * max(1, min(STRETCHES, self.rows_of_part // STRETCH))
        at = np.arange(1, stretches) * len(keys) // stretches
        return ByStretches(self.plan, self.place_of, keys[at], parts)

    def _dealt(self, rows: DataFrame, shards: int) -> Assign:
        """Rows of each value dealt out one after the other, from where the last value ended."""
        counted = rows.groupBy("task", "number").count() if "number" in rows.columns else None
        assert counted is not None
        frame = pl.DataFrame(
            [tuple(row) for row in counted.collect()], ["task", "number", "count"], orient="row"
        ).sort("number", "task")
        before = frame["count"].cum_sum() - frame["count"]
        return ByDealing(
            frame["task"].to_numpy(), frame["number"].to_numpy(), before.to_numpy(), shards
        )

    def _share(self, value: Any) -> Broadcast[Any]:
        return self.session.sparkContext.broadcast(value)


def _run_part(
    plan: Plan,
    frame: pl.DataFrame,
    place_of: Mapping[str, str],
    part: int,
    staging: Path,
    left_over: bool,
) -> PartResult:
    """Run the method on one part and stage its tables; rows without a group are kept for later."""
    task = _task(plan, frame, place_of, np.random.default_rng([plan.seed, 3, part]))
    name = _name()
    try:
        outcome: Outcome | None = plan.job.method.run(task)
    except InfeasibleError:
        if not left_over:
            raise
        outcome = None
    if outcome is None:
        left, result = frame, None
    else:
        result = stage_part(plan, task, outcome, part, staging / "tables", name)
        if not left_over or not result.suppressed:
            return result
        group = getattr(outcome, "group_of_row", None)
        group = getattr(outcome, "class_of_row", None) if group is None else group
        left = frame.filter(pl.Series(np.asarray(group) < 0))
    path = staging / "tables" / f"left-{name}.parquet"
    left.write_parquet(path)
    if result is None:
        return PartResult(part, len(frame), "", len(frame), 0, {}, (), {}, {}, (), str(path))
    return replace(result, left=str(path))


def _task(
    plan: Plan,
    frame: pl.DataFrame,
    place_of: Mapping[str, str],
    rng: np.random.Generator,
    *,
    plain: bool = True,
) -> Task:
    codes = {name: frame[place_of[name]].to_numpy() for name in plan.coded}
    others = {name: frame[place_of[name]] for name in plan.plain} if plain else {}
    return plan.task_of(codes, others, rng)


def _sorted(part: pa.Table) -> pl.DataFrame:
    """The rows of a part in the order of their numbers, however they came."""
    frame = pl.from_arrow(part)
    assert isinstance(frame, pl.DataFrame)
    return frame.sort("row")


def _name() -> str:
    """A name that no other attempt at the same part has."""
    return secrets.token_hex(8)


def _coded(table: pa.Table, name: str) -> bool:
    return bool(pa.types.is_integer(table.schema.field(name).type))

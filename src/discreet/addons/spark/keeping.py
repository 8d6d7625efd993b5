"""Persons who keep several rows: numbered on the workers, placed as one, and judged by class.

The rows of a person are brought together once, to number the person; all of them go to the part of
the person's most frequent values. Beside the table of a part its persons are staged in a private
file. Guarantees on persons are judged on these files; that the published ones hold the same rows is
shown by their fingerprints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame, functions

from discreet.addons.spark.auditing import WEIGHT, Totals, coded_shard
from discreet.addons.spark.collapsing import Specs, coded_persons, joined_counts, together
from discreet.addons.spark.encoded import ROW, ROWS_OF_SPLIT, Columns, Ingested, ingest
from discreet.addons.spark.parts import PERSON_NUMBER, SOURCE, PartResult
from discreet.addons.spark.session import Workers
from discreet.errors import InputError
from discreet.job.model import Job
from discreet.job.person_agreement import Agreement, require_agreement
from discreet.releases.audit.persons import judge_persons
from discreet.releases.audit.shards import bare_verdict, domains_of, joined_guarantee
from discreet.releases.manifest import Manifest, Promise, SinglingOut
from discreet.releases.singling_out import (
    People,
    UniqueCounts,
    count_unique,
    exact_pairs,
    summarize,
)
from discreet.requirements.base import Verdict
from discreet.requirements.closeness import TCloseness
from discreet.requirements.value_bounds import BetaLikeness, DeltaDisclosure
from discreet.table.persons import Link, PersonCounts, Persons, Scope
from discreet.table.roles import Role, Unit
from discreet.typing import Codes, Ints

METHODS = ("mondrian", "msa-diversity")
Assign = Callable[[Mapping[str, Any]], NDArray[np.integer]]  # from columns to the parts of rows


@dataclass(frozen=True, eq=False)
class PersonsElsewhere(Persons):
    """The counts of persons whose rows no machine holds whole."""

    stated: PersonCounts
    rows_before: Mapping[int, int]  # by partition of the source

    def source_rows(self, numbers: Ints) -> Ints:
        """The rows of the source, from 0 on, of Spark's numbers."""
        first = np.zeros(max(self.rows_before) + 1, np.int64)
        first[list(self.rows_before)] = list(self.rows_before.values())
        rows: Ints = first[numbers // ROWS_OF_SPLIT] + numbers % ROWS_OF_SPLIT
        return rows

    @property
    def counts(self) -> PersonCounts:
        return self.stated


def require_keepable(job: Job) -> None:
    """Refuse persons that keep several rows in a way that Spark does not run."""
    person = job.person
    if person is None or person.rows != "keep":
        return
    compared = [
        r.name
        for r in job.requirements
        if isinstance(r, TCloseness | BetaLikeness | DeltaDisclosure)
    ]
    problem = None
    if person.scope is not Scope.PERSONS or person.link is not Link.NONE:
        problem = "keeps rows only with 'scope: persons' and 'link: none'"
    elif job.method.name not in METHODS:
        problem = f"keeps several rows of a person by {' or '.join(METHODS)} alone"
    elif compared:
        problem = f"cannot compare the persons of a part with all persons, as {compared[0]} does"
    if problem is not None:
        raise InputError(
            f"person: the engine 'spark' {problem}. Use 'rows: collapse', or --engine local."
        )


def numbered_persons(
    workers: Workers,
    frame: DataFrame,
    job: Job,
    specs: Specs,
    missing: tuple[str, ...],
    columns: Columns,
    folder: Path,
) -> tuple[list[Ingested], PersonsElsewhere]:
    """Write splits with the number of each row's person; all rows of a person are in one split.

    The rows of the source are numbered as Spark numbers them: a partition, and a place in it.
    """
    # All rows of a person go to one worker.
    folder.mkdir()
    placed = together(workers, frame, job, specs)
    shared = workers.share((job, dict(specs), missing))
    carried = [*columns.carried, PERSON_NUMBER, SOURCE]
    columns = replace(columns, carried=carried, holder=PERSON_NUMBER)

    def number(
        tables: Iterator[pa.Table],
    ) -> tuple[Ingested, PersonCounts, pl.DataFrame, Agreement] | None:
        from pyspark import TaskContext

        held = list(tables)
        if not held:
            return None
        job, specs, missing = shared.value
        # Number the persons of the partition, and check that their rows agree.
        rows = pa.concat_tables(held).sort_by(ROW)
        table, persons, named = coded_persons(rows, job, specs, missing)
        assert job.person is not None
        agreement = Agreement.of([*table, *named.values()], job.person.column, persons)
        context: Any = TaskContext.get()
        numbers = persons.number + context.partitionId() * ROWS_OF_SPLIT
        # Write the rows with the numbers of their persons and of their places in the source.
        numbered = rows.append_column(PERSON_NUMBER, pa.array(numbers))
        numbered = numbered.append_column(SOURCE, rows.column(ROW))
        share = ingest([numbered], context.partitionId(), columns, folder)
        assert share is not None
        partitions = pl.Series("partition", rows.column(ROW).to_numpy() // ROWS_OF_SPLIT)
        return share, persons.counts, partitions.value_counts(), agreement

    results = sorted(
        (result for result in workers.each(placed, number) if result),
        key=lambda result: result[0].split.number,
    )
    if not results:
        raise InputError("The table has columns but no rows. Nothing can be published.")
    assert job.person is not None
    # What only all partitions show: disagreeing persons, counts, the first row of each.
    require_agreement(job.person, Agreement.joined([agreement for *_, agreement in results]))
    counts = joined_counts([counts for _, counts, _, _ in results])
    sizes = (
        pl.concat([rows for _, _, rows, _ in results])
        .group_by("partition")
        .agg(pl.col("count").sum())
    )
    ascending = sizes.sort("partition")
    before = (ascending["count"].cum_sum() - ascending["count"]).to_list()
    first = dict(zip(ascending["partition"].to_list(), before, strict=True))
    persons_elsewhere = PersonsElsewhere(
        np.zeros(0, np.int64), counts.persons, counts.unnamed, counts, first
    )
    return [ingested for ingested, *_ in results], persons_elsewhere


def persons_in(number: Ints) -> Persons:
    """The persons of some rows, numbered from 0."""
    distinct, numbers = np.unique(number, return_inverse=True)
    return Persons(numbers, len(distinct), 0)


def parts_of_persons(columns: Mapping[str, Any], assign: Assign) -> Codes:
    """The part of each row: that of the most frequent codes of the row's person."""
    persons = persons_in(columns[PERSON_NUMBER])
    single = {
        name: _most_frequent(persons, codes)
        for name, codes in columns.items()
        if name not in (PERSON_NUMBER, ROW, SOURCE)
    }
    return assign(single).astype(np.int32)[persons.number]


def _most_frequent(persons: Persons, codes: Ints) -> Ints:
    """The most frequent code of each person, of equally frequent ones the least."""
    rows = pl.DataFrame({"person": persons.number, "code": codes})
    counted = rows.group_by("person", "code").len()
    counted = counted.sort("person", "len", "code", descending=[False, True, False])
    return counted.unique("person", keep="first", maintain_order=True)["code"].to_numpy()


def judge_kept(
    workers: Workers,
    results: Sequence[PartResult],
    manifest: Manifest,
    totals: Totals,
    shards: int,
) -> tuple[list[Promise], list[str], SinglingOut]:
    """Judge every guarantee on the persons of each class; also that each is in one class.

    Persons who are unique by published cells are counted too.
    """
    # The rows of persons, those with equal quasi-identifiers on one worker.
    ((name, entry),) = manifest.tables.items()
    paths = [Path(result.persons).as_uri() for result in results if result.persons is not None]
    columns = next(result.person_columns for result in results if result.persons is not None)
    place_of = {column: f"c{place}" for place, column in enumerate(columns)}
    quasi = [place_of[c] for c, role in entry.columns.items() if role is Role.QUASI_IDENTIFIER]
    rows_of_persons = workers.session.read.parquet(*paths)
    frame = rows_of_persons.repartition(shards, *quasi)
    exact = exact_pairs(manifest, name)
    counted = rows_of_persons.select(PERSON_NUMBER).distinct().count()
    shared = workers.share((manifest, totals))

    def kernel(
        tables: Iterator[pa.Table],
    ) -> tuple[list[Verdict], int, int, UniqueCounts] | None:
        held = list(tables)
        if not held:
            return None
        manifest, totals = shared.value
        requirements = [promise.to_requirement() for promise in manifest.promises]
        # Code the rows of this shard as a table with its classes.
        rows_here = pl.from_arrow(pa.concat_tables(held))
        assert isinstance(rows_here, pl.DataFrame)
        wanted = list(manifest.tables[name].columns)
        cells = rows_here.select(pl.col(place_of[c]).alias(c) for c in wanted)
        table = coded_shard(
            cells.with_columns(pl.lit(1, pl.Int64).alias(WEIGHT)), manifest, name, totals
        )
        domains, persons = domains_of({name: table}, manifest), rows_here[PERSON_NUMBER].to_numpy()
        of_class = table.classes.class_of_row
        # Judge each requirement on the persons of the classes.
        verdicts = [
            judge_persons(requirement, of_class, persons, table.sensitive, domains)
            for requirement in requirements
        ]
        # Count the pairs of a class and a person, and the persons who are unique.
        members = len(pl.DataFrame({"c": of_class, "p": persons}).unique())
        number = persons_in(persons)
        unique = count_unique(
            table, People(Unit.PERSON, number.number, number.count),
            exact=exact, total=counted,
        )  # fmt: skip
        return [bare_verdict(verdict) for verdict in verdicts], members, len(rows_here), unique

    # Join the verdicts of all shards.
    judged = [shard for shard in workers.each(frame, kernel) if shard is not None]
    promises = [
        joined_guarantee(promise.to_requirement(), [shard[0][place] for shard in judged], manifest)
        for place, promise in enumerate(manifest.promises)
    ]
    # A person in two classes is counted twice among the members.
    problems = []
    if sum(members for _, members, _, _ in judged) != counted:
        problems.append("rows of some persons are in several groups")
    if sum(rows for _, _, rows, _ in judged) != manifest.published_rows:
        problems.append("the persons of some rows are not known")

    def unique_by(*keys: str) -> int:
        """Count the persons with a key that no other person has."""
        person = functions.col(PERSON_NUMBER)
        least, most = functions.min(person).alias("least"), functions.max(person).alias("most")
        groups = rows_of_persons.groupBy(*keys).agg(least, most)
        return groups.where("least = most").select("least").distinct().count()

    # Candidates among pairs of columns are counted again over all rows.
    counts = sum((unique for *_, unique in judged), UniqueCounts())
    pairs = counts.candidates() if counts.drawn else []
    recounted = {pair: unique_by(*quasi, *(place_of[c] for c in pair)) for pair in pairs}
    alone = 0 if counts.worst is None else unique_by(place_of[counts.worst])
    singled = summarize(counts, recounted, alone, manifest, name, Unit.PERSON)
    return promises, problems, singled

"""How long the full-domain search takes on Adult, and on a million rows sampled from it.

Each row of the result: the configuration, the seconds (compression and search, the least of
several runs, kernels compiled), the reference program's seconds on the same kind of machine, nodes
in all and examined, and the cost. The real data are found through ``DISCREET_DATA``.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.figures import Figure
from discreet.hierarchies.hierarchy import Hierarchy, Level, level_from_groups
from discreet.methods.base import Task
from discreet.methods.full_domain.full_domain import FullDomain
from discreet.requirements.base import Requirement
from discreet.requirements.closeness import TCloseness
from discreet.requirements.diversity import EntropyLDiversity, RecursiveClDiversity
from discreet.requirements.k_anonymity import KAnonymity
from discreet.table.coded_table import CodedTable, Column
from discreet.table.roles import Role, ValueType

SEVEN = (
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
)
NINE = (*SEVEN, "occupation", "salary-class")

Configuration = tuple[str, Sequence[str], Sequence[Requirement], float, float | None]
SHARE = "≤ 0.33"  # of the reference program's seconds

# Name, quasi-identifiers, …, suppression, and the reference program's seconds where they are known.
CONFIGURATIONS: Sequence[Configuration] = (
    ("k = 5, 7 attributes", SEVEN, [KAnonymity(k=5)], 0.0, 0.023),
    ("k = 5, 7 attributes, 5 % suppressed", SEVEN, [KAnonymity(k=5)], 0.05, 0.167),
    ("k = 5, 9 attributes", NINE, [KAnonymity(k=5)], 0.0, 0.048),
    ("k = 5, 9 attributes, 5 % suppressed", NINE, [KAnonymity(k=5)], 0.05, 1.290),
    ("entropy ℓ = 3", SEVEN, [EntropyLDiversity(l=3, attribute="occupation")], 0.0, None),
    (
        "entropy ℓ = 3, 5 % suppressed",
        SEVEN,
        [EntropyLDiversity(l=3, attribute="occupation")],
        0.05,
        0.464,
    ),
    ("recursive (3,3)", SEVEN, [RecursiveClDiversity(c=3, l=3, attribute="occupation")], 0.0, None),
    (
        "recursive (3,3), 5 % suppressed",
        SEVEN,
        [RecursiveClDiversity(c=3, l=3, attribute="occupation")],
        0.05,
        None,
    ),
    ("t = 0.2", SEVEN, [TCloseness(t=0.2, attribute="occupation")], 0.0, None),
    ("t = 0.2, 5 % suppressed", SEVEN, [TCloseness(t=0.2, attribute="occupation")], 0.05, 1.133),
)


def data_folder() -> Path:
    """Where the real data are."""
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    return Path(os.environ.get("DISCREET_DATA", default))


def adult(rows: int | None = None, seed: int = 1) -> pl.DataFrame:
    """Adult's complete rows, or that many sampled from them with ages up to two years off."""
    frame = pl.read_csv(
        data_folder() / "adult" / "arx-form" / "adult-30162.csv", separator=";", infer_schema=False
    )
    if rows is None:
        return frame
    rng = np.random.default_rng(seed)
    sample = frame[rng.integers(0, len(frame), rows)]
    age = sample["age"].cast(pl.Int64) + pl.Series(rng.integers(-2, 3, rows))
    return sample.with_columns(age.clip(1, 100).cast(pl.String).alias("age"))


def column(frame: pl.DataFrame, name: str, role: Role) -> Column:
    """One coded column."""
    text = frame[name].unique().sort()
    codes = frame[name].cast(pl.Enum(text)).to_physical().cast(pl.Int32).to_numpy()
    return Column(name, role, ValueType.TEXT, codes.copy(), text, text)


def hierarchy(of: Column) -> Hierarchy:
    """The hierarchy of a column from its file."""
    path = data_folder() / "adult" / "arx-form" / f"{of.name}.csv"
    lines = _lines(path)
    by_leaf = {line[0]: line for line in lines}
    levels: list[Level] = []
    for depth in range(len(lines[0])):
        labels = list(dict.fromkeys(by_leaf[value][depth] for value in of.text))
        number = {label: i for i, label in enumerate(labels)}
        node_of_leaf = np.array([number[by_leaf[value][depth]] for value in of.text], np.int32)
        leaves = np.array([sum(line[depth] == label for line in lines) for label in labels])
        levels.append(level_from_groups(node_of_leaf, labels, leaves, len(lines)))
    return Hierarchy(of.name, tuple(levels), len(lines), str(path))


def _lines(path: Path) -> list[list[str]]:
    return [line.split(";") for line in path.read_text(encoding="utf-8").splitlines()]


def task(
    frame: pl.DataFrame, quasi_identifiers: Sequence[str], requirements: Sequence[Requirement]
) -> Task:
    """A task on Adult; occupation is sensitive where it is no quasi-identifier."""
    columns = {name: column(frame, name, Role.QUASI_IDENTIFIER) for name in quasi_identifiers}
    hierarchies = {name: hierarchy(of) for name, of in columns.items()}
    if "occupation" not in columns:
        columns["occupation"] = column(frame, "occupation", Role.SENSITIVE)
    table = CodedTable(columns, len(frame))
    return Task(table, hierarchies, requirements, np.random.default_rng(0))


def measure(
    frame: pl.DataFrame, minimize: str = "loss", repetitions: int = 3
) -> list[dict[str, Any]]:
    """Time every configuration on a table."""
    results = []
    for name, quasi_identifiers, requirements, suppression, reference in CONFIGURATIONS:
        made = task(frame, quasi_identifiers, requirements)
        method = FullDomain(suppression=suppression, minimize=minimize)
        seconds = []
        for _ in range(repetitions):
            start = time.perf_counter()
            outcome = method.run(made)
            seconds.append(time.perf_counter() - start)
        results.append(
            {
                "configuration": name,
                "rows": len(frame),
                "minimize": minimize,
                "seconds": min(seconds),
                "reference_seconds": reference if len(frame) == 30162 else None,
                **outcome.facts,
            }
        )
    return results


def results(quick: bool) -> Iterator[Figure]:
    """The searches beside the reference program's seconds, and on a million rows."""
    measure(adult(), repetitions=1)  # compile
    for frame in [adult()] if quick else [adult(), adult(1_000_000)]:
        for found in measure(frame):
            reference = found["reference_seconds"]
            yield Figure(
                "Full-domain search", found["configuration"], found["rows"], found["seconds"],
                ratio=None if reference is None else found["seconds"] / reference,
                ratio_to="" if reference is None else "the reference program",
                bound="" if reference is None else SHARE,
            )  # fmt: skip


def main() -> None:
    """Print the results for Adult, and for as many sampled rows as the first argument says."""
    tables = [adult()]
    if len(sys.argv) > 1 and int(sys.argv[1]):
        tables.append(adult(int(sys.argv[1])))
    for frame in tables:
        for minimize in sys.argv[2:] or (
            "loss",
            "discernibility",
            "entropy",
            "class-size",
            "height",
        ):
            for result in measure(frame, minimize):
                reference = result["reference_seconds"] or float("nan")
                print(
                    f"{result['rows']:>8} {minimize:14} {result['configuration']:36}"
                    f" {1000 * result['seconds']:8.1f} ms ({1000 * reference:6.0f})"
                    f" {result['nodes_examined']:5} of {result['nodes']:5} {result['cost']:.6g}"
                    f" {','.join(str(level) for level in result['levels'].values())}"
                )


if __name__ == "__main__":
    main()

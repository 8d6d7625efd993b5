"""A Spark data frame as a place that counts: workers group and count, the driver gets counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from discreet.io.in_place import COUNT, NUMBER, Place


class SparkPlace(Place):
    """A Spark data frame; identifiers are numbered on the cluster and stay there."""

    name = "The Spark table"

    def __init__(self, frame: Any) -> None:
        self.frame = frame

    def columns(self) -> tuple[str, ...]:
        names = self.named(self.frame.columns)
        self.frame = self.frame.toDF(*names)  # by place, where columns share a name
        return names

    def counted(self, columns: Sequence[str], person: Sequence[str]) -> pl.DataFrame:
        from pyspark.sql import Window
        from pyspark.sql import functions as f

        def quoted(name: str) -> Any:
            return f.col("`" + name.replace("`", "``") + "`")

        cells = [quoted(name).alias(f"c{place}") for place, name in enumerate(columns)]
        texts = [quoted(name).cast("string").alias(f"p{n}") for n, name in enumerate(person)]
        frame = self.frame.select(*cells, *texts)
        keys = [f"c{place}" for place in range(len(columns))]
        if person:
            named = [f.nullif(f.col(f"p{place}"), f.lit("")) for place in range(len(person))]
            rank = f.dense_rank().over(Window.orderBy(*named))
            known = f.lit(True)
            for one in named:
                known &= one.isNotNull()
            frame = frame.withColumn(NUMBER, f.when(known, rank))
            keys.append(NUMBER)
        counted = frame.groupBy(*keys).agg(f.count(f.lit(1)).alias(COUNT))
        arrow = counted.toArrow() if hasattr(counted, "toArrow") else counted.toPandas()
        found = pl.from_pandas(arrow) if not hasattr(counted, "toArrow") else pl.DataFrame(arrow)
        names = [*columns, *([NUMBER] if person else []), COUNT]
        return found.rename(dict(zip(found.columns, names, strict=True)))

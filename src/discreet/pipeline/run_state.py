"""The state of one run of a job: its seed, its random generator, the time of its steps."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from discreet.methods.base import Task
from discreet.pipeline.engine import Engine, FormedTables
from discreet.pipeline.read import SourceRows
from discreet.pipeline.record import Draft
from discreet.table.entropy import fixed_order


@dataclass(frozen=True, eq=False)
class RunState:
    """The seed of a run, and its timings."""

    seed: int
    rng: np.random.Generator
    timings: dict[str, float] = field(default_factory=dict)

    @classmethod
    def begin(cls, seed: int | None) -> RunState:
        """Begin a run with a seed, or with a secret one."""
        seed = secrets.randbits(64) if seed is None else seed
        return cls(seed, np.random.default_rng(seed))

    def with_orders(self, task: Task) -> Task:
        """Return the task with orders from secret entropy; from the seed if tests request it."""
        return replace(task, orders=self.rng) if fixed_order() else task

    @contextmanager
    def timed(self, step: str) -> Iterator[None]:
        """Keep how long a step takes."""
        with timing(self.timings, step):
            yield

    def private(
        self,
        engine: Engine[Any, Any],
        source: SourceRows,
        tables: FormedTables,
        draft: Draft | None,
    ) -> dict[str, Any]:
        """Return the publisher's private facts about the run."""
        private = {"seed": self.seed, "engine": engine.name, "timings": self.timings}
        private |= {"insecure_fixed_order": True} if fixed_order() else {}
        private |= {**tables.private, "method": tables.facts}
        counts = None if source.persons is None else source.persons.counts
        counts = counts if source.kept is None else source.kept.counts
        private |= {} if counts is None else {"persons": asdict(counts)}
        rare = tables.task.secrets.rare
        private |= {} if rare is None else {"rare": rare.to_dict()}
        private |= {} if source.sha256 is None else {"source_sha256": source.sha256}
        private |= {} if draft is None else {"held_back": draft.held_back}
        return private


@contextmanager
def timing(timings: dict[str, float], step: str) -> Iterator[None]:
    """Keep the seconds that a step takes."""
    started = time.perf_counter()
    yield
    timings[step] = round(time.perf_counter() - started, 3)

"""Learning: what a model that was trained on a release knows about people whom it never saw.

The people are split, 70 % to train and 30 % to test. The job runs again on the 70 %, tables are
drawn from the p2 of that release, and a logistic regression on one-hot attributes learns from each
to predict a sensitive attribute from all others. Log-losses on the 30 % are compared:

    skill = (release − floor) / (original − floor)

``original`` is the same model trained on the 70 % themselves, ``floor`` the shares of the values
among them: 1 is as good as the original, 0 as good as no link at all, below 0 is misleading.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from discreet.errors import InputError
from discreet.extras import require_extra
from discreet.table.coded_table import CodedTable
from discreet.table.persons import Persons
from discreet.typing import Codes, Floats, Ints

TRAINED = 0.7  # of the people
DRAWS = 3
PEOPLE = 50_000  # at most, to train and to test; drawn at random from more
ROUNDS = 200  # of the solver
NOTHING_LEARNT = 1e-9  # nats by which the original must beat the floor


@dataclass(frozen=True)
class Score:
    """How well one model predicts."""

    log_loss: float  # nats
    accuracy: float


@dataclass(frozen=True)
class Skill:
    """What a release teaches about one attribute."""

    target: str
    release: Score  # the mean over draws
    original: Score
    floor: Score

    @property
    def skill(self) -> float | None:
        """Return 1 for a model as good as the original's, 0 for one as good as none.

        None where a model learns nothing from the original.
        """
        learnt = self.floor.log_loss - self.original.log_loss
        if learnt <= NOTHING_LEARNT:
            return None
        return (self.floor.log_loss - self.release.log_loss) / learnt

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"skill": self.skill, **asdict(self)}


@dataclass(frozen=True)
class Learning:
    """What a release teaches about each target."""

    targets: tuple[Skill, ...]
    draws: int = DRAWS

    @property
    def skill(self) -> float | None:
        """The mean over targets that can be learnt at all."""
        skills = [target.skill for target in self.targets if target.skill is not None]
        return float(np.mean(skills)) if skills else None

    @property
    def accuracy(self) -> float:
        """The mean over targets."""
        return float(np.mean([target.release.accuracy for target in self.targets]))

    def lines(self) -> list[str]:
        """For a terminal."""
        return [
            f"learning             {_shown(target.skill)}   skill for {target.target}; accuracy "
            f"{target.release.accuracy:.4f}, {target.original.accuracy:.4f} from the original, "
            f"{target.floor.accuracy:.4f} from value frequencies alone"
            for target in self.targets
        ]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "skill": self.skill,
            "accuracy": self.accuracy,
            "draws": self.draws,
            "targets": [target.to_dict() for target in self.targets],
        }


def _shown(skill: float | None) -> str:
    return "nothing to learn" if skill is None else f"{skill:.4f}"


@dataclass(frozen=True, eq=False)
class Split:
    """The people to train on and to test on, by their row in the original."""

    train: Ints
    test: Ints


def split_people(rows: int, rng: np.random.Generator, persons: Persons | None = None) -> Split:
    """Part the people at random; all rows of a person are in one part."""
    if persons is not None:
        apart = split_people(persons.count, rng)
        trains = np.zeros(persons.count, bool)
        trains[apart.train] = True
        of_row = trains[persons.number]
        return Split(np.flatnonzero(of_row), np.flatnonzero(~of_row))
    order = rng.permutation(rows)
    trained = round(TRAINED * rows)
    if not 0 < trained < rows:
        raise InputError(f"Learning needs rows to train on and others to test; found {rows}.")
    return Split(np.sort(order[:trained]), np.sort(order[trained:]))


def targets_of(table: CodedTable, named: Sequence[str] = ()) -> list[str]:
    """The attributes to predict: those that are named, else each sensitive one."""
    known = [column.name for column in (*table.quasi_identifiers, *table.sensitive)]
    unknown = [name for name in named if name not in known]
    if unknown:
        raise InputError(
            f"Learning: {', '.join(map(repr, unknown))} is no quasi-identifier and no sensitive "
            f"attribute. Known: {', '.join(known)}."
        )
    targets = list(named) or [column.name for column in table.sensitive]
    if not targets:
        raise InputError("Learning needs a sensitive attribute to predict, and there is none.")
    return targets


class Teacher:
    """The original, split: teaches models and tests them."""

    def __init__(
        self, table: CodedTable, split: Split, targets: Sequence[str], rng: np.random.Generator
    ) -> None:
        _require_solver()
        self._names = [column.name for column in (*table.quasi_identifiers, *table.sensitive)]
        self._domain = {name: table[name].cardinality for name in self._names}
        self._rng = rng
        self._train, self._test = (
            {name: table[name].codes[_some(rows, rng)] for name in self._names}
            for rows in (split.train, split.test)
        )
        self._targets = {
            target: (self._score(self._train, target), self._floor(target)) for target in targets
        }

    def teach(self, draws: Iterator[Mapping[str, Codes]]) -> Learning:
        """Learn from each drawn table, in the original's codes (−1 for what it lacks)."""
        scores: dict[str, list[Score]] = {target: [] for target in self._targets}
        count = 0
        for drawn in draws:
            count += 1
            rows = _some(np.arange(len(drawn[self._names[0]])), self._rng)
            for target, target_scores in scores.items():
                target_scores.append(self._score({n: drawn[n][rows] for n in self._names}, target))
        skills = [
            Skill(target, _mean(scores[target]), original, floor)
            for target, (original, floor) in self._targets.items()
        ]
        return Learning(tuple(skills), count)

    def _floor(self, target: str) -> Score:
        """Predict every person by the shares of the values."""
        share = self._shares(self._train[target], target)
        return self._judge(np.broadcast_to(share, (len(self._test[target]), len(share))), target)

    def _shares(self, codes: Codes, target: str) -> Floats:
        count = np.bincount(codes, minlength=self._domain[target]) + 1.0  # none is impossible
        return np.asarray(count / count.sum(), np.float64)

    def _score(self, train: Mapping[str, Codes], target: str) -> Score:
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import LogisticRegression

        known = train[target] >= 0
        wanted = train[target][known]
        likely = np.tile(self._shares(wanted, target), (len(self._test[target]), 1))
        if len(np.unique(wanted)) > 1:
            model = LogisticRegression(max_iter=ROUNDS, tol=1e-3)
            with warnings.catch_warnings():  # a model that is nearly fitted is good enough
                warnings.simplefilter("ignore", ConvergenceWarning)
                model.fit(self._one_hot(train, target)[known], wanted)
            unseen = 1.0 - likely[:, model.classes_].sum(axis=1, keepdims=True)
            predicted = model.predict_proba(self._one_hot(self._test, target))
            likely[:, model.classes_] = predicted * (1.0 - unseen)
        return self._judge(likely, target)

    def _one_hot(self, rows: Mapping[str, Codes], target: str) -> Any:
        from scipy.sparse import csr_matrix

        others = [name for name in self._names if name != target]
        offset = np.cumsum([0, *(self._domain[name] for name in others)])
        people = len(rows[target])
        place = [rows[name] + first for name, first in zip(others, offset, strict=False)]
        column = np.stack([*place, np.full(people, offset[-1])], axis=1)  # the last is the constant
        known = np.stack([*(rows[name] >= 0 for name in others), np.ones(people, bool)], axis=1)
        end = np.concatenate([[0], np.cumsum(known.sum(axis=1))])
        held = np.ones(int(end[-1]))
        return csr_matrix((held, column[known], end), shape=(people, int(offset[-1]) + 1))

    def _judge(self, likely: Floats, target: str) -> Score:
        truth = self._test[target]
        believed = likely[np.arange(len(truth)), truth]
        right = likely.argmax(axis=1) == truth
        return Score(float(-np.log(np.maximum(believed, 1e-12)).mean()), float(right.mean()))


def _some(rows: Ints, rng: np.random.Generator) -> Ints:
    return rows if len(rows) <= PEOPLE else np.sort(rng.choice(rows, PEOPLE, replace=False))


def _mean(scores: Sequence[Score]) -> Score:
    return Score(
        float(np.mean([score.log_loss for score in scores])),
        float(np.mean([score.accuracy for score in scores])),
    )


def _require_solver() -> None:
    require_extra("sklearn.linear_model", "Measures of learning", "learning", "scikit-learn")

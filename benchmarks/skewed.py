"""Several skewed sensitive attributes, protected together: what each method publishes, and loses.

Tables: the first encounters of the diabetes table and all of them (``rows: keep``), COMPAS, HR, a
made-up clinic, and made-up patients with three and with five yes/no attributes of which 2 to 5 %
are "yes". A release is published, audited and attacked as ``discreet publish`` does; its figures
come from its files:

- *lost*, *masked*: the shares of rows, and of sensitive cells, that are not published;
- *acquaintance*: the greatest share of a sensitive value in a group, where a release counts values
  by group; where it lists them, the share of groups whose list of a sensitive value is too short;
- *insider*: the share of persons with a sensitive value that somebody who knows the
  quasi-identifiers and one other sensitive value, any one, believes above 1/l, and does not by the
  two tables without a link;
- *divergence*, *counts*, *shares*: errors, as shares of those of the two tables without a link.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import discreet as dc
from benchmarks.figures import Figure
from benchmarks.full_domain import data_folder
from discreet.attacks.base import TOLERANCE, Scene
from discreet.attacks.beliefs import AT_ALL, beliefs_in, on_lines_of, ungrouped
from discreet.attacks.sensitive_table import LinkThroughSensitiveTable
from discreet.attacks.views import PersonView
from discreet.errors import DiscreetError
from discreet.ledger.ledger import Ledger
from discreet.ledger.settings import LedgerSettings
from discreet.releases.audit.audit import read_tables
from discreet.releases.audit.persons import persons_of_tables
from discreet.releases.audit.shards import domains_of
from discreet.releases.registry import kind_of
from discreet.report.risk_verdict import READY
from discreet.typing import Bools, Floats

SECTION = "Several skewed attributes together"
LOST, MASKED, LOSS, INSIDER, DIVERGENCE = 0.02, 0.05, 0.10, 0.01, 0.75
YES_NO_ROWS = 20_000
UNLINKED = "two unlinked tables"
REASON = "A benchmark on public data."
ATTACK_SECONDS = 600.0


@dataclass(frozen=True)
class Case:
    """A table, and what of it is protected."""

    name: str
    frame: Callable[[], pl.DataFrame]
    attributes: Mapping[str, Mapping[str, Any]]
    ells: Sequence[int]
    person: Mapping[str, Any] | None = None
    # An attribute and the level of its hierarchy on which kinds of values are protected as well.
    kinds: tuple[str, int] | None = None


def quasi(*names: str, **types: str) -> dict[str, dict[str, Any]]:
    """Return quasi-identifiers of text, and of the types that are given."""
    found: dict[str, dict[str, Any]] = {name: {"role": "quasi-identifier"} for name in names}
    return found | {n: {"role": "quasi-identifier", "type": t} for n, t in types.items()}


def secret(*values: str, **more: Any) -> dict[str, Any]:
    """Return a sensitive attribute with these sensitive values, or all."""
    return {"role": "sensitive", **({"sensitive_values": [*values]} if values else {}), **more}


DIABETES: dict[str, Any] = {
    "patient_nbr": {"role": "identifier"},
    **quasi("race", "gender", "age", "admission_type_id", "medical_specialty", "payer_code"),
    "diag_1": secret(hierarchy={"standard": "icd-9"}, rare="auto"),
    "A1Cresult": secret(">7", ">8"),
    "insulin": secret("Up", "Down", "Steady"),
    "readmitted": secret("<30", ">30"),
}


def encounters() -> pl.DataFrame:
    """Return all encounters of the diabetes table."""
    path = data_folder() / "diabetes" / "diabetic_data.csv"
    return pl.read_csv(path, infer_schema=False, null_values="?").select([*DIABETES])


def first_encounters() -> pl.DataFrame:
    """Return the first encounter of each patient, in the order of the file."""
    return encounters().unique("patient_nbr", keep="first", maintain_order=True)


COMPAS: dict[str, Any] = {
    "id": {"role": "identifier"},
    **quasi("sex", "race", age="integer", priors_count="integer"),
    "decile_score": secret(),
    "c_charge_degree": secret("M"),
    "is_recid": secret("1"),
    "v_decile_score": secret(),
}


def compas() -> pl.DataFrame:
    path = data_folder() / "compas" / "compas-scores-two-years.csv"
    return pl.read_csv(path, infer_schema=False).select([*COMPAS])


HR: dict[str, Any] = {
    "EmployeeNumber": {"role": "identifier"},
    **quasi("Gender", "MaritalStatus", "Department", Age="integer", DistanceFromHome="integer"),
    "Attrition": secret("1"),
    "MonthlyIncome": secret(type="integer"),
    "PerformanceRating": secret("4"),
    "JobSatisfaction": secret("1", "2"),
}


def hr() -> pl.DataFrame:
    path = data_folder() / "hr" / "hr-attrition.csv"
    return pl.read_csv(path, infer_schema=False).select([*HR])


def clinic(rows: int = 9_000, seed: int = 11) -> pl.DataFrame:
    """Return made-up patients; one diagnosis has 43 % of them, so that groups have two rows."""
    rng = np.random.default_rng(seed)
    rare = 1 / np.arange(2, 42)
    shares = np.append(0.43, 0.57 * rare / rare.sum())
    diagnosis = rng.choice(len(shares), rows, p=shares)
    # Each diagnosis has a usual treatment; the treatment and the age decide about the others.
    treatment = np.where(rng.random(rows) < 0.5, diagnosis % 7, rng.integers(0, 7, rows))
    age = rng.integers(18, 95, rows)
    score = 0.4 * (treatment < 2) + (age - 56) / 60 + rng.normal(size=rows)
    return pl.DataFrame(
        {
            "number": np.arange(rows),
            "age": age,
            "sex": rng.choice(["f", "m"], rows),
            "town": rng.integers(0, 40, rows).astype(str),
            "diagnosis": [f"D{code}" for code in diagnosis],
            "treatment": [f"T{code}" for code in treatment],
            "marker": np.where(score > 1.2, "high", np.where(score > 0.7, "raised", "normal")),
            "return": np.where(score + rng.normal(size=rows) > 0.6, "yes", "no"),
        }
    )


CLINIC = {
    "number": {"role": "identifier"},
    **quasi("sex", "town", age="integer"),
    "diagnosis": secret(),
    "treatment": secret(),
    "marker": secret("raised", "high"),
    "return": secret("yes"),
}


def yes_no(attributes: int, rows: int = YES_NO_ROWS, seed: int = 7) -> pl.DataFrame:
    """Return made-up patients; 2 to 5 % have each condition, the more often the older they are."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 95, rows)
    frailty = rng.normal(size=rows) + (age - 56) / 40
    made: dict[str, Any] = {
        "number": np.arange(rows),
        "age": age,
        "sex": rng.choice(["f", "m"], rows),
        "town": rng.integers(0, 60, rows).astype(str),
    }
    for number, share in enumerate(np.linspace(0.02, 0.05, attributes)):
        score = 0.6 * frailty + rng.normal(size=rows)
        yes = score > np.quantile(score, 1 - share)
        made[f"condition_{number}"] = np.where(yes, "yes", "no")
    return pl.DataFrame(made)


def yes_no_attributes(attributes: int) -> dict[str, Any]:
    return {
        "number": {"role": "identifier"},
        **quasi("sex", "town", age="integer"),
        **{f"condition_{number}": secret("yes") for number in range(attributes)},
    }


CASES = (
    Case("diabetes", first_encounters, DIABETES, (2, 3), kinds=("diag_1", 2)),
    Case(
        "diabetes, all encounters", encounters, DIABETES, (2,),
        {"column": "patient_nbr", "rows": "keep", "disagreeing": 3}, ("diag_1", 2),
    ),
    Case("compas", compas, COMPAS, (2,)),
    Case("hr", hr, HR, (2,)),
    Case("clinic", clinic, CLINIC, (2,)),
    Case("3 yes/no", partial(yes_no, 3), yes_no_attributes(3), (2,)),
    Case("5 yes/no", partial(yes_no, 5), yes_no_attributes(5), (2,)),
)  # fmt: skip

K = {"k-anonymity": {"k": 5}}


def methods(case: Case, ell: int) -> dict[str, tuple[Any, list[Any]]]:
    """Return what is tried on a table: the method and the requirements, by name."""
    share: list[Any] = [{"p-diversity": {"l": ell}}]
    if case.kinds is not None:
        attribute, level = case.kinds
        share.append({"p-diversity": {"l": ell, "attribute": attribute, "level": level}})
    if case.person is not None:
        return {"codip": ("codip", [K, *share])}
    lists: list[Any] = [{"distinct-l-diversity": {"l": ell}}]
    return {
        "decomposition": (
            {"decomposition": {"insider": True, "beyond_permissible": True}}, lists,
        ),
        "msa-diversity, generalized": ("msa-diversity", [K, *share]),
        "msa-diversity, buckets": ({"msa-diversity": {"publish": "buckets"}}, [K, *share]),
        "codip": ("codip", [K, *share]),
        "unlinked": ("unlinked", []),
    }  # fmt: skip


@dataclass
class Result:
    """The figures of one release."""

    rows: int
    processor: float
    verdict: str
    reasons: list[str]
    lost: float
    masked: float
    loss: float
    acquaintance: float
    insider: float
    relative: dict[str, float]  # errors, by those of the two unlinked tables


def job_of(case: Case, method: Any, requirements: list[Any], **more: Any) -> dict[str, Any]:
    """Return the job of a method on a table."""
    person = {} if case.person is None else {"person": case.person}
    return {
        "attributes": case.attributes, "method": method, "requirements": requirements,
        **person, **more,
    }  # fmt: skip


def measured(case: Case, frame: pl.DataFrame, ell: int, method: Any, asked: list[Any]) -> Result:
    """Publish a table, and take the figures of the release from its files."""
    with tempfile.TemporaryDirectory() as name:
        folder, started = Path(name) / "release", time.process_time()
        release = dc.publish(frame, job_of(case, method, asked), seed=1)
        release.save(folder, accept_risk=REASON, attack=ATTACK_SECONDS)
        processor = time.process_time() - started
        scene = scene_of(release, folder)
        verdict, rare = release.verdict(), release.task.secrets.rare
        masked = [] if rare is None else [one.masked for one in rare.attributes.values()]
        published = next(t for t in scene.tables.values() if t.quasi_identifiers)
        return Result(
            len(frame), processor, verdict.word, [str(reason) for reason in verdict.reasons],
            lost=1 - published.rows / len(frame), masked=max(masked, default=0) / len(frame),
            loss=release.private["utility"].get("loss", 0.0),
            acquaintance=acquaintance(scene, ell), insider=insider(scene, ell),
            relative=dict(relative(release)),
        )  # fmt: skip


def public_verdict(case: Case, frame: pl.DataFrame, method: Any, asked: list[Any]) -> str:
    """Publish for everybody with a new ledger, and return the verdict."""
    (person,) = (n for n, one in case.attributes.items() if one["role"] == "identifier")
    with tempfile.TemporaryDirectory() as name:
        place = Path(name) / "people.ledger"
        with Ledger.create(LedgerSettings(path=place, key=place.with_suffix(".key"))):
            pass
        ledger = {"path": str(place), "key": str(place.with_suffix(".key")), "person": person}
        # With a ledger, values that are rare in one release are recoded in all or in none.
        attributes = {
            name: {key: value for key, value in attribute.items() if key != "rare"}
            for name, attribute in case.attributes.items()
        }
        case = replace(case, attributes=attributes)
        job = job_of(case, method, asked, attackers="public", ledger=ledger)
        release = dc.publish(frame, job, seed=1)
        release.save(Path(name) / "release", accept_risk=REASON, attack=ATTACK_SECONDS)
        return release.verdict().word


def scene_of(release: dc.Release, folder: Path) -> Scene:
    """Return what attackers look at: the files of a release, and the original to score by."""
    manifest, task = release.manifest, release.task
    tables, rng = read_tables(folder, manifest), np.random.default_rng(0)
    if manifest.keeps_rows:
        found = persons_of_tables(tables, manifest, task, release.formed.source_rows())
        persons = [PersonView.of(name, own) for name, own in (found or {}).items()]
        return Scene(manifest, tables, task, (), domains_of(tables, manifest), persons=persons)
    views = kind_of(manifest.kind).adversary_views(tables, task, manifest, rng)
    return Scene(manifest, tables, task, views, domains_of(tables, manifest), rng=rng)


def acquaintance(scene: Scene, ell: int) -> float:
    """Return l times the greatest belief of sensitive values, or l by the shortest list of one."""
    if scene.kind.has_sensitive_table:
        names = [column.name for column in scene.tables["sensitive"].sensitive]
        least = min(shortest_lists(scene, name) for name in names)
        return ell / least
    greatest = [0.0]
    for persons in scene.persons or ():
        for name in persons.sensitive:
            values = persons.values(name, AT_ALL)
            marks = scene.is_sensitive(name, persons.domains)
            held = values.belief if marks is None else values.belief[marks[values.value]]
            greatest.append(float(held.max(initial=0.0)))
    for view in scene.readings:
        for name in view.sensitive:
            beliefs = beliefs_in(view, name)
            held = beliefs.belief[scene.discloses(name, beliefs.value)]
            greatest.append(float(held.max(initial=0.0)))
    return round(ell * max(greatest), 9)  # a mean over several groups is rounded


def shortest_lists(scene: Scene, name: str) -> int:
    """Return the least number of values in a list that has a sensitive value of an attribute."""
    listed = scene.tables["group_values"]
    cells = {c.name: c.text.gather(c.codes) for c in listed if c.name != "group"}
    marks = scene.is_sensitive(name)
    texts = scene.domains[name].values
    secrets = [t for i, t in enumerate(texts) if marks is None or marks[i]]
    lists = (
        pl.DataFrame(cells)
        .with_columns(group=pl.Series(listed["group"].codes))
        .filter(pl.col("attribute") == name)
        .group_by("group")
        .agg(pl.len(), secret=pl.col("value").is_in(secrets, nulls_equal=True).any())
        .filter("secret")
    )
    return min(lists["len"].to_list(), default=sys.maxsize)


def insider(scene: Scene, ell: int) -> float:
    """Return the share of persons with a value that an insider believes above 1/l by the link.

    The insider knows any one other sensitive value; a person counts once.
    """
    above: Bools = np.zeros(1, bool)
    for belief, without in insider_beliefs(scene):
        above = above | ((belief > 1 / ell + TOLERANCE) & (without <= 1 / ell + TOLERANCE))
    return float(above.mean())


def insider_beliefs(scene: Scene) -> Iterator[tuple[Floats, Floats]]:
    """Yield beliefs in the sensitive values of each person (0 for harmless ones), with and without
    a link, by what is known."""
    if scene.kind.has_sensitive_table:
        for _, _, readers in LinkThroughSensitiveTable().beliefs(scene):
            found, without, _ = list(readers.values())[-1]
            line = found.line_of_person  # -1, the last: a person with a harmless value
            yield np.append(found.belief, 0.0)[line], np.append(without, 0.0)[line]
    for view in scene.readings:
        for name, known in pairs(view.sensitive):
            beliefs = beliefs_in(view, name, known)
            without = on_lines_of(beliefs, beliefs_in(ungrouped(view), name, known))
            belief = np.where(scene.discloses(name, beliefs.value), beliefs.belief, 0.0)
            yield belief[beliefs.line_of_target], without[beliefs.line_of_target]
    for persons in scene.persons or ():
        for name, known in pairs(persons.sensitive):
            values = persons.values(name, AT_ALL, known)
            apart = persons.whole.values(name, AT_ALL, known)
            marks = scene.is_sensitive(name, persons.domains)
            belief = values.belief if marks is None else values.belief * marks[values.value]
            without = persons.beside(values, apart)
            for turn in range(int(np.bincount(values.person).max())):  # a value of each person
                line = np.minimum(
                    np.searchsorted(values.person, np.arange(persons.persons.count)) + turn,
                    len(values.person) - 1,
                )
                own = values.person[line] == np.arange(persons.persons.count)
                yield np.where(own, belief[line], 0.0), without[line]


def pairs(names: Iterable[str]) -> Iterator[tuple[str, tuple[str]]]:
    """Yield each attribute with each other one."""
    return ((one, (other,)) for one, other in permutations(names, 2))


def relative(release: dc.Release) -> Iterator[tuple[str, float]]:
    """Yield the errors of analysts, as shares of those of the two tables without a link."""
    divergence = release.private["utility"].get("divergence")
    if divergence is not None:
        yield "divergence", round(divergence["ratio"] / divergence["unlinked"]["ratio"], 9)
    errors = release.review.errors if release.review else None
    for name, error in errors.to_dict().items() if errors else ():
        if name != "means" and error["unlinked"] > 0:
            yield name, round(error["release"] / error["unlinked"], 9)


def results(quick: bool) -> Iterator[Figure]:
    """Every table by every method; ``quick`` leaves the patients of the diabetes table out."""
    for case in CASES:
        if not (quick and "diabetes" in case.name):
            yield from results_of(case)


def results_of(case: Case) -> Iterator[Figure]:
    """One table by every method, and two unlinked tables for everybody."""
    frame = case.frame()
    for ell in case.ells:
        lines = []
        for name in methods(case, ell):
            for line in _figures(case, frame, ell, name):
                lines.append(line)
                yield line
        yield from best_divergence(f"{case.name}, l = {ell}", lines)
    if case.person is None:
        word = public_verdict(case, frame, "unlinked", [])
        yield _verdict(f"{case.name}, unlinked, a new ledger", len(frame), "public", word)


def best_divergence(what: str, lines: Sequence[Figure]) -> Iterator[Figure]:
    """Yield the least divergence of all methods, which is asked to be well below the unlinked."""
    ratios = [one.ratio for one in lines if one.what.endswith(": divergence") and one.ratio]
    if ratios:
        yield Figure(
            SECTION, f"{what}, the best method: divergence", lines[0].rows, ratio=min(ratios),
            ratio_to=UNLINKED, bound=f"≤ {DIVERGENCE}",
        )  # fmt: skip


def _figures(case: Case, frame: pl.DataFrame, ell: int, name: str) -> Iterator[Figure]:
    """The lines of one method on a table."""
    what = f"{case.name}, l = {ell}, {name}"
    method, asked = methods(case, ell)[name]
    line = partial(Figure, SECTION, rows=len(frame))
    try:
        found = measured(case, frame, ell, method, asked)
    except DiscreetError as error:
        yield line(f"{what}: refused, {type(error).__name__}", ratio=0.0, bound="≥ 1")
        return
    generalized = found.loss > 0
    yield line(
        what, processor=found.processor, loss=found.loss,
        ratio=found.loss if generalized else None,
        ratio_to="quasi-identifiers" if generalized else "",
        bound=f"≤ {LOSS}" if generalized else "",
    )  # fmt: skip
    for figure, share, of, bound in (
        ("rows lost", found.lost, "all rows", LOST),
        ("masked cells of an attribute", found.masked, "all its cells", MASKED),
        ("acquaintance", found.acquaintance, "1/l, or l values by those of a list", 1),
        ("insider above 1/l", found.insider, "all persons", INSIDER),
    ):
        yield line(f"{what}: {figure}", ratio=share, ratio_to=of, bound=f"≤ {bound}")
    for measure, share in found.relative.items():
        asked_for = "≤ 1" if measure != "divergence" and name != "unlinked" else ""
        yield line(f"{what}: {measure}", ratio=share, ratio_to=UNLINKED, bound=asked_for)
    yield _verdict(what, len(frame), "research", found.verdict)


def _verdict(what: str, rows: int, preset: str, word: str) -> Figure:
    return Figure(
        SECTION, f"{what}: verdict for {preset}, {word}", rows, ratio=float(word == READY),
        ratio_to="ready to sign", bound="≥ 1",
    )  # fmt: skip

"""What runs where: every method on every engine, published, audited, attacked and measured."""

from __future__ import annotations

import os
import shutil
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import duckdb
import pytest
from tests.engines.conftest import JOBS, job_text
from tests.saving import UNATTACKED

import discreet as dc
from discreet.errors import InputError
from discreet.job.model import Job
from discreet.ledger.ledger import Ledger
from discreet.methods.registry import METHODS
from discreet.pipeline.engine import engine_named
from discreet.pipeline.run import publish_folder

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "spark.md"
BEGIN, END = "<!-- matrix -->\n", "\n<!-- end of matrix -->"
STEPS = ("publish", "audit", "attack", "measure")
ENGINES = ("local", "spark", "database")
EXAMPLES = {
    "quasi-sensitive": "quasi-sensitive/job.yaml",
    "m-invariance": "series/january.yaml",
    "rho-different": "series/odds.yaml",
}
Outcome = tuple[tuple[str, ...], str]  # the steps that ran, and why others did not

pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


def job_of(method: str, people: Path, folder: Path) -> Job:
    """A job of a method, on its own example or on the people of the other tests."""
    if method in EXAMPLES:
        place = folder / method
        shutil.copytree((ROOT / "examples" / EXAMPLES[method]).parent, place)
        job = Job.load(place / Path(EXAMPLES[method]).name)
        if job.ledger is not None:
            with Ledger.create(job.ledger.located(job.folder)):
                return job
        return job
    text = job_text(method if method in JOBS else "mondrian")
    if method not in JOBS:
        text = text.replace(", t-closeness: {t: 0.5}", "").replace("mondrian", method)
    if method == "unlinked":
        text = text.replace("[k-anonymity: {k: 4}]", "[]")
    return Job.parse(text, folder=people)


def outcome(engine: str, job: Job, place: Path, session: Any) -> Outcome:
    """Publish on an engine, then audit, attack and measure what was published."""
    if engine == "spark":
        opened = nullcontext(engine_named("spark").temporary(session))  # type: ignore[attr-defined]
    elif engine == "database":
        opened = engine_named("database").opened(place, None)
    else:
        opened = nullcontext(None)
    done: list[str] = []
    try:
        with opened as running:
            release = publish_folder(None, job, place, engine=running, seed=1, **UNATTACKED)
            done.append("publish")
            assert dc.audit(release).ok
            done.append("audit")
            assert dc.attack(release, original=job, quick=True).findings
            done.append("attack")
            assert dc.measure(release, original=job).to_dict()
            done.append("measure")
    except InputError as error:
        return tuple(done), str(error).partition(". ")[0].rstrip(".") + "."
    return tuple(done), ""


def lines_of(engine: str, outcomes: dict[str, Outcome]) -> list[str]:
    """The lines of an engine; methods with the same outcome share one."""
    groups: dict[Outcome, list[str]] = {}
    for method, (done, why) in outcomes.items():
        groups.setdefault((done, why.replace(method, "this method")), []).append(f"`{method}`")
    return [
        f"| `{engine}` | {', '.join(methods)} | "
        + " | ".join("yes" if step in done else "no" for step in STEPS)
        + f" | {why} |"
        for (done, why), methods in groups.items()
    ]


@pytest.mark.parametrize("engine", ENGINES)
def test_every_method_runs_or_is_refused_by_name(
    request: pytest.FixtureRequest, people: Path, tmp_path: Path, engine: str
) -> None:
    """The page has the lines of each engine that this test makes."""
    session = request.getfixturevalue("spark") if engine == "spark" else None
    outcomes = {}
    for method, kind in METHODS.items():
        if not kind.__module__.startswith("discreet."):  # a plugin of the tests
            continue
        job = job_of(method, people, tmp_path)
        if engine == "database":
            url = f"duckdb:///{tmp_path / method}.duckdb"
            assert job.source is not None
            with duckdb.connect(f"{tmp_path / method}.duckdb") as base:
                base.execute(f"CREATE TABLE t AS FROM read_csv('{job.folder / job.source.path}', "
                             "all_varchar=true)")  # fmt: skip
            source = {"url": url, "table": "t", "missing": job.source.missing}
            job = job.model_copy(update={"source": dc.Source.model_validate(source)})
        outcomes[method] = outcome(engine, job, tmp_path / f"{method}-release", session)
    made = lines_of(engine, outcomes)
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    shown, _, after = rest.partition(END)
    head, lines = shown.splitlines()[:2], shown.splitlines()[2:]
    if os.environ.get("DISCREET_UPDATE_SNAPSHOTS"):
        others = [line for line in lines if not line.startswith(f"| `{engine}`")]
        in_order = sorted([*others, *made], key=lambda line: ENGINES.index(line.split("`")[1]))
        page = before + BEGIN + "\n".join([*head, *in_order]) + END + after
        PAGE.write_text(page, encoding="utf-8")
        return
    assert [line for line in lines if line.startswith(f"| `{engine}`")] == made

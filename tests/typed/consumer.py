"""A program that uses the public names, as a user's type checker reads it; it is never run."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from tests.saving import UNATTACKED

import discreet as dc


def describe(result: dc.Result, folder: Path) -> Path:
    print(result.to_dict(), result.charts().keys())  # noqa: T201
    return result.save_page(folder / "page.html")


def run(frame: pl.DataFrame, folder: Path) -> bool:
    job = dc.Job(
        attributes={
            "name": dc.Attribute(role="identifier"),
            "age": dc.Attribute(
                role="quasi-identifier", type="integer", hierarchy={"intervals": [10, 20, "*"]}
            ),
            "sex": dc.Attribute(role=dc.Role.QUASI_IDENTIFIER, hierarchy="suppress"),
            "zip": {"role": "quasi-identifier", "hierarchy": {"mask": "right"}},
            "diagnosis": dc.Attribute(role="sensitive", sensitive_values=["flu"], collapse="last"),
            "salary": dc.Attribute(role="sensitive", type=dc.ValueType.NUMBER, distance="ordered"),
        },
        requirements=[
            dc.KAnonymity(k=2),
            dc.DistinctLDiversity(l=2, attribute="diagnosis"),
            dc.TCloseness(t=0.3, attribute=("diagnosis", "salary")),
            dc.RecursiveClDiversity(c=2, l=2),
            dc.AlphaKAnonymity(alpha=0.5, k=2, attribute="diagnosis", value="flu"),
            dc.BetaLikeness(beta=2),
            dc.MultiAttributeLDiversity(l=2),
            dc.SaDiversity(l={"diagnosis": 2}),
            dc.ConditionalLDiversity(l=2, known="diagnosis"),
            {"entropy-l-diversity": {"l": 1.5}},
        ],
        method=dc.FullDomain(suppression=0.2),
        verify=dc.Verify(ceiling=0.5),
        ledger=dc.LedgerSettings(path="people.ledger"),
        measure=dc.MeasureSettings(queries=100, figures=("loss", "queries")),
        person=dc.Person(column="name", rows="collapse"),
        output=dc.Output(path="release"),
        source=dc.Source(path="people.csv", missing=["?"]),
    )
    print(dc.Source(path=folder / "people.csv"), dc.Person(column=["a", "b"], rows="keep"))  # noqa: T201
    print(dc.publish(frame, {"attributes": {}}))  # noqa: T201
    for method in (
        dc.Mondrian(), dc.LocalRecoding(), dc.MsaDiversity(), dc.Decomposition(), dc.Anatomy(l=2),
        dc.Codip(), dc.MInvariance(m=2), dc.RhoDifferent(rho=0.5),
    ):  # fmt: skip
        job = job.using(method)
    job = job.using("mondrian").using({"anatomy": {"l": 2}})
    release: dc.Release = dc.publish(frame, job, seed=1)
    release.save(folder / "release", **UNATTACKED)
    applied: dc.Release = dc.apply(folder / "release", frame, original=job, suppression=0.1)
    manifest: dc.Manifest = applied.manifest
    audit: dc.Audit = dc.audit(folder / "release", original=job)
    pack: dc.Evidence = dc.evidence(folder / "release", "ema", original=job)
    pack.save(folder / "ema.html", force=True)
    exported: dc.Export = dc.export(folder / "release", folder / "table.sav", table="records")
    book: dc.Codebook = dc.codebook(folder / "release", labels=exported.path)
    book.save(folder / "codebook.xml")
    measures: dc.Measures | dc.ProjectedMeasures = dc.measure(release, original=frame)
    attacks: dc.AttackReport = dc.attack(release, original=frame, attacks=["linking"])
    worth: dc.TableMeasures = dc.measure_table(frame, original=frame, quasi=["age"])
    side_by_side: dc.TableComparison = dc.compare_tables(
        {"mine": frame}, original=frame, quasi=["age"], sensitive=["diagnosis"]
    )
    guesses: dc.TableAttack = dc.attack_table(
        frame, original=frame, quasi=["age"], sensitive=["diagnosis"], control=frame
    )
    compared: dc.Comparison = dc.compare(frame, job, methods=["mondrian"], vary={"l": [2, 3]})
    checked: dc.Check = dc.check(
        frame,
        quasi=["age", "zip"],
        sensitive=["diagnosis"],
        k=2,
        requirements=[dc.TCloseness(t=0.3)],
    )
    proposed: dc.ProposedJob = dc.propose(frame)
    job = job.using(proposed.job.method)
    profiled: dc.Profile = dc.profile(frame, job)
    series: dc.SeriesAudit = dc.audit_series(ledger=folder / "people.ledger")
    explored: dc.Exploration = dc.explore_projections(frame, job)
    for result in (
        release,
        audit,
        measures,
        attacks,
        guesses,
        worth,
        side_by_side,
        compared,
        checked,
        profiled,
        series,
        explored,
    ):
        describe(result, folder)
    try:
        nodes: list[dict[str, int]] = dc.minimal_nodes(frame, job)
    except dc.EngineError:
        nodes = []
    return audit.ok and attacks.ok and series.ok and manifest.suppressed_rows == len(nodes)

"""Publish one case and say how it ended."""

from __future__ import annotations

import csv
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import experiments.rivals  # noqa: F401 (registers methods that cases name)
import polars as pl
from tests.mass.cases import LABELS, SEPARATOR, SERIES, Case
from tests.mass.checks import broken, broken_series
from tests.mass.endings import BROKEN, EXCEPTION, INFEASIBLE, OWN_AUDIT, PUBLISHED, REFUSED, Ending
from tests.saving import UNATTACKED

import discreet as dc
from discreet.pipeline.run import make_release

# A case that is run again ends in the same way.
os.environ["DISCREET_INSECURE_FIXED_ORDER"] = "1"
MEMORY = Path("/dev/shm")  # files that never reach a disk, where there is such a place


def run(case: Case) -> list[Ending]:
    """One ending for each release that was tried."""
    with TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as name:
        return list(_endings(case, Path(name)))


def _endings(case: Case, folder: Path) -> Iterator[Ending]:
    places: list[Path] = []
    for number, table in enumerate(case.tables):
        place = folder / f"release {number}"
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", RuntimeWarning)
                _publish(case, table, folder, place)
                refused = _refused(case, place, folder)
        except dc.InfeasibleError as error:
            yield Ending(INFEASIBLE, _first_line(error))
            break
        except dc.AuditError as error:
            yield Ending(OWN_AUDIT, _first_line(error))
            break
        except dc.DiscreetError as error:
            yield Ending(REFUSED, _first_line(error))
            break
        except Exception as error:
            yield Ending(EXCEPTION, f"{type(error).__name__}: {_first_line(error)}")
            break
        places.append(place)
        if refused:
            yield Ending(OWN_AUDIT, f"the audit of the folder: {refused}")
            continue
        now = Case(**{**vars(case), "tables": [table]})
        found = [] if case.method in SERIES else list(broken(now, place))
        if case.method in SERIES and number == len(case.tables) - 1:
            found = list(broken_series(case, places))
        yield Ending(BROKEN, "; ".join(found)) if found else Ending(PUBLISHED)


def _first_line(error: Exception) -> str:
    lines = str(error).splitlines() or [""]
    return " ".join(lines[:2])[:300]


def _publish(case: Case, table: dict[str, list[str]], folder: Path, place: Path) -> None:
    job = _job(case, folder)
    data = _data(case, table, folder)
    public = case.method in SERIES or case.number % 4 == 0  # else as the command line does
    release = (dc.publish if public else make_release)(data, job, seed=case.number)
    release.save(place, format=case.format, report=case.report, **UNATTACKED)


def _refused(case: Case, place: Path, folder: Path) -> str:
    """What an audit of the folder says against it, without the original or with it."""
    if case.source == "csv" and case.method not in SERIES and case.number % 3 == 0:
        source = dc.Source(path=folder / "table.csv")
        job = _job(case, folder).model_copy(update={"source": source})
        audit = dc.audit(place, original=job)
    else:
        audit = dc.audit(place, knowledge=folder / "labels.csv" if case.knowledge else None)
    failed = [p.requirement for p in audit.promises if not p.holds and p.unproved is None]
    return "; ".join([*audit.problems, *(f"{name} does not hold" for name in failed)])


def _job(case: Case, folder: Path) -> dc.Job:
    job = case.job()
    attributes = dict(job["attributes"])
    if case.knowledge:
        _write_knowledge(case, folder / "labels.csv")
        weight = {} if case.weights is None else {"weight": "weight"}
        attributes["terms"] = {
            **attributes["terms"],
            "knowledge": {"path": str(folder / "labels.csv"), "label": "label", "term": "terms",
                          "separator": SEPARATOR, **weight},
        }  # fmt: skip
    parameters = dict(case.parameters)
    if case.correlation is not None:
        path = folder / "correlation.csv"
        lines = [f"{old},{new},{chance}" for (old, new), chance in case.correlation.items()]
        path.write_text("\n".join(["old,new,probability", *lines, ""]), encoding="utf-8")
        parameters["correlation"] = str(path)
    ledger = None
    if case.method in SERIES:
        ledger = dc.LedgerSettings(path=folder / "people.ledger").located(folder)
        if not (folder / "people.ledger").exists():
            with dc.Ledger.create(ledger):
                pass
    return dc.Job(
        attributes=attributes,
        requirements=case.requirements,
        method={case.method: parameters},
        ledger=ledger,
    )


def _write_knowledge(case: Case, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["label", "terms", "weight"])
        for label in LABELS:
            terms = SEPARATOR.join(sorted(case.knowledge[label]))
            writer.writerow([label, terms, (case.weights or {}).get(label, 1)])


def _data(case: Case, table: dict[str, list[str]], folder: Path) -> Any:
    if case.source == "csv":
        path = folder / "table.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(table)
            writer.writerows(zip(*table.values(), strict=True))
        return path
    texts = [
        pl.Series(name, [cell or None for cell in cells], pl.String)
        for name, cells in table.items()
    ]
    whole = {name for name, entry in case.attributes.items() if entry.get("type") == "integer"}
    frame = pl.DataFrame([one.cast(pl.Int64) if one.name in whole else one for one in texts])
    if case.source == "pandas":
        return frame.to_pandas()
    if case.source == "arrow":
        return frame.to_arrow()
    if case.source == "parquet":
        frame.write_parquet(folder / "table.parquet")
        return folder / "table.parquet"
    return frame

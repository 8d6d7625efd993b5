"""No page holds a cell of an identifying or sensitive column that the release does not publish."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.report.pages import write_pages

import discreet as dc
from discreet.report.pages.release_page import publishable_job

MARK = re.compile(r"(?:Id|Dropped|Secret|Rare|Hidden)mark\w*")
ROWS = 60


def write_table(folder: Path) -> None:
    """Three people stand out by their age, and only they have the values that are rare."""
    rng = np.random.default_rng(7)
    age = rng.integers(30, 60, ROWS)
    disease = rng.choice([f"Secretmark{i}" for i in range(6)], ROWS)
    job = rng.choice([f"Hiddenmark{i}" for i in range(5)], ROWS)
    age[:3] = 95
    disease[:3] = ["Raremark0", "Raremark1", "Raremark0"]
    pl.DataFrame(
        {
            "name": [f"Idmark{i}" for i in range(ROWS)],
            "note": [f"Droppedmark{i}" for i in range(ROWS)],
            "age": age,
            "zip": rng.choice(["101", "102", "201"], ROWS),
            "disease": disease,
            "job": job,
        }
    ).write_csv(folder / "people.csv")


def marked_job(folder: Path, method: str, requirements: str) -> dc.Job:
    refuses = "msa-diversity" in method or "decomposition" in method
    values = "" if refuses else "non_sensitive_values: [Raremark0, Secretmark1]"
    return dc.Job.parse(
        f"""
source: {{path: people.csv}}
attributes:
  name: {{role: identifier}}
  note: {{role: drop}}
  age: {{role: quasi-identifier, type: integer, hierarchy: {{intervals: [30]}}}}
  zip: {{role: quasi-identifier, hierarchy: {{mask: right}}}}
  disease:
    role: sensitive
    {values}
    hierarchy: {{tree: {{Hiddenmark_kind: [Raremark0, Raremark1, Secretmark0, Secretmark1,
      Secretmark2], other: [Secretmark3, Secretmark4, Secretmark5]}}}}
  job: {{role: sensitive}}
requirements: {requirements}
method: {method}
verify: {{ceiling: 1, attacks: all}}
""",
        folder=folder,
    )


JOBS = {
    "full-domain": ("{full-domain: {suppression: 0.1}}", "[{k-anonymity: {k: 5}}]"),
    "values-of-a-promise": (
        "{full-domain: {suppression: 0.1}}",
        "[{k-anonymity: {k: 5}}, {alpha-k-anonymity: {alpha: 0.9, k: 2, value: Secretmark2, "
        "attribute: disease}}]",
    ),
    "mondrian": ("mondrian", "[{distinct-l-diversity: {l: 2}}]"),
    "msa-diversity": ("{msa-diversity: {suppression: 0.2}}", "[{m-diversity: {l: 2}}]"),
    "decomposition": ("{decomposition: {l: {disease: 2, job: 2}}}", "[]"),
    "codip": ("{codip: {recoding: mondrian, beta: 0.1}}", "[{k-anonymity: {k: 3}}]"),
}


NAMED_BY_A_PROMISE = {
    "values-of-a-promise": {"Secretmark2"},
    "mondrian": {"Raremark0", "Secretmark1"},  # values that the job declares non-sensitive
}


@pytest.mark.parametrize("name", JOBS)
def test_pages_hold_only_cells_that_the_release_publishes(tmp_path, name):
    write_table(tmp_path)
    pages = write_pages(tmp_path, marked_job(tmp_path, *JOBS[name]))
    published: set[str] = set()
    for file in (tmp_path / "release").iterdir():
        if file.name != "report.html":
            published |= set(MARK.findall(file.read_text(encoding="utf-8")))
    assert not any(mark.startswith(("Id", "Dropped")) for mark in published)
    assert any(mark.startswith("Secret") for mark in published)
    if name in ("full-domain", "values-of-a-promise"):
        assert not any(mark.startswith("Rare") for mark in published)
    for kind, page in pages.items():
        found = set(MARK.findall(page.read_text(encoding="utf-8")))
        assert found <= published, (kind, found - published)
        assert found <= NAMED_BY_A_PROMISE.get(name, set()), kind


def test_the_shown_job_names_no_sensitive_value_and_no_folder(tmp_path):
    write_table(tmp_path)
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "zip.csv").write_text("101;1\n102;1\n201;2\n")
    job = marked_job(tmp_path, *JOBS["full-domain"])
    shown = publishable_job(job)
    assert not MARK.search(shown)
    assert "(not shown)" in shown
    assert "people.csv" not in shown
    located = job.model_dump(mode="json", exclude_none=True, exclude={"verify"})
    located["attributes"]["zip"]["hierarchy"] = {"path": "private/zip.csv"}
    assert "private/" not in publishable_job(dc.Job(**located))

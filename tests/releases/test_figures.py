"""Every figure of a manifest, derived again from the published files by code of its own.

Whatever a manifest says is either listed below as a choice or a name, or computed here from the
files with nothing but the standard library. A figure that needs the original has no place to stand.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter, defaultdict
from itertools import combinations, permutations, product
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.saving import UNATTACKED

import discreet as dc
from discreet.methods.decomposition.anatomy import Anatomy
from discreet.methods.mondrian.mondrian import Mondrian
from discreet.releases.audit.figures import Shares

ROWS = 60
P = [{"p-diversity": {"l": 2}}]
KNOWLEDGE = "l,t\nflu,a\nflu,b\ncold,a\ngout,c\nmumps,b\nmumps,c\n"
JOBS: dict[str, tuple[object, list[dict]]] = {
    "full-domain": ({"full-domain": {"suppression": 0.2}}, [{"k-anonymity": {"k": 4}}]),
    "mondrian": ("mondrian", [{"k-anonymity": {"k": 4}}, *P]),
    "local-recoding": ("local-recoding", [{"k-anonymity": {"k": 4}}]),
    "labels": ({"mondrian": {"cells": "levels"}}, [{"k-anonymity": {"k": 4}}]),
    "msa-diversity": ({"msa-diversity": {"suppression": 0.5}}, P),
    "blocks": ({"msa-diversity": {"grouping": "blocks", "suppression": 0.5}}, P),
    "buckets": ({"msa-diversity": {"publish": "buckets", "suppression": 0.5}}, P),
    "decomposition": ({"decomposition": {"l": {"ill": 3, "job": 2}}}, []),
    "anatomy": ({"anatomy": {"l": 2}}, []),
    "codip": ({"codip": {"beta": 0.9}}, [{"k-anonymity": {"k": 3}}]),
    "codip-local": ({"codip": {"recoding": "mondrian", "beta": 0.2}}, [{"k-anonymity": {"k": 3}}]),
    "quasi-sensitive": ("quasi-sensitive", [{"qs-t-closeness": {"t": 0.4}}]),
    "m-invariance": ({"m-invariance": {"m": 2}}, []),
    "rho-different": ({"rho-different": {"rho": 0.5}}, []),
    "li-ye": ({"li-ye": {"alpha_qi": 3, "alpha_sa": 2}}, []),
    "gal": ({"gal": {"l": 2, "k": 3}}, []),
    "mmdcf": ({"mmdcf": {"l": 2}}, []),
}
ONE_SENSITIVE = ("anatomy", "m-invariance", "rho-different")
# What a manifest says that is no figure: names, choices that are needed to read it, and counts of
# rows that are in no file.
CHOICES = re.compile(
    r"discreet|format|kind|unit|source_rows|suppressed_rows|report_sha256|recorded"
    r"|method\.(name|parameters\..*|levels\..*|primary|l(\..*)?|adversary|hierarchies\..*)"
    r"|tables\.\w+\.(file|sha256|columns\..*)"
    r"|attributes\..*\.(type|distance|multi_valued|escaped|knowledge\..*)"
    r"|promises\.\d+\.(requirement|parameters\..*|holds)"
    r"|singling_out\.(unit|exact_cells|columns\..*)"
)


def write_people(folder: Path) -> None:
    rng = np.random.default_rng(11)
    pl.DataFrame(
        {
            "name": [f"Person {i}" for i in range(ROWS)],
            "age": rng.integers(20, 60, ROWS),
            "sex": rng.choice(["f", "m"], ROWS),
            "ill": rng.choice(["flu", "gout", "mumps", "cold"], ROWS),
            "job": rng.choice(["cook", "nurse", "clerk"], ROWS),
            "terms": rng.choice(["a", "a|b", "c", "b|c", "b"], ROWS),
            "note": rng.choice(["x", "y"], ROWS),
        }
    ).write_csv(folder / "people.csv")
    (folder / "knowledge.csv").write_text(KNOWLEDGE)


def job_of(folder: Path, name: str) -> dc.Job:
    method, requirements = JOBS[name]
    terms: dict = {"role": "drop"}
    if name == "quasi-sensitive":
        knowledge = {"path": str(folder / "knowledge.csv"), "label": "l", "term": "t"}
        terms = {"role": "quasi-sensitive", "multi_valued": "|", "knowledge": knowledge}
    ledger = None
    if name in ("m-invariance", "rho-different"):
        ledger = dc.LedgerSettings(path=folder / f"{name}.ledger").located(folder)
        with dc.Ledger.create(ledger):
            pass
    return dc.Job(
        source={"path": str(folder / "people.csv")},
        attributes={
            "name": {"role": "identifier"},
            "age": {
                "role": "quasi-identifier",
                "type": "integer",
                "hierarchy": {"intervals": [10, 20, "*"]},
            },
            "sex": {"role": "quasi-identifier", "hierarchy": "suppress"},
            "ill": {"role": "sensitive"},
            "job": {"role": "drop" if name in ONE_SENSITIVE else "sensitive"},
            "terms": terms,
            "note": {"role": "insensitive"},
        },
        requirements=requirements,
        method=method,
        ledger=ledger,
    )


@pytest.fixture(scope="module", params=JOBS)
def folder(request, tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("figures")
    write_people(place)
    release = dc.publish(None, job_of(place, request.param), seed=3)
    return release.save(place / "release", **UNATTACKED)


def leaves(value, place: str = ""):
    """Every single thing that a manifest says, with its place."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from leaves(inner, f"{place}.{name}" if place else name)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from leaves(inner, f"{place}.{number}")
    else:
        yield place, value


class Files:
    """The tables of a release folder, as a reader has them."""

    def __init__(self, folder: Path) -> None:
        self.manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        self.tables = {}
        for name, entry in self.manifest["tables"].items():
            with (folder / entry["file"]).open(encoding="utf-8", newline="") as file:
                self.tables[name] = list(csv.DictReader(file))

    def columns(self, table: str, role: str) -> list[str]:
        columns = self.manifest["tables"][table]["columns"]
        return [name for name, own in columns.items() if own == role]

    def classes(self, table: str) -> dict[tuple, list[dict]]:
        """Rows that look alike, or that have the same group."""
        by = self.columns(table, "quasi-identifier")
        if "group" in self.tables[table][0]:
            by = ["group"]
        found = defaultdict(list)
        for row in self.tables[table]:
            found[tuple(row[name] for name in by)].append(row)
        return found

    def sizes(self, table: str) -> list[int]:
        return [len(rows) for rows in self.classes(table).values()]

    def counts(self, table: str, column: str) -> list[Counter]:
        """By class: how often each value occurs."""
        return [_counted(rows, column) for rows in self.classes(table).values()]


def _counted(rows: list[dict], column: str) -> Counter:
    counts: Counter = Counter()
    for row in rows:
        counts[row[column]] += int(row["count"]) if "count" in row else 1
    return counts


def figures_of(files: Files) -> dict[str, object]:
    """Every figure that a manifest may state, by its place."""
    said, tables = files.manifest, files.tables
    gone, source = said["suppressed_rows"], said["source_rows"]
    found: dict[str, object] = {"published_rows": source - gone, **singling_figures(files)}
    found |= {f"tables.{name}.rows": len(rows) for name, rows in tables.items()}
    projected = said["kind"] == "projected"
    first = next(iter(tables))
    for table in tables if projected else [first]:
        sizes = files.sizes(table)
        place = f"utility.tables.{table}" if projected else "utility"
        found[f"{place}.discernibility"] = sum(n * n for n in sizes) + gone * source
        found[f"{place}.classes"] = len(sizes)
        found[f"{place}.class_size"] = source / len(sizes)
        levels = said["method"].get("levels")
        if levels:
            found[f"{place}.height"] = sum((levels[table] if projected else levels).values())
    if said["kind"] in ("bucketized", "decomposed"):
        found["utility.loss"] = gone / source
    if gone:
        found["utility.suppressed_share"] = gone / source
    found |= method_figures(files)
    for number, promise in enumerate(said["promises"]):
        for place, figure in promise_figures(files, promise).items():
            found[f"promises.{number}.{place}"] = figure
    for name, covering in coverage_of(said).items():
        found |= {f"coverage.{name}.{i}": one for i, one in enumerate(covering)}
    if said["kind"] == "decomposed":
        for number, one in enumerate(said["readers"]):
            found |= {f"readers.{number}.{key}": figure for key, figure in one.items()}
    return found


def method_figures(files: Files) -> dict[str, object]:
    said, tables = files.manifest, files.tables
    first = next(iter(tables))
    found: dict[str, object] = {
        "method.groups": len(files.sizes(first)),
        "method.suppressed_rows": said["suppressed_rows"],
        "method.held_back": said["suppressed_rows"],
        "method.counterfeits": sum(int(row["count"]) for row in tables.get("counterfeits", [])),
    }
    values = "sensitive" if "sensitive" in tables else first
    for name in files.columns(values, "sensitive"):
        if said["kind"] == "decomposed":
            continue
        masked = sum(row[name] == "*" for row in tables[values])
        if masked:
            found[f"method.masked_cells.{name}"] = masked
        found[f"method.greatest_share.{name}"] = max(
            count / counts.total()
            for counts in files.counts(values, name)
            for value, count in counts.items()
            if value != "*"
        )
    for name in files.columns(first, "quasi-sensitive"):
        found[f"method.emptied_rows.{name}"] = sum(row[name] == "*" for row in tables[first])
    if said["method"]["name"] == "codip":
        found["method.closeness"] = max(_distances(files))
        for number, table in enumerate(tables):
            for place, name in enumerate(files.columns(table, "sensitive")):
                found[f"method.plan.{number}.{place}"] = name
    return found


def singling_figures(files: Files) -> dict[str, object]:
    """Rows that are unique by quasi-identifiers and some unchanged columns, each row compared."""
    carrying = [name for name in files.tables if files.columns(name, "quasi-identifier")]
    found = []
    for table in carrying:
        cells = files.columns(table, "quasi-identifier")
        free = [*files.columns(table, "insensitive"), *files.columns(table, "weight")]
        person = files.manifest.get("person", {})
        linked = person.get("link") == "pseudonym"

        def unique(*columns, table=table, cells=cells, linked=linked) -> int:
            keys: dict = defaultdict(list)
            for number, row in enumerate(files.tables[table]):
                key = tuple(row[name] for name in (*cells, *columns))
                keys[row["person"] if linked else number].append(key)
            counts = Counter(tuple(sorted(own)) for own in keys.values())
            return sum(counts[tuple(sorted(own))] == 1 for own in keys.values())

        counted = len({row["person"] for row in files.tables[table]} if linked
                      else files.tables[table])  # fmt: skip
        ones = {name: unique(name) for name in free}
        twos = [unique(*pair) for pair in combinations(free, 2)]
        none, most = unique(), max([unique(), *ones.values()])
        made = {"table": table, "counted": counted, "unchanged": len(free)}
        made |= {"unique.0": none, "unique.1": most, "unique.2": max(twos, default=most)}
        made |= {"unique.all": unique(*free)}
        made |= {f"most.{name}": count for name, count in ones.items()}
        worst = max(ones, key=lambda name: ones[name], default=None)
        values = Counter(row[worst] for row in files.tables[table]) if worst else {}
        made["alone"] = sum(count == 1 for count in values.values())
        if "group" in files.tables[table][0]:
            for known, columns in (("0", []), ("all", free)):
                groups: dict = defaultdict(list)
                for row in files.tables[table]:
                    groups[tuple(row[n] for n in (*cells, *columns))].append(row["group"])
                sole = [len(own) for own in groups.values() if len(set(own)) == 1]
                made[f"group_known.{known}"] = sum(sole)
        found.append(made)
    worst = max(found, key=lambda made: (made["unique.all"], made["unchanged"]))
    return {f"singling_out.{name}": figure for name, figure in worst.items()}


def _distances(files: Files):
    """By table, class and attribute: half the sum of differences from the whole table."""
    for table in files.tables:
        for name in files.columns(table, "sensitive"):
            of_class = files.counts(table, name)
            whole = sum(of_class, Counter())
            for counts in of_class:
                yield (
                    sum(abs(counts[v] / counts.total() - whole[v] / whole.total()) for v in whole)
                    / 2
                )


def promise_figures(files: Files, promise: dict) -> dict[str, float]:
    tables, name = files.tables, promise["requirement"]
    # Against a prior that was estimated from the original; about releases that one folder lacks.
    if name == "qs-t-closeness" or name.endswith("-in-series"):
        return {}
    if name == "k-anonymity":
        return {"achieved.k": min(min(files.sizes(table)) for table in tables)}
    if files.manifest["kind"] == "decomposed":
        listed: dict = defaultdict(Counter)
        for row in tables["group_values"]:
            listed[row["attribute"]][row["group"]] += 1
        least = {attribute: min(of.values()) for attribute, of in listed.items()}
    else:
        table = "sensitive" if "sensitive" in tables else "records"
        figure = {
            "p-diversity": lambda c: c.total() / max(c.values()),
            "distinct-l-diversity": len,
            "m-invariance": len,
            "rho-different": lambda c: -max(c.values()) / c.total(),
        }[name]
        least = {
            attribute: abs(min(figure(c) for c in files.counts(table, attribute)))
            for attribute in files.columns(table, "sensitive")
        }
    worst = max(least.values()) if name == "rho-different" else min(least.values())
    key = {"rho-different": "rho", "m-invariance": "m"}.get(name, "l")
    return {f"achieved.{key}": worst} | {f"by_attribute.{a}": f for a, f in least.items()}


def coverage_of(said: dict) -> dict[str, list[str]]:
    names = {
        name: role
        for entry in said["tables"].values()
        for name, role in entry["columns"].items()
        if role in ("sensitive", "quasi-sensitive")
    }
    covering: dict[str, list[str]] = {name: [] for name in names}
    for promise in said["promises"]:
        requirement = promise["requirement"]
        if requirement == "k-anonymity":
            continue
        wanted = "quasi-sensitive" if requirement.startswith("qs-") else "sensitive"
        for name, role in names.items():
            if role == wanted and requirement not in covering[name]:
                covering[name].append(requirement)
    return covering


def test_every_figure_of_a_manifest_follows_from_the_files(folder):
    files = Files(folder)
    derived = figures_of(files)
    for place, stated in leaves(files.manifest):
        if place in derived:
            assert stated == pytest.approx(derived[place]), place
        else:
            assert CHOICES.fullmatch(place), f"{place} cannot be derived from the files"


def test_a_changed_figure_is_refused(folder, tmp_path):
    """Whatever number of a manifest is changed, the audit says so."""
    said = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    place = tmp_path / "forged"
    place.mkdir()
    for file in folder.iterdir():
        if file.name not in ("manifest.json", "report.html"):
            (place / file.name).write_bytes(file.read_bytes())
    del said["report_sha256"]
    for path, stated in leaves({"utility": said["utility"], "method": said["method"]}):
        if CHOICES.fullmatch(path) or isinstance(stated, str):
            continue
        forged = json.loads(json.dumps(said))
        *parents, key = path.split(".")
        inner = forged
        for parent in parents:
            inner = inner[parent]
        inner[key] = stated + 1
        (place / "manifest.json").write_text(canonical(forged), encoding="utf-8")
        found = dc.audit(place)
        assert any(path in problem for problem in found.problems), (path, found.problems)


def canonical(manifest: dict) -> str:
    return json.dumps(manifest, ensure_ascii=False, indent=1) + "\n"


def test_the_private_files_hold_what_the_release_does_not(folder):
    private = folder.with_name("release.private.json")
    page = folder.with_name("release.private.html")
    assert private.stat().st_mode & 0o777 == 0o600
    assert page.stat().st_mode & 0o777 == 0o600
    known = json.loads(private.read_text(encoding="utf-8"))
    assert "loss" in known["utility"]
    assert "PRIVATE" in page.read_text(encoding="utf-8")
    report = (folder / "report.html").read_text(encoding="utf-8")
    assert "PRIVATE" not in report
    assert "name" not in re.findall(r"Never published: ([^.]*)", report)
    assert "role: identifier" not in report


WORLDS = {
    "anatomy": (Anatomy, {"anatomy": {"l": 2}}, [], 64),
    "mondrian": (Mondrian, "mondrian", [{"p-diversity": {"l": 2}}], 2),
}


@pytest.mark.parametrize("name", WORLDS)
def test_no_world_that_the_files_allow_gives_another_manifest(name, tmp_path, monkeypatch):
    """An attacker lists every table that fits the files and keeps those that fit the figures."""
    kind, method, requirements, least = WORLDS[name]
    ages = list(range(20, 32))
    values = ["a", "b", "c", "a", "c", "b", "b", "a", "c", "a", "b", "d"]
    job = dc.Job(
        attributes={
            "age": {"role": "quasi-identifier", "type": "integer"},
            "ill": {"role": "sensitive"},
        },
        requirements=requirements,
        method=method,
    )
    run, kept = kind.run, []
    monkeypatch.setattr(kind, "run", lambda self, task: kept.append(run(self, task)) or kept[0])
    published = manifest_of(job, ages, values, tmp_path / "truth")
    group = getattr(kept[0], "group_of_row", None)
    group = kept[0].class_of_row if group is None else group
    monkeypatch.setattr(kind, "run", lambda self, task: kept[0])
    members = [np.flatnonzero(group == number).tolist() for number in range(group.max() + 1)]
    choices = [sorted(set(permutations([values[row] for row in rows]))) for rows in members]
    worlds = list(product(*choices))
    assert len(worlds) >= least
    for number, world in enumerate(worlds[:100]):
        cells = list(values)
        for rows, dealt in zip(members, world, strict=True):
            for row, value in zip(rows, dealt, strict=True):
                cells[row] = value
        assert manifest_of(job, ages, cells, tmp_path / str(number)) == published


def manifest_of(job: dc.Job, ages: list[int], values: list[str], place: Path) -> dict:
    """The manifest of a table's release, without the hashes of its shuffled files."""
    frame = pl.DataFrame({"age": ages, "ill": values})
    folder = dc.publish(frame, job).save(place, report=False, **UNATTACKED)
    said = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    for entry in said["tables"].values():
        del entry["sha256"]
    return said


def test_what_attackers_believe_of_parts_adds_up_to_what_they_believe_of_all():
    first, second = Shares(3, 0.5, (1, 2), {2: 5, 4: 8}), Shares(4, 0.75, (0, 4), {2: 1, 3: 7})
    assert first + second == second + first
    assert first + second == Shares(7, 0.75, (1, 6), {2: 6, 3: 7, 4: 8})
    assert (first + second).mean == (6 / 2 + 7 / 3 + 8 / 4) / 7

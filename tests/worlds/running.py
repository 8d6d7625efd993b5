"""Publish a case, attack it, and compare each figure with the worlds of its files."""

from __future__ import annotations

import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
from tests import naive
from tests.naive_check import classes_of
from tests.saving import UNATTACKED
from tests.worlds import oracles
from tests.worlds.cases import COLLAPSE, KEEP, LABELS, METHODS, Case, Row

import discreet as dc
from discreet.attacks.base import WITHIN, Finding
from discreet.pipeline.run import make_release
from discreet.releases.audit.persons import source_rows_beside

PUBLISHED, REFUSED, DISAGREES = "published", "refused", "disagrees"
ATTACKS = [
    "linking", "homogeneity", "skewness", "non-membership", "background-join", "intersection",
    "set-homogeneity", "link-through-sensitive-table", "quasi-sensitive-linking",
    "person-intersection",
]  # fmt: skip
CLOSE = 1e-9
WRITTEN = 10  # one case in so many is written to files, and attacked there
AT_ALL, GIVEN_ROW = "has it at all", "in a given row"
Ending = tuple[str, str, int]  # outcome, detail, how many findings were within the guarantee


def run(case: Case) -> list[Ending]:
    """How each release of a case ends."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            if case.name == "series":
                return _run_series(case, folder)
            return [_run_single(case, folder)]
        except (dc.InfeasibleError, dc.JobError, dc.InputError) as error:
            return [(REFUSED, str(error).splitlines()[0][:200], 0)]


def _job(described: dict[str, Any], folder: Path, **more: Any) -> dc.Job:
    attributes = dict(described["attributes"])
    if "terms" in attributes:
        lines = [f"{label},{'|'.join(sorted(terms))}" for label, terms in LABELS.items()]
        (folder / "labels.csv").write_text("\n".join(["label,terms", *lines, ""]))
        known = {"path": str(folder / "labels.csv"), "label": "label", "term": "terms"}
        attributes["terms"] = {**attributes["terms"], "knowledge": {**known, "separator": "|"}}
    return dc.Job(**{**described, "attributes": attributes, **more})


def _ledger(folder: Path) -> dc.LedgerSettings:
    settings = dc.LedgerSettings(path=folder / "people.ledger").located(folder)
    if not (folder / "people.ledger").exists():
        with dc.Ledger.create(settings):
            pass
    return settings


def _run_single(case: Case, folder: Path) -> Ending:
    """Attack the tables in memory; of one case in ``WRITTEN`` the files, which have their cells."""
    job = _job(case.jobs[0], folder)
    frame = pl.DataFrame(case.rows)
    if case.name == "m-invariance-cells":
        job = job.model_copy(update={"ledger": _ledger(folder)})
        with dc.Ledger.open(job.ledger) as ledger:
            made = make_release(frame, job, seed=case.number, ledger=ledger)
    else:
        made = make_release(frame, job, seed=case.number)
    tables = {name: _texts(table) for name, table in made.tables.items()}
    source = made.formed.source_rows() if case.basis == KEEP else {}
    place = folder / "release"
    if case.number // len(METHODS) % WRITTEN == 0:
        made.save(place, report=False, **UNATTACKED)
        for name, rows in tables.items():
            assert naive.read_csv(place / f"{name}.csv") == rows, f"the file {name} differs"
        if case.basis == KEEP:
            beside = source_rows_beside(place)
            assert beside is not None
            assert all((beside[name] == rows).all() for name, rows in source.items())
        report = dc.attack(place, original=frame, job=job, attacks=ATTACKS)
    else:
        report = dc.attack(made, original=frame, attacks=ATTACKS)
    checked = _Persons(case, tables, source) if case.basis == KEEP else _Rows(case, tables)
    wrong = [problem for finding in report.findings for problem in _compared(finding, checked)]
    within = sum(finding.verdict == WITHIN for finding in report.findings)
    return (DISAGREES, "; ".join(wrong), within) if wrong else (PUBLISHED, "", within)


def _texts(table: pl.DataFrame) -> list[Row]:
    return [
        {name: "" if cell is None else str(cell) for name, cell in row.items()}
        for row in table.iter_rows(named=True)
    ]


def _compared(finding: Finding, oracle: Any) -> Iterator[str]:
    """What differs between a finding and the worlds; one within its guarantee has an oracle."""
    found = oracle.beliefs(finding)
    if found is None:
        if finding.verdict == WITHIN:
            yield f"{finding.title} of {finding.shown_aim} is within, and nothing checks it"
        return
    if not found:
        return
    greatest, mean = float(max(found)), float(sum(found) / len(found))
    name = f"{finding.title} of {finding.shown_aim} in {finding.table}"
    if abs(finding.greatest - greatest) > CLOSE:
        yield f"{name}: {finding.greatest:.6f}, by worlds {greatest:.6f}"
    if abs(finding.mean - mean) > CLOSE:
        yield f"{name}: mean {finding.mean:.6f}, by worlds {mean:.6f}"
    if finding.verdict == WITHIN and finding.bound is not None and greatest > finding.bound + CLOSE:
        yield f"{name}: {greatest:.6f} by worlds is above {finding.bound:.6f}"


class _Rows:
    """A row a person: the worlds of each published table."""

    def __init__(self, case: Case, files: dict[str, list[Row]]) -> None:
        self.names, self.files = case.names, files
        self.persons = case.rows
        if case.basis == COLLAPSE:
            own: dict[str, list[Row]] = defaultdict(list)
            for row in case.rows:
                own[row["id"]].append(row)
            self.persons = [
                {**rows[0], **{name: _commonest(rows, name) for name in case.names}}
                for rows in own.values()
            ]
        # by table: the targets, the rows, and for each target the share of worlds with each row
        self.tables: dict[str, tuple[Sequence[Row], oracles.Shares, list[Row]]] = {}
        if "group_values" in files:
            return
        if "quasi_identifiers" in files:
            rows = oracles.expanded(files["sensitive"])
            found = oracles.shares_of_buckets(self.persons, files["quasi_identifiers"], rows)
            self.tables["sensitive"] = *found, rows
            return
        for name, rows in files.items():
            self.tables[name] = *oracles.shares_of_records(self.persons, rows), rows

    def beliefs(self, finding: Finding) -> list[Fraction] | None:
        """The belief in the truth of each person; None where nothing is enumerated."""
        if "group_values" in self.files:
            return self._decomposed(finding)
        if finding.attack == "quasi-sensitive-linking":
            return self._labels()
        aim, known = finding.aim, finding.details.get("known", [])
        if finding.attack == "intersection" and aim == "s and t" and len(self.tables) == 2:
            # tables apart are independent; a person who fits one group of each is one target
            shares = [oracles.shares_of_rows(self.persons, t[2])[1] for t in self.tables.values()]
            if len(shares[0]) != len(self.persons) or len(shares[1]) != len(self.persons):
                return None
            (_, _, first), (_, _, second) = self.tables.values()
            return [
                oracles.belief(here, first, "s", row["s"])
                * oracles.belief(there, second, "t", row["t"])
                for here, there, row in zip(*shares, self.persons, strict=True)
            ]
        table = [t for t in self.tables.values() if t[2] and (aim in t[2][0] or aim == "the row")]
        if finding.attack == "linking":
            table = [self.tables.get(finding.table, table[0])]
        if len(table) != 1:
            return None
        ((targets, shares, rows),) = table
        names = [name for name in self.names if name in rows[0]]
        pairs = list(zip(shares, targets, strict=True))
        match finding.attack:
            case "linking":
                return [max(own) for own in shares]
            case "homogeneity" | "skewness" | "intersection" if aim in names:
                return [oracles.belief(own, rows, aim, one[aim]) for own, one in pairs]
            case "background-join":
                return [
                    oracles.belief(own, rows, aim, one[aim], {name: one[name] for name in known})
                    for own, one in pairs
                ]
            case "non-membership" if finding.method == "exact":
                bits = finding.details["bits"]
                return [oracles.after_facts(own, rows, names, one, aim, bits) for own, one in pairs]
        return None

    def _decomposed(self, finding: Finding) -> list[Fraction] | None:
        """The readers of the sensitive table: by their definitions, or by all worlds."""
        reader, aim = finding.details.get("reader"), finding.aim
        if finding.attack not in ("set-homogeneity", "link-through-sensitive-table"):
            return None
        (known,) = finding.details.get("known", [None])
        groups, names = self.files["groups"], self.names
        sets: dict[str, dict[str, set[str]]] = {
            group: {name: set() for name in names} for group in {row["group"] for row in groups}
        }
        for row in self.files["group_values"]:
            sets[row["group"]][row["attribute"]].add(row["value"])
        if reader != "matching":
            rows = oracles.expanded(self.files["sensitive"])
            return oracles.reader_beliefs(self.persons, groups, sets, rows, aim, known, reader)
        if finding.method != "exact":
            return None
        if len({tuple(row[name] for name in oracles.QUASI) for row in groups}) < len(groups):
            return None  # people who are alike may be in several groups
        person_of = {tuple(one[name] for name in oracles.QUASI): one for one in self.persons}
        people = [person_of[tuple(row[name] for name in oracles.QUASI)] for row in groups]
        return _decomposed_beliefs(
            [row["group"] for row in groups], sets,
            [tuple(row[name] for name in names) for row in self.files["sensitive"]], names,
            names.index(aim), None if known is None else names.index(known),
            [tuple(one[name] for name in names) for one in people],
        )  # fmt: skip

    def _labels(self) -> list[Fraction] | None:
        """The mean over the linked rows of a group of what each row's terms link to, equally."""
        found: list[Fraction] = []
        for own in classes_of(self.files["records"], list(oracles.QUASI)):
            linked = [
                [label for label, terms in LABELS.items() if _terms(row) <= terms] for row in own
            ]
            linked = [labels for labels in linked if labels]
            believed: dict[str, Fraction] = defaultdict(Fraction)
            for labels in linked:
                for label in labels:
                    believed[label] += Fraction(1, len(labels) * len(linked))
            found += [max(believed.values())] * len(linked) if linked else []
        return found


def _terms(row: Row) -> set[str]:
    """The terms of a row; none is left of '*', which every label fits."""
    return set() if row["terms"] == "*" else set(row["terms"].split("|"))


def _decomposed_beliefs(
    groups: list[str], sets: Any, rows: list[tuple[str, ...]], names: list[str], place: int,
    known: int | None, truth: list[tuple[str, ...]],
) -> list[Fraction] | None:  # fmt: skip
    """The belief in each truth over ``naive.worlds``, each weighed by equal rows that it uses."""
    for primary in names:  # counts of the primary attribute are those of its sets
        hits, totals = [0] * len(groups), [0] * len(groups)
        for world in naive.worlds(groups, sets, rows, names, primary):
            for person, (row, own) in enumerate(zip(world, truth, strict=True)):
                if known is None or row[known] == own[known]:
                    totals[person] += 1
                    hits[person] += row[place] == own[place]
        if any(totals):
            return [Fraction(hit, max(total, 1)) for hit, total in zip(hits, totals, strict=True)]
    return None


def _commonest(rows: list[Row], name: str) -> str:
    """The most frequent value, the least of several."""
    counts = Counter(row[name] for row in rows)
    return min(counts, key=lambda value: (-counts[value], value))


class _Persons:
    """Persons with several rows: the worlds of each class of each published table.

    An attacker may know which rows belong together, but not whose they are. Where the release
    shows how many rows a person has, only persons with equally many are exchanged.
    """

    def __init__(self, case: Case, files: dict[str, list[Row]], source: Mapping[str, Any]) -> None:
        self.names = case.names
        self.published = {name: set(rows[0]) for name, rows in files.items()}
        if "quasi_identifiers" in files:  # the values of groups are beside the people
            self.published["quasi_identifiers"] = set(case.names)
        self.classes: dict[str, list[oracles.Bundles]] = {}
        self.buckets: list[tuple[oracles.Bundles, dict[str, int]]] = []
        numbered = case.jobs[0]["person"].get("link") == "pseudonym"
        for table, numbers in source.items():
            if "quasi_identifiers" in files and table != "quasi_identifiers":
                continue
            classes: dict[Any, oracles.Bundles] = defaultdict(lambda: defaultdict(list))
            for row, number in zip(files[table], numbers.tolist(), strict=True):
                original = case.rows[number]
                if "group" in row:
                    cells: Any = row["group"]
                else:
                    cells = tuple(row[name] for name in oracles.QUASI)
                classes[cells][original["id"]].append(original)
            if "quasi_identifiers" in files:
                counts: dict[str, dict[str, int]] = defaultdict(dict)
                for row in files["sensitive"]:
                    counts[row["group"]][row[self.names[0]]] = int(row["count"])
                self.buckets = [(own, counts[group]) for group, own in classes.items()]
            found = list(classes.values())
            if numbered:
                found = [part for own in found for part in _by_number(own)]
            self.classes[table] = found

    def beliefs(self, finding: Finding) -> list[Fraction] | None:
        reader = finding.details.get("reader")
        if finding.attack == "intersection":
            return self._of_pair(finding)
        if finding.attack not in ("homogeneity", "linking", "non-membership", "skewness",
                                  "person-intersection", "background-join"):  # fmt: skip
            return None
        classes = self.classes.get(finding.table) or next(iter(self.classes.values()))
        if finding.attack == "linking":
            return _greatest({name: Fraction(1, len(own)) for name in own} for own in classes)
        if finding.attack == "person-intersection":
            several = Counter(name for own in classes for name in own)
            if max(several.values()) > 1:
                return None
            return _greatest({name: Fraction(1, len(own)) for name in own} for own in classes)
        if finding.aim not in self.names:
            return None
        if self.buckets and reader == AT_ALL and finding.attack == "homogeneity":
            return _greatest(_touched(own, counts, finding.aim) for own, counts in self.buckets)
        return _greatest(self._of_class(own, finding) for own in classes)

    def _of_pair(self, finding: Finding) -> list[Fraction] | None:
        """Two values of a person in two tables, which are independent."""
        parts = []
        for table, aim in zip(finding.table.split(", "), finding.aim.split(" and "), strict=True):
            of_value = replace(
                finding, attack="homogeneity", aim=aim, table=table, details={"reader": AT_ALL}
            )
            by_person: dict[str, Fraction] = defaultdict(Fraction)
            for own in self.classes[table]:
                for person, belief in self._of_class(own, of_value).items():
                    by_person[person] = max(by_person[person], belief)
            parts.append(by_person)
        first, second = parts
        return [belief * second[person] for person, belief in first.items()]

    def _of_class(self, own: oracles.Bundles, finding: Finding) -> dict[str, Fraction]:
        aim, reader = finding.aim, finding.details.get("reader")
        names = [name for name in self.names if name in self.published[finding.table]]
        known = finding.details.get("known", [])
        worlds = list(oracles.bundle_worlds(own))
        found = {}
        for person, bundle in own.items():
            values = {row[aim] for row in bundle}
            if finding.attack == "background-join":
                found[person] = max(
                    _given(worlds, person, value, aim, {n: row[n] for n in known})
                    for value in values
                    for row in bundle
                )
            elif finding.attack == "non-membership":
                found[person] = max(
                    _after(worlds, person, value, aim, names, own, finding.details["bits"])
                    for value in values
                )
            elif reader == GIVEN_ROW:
                found[person] = max(
                    sum((_share(world[person], aim, value) for world in worlds), Fraction(0))
                    / len(worlds)
                    for value in values
                )
            else:
                found[person] = max(_has(worlds, person, aim, value) for value in values)
        return found


def _by_number(own: oracles.Bundles) -> list[oracles.Bundles]:
    found: dict[int, oracles.Bundles] = defaultdict(dict)
    for name, bundle in own.items():
        found[len(bundle)][name] = bundle
    return list(found.values())


def _greatest(parts: Iterator[dict[str, Fraction]] | Any) -> list[Fraction]:
    """For each person the greatest belief over the classes that the person is in."""
    found: dict[str, Fraction] = defaultdict(Fraction)
    for part in parts:
        for name, share in part.items():
            found[name] = max(found[name], share)
    return list(found.values())


def _share(rows: Sequence[Row], aim: str, value: str) -> Fraction:
    return Fraction(sum(row[aim] == value for row in rows), len(rows))


def _has(worlds: Sequence[Any], person: str, aim: str, value: str) -> Fraction:
    return Fraction(
        sum(any(row[aim] == value for row in world[person]) for world in worlds), len(worlds)
    )


def _given(
    worlds: Sequence[Any], person: str, value: str, aim: str, known: dict[str, str]
) -> Fraction:
    left = [
        world
        for world in worlds
        if any(all(row[n] == cell for n, cell in known.items()) for row in world[person])
    ]
    return _has(left, person, aim, value)


def _after(
    worlds: Sequence[Any], person: str, value: str, aim: str, names: Sequence[str],
    own: oracles.Bundles, bits: int,
) -> Fraction:  # fmt: skip
    """The greatest belief after up to ``bits`` true facts 'no row has this value'."""
    held = {(name, row[name]) for row in own[person] for name in names}
    facts = {(n, row[n]) for bundle in own.values() for row in bundle for n in names} - held

    def search(left: Sequence[Any], more: int) -> Fraction:
        best = _has(left, person, aim, value)
        for name, cell in facts if more else ():
            rest = [w for w in left if all(row[name] != cell for row in w[person])]
            best = max(best, search(rest, more - 1))
        return best

    return search(worlds, bits)


def _touched(own: oracles.Bundles, counts: dict[str, int], aim: str) -> dict[str, Fraction]:
    """The beliefs by the numbers of rows and the counts of values that the files show."""
    numbers = {name: len(bundle) for name, bundle in own.items()}
    worlds = list(oracles.touch_worlds(numbers, counts))
    return {
        name: max(
            Fraction(sum(value in world[name] for world in worlds), len(worlds))
            for value in {row[aim] for row in bundle}
        )
        for name, bundle in own.items()
    }


# ----------------------------------------------------------------------------------------- series


def _run_series(case: Case, folder: Path) -> list[Ending]:
    settings = _ledger(folder)
    endings: list[Ending] = []
    places: list[Path] = []
    for number, (table, described) in enumerate(zip(case.tables, case.jobs, strict=True)):
        job = _job(described, folder, ledger=settings)
        try:
            release = dc.publish(pl.DataFrame(table), job, seed=case.number)
            release.save(folder / f"r{number}", report=False, **UNATTACKED)
        except (dc.InfeasibleError, dc.InputError, dc.AuditError) as error:
            endings.append((REFUSED, str(error).splitlines()[0][:200], 0))
            continue
        places.append(folder / f"r{number}")
        endings.append((PUBLISHED, "", 0))
    if not places:
        return endings
    found = dc.audit_series(ledger=settings)
    with dc.Ledger.open(settings) as ledger:
        recorded = ledger.export()["releases"]
    wrong = list(_wrong_series(case, found, _groups_of(recorded, places)))
    outcome = (DISAGREES, "; ".join(wrong)) if wrong else (PUBLISHED, "")
    endings[-1] = (*outcome, int(found.ok and found.covered))
    return endings


def _groups_of(recorded: Any, places: Sequence[Path]) -> list[list[oracles.Group]]:
    """Who is in which group by the ledger; the values of groups from the files that number them."""
    releases = []
    for one, place in zip(recorded, places, strict=True):
        values: dict[str, Counter[str]] = defaultdict(Counter)
        sensitive = place / "sensitive.csv"
        if sensitive.exists():
            for row in naive.read_csv(sensitive):
                values[row["group"]][row["s"]] += int(row.get("count") or 1)
        else:
            for entry in one["signatures"]["s"]:
                values[str(entry["group"])][entry["value"]] += entry["count"]
        members: dict[str, list[str]] = defaultdict(list)
        for person in one["people"]:
            if person["group"] is not None:
                members[str(person["group"])].append(person["person"])
        releases.append([(members[group], counts) for group, counts in values.items()])
    return releases


def _wrong_series(case: Case, found: Any, releases: list[list[oracles.Group]]) -> Iterator[str]:
    beliefs = oracles.series_beliefs(releases)
    targets = oracles.targets_of(releases)
    greatest = {name: max(own.values()) for name, own in beliefs.items() if name in targets}
    (attack,) = [one for one in found.attacks if one.attack == "value-association"]
    if attack.targets != len(greatest) or attack.not_assessed:
        yield f"value-association has {attack.targets} targets, by worlds {len(greatest)}"
    most = float(max(greatest.values(), default=0))
    if abs(attack.greatest - most) > CLOSE:
        yield f"value-association: {attack.greatest:.6f}, by worlds {most:.6f}"
    for one in found.together:
        if abs(one.greatest - most) > CLOSE:
            yield f"together: {one.greatest:.6f}, by worlds {most:.6f}"
    if found.ok and found.covered and greatest:
        methods = [next(iter(job["method"])) for job in case.jobs]
        bound = 0.5 if {"m-invariance", "rho-different"} & set(methods) else 0.0
        if most > bound + CLOSE:
            yield f"the series is said to keep its guarantees with a belief of {most:.6f}"

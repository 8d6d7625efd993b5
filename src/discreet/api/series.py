"""The audit of a series: guarantees across releases, from their files and each person's groups.

Each release is audited by itself first. Then the groups of every person, from the ledger or from a
table of persons, are joined with the published values of these groups in the files. The audit
checks that signatures persist, computes the beliefs of an attacker who has all releases, and runs
the attacks on several releases.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from discreet.api.shared.series_audit import SeriesAudit
from discreet.attacks.series.correspondences import correspondence_problems, correspondences
from discreet.attacks.series.cross_release import (
    correspondence,
    record_linking,
    tuple_equivalence,
    value_association,
    value_equivalence,
)
from discreet.attacks.series.estimates import Estimates, estimates
from discreet.attacks.series.series_view import Invariance, JointFinding, Series, invariance, joint
from discreet.errors import InputError, ReleaseError
from discreet.io.correlations import read_correlation
from discreet.io.regular_files import require_regular
from discreet.ledger.keys import hex_of
from discreet.ledger.ledger import Ledger
from discreet.ledger.settings import LedgerSettings
from discreet.ledger.terms import CORRELATION_HASH, RHO_DIFFERENT, least_rho
from discreet.methods.series.beliefs.components import PublishedGroups
from discreet.methods.series.beliefs.correlation import Correlation, Unstated, Value
from discreet.pipeline.series_check import belief_problems, overlap_problem
from discreet.releases.audit.audit import audit_folder, read_tables
from discreet.releases.kinds.bucketized.tables import (
    PEOPLE,
    SENSITIVE,
    people_counted,
)
from discreet.releases.manifest import Manifest
from discreet.releases.registry import kind_of
from discreet.requirements.republication import SeriesBcfAnonymity
from discreet.table.coded_table import CodedTable
from discreet.table.published import GROUP
from discreet.table.roles import Role

Placed = Mapping[str, str]  # the group, as it is published, of every person
Alike = Sequence[Sequence[str]]  # people known to an attacker to have the same value


def audit_series(
    releases: Sequence[str | Path] = (),
    *,
    ledger: Ledger | LedgerSettings | str | Path | None = None,
    persons: str | Path | None = None,
    correlation: str | Path | None = None,
    alike: Alike | None = None,
) -> SeriesAudit:
    """Audit releases of the same records together.

    Either ``ledger`` (open, its settings, or its place) gives each person's group in all its
    releases; or ``persons``, a CSV file with the columns ``release`` (1, 2, …), ``person`` and the
    quasi-identifiers, gives it for the folders ``releases``. ``correlation`` is the correlation
    table that the releases rest on. ``alike`` are people that an attacker knows to have the same
    value; any one pair if omitted.
    """
    if (ledger is None) == (persons is None):
        raise InputError("A series needs either its ledger or a table of persons.")
    table = None if correlation is None else Path(correlation)
    if persons is not None:
        return _audit_with_persons([Path(one) for one in releases], Path(persons), table, alike)
    if releases:
        raise InputError("A ledger names its own releases. Name either folders or a ledger.")
    if isinstance(ledger, Ledger):
        return _audit_ledger(ledger, table, alike)
    settings = ledger if isinstance(ledger, LedgerSettings) else LedgerSettings.at(str(ledger))
    with Ledger.open(settings.located(Path.cwd())) as opened:
        return _audit_ledger(opened, table, alike)


def _audit_ledger(ledger: Ledger, correlation: Path | None, alike: Alike | None) -> SeriesAudit:
    """Audit all releases of a ledger, which records each person's group."""
    ledger.settled()
    ledger.require_sound()
    folders, placed = [], []
    entries = ledger.entries()
    for entry in entries:
        contents = ledger.contents(entry)
        published = contents.group >= 0
        names = hex_of(contents.people[published])
        groups = (contents.group[published] + 1).tolist()
        folders.append(Path(entry.folder))
        placed.append({name: str(group) for name, group in zip(names, groups, strict=True)})
    hashes = [one.parameters.get(CORRELATION_HASH) for one in entries]
    known = next((one for one in hashes if one is not None), None)
    return _audit_placed(folders, placed, correlation, alike, correlation_hash=known)


def _audit_with_persons(
    folders: Sequence[Path], persons: Path, correlation: Path | None, alike: Alike | None
) -> SeriesAudit:
    """Audit releases with a table of persons: release (1, 2, …), person, quasi-identifiers."""
    rows = _read_persons(persons)
    placed: list[Placed] = []
    lost = 0
    for number, folder in enumerate(folders, 1):
        manifest, tables = _bucketized(folder)
        if kind_of(manifest.kind).makes_alike:
            raise InputError(
                f"{folder}: quasi-identifiers are generalized, so a table of persons does not give "
                "their groups. Audit the series with its ledger."
            )
        people = tables[PEOPLE]
        own = [row for row in rows if row["release"] == str(number)]
        found = _place(people, own, persons)
        lost += len(own) - len(found)
        placed.append(found)
    return _audit_placed(folders, placed, correlation, alike, lost)


def _audit_placed(
    folders: Sequence[Path],
    placed: Sequence[Placed],
    correlation: Path | None,
    alike: Alike | None,
    not_placed: int = 0,
    correlation_hash: str | None = None,
) -> SeriesAudit:
    """Audit releases, given the group of every person in each.

    ``correlation_hash`` is that of the correlation table that the releases rest on, if known.
    """
    if not folders:
        raise InputError("There is no release to audit.")
    read = [_bucketized(folder) for folder in folders]
    manifests = [manifest for manifest, _ in read]
    audits = tuple(audit_folder(folder) for folder in folders)
    rho = least_rho([m.method.parameters for m in manifests if m.method.name == RHO_DIFFERENT])
    odds, domain = None, None
    if rho is not None:
        odds = _correlation(manifests, correlation, correlation_hash)
        domain = _domain(read, odds)
    series = _series(read, placed, domain or ())
    _require_known(series, alike or ())
    steady = invariance(series)
    problems: list[str] = []
    bound = _guaranteed_m(manifests, steady)
    if any(m.method.name == "m-invariance" for m in manifests) and not steady.holds:
        problems.append(overlap_problem(steady.overlapping))
    k = _guaranteed_k(manifests)
    matched = None if k is None else correspondences(series, k)
    if k is not None and matched is not None:
        problems += correspondence_problems(matched, k)
    found: JointFinding | None = None
    estimated: Estimates | None = None
    if rho is not None and odds is not None and domain is not None:
        found, estimated = joint(series, odds, rho), estimates(series, odds)
        problems += belief_problems(found, rho)
        if len(series.values) > len(domain):
            problems.append(
                f"{len(series.values) - len(domain)} published values are outside the domain that "
                "the first rho-different release fixed"
            )
    attacks = (
        record_linking([_frame(tables[PEOPLE]) for _, tables in read]),
        value_association(series, bound),
        correspondence(series, bound),
        value_equivalence(series),
        tuple_equivalence(series, alike),
    )
    problems += [
        f"{attack.attack}: a belief of {attack.greatest:.3f}, above the guaranteed "
        f"{attack.bound:.3f}"
        for attack in attacks
        if attack.exceeded
    ]
    return SeriesAudit(
        audits,
        steady,
        found,
        estimated,
        attacks,
        tuple(problems),
        not_placed,
        rho,
        matched,
    )


def _require_known(series: Series, alike: Alike) -> None:
    known = set(series.people)
    unknown = sum(name not in known for group in alike for name in group)
    if unknown:
        raise InputError(
            f"{unknown} of the records in --alike are in no group of the releases. Name them as "
            "the file of --persons does."
        )


def _bucketized(folder: Path) -> tuple[Manifest, dict[str, CodedTable]]:
    manifest = Manifest.load(folder)
    kind = kind_of(manifest.kind)
    if not (kind.numbers_groups and kind.publishes_counts):
        raise ReleaseError(
            f"{folder}: a {manifest.kind} release. Only bucketized releases, whose groups are "
            "numbered, can be audited as a series."
        )
    return manifest, read_tables(folder, manifest)


def _frame(table: CodedTable) -> pl.DataFrame:
    """The cells of a table that describe people."""
    return pl.DataFrame(
        {c.name: c.text.gather(c.codes) for c in table if c.role is not Role.STRUCTURE}
    )


def _domain(
    read: Sequence[tuple[Manifest, Mapping[str, CodedTable]]], odds: Correlation
) -> set[Value]:
    """Return the domain that the first ρ-different release fixed."""
    names: list[str] = [manifest.method.name for manifest, _ in read]
    first = names.index(RHO_DIFFERENT)
    published = {
        value
        for _, tables in read[: first + 1]
        for column in tables[SENSITIVE].sensitive
        for value in column.text.to_list()
    }
    declared: Sequence[Value] = read[first][0].method.parameters.get("domain", ())
    return {*published, *odds.values, *declared}


def _series(
    read: Sequence[tuple[Manifest, Mapping[str, CodedTable]]],
    placed: Sequence[Placed],
    domain: Collection[Value] = (),
) -> Series:
    """Groups by their published numbers; values from the files, and of the domain if known."""
    columns = [tables[SENSITIVE].sensitive[0] for _, tables in read]
    names = {column.name for column in columns}
    if len(names) != 1:
        raise InputError(
            f"The releases have different sensitive attributes: {', '.join(sorted(names))}."
        )
    values: tuple[Value, ...] = tuple(
        sorted(
            {*domain, *(value for column in columns for value in column.text.to_list())},
            key=lambda value: (value is None, value or ""),
        )
    )
    code_of = {value: code for code, value in enumerate(values)}
    people = tuple(dict.fromkeys(name for one in placed for name in one))
    number = {name: at for at, name in enumerate(people)}
    parts = []
    group_of = np.full((len(read), len(people)), -1, np.int64)
    begun = 0
    for layer, ((_, tables), column, groups) in enumerate(zip(read, columns, placed, strict=True)):
        table = tables[SENSITIVE]
        labels = table[GROUP].text.to_list()
        code = np.array([code_of[value] for value in column.text.to_list()], np.int64)
        key = table[GROUP].codes.astype(np.int64) * len(values) + code[column.codes]
        keys, inverse = np.unique(key, return_inverse=True)
        count = np.bincount(inverse, people_counted(table), len(keys)).astype(np.int64)
        start = np.searchsorted(keys // len(values), np.arange(len(labels) + 1))
        parts.append((start.astype(np.int64), keys % len(values), count))
        place = {label: at for at, label in enumerate(labels)}
        for name, group in groups.items():
            if group not in place:
                raise ReleaseError(
                    f"Release {layer + 1} has no group {group}. Check that its files are unchanged."
                )
            group_of[layer, number[name]] = begun + place[group]
        begun += len(labels)
    joined, _ = PublishedGroups.of(parts)
    return Series(people, group_of, joined, values)


def _guaranteed_k(manifests: Sequence[Manifest]) -> int | None:
    """The greatest k of BCF-anonymity that a release guarantees for the whole series."""
    promised = [p.to_requirement() for manifest in manifests for p in manifest.promises]
    return max((one.k for one in promised if isinstance(one, SeriesBcfAnonymity)), default=None)


def _guaranteed_m(manifests: Sequence[Manifest], steady: Invariance) -> float | None:
    """1/m, if all releases guarantee it and no person's value is seen to have changed."""
    promised = [
        int(promise.parameters["m"])
        for manifest in manifests
        for promise in manifest.promises
        if promise.requirement == "m-invariance"
    ]
    return 1 / min(promised) if len(promised) == len(manifests) and not steady.renewed else None


def _correlation(
    manifests: Sequence[Manifest], path: Path | None, known_hash: str | None
) -> Correlation:
    """The table that the releases rest on, with its rule for unstated entries."""
    last = [m for m in manifests if m.method.name == RHO_DIFFERENT][-1].method.parameters
    unstated: Unstated = "stay" if last.get("unstated") == "stay" else "spread"
    if path is not None:
        found = read_correlation(path, unstated)
        if known_hash is not None and found.sha256 != known_hash:
            raise InputError(
                f"Correlation table {path}: not the table that the releases were published with. "
                "Name that one."
            )
        return found
    if last.get("correlation"):
        raise InputError(
            f"The releases rely on the correlation table '{last['correlation']}'. Name it with "
            "--correlation."
        )
    return Correlation(unstated=unstated)


def _read_persons(path: Path) -> list[dict[str, str]]:
    require_regular(path, "Persons")
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            lacking = [n for n in ("release", "person") if n not in (reader.fieldnames or ())]
            if lacking:
                raise InputError(
                    f"Persons file {path}: missing column {' or '.join(lacking)}. Expected release "
                    "(1, 2, …), person and the quasi-identifiers."
                )
            return list(reader)
    except OSError as error:
        raise InputError(f"Persons file {path}: {error.strerror}. Check the path.") from None


def _place(people: CodedTable, rows: Sequence[Mapping[str, str]], path: Path) -> Placed:
    """The group of each person whose quasi-identifiers occur in only one group."""
    columns = people.quasi_identifiers
    lacking = [c.name for c in columns if rows and c.name not in rows[0]]
    if lacking:
        raise InputError(f"Persons file {path}: missing column {', '.join(lacking)}.")
    labels = people[GROUP].text.to_list()
    groups: dict[tuple[str, ...], set[str]] = {}
    cells = [[text or "" for text in c.text.to_list()] for c in columns]
    for row in range(people.rows):
        key = tuple(texts[c.codes[row]] for texts, c in zip(cells, columns, strict=True))
        groups.setdefault(key, set()).add(labels[people[GROUP].codes[row]])
    found = {}
    for row_ in rows:
        fits = groups.get(tuple(row_[c.name] or "" for c in columns), set())
        if len(fits) == 1:
            found[row_["person"]] = next(iter(fits))
    return found

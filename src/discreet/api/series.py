"""The audit of a series: guarantees across releases, from their files and each person's groups.

Each release is audited by itself first. Then the groups of every person, from the ledger or from a
table of persons, are joined with the published values of these groups in the files. Files of
generalized releases do not number their groups: the sealed ledger has their values, and the files
must have groups of the same values. The audit checks that signatures persist, computes the beliefs
of an attacker who has all releases, and runs the attacks on several releases.

A release by another method may join a series, or make one. What is guaranteed of each release does
not hold of all of them together then, and the audit says so.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from discreet.api.series_audit import SeriesAudit
from discreet.attacks.beliefs import requirements_about
from discreet.attacks.cross_release import (
    correspondence,
    correspondence_problems,
    correspondences,
    record_linking,
    tuple_equivalence,
    value_association,
    value_equivalence,
)
from discreet.attacks.series_beliefs import (
    Estimates,
    Invariance,
    JointFinding,
    Series,
    estimates,
    invariance,
    joint,
    together,
)
from discreet.errors import InputError, ReleaseError
from discreet.io.correlations import read_correlation
from discreet.ledger.ledger import Ledger
from discreet.ledger.record import (
    CORRELATION_HASH,
    M_INVARIANCE,
    RHO_DIFFERENT,
    Contents,
    GroupSignatures,
    least_rho,
)
from discreet.ledger.settings import LedgerSettings, hex_of
from discreet.methods.series.beliefs.components import PublishedGroups
from discreet.methods.series.beliefs.correlation import Correlation, Unstated, Value
from discreet.pipeline.series import belief_problems, invariance_problems
from discreet.regular_files import named_text, path_of
from discreet.releases.audit.audit import audit_folder, read_tables
from discreet.releases.audit.shards import domains_of
from discreet.releases.kinds.bucketized import (
    PEOPLE,
    SENSITIVE,
    people_counted,
)
from discreet.releases.manifest import Manifest
from discreet.releases.registry import kind_of
from discreet.requirements.judge import limits_knowledge
from discreet.requirements.republication import SeriesBcfAnonymity, SeriesRequirement
from discreet.statements import Statement
from discreet.table.coded_table import CodedTable, Column
from discreet.table.published import GROUP
from discreet.table.roles import Role
from discreet.typing import Ints

Placed = Mapping[str, str]  # the group, as it is published, of every person
Read = tuple[Manifest, dict[str, CodedTable]]


class Layer(NamedTuple):
    """The groups of one release with the values of one attribute."""

    labels: Sequence[str]  # the number of each group
    start: Ints  # (groups + 1,)
    value: Ints  # (entries,)
    counts: Ints  # (entries,)
    values: tuple[Value, ...]  # the dictionary


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
    # Either a ledger or a table of persons gives the groups.
    if (ledger is None) == (persons is None):
        raise InputError("A series needs either its ledger or a table of persons.")
    table = None if correlation is None else path_of(correlation, "The correlation table")
    if persons is not None:
        return _audit_with_persons(
            [path_of(one, "A release") for one in releases],
            path_of(persons, "The table of persons"),
            table,
            alike,
        )
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
    folders, placed, recorded = [], [], []
    entries = ledger.entries()
    for entry in entries:
        contents = ledger.contents(entry)
        recorded.append(contents)
        published = contents.group >= 0
        names = hex_of(contents.people[published])
        groups = (contents.group[published] + 1).tolist()
        folders.append(Path(entry.folder))
        placed.append({name: str(group) for name, group in zip(names, groups, strict=True)})
    hashes = [one.parameters.get(CORRELATION_HASH) for one in entries]
    known = next((one for one in hashes if one is not None), None)
    return _audit_placed(
        folders, placed, correlation, alike, correlation_hash=known, recorded=recorded
    )


def _audit_with_persons(
    folders: Sequence[Path], persons: Path, correlation: Path | None, alike: Alike | None
) -> SeriesAudit:
    """Audit releases with a table of persons: release (1, 2, …), person, quasi-identifiers."""
    rows = _read_persons(persons)
    placed: list[Placed] = []
    lost = 0
    for number, folder in enumerate(folders, 1):
        manifest = Manifest.load(folder)
        kind = kind_of(manifest.kind)
        if kind.makes_alike or not _numbers_groups(manifest):
            raise InputError(
                f"{folder}: a {manifest.kind} release, of which a table of persons does not give "
                "the groups. Audit the series with its ledger."
            )
        tables = read_tables(folder, manifest)
        people = tables[PEOPLE]
        of_release = [row for row in rows if row["release"] == str(number)]
        place_of_person = _place(people, of_release, persons)
        lost += len(of_release) - len(place_of_person)
        placed.append(place_of_person)
    return _audit_placed(folders, placed, correlation, alike, lost)


def _audit_placed(
    folders: Sequence[Path],
    placed: Sequence[Placed],
    correlation: Path | None,
    alike: Alike | None,
    not_placed: int = 0,
    correlation_hash: str | None = None,
    recorded: Sequence[Contents] = (),
) -> SeriesAudit:
    """Audit releases, given the group of every person in each.

    ``correlation_hash`` is that of the correlation table that the releases rest on, if known,
    ``recorded`` what a ledger has of each release.
    """
    if not folders:
        raise InputError("There is no release to audit.")
    # Read and audit each release by itself.
    read: list[Read] = []
    for folder in folders:
        manifest = Manifest.load(folder)
        read.append((manifest, read_tables(folder, manifest)))
    manifests = [manifest for manifest, _ in read]
    audits = tuple(audit_folder(folder) for folder in folders)
    rho = least_rho([m.method.parameters for m in manifests if m.method.name == RHO_DIFFERENT])
    problems: list[str] = []
    for number, ((manifest, tables), contents) in enumerate(zip(read, recorded, strict=False), 1):
        if not _numbers_groups(manifest):
            problems += _class_problems(number, contents, tables)
    # The attribute that a release guarantees something of, and its series.
    by_attribute = _layers(read, recorded)
    attribute = _guaranteed_attribute(manifests, by_attribute)
    layers = by_attribute.get(attribute or "", [None] * len(read))
    odds, domain = None, None
    if rho is not None:
        odds = _correlation(manifests, correlation, correlation_hash)
        domain = _domain(manifests, layers, odds)
    harmless = _harmless(read, attribute or "")
    series = _series(layers, placed, domain or (), harmless)
    _require_known(series, alike or ())
    # m-invariance: signatures persist.
    steady = invariance(series)
    bound = _guaranteed_m(manifests, steady)
    if any(m.method.name == M_INVARIANCE for m in manifests):
        problems += invariance_problems(steady)
    # BCF-anonymity: correspondences leave enough rows.
    k = _guaranteed_k(manifests)
    matched = None if k is None else correspondences(series, k)
    if k is not None and matched is not None:
        problems += correspondence_problems(matched, k)
    joint_finding: JointFinding | None = None
    estimated: Estimates | None = None
    if rho is not None and odds is not None and domain is not None:
        joint_finding, estimated = joint(series, odds, rho), estimates(series, odds)
        problems += belief_problems(joint_finding, rho)
        if len(series.values) > len(domain):
            problems.append(
                f"{len(series.values) - len(domain)} published values are outside the domain that "
                "the first rho-different release fixed"
            )
    # What other attributes reveal of persons who return.
    covers = rho is not None or k is not None or M_INVARIANCE in [m.method.name for m in manifests]
    beside = [
        together(_series(layers, placed, (), _harmless(read, name)), name, _own_bounds(read, name))
        for name, layers in by_attribute.items()
        if steady.returning and not (covers and name == attribute)
    ]
    problems += [
        Statement("series.above", attribute=one.attribute, records=one.above)
        for one in beside
        if one.above
    ]
    # Attacks on several releases.
    attacks = (
        record_linking([_frame(tables) for _, tables in read]),
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
        joint_finding,
        estimated,
        attacks,
        tuple(problems),
        not_placed,
        rho,
        matched,
        covered=not steady.returning or (covers and not beside),
        together=tuple(beside),
    )


def _require_known(series: Series, alike: Alike) -> None:
    known = set(series.people)
    unknown = sum(name not in known for group in alike for name in group)
    if unknown:
        raise InputError(
            f"{unknown} of the records in --alike are in no group of the releases. Name them as "
            "the file of --persons does."
        )


def _numbers_groups(manifest: Manifest) -> bool:
    """Whether the files number the groups, and count the values of each."""
    kind = kind_of(manifest.kind)
    return kind.numbers_groups and kind.publishes_counts


def _frame(tables: Mapping[str, CodedTable]) -> pl.DataFrame:
    """The cells of a release that describe people."""
    table = tables[PEOPLE] if PEOPLE in tables else next(iter(tables.values()))
    hidden = (Role.STRUCTURE, Role.SENSITIVE, Role.QUASI_SENSITIVE)
    return pl.DataFrame({c.name: c.text.gather(c.codes) for c in table if c.role not in hidden})


def _domain(
    manifests: Sequence[Manifest], layers: Sequence[Layer | None], odds: Correlation
) -> set[Value]:
    """Return the domain of an attribute that the first ρ-different release fixed."""
    names: list[str] = [manifest.method.name for manifest in manifests]
    first = names.index(RHO_DIFFERENT)
    published = {value for layer in layers[: first + 1] if layer for value in layer.values}
    declared: Sequence[Value] = manifests[first].method.parameters.get("domain", ())
    return {*published, *odds.values, *declared}


def _layers(read: Sequence[Read], recorded: Sequence[Contents]) -> dict[str, list[Layer | None]]:
    """By sensitive attribute, the groups of each release; None for a release without it."""
    by_attribute: dict[str, list[Layer | None]] = {}
    for number, (manifest, tables) in enumerate(read):
        if _numbers_groups(manifest):
            table = tables[SENSITIVE]
            layers = {column.name: _layer_of_table(table, column) for column in table.sensitive}
        else:
            layers = {
                name: Layer(
                    [str(group + 1) for group in range(recorded[number].groups)],
                    signatures.start,
                    signatures.value.astype(np.int64),
                    signatures.count.astype(np.int64),
                    signatures.values,
                )
                for name, signatures in recorded[number].signatures.items()
            }
        for name, layer in layers.items():
            by_attribute.setdefault(name, [None] * len(read))[number] = layer
    return by_attribute


def _layer_of_table(table: CodedTable, column: Column) -> Layer:
    """The groups of a table that numbers them."""
    values = max(column.cardinality, 1)
    labels = [label or "" for label in table[GROUP].text.to_list()]
    key = table[GROUP].codes.astype(np.int64) * values + column.codes
    keys, inverse = np.unique(key, return_inverse=True)
    count = np.bincount(inverse, people_counted(table), len(keys)).astype(np.int64)
    start = np.searchsorted(keys // values, np.arange(len(labels) + 1)).astype(np.int64)
    return Layer(labels, start, keys % values, count, tuple(column.text.to_list()))


def _class_problems(number: int, contents: Contents, tables: Mapping[str, CodedTable]) -> list[str]:
    """Return whether the files have groups of other values than the ledger records."""
    (table,) = tables.values()
    of_class = table.classes.class_of_row
    for column in table.sensitive:
        signatures = contents.signatures.get(column.name)
        published = pl.DataFrame({"group": of_class, "value": column.text.gather(column.codes)})
        counted = published.group_by("group", "value").len("count")
        if signatures is None or _signatures_of(counted) != _signatures_of(_counted(signatures)):
            return [Statement("series.other-groups", release=number)]
    return []


def _counted(signatures: GroupSignatures) -> pl.DataFrame:
    group = np.repeat(np.arange(len(signatures.start) - 1), np.diff(signatures.start))
    names = pl.Series(signatures.values, dtype=pl.String).gather(signatures.value)
    return pl.DataFrame({"group": group, "value": names, "count": signatures.count})


def _signatures_of(counted: pl.DataFrame) -> list[tuple[tuple[Value, int], ...]]:
    """The values of each group with their counts, whatever the order of groups."""
    signatures: dict[int, list[tuple[Value, int]]] = {}
    for group, value, count in counted.sort("group", "value").iter_rows():
        signatures.setdefault(group, []).append((value, count))
    return sorted((tuple(one) for one in signatures.values()), key=str)


def _harmless(read: Sequence[Read], attribute: str) -> frozenset[Value]:
    """The values that every release with the attribute lets be disclosed."""
    harmless = [
        frozenset(manifest.disclosable.get(attribute, ()))
        for manifest, tables in read
        if any(attribute in table.columns for table in tables.values())
    ]
    return frozenset.intersection(*harmless) if harmless else frozenset()


def _series(
    layers: Sequence[Layer | None],
    placed: Sequence[Placed],
    domain: Collection[Value] = (),
    harmless: frozenset[Value] = frozenset(),
) -> Series:
    """One attribute in all releases, its groups by their numbers, and values of a domain."""
    # One dictionary of values, one list of people.
    known = {*domain, *(value for layer in layers if layer for value in layer.values)}
    values = tuple(sorted(known, key=lambda value: (value is None, value or "")))
    code_of = {value: code for code, value in enumerate(values)}
    people = tuple(dict.fromkeys(name for one in placed for name in one))
    number = {name: at for at, name in enumerate(people)}
    parts = []
    # Groups of all releases are numbered on.
    group_of = np.full((len(layers), len(people)), -1, np.int64)
    begun = 0
    for release, (layer, groups) in enumerate(zip(layers, placed, strict=True)):
        if layer is None:
            continue
        code = np.array([code_of[value] for value in layer.values], np.int64)
        parts.append((layer.start, code[layer.value], layer.counts))
        place = {label: at for at, label in enumerate(layer.labels)}
        for name, group in groups.items():
            if group not in place:
                raise ReleaseError(
                    f"Release {release + 1} has no group {group}. Check that its files are "
                    "unchanged."
                )
            group_of[release, number[name]] = begun + place[group]
        begun += len(layer.labels)
    joined, _ = PublishedGroups.of(parts)
    return Series(people, group_of, joined, values, harmless)


def _guaranteed_attribute(
    manifests: Sequence[Manifest], by_attribute: Mapping[str, Sequence[Layer | None]]
) -> str | None:
    """The attribute that a release guarantees something of for the series, else the first."""
    for number, manifest in enumerate(manifests):
        promised = [promise.to_requirement() for promise in manifest.promises]
        if any(isinstance(one, SeriesRequirement) for one in promised):
            having = (name for name, layers in by_attribute.items() if layers[number] is not None)
            return next(having, None)
    return next(iter(by_attribute), None)


def _own_bounds(read: Sequence[Read], attribute: str) -> list[float]:
    """By release, the greatest belief in a sensitive value that it guarantees; else infinite."""
    bounds, harmless = [], _harmless(read, attribute)
    for manifest, tables in read:
        domains = domains_of(tables, manifest)
        table = tables.get(SENSITIVE) or next(iter(tables.values()))
        greatest = math.inf
        if attribute in domains and attribute in table.columns:
            column = table[attribute]
            share = np.bincount(column.codes, people_counted(table), column.cardinality)
            promised = [promise.to_requirement() for promise in manifest.promises]
            for requirement in requirements_about(
                [one for one in promised if not limits_knowledge(one)], attribute
            ):
                bound_of_value = requirement.share_bound(share / share.sum(), domains[attribute])
                told = [value not in harmless for value in domains[attribute].values]
                greatest = min(greatest, float(bound_of_value[told].max(initial=0.0)))
        bounds.append(greatest)
    return bounds


def _guaranteed_k(manifests: Sequence[Manifest]) -> int | None:
    """The greatest k of BCF-anonymity that a release guarantees for the whole series."""
    promised = [p.to_requirement() for manifest in manifests for p in manifest.promises]
    return max((one.k for one in promised if isinstance(one, SeriesBcfAnonymity)), default=None)


def _guaranteed_m(manifests: Sequence[Manifest], steady: Invariance) -> float | None:
    """1/m, if all releases guarantee it of all values and no person's value changed visibly."""
    promised = [
        int(promise.parameters["m"])
        for manifest in manifests
        for promise in manifest.promises
        if promise.requirement == "m-invariance" and not promise.parameters.get("non_sensitive")
    ]
    return 1 / min(promised) if len(promised) == len(manifests) and not steady.renewed else None


def _correlation(
    manifests: Sequence[Manifest], path: Path | None, known_hash: str | None
) -> Correlation:
    """The table that the releases rest on, with its rule for unstated entries."""
    last = [m for m in manifests if m.method.name == RHO_DIFFERENT][-1].method.parameters
    unstated: Unstated = "stay" if last.get("unstated") == "stay" else "spread"
    if path is not None:
        correlation = read_correlation(path, unstated)
        if known_hash is not None and correlation.sha256 != known_hash:
            raise InputError(
                f"Correlation table {path}: not the table that the releases were published with. "
                "Name that one."
            )
        return correlation
    if last.get("correlation"):
        raise InputError(
            f"The releases rely on the correlation table '{last['correlation']}'. Name it with "
            "--correlation."
        )
    return Correlation(unstated=unstated)


def _read_persons(path: Path) -> list[dict[str, str]]:
    try:
        reader = csv.DictReader(io.StringIO(named_text(path, "Persons file"), newline=""))
        lacking = [n for n in ("release", "person") if n not in (reader.fieldnames or ())]
        if lacking:
            raise InputError(
                f"Persons file {path}: missing column {' or '.join(lacking)}. Expected release "
                "(1, 2, …), person and the quasi-identifiers."
            )
        return list(reader)
    except csv.Error:
        raise InputError(f"Persons file {path}: not valid CSV. Save it as CSV.") from None


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
    group_of_person = {}
    for row_ in rows:
        fits = groups.get(tuple(row_[c.name] or "" for c in columns), set())
        if len(fits) == 1:
            group_of_person[row_["person"]] = next(iter(fits))
    return group_of_person

"""Derive from the files of a release what it promises; nothing of discreet is imported here."""

from __future__ import annotations

import csv
import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow.parquet
from tests import knowledge_tables as plain
from tests import naive, naive_series
from tests.mass import stated
from tests.mass.cases import IDENTIFIER, SEPARATOR, Case
from tests.mass.figures import Rows, figures_of
from tests.mass.stated import View

REST = "(rest)"
SMALL = 10  # rows up to which all assignments of a decomposed release are searched


def read_rows(path: Path) -> Rows:
    """The rows of a table as text, an empty cell for a missing value."""
    if path.suffix == ".csv":
        return naive.read_csv(path)
    return [
        {name: "" if cell is None else str(cell) for name, cell in row.items()}
        for row in pyarrow.parquet.read_table(path).to_pylist()
    ]


def broken(case: Case, folder: Path) -> Iterator[str]:
    """What the files of one release do not keep."""
    manifest = naive.read_manifest(folder)
    tables = {name: read_rows(folder / entry["file"]) for name, entry in manifest["tables"].items()}
    yield from files_differ(folder, manifest, tables)
    yield from secrets_in(folder)
    own = Original(case)
    own.keep({name for entry in manifest["tables"].values() for name in entry["columns"]})
    kind = manifest["kind"]
    exact = kind in ("bucketized", "decomposed")
    by_value = {
        name: rows if name == "group_values" else [own.valued(row, exact) for row in rows]
        for name, rows in tables.items()  # a column may be called 'value' like that of group_values
    }
    rows = len(next(iter(case.table.values())))
    if manifest["source_rows"] != rows:
        yield f"source_rows {manifest['source_rows']} of {rows}"
    if manifest["published_rows"] + manifest["suppressed_rows"] != rows:
        yield "published and suppressed rows are not all rows"
    if manifest["suppressed_rows"] > math.floor(case.parameters.get("suppression", 0) * rows) and (
        case.method in ("full-domain", "msa-diversity", "mondrian", "local-recoding", "codip",
                        "top-down", "anatomy", "decomposition", "li-ye")
    ):  # fmt: skip
        yield f"{manifest['suppressed_rows']} rows are suppressed, beyond the budget"
    if kind == "decomposed":
        yield from broken_sets(case, own, manifest, by_value)
        return
    views = list(views_of(kind, own, by_value))
    if kind == "bucketized":
        own.people_of_group = Counter(row["group"] for row in by_value["quasi_identifiers"])
    if views:
        yield from stated.misstated(manifest, tables, views, own.ordered)
    yield from invented(case, own, kind, by_value, manifest)
    for requirement in case.requirements:
        ((name, asked),) = requirement.items()
        yield from broken_requirement(case, own, manifest, views, name, asked)
    yield from OF_METHOD.get(case.method, nothing)(case, own, views)


def nothing(*_: Any) -> Iterator[str]:
    return iter(())


def files_differ(folder: Path, manifest: Any, tables: dict[str, Rows]) -> Iterator[str]:
    for name, entry in manifest["tables"].items():
        if len(tables[name]) != entry["rows"]:
            yield f"{name} has {len(tables[name])} rows, the manifest says {entry['rows']}"
        if tables[name] and list(tables[name][0]) != list(entry["columns"]):
            yield f"{name} has other columns than the manifest says"
        digest = hashlib.sha256((folder / entry["file"]).read_bytes()).hexdigest()
        if digest != entry["sha256"]:
            yield f"{name} has another hash than the manifest says"


def secrets_in(folder: Path) -> Iterator[str]:
    """Identifiers and dropped columns in any file."""
    for path in sorted(folder.iterdir()):
        found = path.read_bytes()
        if b"Person-" in found or b"Secret-" in found:
            yield f"{path.name} has a cell of an identifier or of a dropped column"


# ---------------------------------------------------------------------------------- the original


class Original:
    """The source table as it is to be published: numbers by value, sets as bits."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.quasi = case.with_role("quasi-identifier")
        self.bits: dict[str, list[str]] = {}
        self.columns: dict[str, list[Any]] = {}
        self.numeric = {
            name for name, entry in case.attributes.items()
            if entry.get("type") in ("integer", "number")
        }  # fmt: skip
        for name, entry in case.attributes.items():
            cells = case.table[name]
            if entry["role"] == "sensitive" and "multi_valued" in entry:
                empty = "0" if case.source == "csv" else ""  # a frame's empty cell is missing
                bits = as_bits(name, cells, entry.get("min_support", 1), empty)
                self.bits[name] = list(bits)
                self.columns |= bits
            elif entry["role"] not in ("identifier", "drop"):
                self.columns[name] = [self.value(name, cell) for cell in cells]
        self.sensitive = [
            bit for name in case.with_role("sensitive") for bit in self.bits.get(name, [name])
        ]
        self.note = case.with_role("insensitive")
        self.people_of_group: dict[str, int] = {}  # of a bucketized release
        self.ordered = {
            name for name in case.with_role("sensitive")
            if name in self.numeric and case.attributes[name].get("distance") != "equal"
        }  # fmt: skip

    def keep(self, published: set[str]) -> None:
        """Forget the bits of members that only suppressed people have: they are not published."""
        self.bits = {name: [b for b in bits if b in published] for name, bits in self.bits.items()}
        self.sensitive = [
            bit for name in self.case.with_role("sensitive") for bit in self.bits.get(name, [name])
        ]

    def value(self, name: str, cell: str) -> Any:
        """A number by its value; all else as it is."""
        if name in self.numeric and cell:
            try:
                return Fraction(cell)
            except ValueError:
                return cell  # a range, a set or a star
        return cell

    def valued(self, row: dict[str, str], exact: bool) -> dict[str, Any]:
        return {
            name: unescaped(cell)
            if exact and self.case.attributes.get(name, {}).get("escape")
            else self.value(name, cell)
            for name, cell in row.items()
        }

    def rows_of(self, names: list[str]) -> Counter[tuple[Any, ...]]:
        return Counter(zip(*(self.columns[name] for name in names), strict=True))


def as_bits(name: str, cells: list[str], floor: int, empty: str) -> dict[str, list[str]]:
    sets = [set(cell.split(SEPARATOR)) - {""} for cell in cells]
    held = Counter(member for members in sets for member in members)
    own = [member for member in sorted(held) if held[member] >= floor]
    groups = {member: {member} for member in own}
    if len(own) < len(held):
        groups[REST] = set(held) - set(own)
    return {
        f"{name}={shown}": [str(int(bool(s & members))) if s else empty for s in sets]
        for shown, members in groups.items()
    }


# ------------------------------------------------------------------------------- classes and views


def views_of(kind: str, own: Original, tables: dict[str, Rows]) -> Iterator[View]:
    """The groups within which a reader cannot tell people apart, for each published table."""
    if kind == "bucketized":
        groups: dict[str, Rows] = defaultdict(list)
        for row in tables["sensitive"]:
            groups[row["group"]] += [row] * int(row.get("count", 1))
        yield list(groups.values()), own.sensitive
        return
    for rows in tables.values():
        if rows:
            yield naive.classes(rows, own.quasi), [n for n in own.sensitive if n in rows[0]]


def broken_requirement(
    case: Case, own: Original, manifest: Any, views: list[View], kind: str, asked: Any
) -> Iterator[str]:
    if kind.startswith("qs-"):
        yield from broken_links(case, views, kind, asked)
        return
    given = asked.get("attribute")
    wanted = own.bits.get(given, [given]) if given else own.sensitive
    if kind == "sa-diversity":
        asked = {"l": {b: n for a, n in asked["l"].items() for b in own.bits.get(a, [a])}}
    found: dict[str, Any] = {}
    for groups, names in views:
        if kind == "k-anonymity" and own.people_of_group:  # counterfeits are no people
            groups = [[{}] * people for people in own.people_of_group.values()]
        present = [name for name in wanted if name in names]
        figures, holds = figures_of(kind, {**asked, ".all": names}, groups, present, own.ordered)
        found |= figures
        if not holds:
            yield f"{kind} {asked} does not hold"
    promises = [p for p in manifest["promises"] if p["requirement"] == kind]
    if not promises:
        yield f"{kind} is not among the promises"
    if len(promises) == 1 and len(views) == 1:
        yield from misstated(kind, promises[0], found)


def misstated(kind: str, promise: Any, found: dict[str, Any]) -> Iterator[str]:
    """Figures of a promise that are not those of the files."""
    for name, figure in promise.get("by_attribute", {}).items():
        if name not in found:
            yield f"{kind}: a figure of '{name}', which has none"
        elif not close(figure, found[name]):
            yield f"{kind} of '{name}': {figure} is said, {float(found[name])} is found"
    if kind == "k-anonymity" and promise["achieved"]["k"] != found[""]:
        yield f"k = {promise['achieved']['k']} is said, {found['']} is found"


def close(said: Any, found: Any) -> bool:
    if said is None or not math.isfinite(float(said)) or not math.isfinite(float(found)):
        return said is None or float(said) == float(found)
    return math.isclose(float(said), float(found), rel_tol=1e-6, abs_tol=1e-6)


def broken_links(case: Case, views: list[View], kind: str, asked: Any) -> Iterator[str]:
    """Beliefs about labels of a knowledge table."""
    slack = Fraction(1, 10**6)
    sets = [set(cell.split(SEPARATOR)) - {""} for cell in case.table["terms"]]
    if case.weights:
        total = sum(case.weights.values())
        prior = {label: Fraction(weight, total) for label, weight in case.weights.items()}
    else:
        prior = plain.estimated(case.knowledge, sets)
    for group in (group for groups, _ in views for group in groups):
        cells = [
            [] if row["terms"] in ("", "*") else row["terms"].split(SEPARATOR) for row in group
        ]
        weights = prior if asked["weights"] == "prior" else None
        found = plain.belief(case.knowledge, cells, weights)
        if kind == "qs-cl-diversity":
            good = plain.diverse(found, Fraction(str(asked["c"])) + slack, asked["l"])
        else:
            good = plain.close(found, prior, Fraction(str(asked["t"])) + slack, asked["distance"])
        if not good:
            yield f"{kind} {asked} does not hold"


# ------------------------------------------------------------------------------- nothing invented


def invented(
    case: Case, own: Original, kind: str, tables: dict[str, Rows], manifest: Any
) -> Iterator[str]:
    for name, rows in tables.items():
        if not rows:
            continue
        names = [column for column in rows[0] if column in own.columns]
        exact = [n for n in names if kind == "bucketized" or n not in own.quasi]
        exact = [n for n in exact if n != "terms"]
        if kind == "bucketized" and name == "sensitive":
            rows = [row for row in rows for _ in range(int(row.get("count", 1)))]
        if case.method != "li-ye":
            published = Counter(tuple(row[n] for n in exact) for row in rows)
            if published - own.rows_of(exact):
                yield f"{name} has rows that the source lacks"
        if kind != "bucketized":
            yield from uncovered(case, own, name, names, rows)
    if case.method not in ("m-invariance", "rho-different") and kind == "bucketized":
        people = Counter(row["group"] for row in tables["quasi_identifiers"])
        values: Counter[str] = Counter()
        for row in tables["sensitive"]:
            values[row["group"]] += int(row.get("count", 1))
        if people != values:
            yield "a group has not as many sensitive rows as people"


def uncovered(case: Case, own: Original, table: str, names: list[str], rows: Rows) -> Iterator[str]:
    """Published rows that no row of the source can have become."""
    masked = case.method == "li-ye"
    by_values: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    others = [n for n in names if n not in own.quasi and n != "terms"]
    others = own.note if masked else others
    count = len(next(iter(case.table.values())))
    for place in range(count):
        by_values[tuple(own.columns[n][place] for n in others)].append(place)
    quasi = [n for n in own.quasi if n in names]
    for row in rows:
        places = by_values.get(tuple(row[n] for n in others), [])
        if not any(
            all(covers(row[n], own.columns[n][p], case.attributes[n]) for n in quasi)
            for p in places
        ):
            yield f"{table} has a row whose cells cover no row of the source"
            return


def covers(cell: Any, value: Any, entry: dict[str, Any]) -> bool:
    """Whether a published cell can stand for a value of the source."""
    if cell in ("*", value):
        return True
    text = str(cell)
    if entry.get("escape") and text.startswith("\\"):
        return unescaped(text) == value
    if value == "":
        return text.startswith("{") and '""' in text
    if text.startswith("[") and text.endswith(("]", ")")):  # not a masked "[1, 2*"
        low, high = text[1:-1].split(", ")
        if entry.get("type") == "date":
            return low <= str(value) <= high
        low_number, high_number = Fraction(low), Fraction(high)
        return low_number <= value <= high_number and not (
            text.endswith(")") and value == high_number
        )
    if text.startswith("{"):
        members = next(csv.reader([text[1:-1]], skipinitialspace=True))
        if isinstance(value, Fraction):
            return any(member != "" and Fraction(member) == value for member in members)
        return value in [unescaped(m) if entry.get("escape") else m for m in members]
    if entry.get("type") == "date":
        return str(value).startswith(text.removesuffix("0s"))
    hierarchy = entry.get("hierarchy")
    if isinstance(hierarchy, dict) and "tree" in hierarchy:
        return value in leaves(hierarchy["tree"], text)
    side = hierarchy.get("mask") if isinstance(hierarchy, dict) else None
    whole = str(value).rjust(len(text)) if side == "left" else str(value).ljust(len(text))
    return len(text) == len(whole) and all(c in ("*", v) for c, v in zip(text, whole, strict=True))


def unescaped(cell: str) -> str:
    """A cell without the backslash that keeps it from being read as a star, a range or a set."""
    return cell[1:] if cell.startswith("\\") else cell


def leaves(tree: Any, label: str, inside: bool = False) -> set[str]:
    """The leaves below a label."""
    if isinstance(tree, dict):
        return set().union(
            *(leaves(below, label, inside or name == label) for name, below in tree.items())
        )
    return set(tree) if inside else set()


# ------------------------------------------------------------------------- what a method promises


def broken_anatomy(case: Case, own: Original, views: list[View]) -> Iterator[str]:
    ell = case.parameters.get("l") or 2
    (name,) = own.sensitive
    for group in views[0][0]:
        values = {row[name] for row in group}
        if len(values) < ell or len(values) != len(group):
            yield f"anatomy: a group of {len(group)} rows has {len(values)} values, l = {ell}"


def broken_mmdcf(case: Case, own: Original, views: list[View]) -> Iterator[str]:
    for group in views[0][0]:
        if len(group) < case.parameters["l"]:
            yield "mmdcf: a group is too small"
        for name in own.sensitive:
            if len({row[name] for row in group}) != len(group):
                yield f"mmdcf: '{name}' has a value twice in a group"


def broken_gal(case: Case, own: Original, views: list[View]) -> Iterator[str]:
    ell, k = case.parameters["l"], case.parameters.get("k") or case.parameters["l"]
    for group in views[0][0] if views else []:
        if len(group) < k:
            yield "gal: a class is too small"
        if least_cover([tuple(row[s] for s in own.sensitive) for row in group], ell) < ell:
            yield "gal: fewer values than l empty a class"


def least_cover(rows: list[tuple[Any, ...]], enough: int) -> int:
    """The fewest (attribute, value) pairs of which every row has one; not counted past enough."""
    if not rows or enough == 0:
        return 0
    fewest = enough
    for attribute, value in enumerate(rows[0]):
        rest = [row for row in rows if row[attribute] != value]
        fewest = min(fewest, 1 + least_cover(rest, fewest - 1))
    return fewest


def broken_li_ye(case: Case, own: Original, views: list[View]) -> Iterator[str]:
    for group in views[0][0]:
        for name in own.sensitive:
            values = {row[name] for row in group} - {"*"}
            if 0 < len(values) < case.parameters["alpha_sa"]:
                yield f"li-ye: {len(values)} values of '{name}' in a class"


OF_METHOD = {
    "anatomy": broken_anatomy,
    "mmdcf": broken_mmdcf,
    "gal": broken_gal,
    "li-ye": broken_li_ye,
}


# ------------------------------------------------------------------------------------ decomposed


def broken_sets(case: Case, own: Original, manifest: Any, tables: dict[str, Rows]) -> Iterator[str]:
    names = own.sensitive
    people, sensitive = tables["groups"], tables["sensitive"]
    shown = [*own.quasi, *own.note]
    if Counter(tuple(row[n] for n in shown) for row in people) != own.rows_of(shown):
        yield "groups has other people than the source"
    rows = [tuple(row[name] for name in names) for row in sensitive]
    if Counter(rows) != own.rows_of(names):
        yield "sensitive has other rows than the source"
    sets: dict[str, dict[str, set[Any]]] = defaultdict(lambda: {name: set() for name in names})
    for row in tables["group_values"]:
        value = own.value(row["attribute"], row["value"])
        sets[row["group"]][row["attribute"]].add(value)
    size = Counter(row["group"] for row in people)
    if set(sets) != set(size):
        yield "group_values has other groups than groups"
        return
    wanted = manifest["method"]["l"]
    for name, ell in case.parameters["l"].items():
        if wanted[name] < ell:
            yield f"l of '{name}' is {wanted[name]}, at least {ell} was asked for"
    for group, values in sets.items():
        for name in names:
            if len(values[name]) < wanted[name]:
                yield f"group {group} has {len(values[name])} values of '{name}'"
    supported = {
        group: {r for r in set(rows) if all(v in values[n] for v, n in zip(r, names, strict=True))}
        for group, values in sets.items()
    }
    for group, values in sets.items():
        for place, name in enumerate(names):
            if values[name] != {row[place] for row in supported[group]}:
                yield f"group {group}: a value of '{name}' is supported by no row"
    conditional = case.parameters.get("conditional_l")
    if conditional:
        primary = manifest["method"]["primary"]
        left = naive.left_to_reader(dict(sets), rows, names, primary, conditional["attacker"])
        if min(left, default=2) < conditional["l"]:
            yield "conditional_l does not hold"
    if len(rows) <= SMALL:
        yield from struck(sets, supported, size, Counter(rows), names)


def struck(
    sets: Any, supported: Any, size: Counter[str], rows: Counter[Any], names: list[str]
) -> Iterator[str]:
    """Values that no assignment of all rows to all people gives a group."""
    for group, values in sets.items():
        possible = [
            row for row in supported[group] if _assignable(group, row, supported, size, rows)
        ]
        for place, name in enumerate(names):
            if {row[place] for row in possible} != values[name]:
                yield f"group {group}: a value of '{name}' is struck out by counting"


def _assignable(
    group: str, row: Any, supported: Any, size: Counter[str], rows: Counter[Any]
) -> bool:
    """Whether everybody finds a row if one of the group has this one."""
    people = [one for one, count in size.items() for _ in range(count - (one == group))]
    free = [one for one, count in rows.items() for _ in range(count - (one == row))]
    taken: dict[int, int] = {}

    def place(person: int, seen: set[int]) -> bool:
        for number, one in enumerate(free):
            if number not in seen and one in supported[people[person]]:
                seen.add(number)
                if number not in taken or place(taken[number], seen):
                    taken[number] = person
                    return True
        return False

    return all(place(person, set()) for person in range(len(people)))


# ---------------------------------------------------------------------------------------- series


def broken_series(case: Case, folders: list[Path]) -> Iterator[str]:
    """What all releases of a series together do not keep."""
    series = []
    for table, folder in zip(case.tables, folders, strict=False):
        person_of = dict(zip(table["age"], table[IDENTIFIER], strict=True))
        groups: dict[str, naive_series.Group] = defaultdict(lambda: ([], []))
        entries = naive.read_manifest(folder)["tables"]
        for row in read_rows(folder / entries["quasi_identifiers"]["file"]):
            groups[row["group"]][0].append(person_of[row["age"]])
        for row in read_rows(folder / entries["sensitive"]["file"]):
            groups[row["group"]][1].extend([row["disease"]] * int(row.get("count", 1)))
        series.append(list(groups.values()))
    if case.method == "m-invariance":
        yield from broken_signatures(case, series)
    values = sorted({value for table in case.tables for value in table["disease"]})
    stated = case.correlation or {}
    unstated = case.parameters.get("unstated", "stay")
    changes = case.method == "m-invariance" and _changes(case)
    bound = case.parameters["rho"] if "rho" in case.parameters else 1 / case.parameters["m"]
    if changes:
        return  # m-invariance bounds no belief there
    chance = naive_series.chances(stated, values, unstated)
    for family in naive_series.families(series):
        rows = max(len(v) for release in series for p, v in release if set(p) & family)
        if rows <= 5 and len(family) <= 6:
            found = naive_series.beliefs(series, family, chance)
            if max(found.values()) > bound + 1e-9:
                yield f"a belief of {max(found.values()):.3f} passes {bound:.3f}"


def _changes(case: Case) -> bool:
    held: dict[str, str] = {}
    return any(
        held.setdefault(person, value) != value
        for table in case.tables
        for person, value in zip(table[IDENTIFIER], table["disease"], strict=True)
    )


def broken_signatures(case: Case, series: list[list[naive_series.Group]]) -> Iterator[str]:
    held: dict[str, set[frozenset[str]]] = defaultdict(set)
    for persons, values in (group for release in series for group in release):
        counts = set(Counter(values).values())
        if len(set(values)) < case.parameters["m"]:
            yield "a group has fewer than m values"
        if case.parameters["buckets"] == "distinct" and counts != {1}:
            yield "a group has a value twice"
        if len(counts) != 1:
            yield "a group has values that are not equally frequent"
        for person in persons:
            held[person].add(frozenset(values))
    for signatures in held.values():
        if any(a != b and a & b for a in signatures for b in signatures):
            yield "a person's signatures overlap"
    if not _changes(case) and any(len(signatures) > 1 for signatures in held.values()):
        yield "a person's signature changes"

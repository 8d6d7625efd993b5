"""Check a release without discreet: hashes, the form of its tables, and its guarantees.

Standard library only, so that an auditor can read all of it: ``python check.py RELEASE``. Releases
of every kind, in CSV. The exit status is 0 where every guarantee holds, 1 where the release is
broken, and 2 where a guarantee cannot be derived here.
"""

from __future__ import annotations

import csv
import hashlib
import json
import math
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate
from pathlib import Path

Row = dict[str, str]
Rows = list[Row]
TOLERANCE = 1e-9  # of figures that are sums of logarithms or shares; counts compare exactly


@dataclass
class Group:
    """The people among whom an attacker cannot tell, and what they may have."""

    people: int
    rows: Rows = field(default_factory=list)  # what the table of sensitive cells has for them
    sensitive: list[str] = field(default_factory=list)  # the names of their sensitive cells
    lists: dict[str, set[str]] = field(default_factory=dict)  # of a decomposition, instead of rows

    def attributes(self) -> list[str]:
        return list(self.lists) or self.sensitive

    def counts(self, attribute: str) -> Counter[str]:
        """Return how often each value occurs; in a list, once."""
        if self.lists:
            return Counter(self.lists[attribute])
        return Counter(row[attribute] for row in self.rows)


class BrokenError(Exception):
    """The tables contradict each other."""


def demand(condition: bool, problem: str) -> None:
    if not condition:
        raise BrokenError(problem)


# --- What the tables of each kind say about groups ------------------------------------------------


def generalized(tables: dict[str, Rows], columns: dict[str, dict[str, str]]) -> list[list[Group]]:
    """Return the groups of rows with equal quasi-identifiers."""
    return [rows_alike(tables["records"], columns["records"])]


def projected(tables: dict[str, Rows], columns: dict[str, dict[str, str]]) -> list[list[Group]]:
    """Return the groups of every table; no sensitive attribute is in two of them."""
    sensitive = Counter(name for roles in columns.values() for name in named(roles, "sensitive"))
    demand(set(sensitive.values()) <= {1}, "a sensitive attribute is in two tables")
    demand(len({len(rows) for rows in tables.values()}) == 1, "the tables differ in their rows")
    return [rows_alike(tables[name], columns[name]) for name in tables]


def bucketized(tables: dict[str, Rows], columns: dict[str, dict[str, str]]) -> list[list[Group]]:
    """Return the groups by number: their people in one table, their sensitive rows in another."""
    people = Counter(row["group"] for row in tables["quasi_identifiers"])
    sensitive = named(columns["sensitive"], "sensitive")
    groups = {number: Group(count, [], sensitive) for number, count in people.items()}
    for row in tables["sensitive"]:
        demand(row["group"] in groups, f"group {row['group']} has no people")
        groups[row["group"]].rows += [row] * int(row.get("count", 1))
    counterfeits: Counter[str] = Counter()
    for row in tables.get("counterfeits", []):
        counterfeits[row["group"]] += int(row["count"])
    for number, group in groups.items():
        rows = len(group.rows) - counterfeits[number]
        demand(rows == group.people, f"group {number} has {group.people} people and {rows} rows")
    return [list(groups.values())]


def decomposed(tables: dict[str, Rows], columns: dict[str, dict[str, str]]) -> list[list[Group]]:
    """Return the groups with their lists, each value of which a whole sensitive row supports."""
    people = Counter(row["group"] for row in tables["groups"])
    attributes = named(columns["sensitive"], "sensitive")
    groups = {
        number: Group(count, lists={name: set() for name in attributes})
        for number, count in people.items()
    }
    for row in tables["group_values"]:
        demand(row["group"] in groups, f"group {row['group']} has no people")
        groups[row["group"]].lists[row["attribute"]].add(row["value"])
    demand(len(tables["sensitive"]) == len(tables["groups"]), "people and sensitive rows differ")
    # The whole sensitive rows that lie within the lists of each group.
    whole = Counter(tuple(row[name] for name in attributes) for row in tables["sensitive"])
    for number, group in groups.items():
        group.rows = [
            dict(zip(attributes, row, strict=True))
            for row in whole
            if all(value in group.lists[name] for name, value in zip(attributes, row, strict=True))
        ]
        for name in attributes:
            supported = {row[name] for row in group.rows}
            demand(supported == group.lists[name], f"group {number} lists values without a row")
    demand(assignable(groups, whole, attributes), "people cannot be given all sensitive rows")
    return [list(groups.values())]


def rows_alike(rows: Rows, roles: dict[str, str]) -> list[Group]:
    quasi = named(roles, "quasi-identifier")
    groups: dict[tuple[str, ...], Rows] = defaultdict(list)
    for row in rows:
        groups[tuple(row[name] for name in quasi)].append(row)
    return [Group(len(rows), rows, named(roles, "sensitive")) for rows in groups.values()]


def named(roles: dict[str, str], wanted: str) -> list[str]:
    return [name for name, role in roles.items() if role == wanted]


def assignable(groups: dict[str, Group], whole: Counter, attributes: list[str]) -> bool:
    """Whether each person can be given one sensitive row within the lists of the group.

    Each row looks for a free place; where there is none, rows that have one move on (augmenting
    paths, breadth first), so that no possible assignment is missed.
    """
    fitting: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for number, group in groups.items():
        for row in group.rows:
            fitting[tuple(row[name] for name in attributes)].append(number)
    free = {number: group.people for number, group in groups.items()}
    held: dict[str, Counter] = {number: Counter() for number in groups}
    for row, count in whole.items():
        for _ in range(count):
            came: dict[str, tuple[str | None, tuple[str, ...]]] = {}  # to a group: from, with
            queue: list[tuple[str | None, tuple[str, ...]]] = [(None, row)]
            end = None
            for place, moving in queue:
                for number in fitting[moving]:
                    if number not in came:
                        came[number] = (place, moving)
                        if free[number]:
                            end = number
                            break
                        queue += [(number, other) for other in held[number]]
                if end is not None:
                    break
            if end is None:
                return False
            free[end] -= 1
            while end is not None:
                place, moving = came[end]
                held[end][moving] += 1
                if place is not None:
                    held[place][moving] -= 1
                    held[place] += Counter()  # drops what is at zero
                end = place
    return True


KINDS = {
    "generalized": generalized,
    "projected": projected,
    "bucketized": bucketized,
    "generalized-buckets": bucketized,
    "decomposed": decomposed,
}


# --- What each requirement asks of a group --------------------------------------------------------


def exact(number: float) -> Fraction:
    return Fraction(str(number))


def greatest(counts: Counter[str], harmless: set[str]) -> int:
    return max((n for value, n in counts.items() if value not in harmless), default=0)


def distinct(counts: Counter[str], asked: dict, harmless: set[str]) -> bool:
    return not greatest(counts, harmless) or len(counts) >= asked["l"]


def entropy(counts: Counter[str], asked: dict, harmless: set[str]) -> bool:
    sensitive = [n for value, n in counts.items() if value not in harmless]
    if not sensitive:
        return True
    surprise = math.log(counts.total()) - sum(n * math.log(n) for n in sensitive) / sum(sensitive)
    return math.exp(surprise) >= asked["l"] * (1 - TOLERANCE)


def recursive(counts: Counter[str], asked: dict, harmless: set[str]) -> bool:
    head = greatest(counts, harmless)
    if asked["l"] == 1 or not head:
        return True
    others = sorted(counts.values(), reverse=True)
    others.remove(head)
    return head < exact(asked["c"]) * sum(others[max(asked["l"] - 2, 0) :])


def p_diversity(counts: Counter[str], asked: dict, harmless: set[str]) -> bool:
    return greatest(counts, harmless) * exact(asked["l"]) <= counts.total()


def m_diversity(counts: Counter[str], asked: dict, harmless: set[str]) -> bool:
    head = greatest(counts, harmless)
    above = sum(max(n - head, 0) for n in counts.values()) if harmless else 0
    return not head or head * exact(asked["l"]) <= counts.total() - above


def share(counts: Counter[str], asked: dict, harmless: set[str]) -> bool:
    bounded = counts[asked["value"]] if asked.get("value") else greatest(counts, harmless)
    return bounded <= exact(asked["alpha"]) * counts.total()


def m_invariance(counts: Counter[str], asked: dict, harmless: set[str]) -> bool:
    most, least = max(counts.values()), min(counts.values())
    even = most == least if asked.get("buckets") == "equal-multiplicity" else most == 1
    return even and (len(counts) >= asked["m"] or (len(counts) == 1 and set(counts) <= harmless))


def rho_different(counts: Counter[str], asked: dict, harmless: set[str]) -> bool:
    return max(counts.values()) <= exact(asked["rho"]) * counts.total()


DIVERSITY = {
    "distinct-l-diversity": distinct,
    "entropy-l-diversity": entropy,
    "recursive-cl-diversity": recursive,
    "pd-recursive-cl-diversity": recursive,
    "p-diversity": p_diversity,
    "m-diversity": m_diversity,
    "alpha-k-anonymity": share,
    "m-invariance": m_invariance,
    "rho-different": rho_different,
}
# Parameters that change what is counted, and are not understood here.
FOREIGN = ("attackers", "level")


def holds(promise: dict, groups: list[Group], manifest: dict, sensitive: Rows) -> bool | None:
    """Whether all groups of a table keep a guarantee; None where it is not derived here."""
    name, asked = promise["requirement"], dict(promise["parameters"])
    if any(asked.get(key) for key in FOREIGN):
        return None
    if name in ("k-anonymity", "alpha-k-anonymity"):
        if any(group.people < asked["k"] for group in groups):
            return False
        if name == "k-anonymity":
            return True
    if name == "sa-diversity":
        least = [(key, ell) for key, ell in asked["l"].items() if key in published_in(groups)]
        return all(len(group.counts(key)) >= ell for group in groups for key, ell in least)
    if name == "conditional-l-diversity":
        return all(keeps(group, asked, sensitive) for group in groups)
    if any(group.lists for group in groups) and name != "distinct-l-diversity":
        return None  # a list does not say how often its values occur
    present = published_in(groups)
    attributes = asked.get("attribute") or present
    attributes = [attributes] if isinstance(attributes, str) else attributes
    verdicts = [
        holds_for(key, name, asked, groups, manifest) for key in attributes if key in present
    ]
    return None if None in verdicts else all(verdicts)


def published_in(groups: list[Group]) -> list[str]:
    """Return the sensitive attributes of the groups of a table."""
    return groups[0].attributes() if groups else []


def holds_for(
    attribute: str, name: str, asked: dict, groups: list[Group], manifest: dict
) -> bool | None:
    """Whether all groups keep a guarantee about one attribute."""
    if name == "t-closeness":
        return close(groups, attribute, asked, manifest["attributes"][attribute])
    if name == "multi-attribute-l-diversity":
        inner = asked.get("inner") or {"distinct-l-diversity": {"l": asked["l"]}}
        ((name, asked),) = inner.items()
        groups = [part for group in groups for part in refined(group, attribute)]
    if name not in DIVERSITY or any(asked.get(key) for key in FOREIGN):
        return None
    spared = asked.get("non_sensitive") or asked.get("disclosable") or ()
    harmless = {value or "" for value in spared}
    for group in groups:
        counts, spares = group.counts(attribute), harmless
        if asked.get("ruled_out"):  # only the rows with a sensitive value are counted
            counts = Counter({v: n for v, n in counts.items() if v not in harmless})
            spares = set()
        if counts and not DIVERSITY[name](counts, asked, spares):
            return False
    return True


def refined(group: Group, attribute: str) -> list[Group]:
    """Return the parts of a group with equal values of all other sensitive attributes."""
    others = [name for name in group.attributes() if name != attribute]
    parts: dict[tuple[str, ...], Rows] = defaultdict(list)
    for row in group.rows:
        parts[tuple(row[name] for name in others)].append(row)
    return [Group(len(rows), rows, [attribute]) for rows in parts.values()]


def close(groups: list[Group], attribute: str, asked: dict, entry: dict) -> bool | None:
    """Whether each group is within t of all together, by the equal or the ordered distance."""
    counts = [group.counts(attribute) for group in groups]
    whole = sum(counts, Counter())
    harmless = {value or "" for value in asked.get("non_sensitive") or ()}
    ordered = entry.get("distance") == "ordered" and asked["t"] > 0
    if ordered and (harmless or entry["type"] not in ("integer", "number")):
        return None
    if entry.get("distance") not in ("equal", "ordered") and asked["t"] > 0:
        return None
    values = sorted(whole, key=lambda text: (text == "", float(text or 0))) if ordered else whole
    for inside in counts:
        gaps = [Fraction(inside[v], inside.total()) - Fraction(whole[v], whole.total())
                for v in values if v not in harmless]  # fmt: skip
        distance = sum((max(gap, Fraction(0)) for gap in gaps), Fraction(0))
        if ordered:
            distance = sum(map(abs, accumulate(gaps)), Fraction(0)) / max(len(gaps) - 1, 1)
        if distance > asked["t"] + TOLERANCE:
            return False
    return True


def keeps(group: Group, asked: dict, sensitive: Rows) -> bool:
    """Whether an attacker who knows the value of one attribute keeps l values of each other one.

    The attacker 'row' keeps the values of whole sensitive rows within the lists of the group, the
    attacker 'pair' those that occur beside the known value in any sensitive row.
    """
    rows = group.rows if asked.get("attacker", "row") == "row" else sensitive
    for name in group.attributes():
        harmless = {value or "" for value in (asked.get("non_sensitive") or {}).get(name, ())}
        beside = defaultdict(set)
        for row in rows:
            if row[name] in group.lists[name]:
                beside[row[asked["known"]]].add(row[name])
        for known in group.lists[asked["known"]] if name != asked["known"] else ():
            if len(beside[known]) < asked["l"] and not beside[known] <= harmless:
                return False
    return True


# --- The whole release ----------------------------------------------------------------------------


def read(folder: Path, manifest: dict) -> dict[str, Rows]:
    """Read the tables; each must be the file that the manifest states."""
    tables = {}
    for name, table in manifest["tables"].items():
        path = folder / table["file"]
        unchanged = hashlib.sha256(path.read_bytes()).hexdigest() == table["sha256"]
        print(f"{table['file']}: {'unchanged' if unchanged else 'CHANGED'}")
        demand(unchanged, "a table is not the one that the manifest states")
        if path.suffix == ".csv":
            with path.open(encoding="utf-8", newline="") as file:
                tables[name] = list(csv.DictReader(file))
            demand(len(tables[name]) == table["rows"], f"{name} has {len(tables[name])} rows")
    return tables


def main(folder: Path) -> int:
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    roles = {name: table["columns"] for name, table in manifest["tables"].items()}
    try:
        tables = read(folder, manifest)
        if len(tables) < len(roles):
            print("Only CSV can be read by the standard library. Publish with format: csv.")
            return 2
        views = KINDS[manifest["kind"]](tables, roles)
    except BrokenError as problem:
        print(f"BROKEN: {problem}.")
        return 1
    for groups in views:
        people, least = sum(g.people for g in groups), min((g.people for g in groups), default=0)
        print(f"{people:,} people in {len(groups):,} groups, the smallest of {least}.")
    # Which rows are one person's is not published: only the publisher can derive such guarantees.
    several = (manifest.get("person") or {}).get("rows") == "keep"
    published = {name for table in roles.values() for name in table}
    status = 0
    for promise in manifest["promises"]:
        whole_rows = tables.get("sensitive", [])
        verdicts = [holds(promise, groups, manifest, whole_rows) for groups in views]
        if several or not subjects(promise["parameters"]) <= published:
            verdicts = [None]
        words = "holds"
        if False in verdicts:
            words, status = "FAILS", 1
        elif None in verdicts:
            words, status = "not checked here", status or 2
        print(f"{promise['requirement']} {promise['parameters']}: {words}")
    return status


def subjects(asked: dict) -> set[str]:
    """Return the attributes that a guarantee names."""
    names = asked.get("attribute") or []
    listed = asked.get("l") if isinstance(asked.get("l"), dict) else {}
    return {names} if isinstance(names, str) else {*names, *listed}


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))

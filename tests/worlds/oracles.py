"""The worlds of published files, written out with lists and fractions; imports nothing of discreet.

``shares`` has, for each person, the share of worlds in which each published sensitive row is the
person's. Worlds in which two equal rows are exchanged count as two, as they do for an attacker who
numbers the rows.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from tests import naive

Row = Mapping[str, str]
Shares = list[list[Fraction]]  # by person, by published row
Bundles = dict[str, list[Row]]  # the rows of each person
QUASI = ("age", "sex")


def matchings(fits: Sequence[Sequence[bool]]) -> Shares:
    """(persons, places) The share of one-to-one assignments in which a person has a place.

    ``before`` and ``after`` count the ways to place the persons before and after one, by the set of
    places that are taken.
    """
    people, places = len(fits), len(fits[0]) if fits else 0
    before: list[Counter[int]] = [Counter({0: 1})]
    for person in range(people):
        ways: Counter[int] = Counter()
        for taken, count in before[-1].items():
            for place in range(places):
                if fits[person][place] and not taken >> place & 1:
                    ways[taken | 1 << place] += count
        before.append(ways)
    after: list[Counter[int]] = [Counter() for _ in range(people + 1)]
    after[people] = Counter(dict.fromkeys(before[people], 1))
    for person in reversed(range(people)):
        for taken in before[person]:
            after[person][taken] = sum(
                after[person + 1][taken | 1 << place]
                for place in range(places)
                if fits[person][place] and not taken >> place & 1
            )
    total = sum(before[people].values())
    assert total, "no world fits the files"
    return [
        [
            Fraction(
                sum(
                    count * after[person + 1][taken | 1 << place]
                    for taken, count in before[person].items()
                    if fits[person][place] and not taken >> place & 1
                ),
                total,
            )
            for place in range(places)
        ]
        for person in range(people)
    ]


def fits_of(persons: Sequence[Row], cells: Sequence[Row]) -> list[list[bool]]:
    """Whether the cells of each published row cover the quasi-identifiers of each person."""
    names = [name for name in QUASI if cells and name in cells[0]]
    return [
        [all(naive.covers(row[name], person[name]) for name in names) for row in cells]
        for person in persons
    ]


def shares_of_rows(persons: Sequence[Row], cells: Sequence[Row]) -> tuple[list[Row], Shares]:
    """The targets, and the share of worlds in which each has each row of ``cells``.

    The files do not say who was suppressed: a world gives each person a row, or suppresses the
    person. Of a target, only worlds that publish the person count. Where the cells leave every
    person one group, the published rows are the targets, else all persons whom some row covers.
    """
    fits = fits_of(persons, cells)
    suppressed = len(persons) - len(cells)
    shares = [own[: len(cells)] for own in matchings([[*f, *[True] * suppressed] for f in fits])]
    wholes = [sum(own, Fraction(0)) for own in shares]
    targets = [
        (person, [share / whole for share in own])
        for person, own, whole in zip(persons, shares, wholes, strict=True)
        if whole
    ]
    return [person for person, _ in targets], [own for _, own in targets]


def group_of(row: Row, *, numbered: bool) -> object:
    """What tells groups apart: their number, or the cells."""
    return row["group"] if numbered else tuple(row[name] for name in QUASI if name in row)


def fit_one_group(persons: Sequence[Row], cells: Sequence[Row], *, numbered: bool) -> bool:
    """Whether no person fits rows of two groups."""
    return all(
        len({group_of(row, numbered=numbered) for row, fit in zip(cells, own, strict=True) if fit})
        <= 1
        for own in fits_of(persons, cells)
    )


def shares_of_records(
    persons: Sequence[Row], records: Sequence[Row]
) -> tuple[Sequence[Row], Shares]:
    """A generalized table: cells and sensitive values in one row."""
    if not fit_one_group(persons, records, numbered=False):
        return shares_of_rows(persons, records)
    return records, _shares_of_groups([group_of(row, numbered=False) for row in records])


def shares_of_buckets(
    persons: Sequence[Row], people: Sequence[Row], sensitive: Sequence[Row]
) -> tuple[Sequence[Row], Shares]:
    """People in numbered groups, and the sensitive rows of each group, some of them counterfeit."""
    if fit_one_group(persons, people, numbered=True):
        return sensitive, _shares_of_groups([row["group"] for row in sensitive])
    targets, placed = shares_of_rows(persons, people)
    size = Counter(row["group"] for row in sensitive)
    in_group: list[dict[str, Fraction]] = []
    for own in placed:
        found: dict[str, Fraction] = defaultdict(Fraction)
        for share, row in zip(own, people, strict=True):
            found[row["group"]] += share
        in_group.append(found)
    return targets, [
        [found.get(row["group"], Fraction(0)) / size[row["group"]] for row in sensitive]
        for found in in_group
    ]


def _shares_of_groups(groups: Sequence[object]) -> Shares:
    """Each row is a target, and any row of its group as likely its own."""
    size = Counter(groups)
    return [[Fraction(int(a == b), size[a]) for b in groups] for a in groups]


def expanded(sensitive: Sequence[Row]) -> list[Row]:
    """A row for each of ``count``."""
    return [row for row in sensitive for _ in range(int(row.get("count", "1")))]


# ------------------------------------------------------------------------------- beliefs in values


def belief(
    own: Sequence[Fraction],
    rows: Sequence[Row],
    attribute: str,
    value: str,
    known: Mapping[str, str] | None = None,
    excluded: Sequence[tuple[str, str]] = (),
) -> Fraction:
    """The share of worlds with a value, among those that agree with what is known."""
    left = [
        (share, row)
        for share, row in zip(own, rows, strict=True)
        if all(row[name] == cell for name, cell in (known or {}).items())
        and all(row[name] != cell for name, cell in excluded)
    ]
    whole = sum((share for share, _ in left), Fraction(0))
    part = sum((share for share, row in left if row[attribute] == value), Fraction(0))
    return part / whole if whole else Fraction(0)


def after_facts(
    own: Sequence[Fraction], rows: Sequence[Row], names: Sequence[str], person: Row,
    attribute: str, bits: int,
) -> Fraction:  # fmt: skip
    """The greatest belief in the truth after up to ``bits`` true facts 'not this value'."""
    facts = sorted({(name, row[name]) for name in names for row in rows})
    true = [(name, value) for name, value in facts if person[name] != value]
    chosen = itertools.chain.from_iterable(
        itertools.combinations(true, count) for count in range(bits + 1)
    )
    return max(belief(own, rows, attribute, person[attribute], excluded=some) for some in chosen)


def reader_beliefs(
    persons: Sequence[Row], people: Sequence[Row], sets: Mapping[str, Mapping[str, set[str]]],
    rows: Sequence[Row], aim: str, known: str | None, reader: str,
) -> list[Fraction]:  # fmt: skip
    """The beliefs of the weaker attackers on a decomposed release, by their definitions.

    ``pair`` weighs the rows of the sensitive table with the known value and a value of the group's
    set, ``row`` those that lie wholly within the group's sets. Each published row with the target's
    quasi-identifiers may be the target's, unless its group has no such row.
    """
    found = []
    for person in persons:
        shares = []
        for published in people:
            if any(published[name] != person[name] for name in QUASI):
                continue
            own = sets[published["group"]]
            within = [aim] if reader == "pair" else list(own)
            left = [
                row
                for row in rows
                if all(row[name] in own[name] for name in within)
                and (known is None or (row[known] == person[known] and row[known] in own[known]))
            ]
            if left:
                hits = sum(row[aim] == person[aim] for row in left)
                shares.append(Fraction(hits, len(left)))
        found.append(sum(shares, Fraction(0)) / max(len(shares), 1))
    return found


# ------------------------------------------------------------------- persons with several rows


def bundle_worlds(bundles: Bundles) -> Iterator[dict[str, list[Row]]]:
    """All ways to give the bundles of a class to its members."""
    names = list(bundles)
    for order in itertools.permutations(names):
        yield {name: bundles[other] for name, other in zip(names, order, strict=True)}


def touch_worlds(
    numbers: Mapping[str, int], counts: Mapping[str, int]
) -> Iterator[dict[str, frozenset[str]]]:
    """All ways to give each member a value for each row, so that ``counts`` of members have each.

    ``numbers`` has the visible number of rows of each member.
    """
    options = {
        name: [
            frozenset(some)
            for size in range(1, rows + 1)
            for some in itertools.combinations(sorted(counts), size)
        ]
        for name, rows in numbers.items()
    }
    for chosen in itertools.product(*options.values()):
        if Counter(itertools.chain.from_iterable(chosen)) == Counter(counts):
            yield dict(zip(numbers, chosen, strict=True))


# ----------------------------------------------------------------------------------------- series

Group = tuple[list[str], Counter[str]]  # members, and published values


def series_beliefs(releases: Sequence[Sequence[Group]]) -> dict[str, dict[str, Fraction]]:
    """The belief in each value of each person, where values stay; empty if no world fits."""
    people = sorted({name for release in releases for members, _ in release for name in members})
    of_person = {
        name: [counts for release in releases for members, counts in release if name in members]
        for name in people
    }
    total, having = 0, {name: Counter[str]() for name in people}

    def walk(at: int, weight: int, world: dict[str, str]) -> None:
        nonlocal total
        if at == len(people):
            total += weight
            for name, value in world.items():
                having[name][value] += weight
            return
        groups = of_person[people[at]]
        for value in list(groups[0]):
            ways = weight
            for counts in groups:
                ways *= max(counts[value], 0)
            if ways:
                for counts in groups:
                    counts[value] -= 1
                walk(at + 1, ways, {**world, people[at]: value})
                for counts in groups:
                    counts[value] += 1

    walk(0, 1, {})
    return {
        name: {value: Fraction(count, total) for value, count in own.items()}
        for name, own in having.items()
        if total
    }


def targets_of(releases: Sequence[Sequence[Group]]) -> set[str]:
    """Who is in several releases, and who shares a group with them, directly or through others."""
    times = Counter(name for release in releases for members, _ in release for name in members)
    found = {name for name, count in times.items() if count > 1}
    while True:
        more = {
            name
            for release in releases
            for members, _ in release
            if found & set(members)
            for name in members
        }
        if more <= found:
            return found
        found |= more

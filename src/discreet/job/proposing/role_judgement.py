"""A role for each column of a table that no job describes, with its reason and its risk.

The steps: what values and names say of each column alone (``_judge``); dates of birth against
dates of events; one role for siblings; columns that follow from others; at most as many
quasi-identifiers as an attacker plausibly knows; what a wrong role would cost; and one of several
quasi-identifiers that say the same. A column of unknown
meaning is sensitive: unprotected, a secret would be lost. A proposal is a starting point for
review, never a decision: it cannot know the attacker's background knowledge. It repeats no value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

import numpy as np

from discreet.job.direct_identifiers import TIMES, UNIQUE_AT_MOST, direct_identifiers
from discreet.job.identifying import count_uses, words_of
from discreet.job.person_agreement import Agreement
from discreet.job.proposing.date_columns import date_format, is_birth, judged_dates
from discreet.job.proposing.familiar_values import is_harmless, value_meanings
from discreet.job.proposing.value_forms import (
    FEW_ROWS,
    Judgement,
    Shape,
    is_free_text,
    meaning_of_values,
    shape_of,
)
from discreet.job.proposing.vocabulary import Meaning, named_meanings, stem_meanings
from discreet.job.revealed import revealed_quasi_identifiers
from discreet.statements import Statement
from discreet.table.classes import classes_of
from discreet.table.coded_table import Column
from discreet.table.persons import persons_of
from discreet.table.roles import Role, ValueType
from discreet.table.secrets import are_versions, find_dependencies, find_secrets

MOST_KNOWN = 10  # quasi-identifiers: more of a person at once no attacker plausibly knows
FEW_WEIGHTS = 5  # distinct weights of a sample, at least
MAGNITUDES = 100  # the largest weight over the least, where they are not those of bodies
ROWS_OF_KEY = 20  # more rows of a value on average: a category
ERRORS = 0.01  # of the persons with several rows: their rows may differ in sex, birth or name

Confidence = Literal["high", "medium", "low"]


@dataclass(frozen=True)
class Proposal:
    """A proposed role, the reason, its confidence, and what the role costs where it is wrong."""

    role: Role
    reason: Statement
    confidence: Confidence = "high"
    if_wrong: str = ""  # a statement
    meaning: Meaning | None = None

    def to_dict(self) -> dict[str, str]:
        """Return the proposal as plain data."""
        return {
            "role": str(self.role),
            "reason": self.reason,
            "confidence": self.confidence,
            "if_wrong": self.if_wrong,
        }


def suggest_roles(columns: Iterable[Column]) -> dict[str, Proposal]:
    """Propose a role for each column, independent of its present one."""
    table = list(columns)
    roles = {column.name: _judge(shape_of(column)) for column in table}
    roles |= _dates(table, roles)
    roles |= _siblings(table, roles)
    roles |= _followers(table, roles)
    roles |= _beyond_the_known(roles)
    roles |= _shared_identifiers(table, roles)
    roles |= _one_of_a_sample(table, roles)
    return _with_costs(table, roles)


def suggest_person(columns: Iterable[Column], roles: Mapping[str, Proposal]) -> Column | None:
    """The proposed key of persons that several rows share; of several, that with most values.

    Where another key is unique, one row is one person, unless the repeated key names persons. Rows
    that a key joins agree on sex, birth date and names, but for few errors.
    """
    table = list(columns)
    keys = [
        (column, roles[column.name].meaning, count_uses(column))
        for column in table
        if roles[column.name].role is Role.IDENTIFIER
    ]
    one_row = any(
        meaning in _KEYS_OF_PERSONS[0] + _KEYS_OF_PERSONS[1]
        and uses.most <= 1
        and not _ROW_KEY.search(words_of(column.name))
        for column, meaning, uses in keys
    )
    for kinds in _KEYS_OF_PERSONS:
        repeated = [
            (column, uses)
            for column, meaning, uses in keys
            if meaning in kinds and uses.most > 1 and column.type not in _MEASURES
            if not one_row or _OF_PERSONS.search(words_of(column.name))
        ]
        repeated.sort(key=lambda key: -key[1].values)
        for column, _ in repeated:
            if _joins_persons(column, table):
                return column
    return None


def _joins_persons(key: Column, table: Sequence[Column]) -> bool:
    """Return whether the rows that a key joins agree, but for few errors."""
    persons = persons_of([key], len(key.codes))
    agreement = Agreement.of(table, [key.name], persons)
    return agreement.worst <= ERRORS * agreement.several


_MEASURES = (ValueType.NUMBER, ValueType.DATE)
_OF_PERSONS = re.compile(
    r"\b(patient|person|subject|member|customer|client|employee|student|respondent|participant"
    r"|patienten\w*|patnr|kunden\w*|personal\w*|hasta|musteri|paciente|cliente|paziente|ssn|mrn)"
)
_KEYS_OF_PERSONS: tuple[tuple[Meaning, ...], ...] = (
    (Meaning.PERSON_KEY,),
    (Meaning.NATIONAL_NUMBER, Meaning.E_MAIL, Meaning.LOGIN),
    (Meaning.TELEPHONE, Meaning.ACCOUNT),
)
_ROW_KEY = re.compile(r"\b(visit|encounter|order|case|record|row|transaction|fall\w*|line)\b")
_KEY_OF_OTHERS = (Meaning.HOUSEHOLD, Meaning.INSTITUTION, Meaning.SAMPLE_DESIGN, Meaning.POSTCODE)
_STRONG = (Meaning.FREE_TEXT, Meaning.ADDRESS, Meaning.DIAGNOSIS, Meaning.DRUG)


def _proposal(
    meaning: Meaning, reason: Statement, confidence: Confidence, role: Role | None = None
) -> Proposal:
    return Proposal(role or meaning.sense.role, reason, confidence, meaning=meaning)


def _judge(shape: Shape) -> Proposal:
    """Judge one column by itself."""
    column = shape.column
    constant = shape.distinct + (shape.rows < len(column.codes)) <= 1
    if constant and shape.distinct <= UNIQUE_AT_MOST * shape.rows:  # of one row it is the person's
        return _same_for_all(column)
    if column.separator is not None:
        return Proposal(Role.SENSITIVE, Statement("because.several-in-a-cell"), "medium")
    words = words_of(column.name)
    meanings = [*named_meanings(words), *value_meanings(words), *stem_meanings(words)]
    named = next((one for one in meanings if _plausible(one[0], shape)), None)
    direct = direct_identifiers(column)
    identifiers = None if direct is None else direct.what
    holds = Statement("because.holds", what=identifiers or "")
    if identifiers == TIMES:
        return _proposal(Meaning.EVENT_DATE, holds, "high", Role.DROP)
    if _numbers_rows(column) and (named is None or named[1] in _ROW_WORDS):
        return Proposal(Role.DROP, Statement("because.row-numbers"), "high")
    if identifiers and not (meanings and meanings[0][0] in _KEY_OF_OTHERS):
        return _proposal(_kind_of_identifier(identifiers, named), holds, "high")
    told = meaning_of_values(shape)
    if identifiers and named is not None:
        return _proposal(named[0], _name_says(named[1]), "medium", Role.DROP)
    both = _combined(named, told, shape)
    if both is not None:
        return both
    if _is_sample_weight(words, shape):
        return _proposal(Meaning.SAMPLE_WEIGHT, Statement("because.weights"), "high")
    nominal = column.type is ValueType.INTEGER or (
        column.type is ValueType.TEXT and date_format(shape.texts) is None
    )
    if shape.unique and nominal:
        kind = "text" if column.type is ValueType.TEXT else "numbers"
        counts = {"distinct": shape.distinct, "rows": shape.rows}
        reason = Statement(f"because.unique-{kind}", **counts)
        return Proposal(Role.IDENTIFIER, reason, "medium")  # perhaps a measure: no key of persons
    reason = Statement("because.unknown", values=shape.distinct)
    return Proposal(Role.SENSITIVE, reason, "low")


_ROW_WORDS = {"row", "index", "idx", "obs", "nr", "no"}


def _numbers_rows(column: Column) -> bool:
    """Whether each row has the number after that of the row before."""
    numbers = column.numbers
    return numbers is not None and bool((np.diff(numbers[column.codes]) == 1).all())


def _same_for_all(column: Column) -> Proposal:
    """Judge a column that has the same value everywhere: a secret would be known of everybody."""
    secret = next(
        (word for meaning, word in named_meanings(words_of(column.name))
         if meaning.sense.role is Role.SENSITIVE), None
    )  # fmt: skip
    if secret is None or all(map(is_harmless, column.text.drop_nulls().to_list())):
        return Proposal(Role.INSENSITIVE, Statement("because.constant"))
    return Proposal(Role.DROP, Statement("because.known-of-all", word=secret), "medium")


def _combined(
    named: tuple[Meaning, str] | None, told: Judgement | None, shape: Shape
) -> Proposal | None:
    """Weigh what the name says against what the values show."""
    if named is None:
        return None if told is None else _proposal(told[0], told[1], "medium")
    meaning, word = named
    reason = _name_says(word)
    if told is None:
        return _proposal(meaning, reason, "high" if _confirms(meaning, shape) else "medium")
    if told[0] is meaning:
        return _proposal(meaning, Statement("because.and", first=reason, second=told[1]), "high")
    if told[0] in _STRONG:  # the form of the values says more than a name
        though = Statement("because.though", first=told[1], second=reason)
        return _proposal(told[0], though, "medium")
    return _proposal(meaning, reason, "medium")


def _name_says(word: str) -> Statement:
    return Statement("because.name", word=word)


def _kind_of_identifier(found: str, named: tuple[Meaning, str] | None) -> Meaning:
    kinds = {
        "e-mail": Meaning.E_MAIL, "bank": Meaning.ACCOUNT, "card": Meaning.ACCOUNT,
        "telephone": Meaning.TELEPHONE, "IP": Meaning.LOGIN, "national": Meaning.NATIONAL_NUMBER,
        "tax": Meaning.NATIONAL_NUMBER, "NHS": Meaning.NATIONAL_NUMBER,
        "names": Meaning.NAME, "addresses": Meaning.ADDRESS,
    }  # fmt: skip
    if named is not None and named[0].sense.role is Role.IDENTIFIER:
        return named[0]
    return next((kind for word, kind in kinds.items() if word in found), Meaning.PERSON_KEY)


def _plausible(meaning: Meaning, shape: Shape) -> bool:
    """Return whether values can have the meaning that a name suggests."""
    numbers = shape.numbers
    if meaning is Meaning.HOUSEHOLD:
        return shape.distinct >= FEW_ROWS
    if meaning is Meaning.PERSON_KEY:
        shared = shape.distinct >= FEW_ROWS and shape.rows <= ROWS_OF_KEY * shape.distinct
        return 2 * shape.distinct > shape.rows or shared
    if meaning is Meaning.FREE_TEXT:
        if shape.column.type is not ValueType.TEXT:
            return False
        return is_free_text(shape, 0.0) or 2 * shape.distinct > shape.rows
    if meaning.sense.role is Role.IDENTIFIER:
        number = shape.column.type is ValueType.NUMBER
        return 2 * shape.distinct > shape.rows and not number
    if meaning is Meaning.SAMPLE_WEIGHT:
        return numbers is not None
    if meaning in _NAMES_OF_KINDS and shape.column.type is ValueType.NUMBER:
        return False  # decimals
    if meaning is Meaning.AGE and numbers is not None:
        return float(numbers.min(initial=0)) >= 0 and float(numbers.max(initial=0)) <= 130
    if meaning is Meaning.HOUSEHOLD_SIZE and numbers is not None:
        return float(numbers.max(initial=0)) <= 60
    if meaning is Meaning.BIRTH:
        return is_birth(shape)
    if meaning is Meaning.SEX:
        return shape.distinct <= 12
    return True


_NAMES_OF_KINDS = (
    Meaning.SEX, Meaning.MARITAL, Meaning.ORIGIN, Meaning.COUNTRY, Meaning.OCCUPATION,
    Meaning.LANGUAGE, Meaning.RELIGION, Meaning.PLACE, Meaning.REGION, Meaning.INSTITUTION,
)  # fmt: skip


def _confirms(meaning: Meaning, shape: Shape) -> bool:
    """Return whether a name's meaning was checked against the values, or needs no check."""
    role = meaning.sense.role
    checked = (Meaning.AGE, Meaning.BIRTH, Meaning.SEX, Meaning.SAMPLE_WEIGHT, Meaning.HOUSEHOLD)
    if meaning in checked or role in (Role.IDENTIFIER, Role.DROP):
        return True
    plain = (Meaning.RESULT, Meaning.DWELLING, Meaning.INSTITUTION, Meaning.HEALTH)
    return meaning not in plain and shape.distinct > 1


_WEIGHT_WORDS = re.compile(r"\b(weight|weights|wt|wgt|wght|gewicht|poids|peso|agirlik)\b")


def _is_sample_weight(words: str, shape: Shape) -> bool:
    """Numbers called weight that no body weighs: about one on average, or of many magnitudes.

    Large ones are weights only where their name says no more: a birth weight has grams.
    """
    numbers = shape.numbers
    if numbers is None or not _WEIGHT_WORDS.search(words) or shape.distinct < FEW_WEIGHTS:
        return False
    mean, plain = float(numbers.mean()), _WEIGHT_WORDS.fullmatch(words) is not None
    magnitudes = float(numbers.max()) / max(float(numbers[numbers > 0].min(initial=np.inf)), 1e-9)
    apart = 0.3 <= mean <= 3 or (plain and mean > 1000) or magnitudes >= MAGNITUDES
    return float(numbers.min()) >= 0 and apart


def _dates(columns: Sequence[Column], roles: Mapping[str, Proposal]) -> dict[str, Proposal]:
    """Dates without a telling name: of birth where they lie decades before other dates."""
    changed = {}
    telling = (Meaning.BIRTH, Meaning.EVENT_DATE)
    for name, birth in judged_dates(columns).items():
        role = roles[name]
        if role.confidence == "low" or (
            role.role is Role.QUASI_IDENTIFIER and role.meaning not in telling
        ):
            meaning = Meaning.BIRTH if birth else Meaning.EVENT_DATE
            why = Statement("because.early-dates" if birth else "because.late-dates")
            changed[name] = _proposal(meaning, why, "medium")
    return changed


def _siblings(columns: Sequence[Column], roles: Mapping[str, Proposal]) -> dict[str, Proposal]:
    """Columns of one scale whose names share their first or last word are secret, if one is."""
    families: dict[tuple[str, ...], list[str]] = {}
    for column in columns:
        role, words = roles[column.name], words_of(column.name).split()
        scale = column.text.drop_nulls().to_list() if column.cardinality <= SCALE else []
        open_to_more = role.meaning is None or role.meaning.sense.role in _PROTECTED
        if len(scale) > 1 and len(words) > 1 and role.role in _PROTECTED and open_to_more:
            for at in (0, -1):
                families.setdefault((str(at), words[at], *scale), []).append(column.name)
    changed: dict[str, Proposal] = {}
    for names in families.values():
        secret = next((name for name in names if roles[name].role is Role.SENSITIVE), None)
        for name in names if secret is not None else ():
            if roles[name].role is not Role.SENSITIVE:
                reason = Statement("because.scale", reason=roles[name].reason, other=secret)
                changed[name] = replace(
                    roles[name], role=Role.SENSITIVE, reason=reason, confidence="low", meaning=None
                )
    return changed


SCALE = 12  # values of a scale, at most


def _followers(columns: Sequence[Column], roles: Mapping[str, Proposal]) -> dict[str, Proposal]:
    """Columns that are copies of others, or that reveal or follow from protected ones."""
    published = [c for c in columns if roles[c.name].role.published]
    follows = find_dependencies(published)
    pairs = {(pair.first, pair.second) for pair in follows}
    exact = {(pair.first, pair.second) for pair in follows if pair.exact}
    changed: dict[str, Proposal] = {}

    def strength(name: str) -> tuple[bool, int, int]:
        role = roles[name]
        known = role.meaning.sense.known if role.meaning else 0
        return role.confidence != "low", known, -place[name]

    place = {column.name: number for number, column in enumerate(columns)}
    for first, second in sorted(exact, key=lambda pair: (place[pair[0]], place[pair[1]])):
        if (second, first) in exact:
            original, copy = sorted((first, second), key=strength, reverse=True)
            if original not in changed and copy not in changed:
                why = Statement("because.copy", other=original)
                changed[copy] = replace(roles[copy], role=Role.DROP, reason=why, confidence="high")
    for first, second in pairs:
        if (second, first) in pairs:
            continue
        for name, other, how in ((second, first, "follows"), (first, second, "determines")):
            role, protected = roles[name], roles[other]
            loose = role.confidence == "low" or role.role.unchanged
            if name in changed or other in changed or not loose:
                continue
            if protected.confidence == "low" or protected.role not in _PROTECTED:
                continue
            reason = Statement(f"because.{how}", other=other)
            if name == first and protected.role is Role.QUASI_IDENTIFIER:
                # Exact it would reveal the other; coarse it may be a secret that nothing protects.
                reason = Statement("because.determines-published", other=other)
                changed[name] = Proposal(Role.DROP, reason, "low")
            else:
                changed[name] = replace(protected, reason=reason, confidence="medium")
    return changed


_PROTECTED = (Role.QUASI_IDENTIFIER, Role.SENSITIVE)


def _beyond_the_known(roles: Mapping[str, Proposal]) -> dict[str, Proposal]:
    """Do not publish the columns that come after the most plausible quasi-identifiers.

    Unchanged, each of them would tell persons of a group apart, however few values it has.
    """
    names = [name for name, one in roles.items() if one.role is Role.QUASI_IDENTIFIER]
    ranked = sorted(names, key=lambda name: -_rank(roles[name]))
    return {
        name: replace(
            roles[name], role=Role.DROP,
            reason=Statement("because.many", reason=roles[name].reason, others=MOST_KNOWN),
            confidence="low" if roles[name].meaning is None else "medium",
        )
        for name in ranked[MOST_KNOWN:]
    }  # fmt: skip


def _rank(proposal: Proposal) -> int:
    return proposal.meaning.sense.known if proposal.meaning is not None else 0


def _shared_identifiers(
    columns: Sequence[Column], roles: Mapping[str, Proposal]
) -> dict[str, Proposal]:
    """Drop identifiers that different persons share: their number is not that of persons."""
    person = suggest_person(columns, roles)
    return {
        column.name: replace(
            roles[column.name], role=Role.DROP,
            reason=Statement("because.shared", reason=roles[column.name].reason),
        )
        for column in columns
        if roles[column.name].role is Role.IDENTIFIER
        and column is not person
        and count_uses(column).most > 1
    }  # fmt: skip


def _one_of_a_sample(
    columns: Sequence[Column], roles: Mapping[str, Proposal]
) -> dict[str, Proposal]:
    """Keep one weight and one household, as a job allows; others are not published."""
    changed: dict[str, Proposal] = {}
    for role in (Role.WEIGHT, Role.HOUSEHOLD):
        candidates = [column for column in columns if roles[column.name].role is role]
        fit = [column for column in candidates if role is Role.HOUSEHOLD or _weighs(column)]
        fit.sort(key=lambda column: roles[column.name].confidence != "high")
        for column in candidates:
            if column not in fit[:1]:
                changed[column.name] = replace(roles[column.name], role=Role.DROP)
    return changed


def _weighs(column: Column) -> bool:
    """Whether every cell is a number above 0."""
    numbers = column.numbers
    return numbers is not None and not column.has_null and bool((numbers > 0).all())


def _with_costs(columns: Sequence[Column], roles: Mapping[str, Proposal]) -> dict[str, Proposal]:
    """Add to each proposal what a wrong role would cost, in unique rows."""
    rows = len(columns[0].codes) if columns else 0
    known = [c for c in columns if roles[c.name].role is Role.QUASI_IDENTIFIER]
    secrets = [c for c in columns if roles[c.name].role is Role.SENSITIVE]
    now, *more = _unique_shares(known, secrets, rows)
    share = {column.name: found for column, found in zip(secrets, more, strict=True)}
    for column in known:
        rest = [one for one in known if one is not column]
        share[column.name] = _unique_shares(rest, [], rows)[0]
    return {
        name: replace(role, if_wrong=_cost(role.role, share.get(name, now), now))
        for name, role in roles.items()
    }


def _unique_shares(known: Sequence[Column], others: Sequence[Column], rows: int) -> list[float]:
    """Return the share of rows that are unique by known columns and by each other one as well."""
    if not rows:
        return [0.0] * (len(others) + 1)
    classes = classes_of(known, rows)
    label, size = classes.class_of_row.astype(np.int64), classes.size
    alone = int((size == 1).sum())
    shared = np.flatnonzero(size[label] > 1)  # rows that another column may tell apart
    shares = [alone / rows]
    for column in others:
        pair = label[shared] * column.cardinality + column.codes[shared]
        count = np.unique(pair, return_counts=True)[1]
        shares.append((alone + int((count == 1).sum())) / rows)
    return shares


def _cost(role: Role, share: float, now: float) -> Statement:
    """What a wrong role costs; the unique rows only where they differ as they are printed."""
    shown, before = f"{share:.0%}", f"{now:.0%}"
    if role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE):
        if shown == before:
            return Statement(f"if-wrong.{role}")
        return Statement(f"if-wrong.{role}.unique", share=share, before=now)
    return Statement("if-wrong.unchanged" if role.unchanged else "if-wrong.dropped")


def without_derived(
    columns: Sequence[Column], roles: Mapping[str, Proposal]
) -> dict[str, Proposal]:
    """Propose not to publish a column that follows from a quasi-identifier or reveals one.

    Two cells that say the same are coarsened apart from each other, and together tell more than
    either. Of two ordered columns of which neither follows from the other, such as a birth date
    and an age, the finer one is not published.
    """
    quasi = [c for c in columns if roles[c.name].role is Role.QUASI_IDENTIFIER]
    reasons: dict[str, Statement] = {}
    for secret in find_secrets(quasi):
        for name in secret.columns[1:]:
            sources = [one for one in secret.dependencies if one.second == name]
            source = next((one for one in sources if one.first not in reasons), None)
            if source is not None:
                how = "follows" if source.exact else "nearly-follows"
                reasons[name] = Statement(f"because.{how}-published", other=source.first)
    left = [column for column in quasi if column.name not in reasons]
    for pair in combinations(left, 2):
        if are_versions(*pair) and not {column.name for column in pair} & set(reasons):
            finer, coarser = sorted(pair, key=lambda column: -np.count_nonzero(column.counts))
            reasons[finer.name] = Statement("because.coarser-published", other=coarser.name)
    left = [column for column in left if column.name not in reasons]
    others = [c for c in columns if roles[c.name].role in (Role.SENSITIVE, Role.QUASI_SENSITIVE)]
    # A protected column that reveals one of them shows in which row a person is.
    for revealed in revealed_quasi_identifiers(left, others):
        name, *beside = revealed.columns
        known = {"other": revealed.quasi_identifier}
        reasons[name] = (
            Statement("because.reveals-with", beside=beside, **known)
            if beside
            else Statement("because.reveals", **known)
        )
    dropped = {
        name: replace(
            roles[name],
            role=Role.DROP,
            reason=Statement("because.derived", reason=roles[name].reason, why=reason),
            confidence="medium",
            if_wrong=Statement("if-wrong.derived"),
        )
        for name, reason in reasons.items()
    }
    return {**roles, **dropped}

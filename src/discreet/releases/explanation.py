"""A release in sentences, for the person who must sign for it.

What the guarantees of a release do not cover, each with the attack that measures it.

No attack is run: every sentence follows from the kind of release, its method and its guarantees.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from discreet.releases.manifest import Manifest, Promise, ReaderFinding, SinglingOut
from discreet.releases.registry import kind_of
from discreet.releases.singling_out import singling_sentences
from discreet.requirements.base import Requirement, SizeRequirement
from discreet.requirements.diversity import DistinctLDiversity, Diversity, MDiversity, PDiversity
from discreet.requirements.judge import judged_on_items, limits_knowledge, stated
from discreet.statements import Statement, stating
from discreet.table.persons import CollapseRule, Keeping, Scope
from discreet.table.published import PERSON
from discreet.table.roles import Role, Unit

READERS = ("pair", "row", "matching")  # attackers with the sensitive table, the weakest first
PRIVATE = "For the publisher only (not in the release):"


def explain(manifest: Manifest) -> list[str]:
    """Return what was published, what was done to it, and what it guarantees."""
    return [
        *warnings(manifest.promises),
        *uncovered(manifest),
        published(manifest),
        *collapsed(manifest),
        *treatment(manifest),
        *singled_out(manifest),
        *_promises(manifest),
        *readers(manifest),
    ]


def explain_privately(manifest: Manifest, private: Mapping[str, Any]) -> list[str]:
    """Return what only the publisher may know, in sentences: figures against the original."""
    persons = persons_singled_out(private)
    sentences = [
        *private_details(manifest, private),
        *private.get("series", []),
        *([] if persons is None else singling_sentences(persons)),
        *private.get("stricter", []),
    ]
    return [PRIVATE, *sentences] if sentences else []


def private_details(manifest: Manifest, private: Mapping[str, Any]) -> list[str]:
    """Return what was done to the table, and at what loss, as only the publisher may know it."""
    facts, utility = private.get("method", {}), private.get("utility", {})
    return [
        *private.get("notices", []),
        *_persons(private.get("persons")),
        *_rare_privately(private.get("rare")),
        *private.get("spellings", []),
        *_unstated(manifest, private.get("promises", [])),
        *manifest.method.private_sentences(facts, utility),
        *worth(manifest, facts, utility),
    ]


def uncovered(manifest: Manifest) -> list[str]:
    """Return a warning where no guarantee covers a published sensitive attribute."""
    finest = manifest.dependents  # of which a guarantee is asked, in the place of the others
    names = [
        name
        for name, covering in manifest.coverage.items()
        if not covering and not manifest.coverage.get(finest.get(name, name))
    ]
    if not names:
        return []
    return [Statement("uncovered", names=names)]


def warnings(promises: Sequence[Promise]) -> list[Statement]:
    """Return a warning for each guarantee that excludes nothing."""
    return [
        Statement("warning", first=promise.warning)
        for promise in promises
        if promise.warning is not None
    ]


def treatment(manifest: Manifest, *, columns: bool = True) -> list[str]:
    """Return what was done to each column, and to the table."""
    return [
        *(_columns(manifest) if columns else ()),
        *_sets(manifest),
        *rare_values(manifest),
        *kind_of(manifest.kind).sentences(manifest),
        *manifest.method.sentences(),
    ]


def singled_out(manifest: Manifest) -> list[str]:
    """Return how unique published columns make persons."""
    return [] if manifest.singling_out is None else singling_sentences(manifest.singling_out)


def persons_singled_out(private: Mapping[str, Any]) -> SinglingOut | None:
    """Return the figures of persons, for the publisher, where files do not say whose rows are."""
    figures = private.get("singling_out")
    return None if figures is None else SinglingOut.model_validate(figures)


def readers(manifest: Manifest) -> list[str]:
    """Return what attackers learn beyond the guarantees."""
    return [*reader_sentences(manifest.readers), *uncomputed(manifest, manifest.readers)]


def people_of_rows(manifest: Manifest, private: Mapping[str, Any]) -> str:
    """Return " of 71,518 people", for the publisher, where a person may have several rows."""
    persons = persons_of_rows(manifest, private)
    return "" if persons is None else f" of {persons:,} people"


def persons_of_rows(manifest: Manifest, private: Mapping[str, Any]) -> int | None:
    """Return how many persons the source has, where a person may have several rows."""
    counts = private.get("persons")
    return counts["persons"] if manifest.keeps_rows and counts else None


def published(manifest: Manifest, persons: int | None = None) -> Statement:
    """Return how many rows were published, where, and how many were suppressed."""
    source, suppressed = manifest.all_rows, manifest.lost_rows
    form, parameters = "published", dict[str, Any]()
    if persons is not None:
        form, parameters["persons"] = f"{form}.persons", persons
    if suppressed:
        form += ".suppressed"
        parameters |= {"suppressed": suppressed, "share": suppressed / max(source, 1)}
    return Statement(
        form,
        published=manifest.published_rows,
        source=source,
        tables=tuple(manifest.tables),
        method=manifest.method.name,
        **parameters,
    )


def collapsed(manifest: Manifest) -> list[str]:
    """How the rows of a person became one."""
    person = manifest.person
    if person is None:
        return []
    if person.rows == "one":
        return [Statement("person.one-row")]
    if person.rows == "keep":
        return [_kept(manifest)]
    by_rule: dict[CollapseRule, list[str]] = {}
    for name, rule in person.rules.items():
        by_rule.setdefault(rule, []).append(name)
    rules = [Statement(f"collapse.{rule}", columns=names) for rule, names in by_rule.items()]
    if person.count:
        return [Statement("person.collapsed.count", rules=rules, count=person.count)]
    return [Statement("person.collapsed", rules=rules)]


def _kept(manifest: Manifest) -> Statement:
    """How several rows of a person are published."""
    keeping = manifest.keeping
    if not kind_of(manifest.kind).makes_alike:
        return Statement("person.equal-numbers")
    if keeping.scope is Scope.ROWS:
        return Statement("person.several-groups")
    if not keeping.numbered:
        return Statement("person.alike")
    numbered = Statement("person.numbered", column=PERSON)
    if keeping.at_most is None:
        return numbered
    return Statement("person.at-most", first=numbered, at_most=keeping.at_most)


def _persons(counts: Mapping[str, int] | None) -> list[str]:
    """Return how many rows of how many persons the source has."""
    if counts is None:
        return []
    unnamed = counts["unnamed"]
    counted = {name: counts[name] for name in ("rows", "persons", "most")}
    source = Statement("persons.source", **counted)
    return [Statement("persons.unnamed", first=source, rows=unnamed) if unnamed else source]


def _columns(manifest: Manifest) -> list[str]:
    by_role: dict[Role, list[str]] = {}
    for table in manifest.tables.values():
        for name, role in table.columns.items():
            if name not in by_role.setdefault(role, []):
                by_role[role].append(name)
    sentences = []
    quasi = by_role.get(Role.QUASI_IDENTIFIER, [])
    if quasi:
        sentences += kind_of(manifest.kind).quasi_identifier_sentences(manifest, quasi)
    for role in (Role.SENSITIVE, Role.QUASI_SENSITIVE):
        if by_role.get(role):
            covered = [_covered(name, manifest) for name in by_role[role]]
            sentences.append(Statement(f"treatment.{role}", columns=covered))
    for role in (Role.INSENSITIVE, Role.WEIGHT):
        if by_role.get(role):
            sentences.append(Statement(f"treatment.{role}", columns=by_role[role]))
    return sentences


def _covered(name: str, manifest: Manifest) -> Statement:
    covering = manifest.coverage.get(name)
    if not covering:
        return Statement("covered.not", column=name)
    return Statement("covered", column=name, guarantees=covering)


def _unstated(manifest: Manifest, promises: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the figures of guarantees that need the original, so the release omits them."""
    return [
        Statement(
            "promise.reaches",
            requirement=stated.requirement,
            figures=_figures(derived["achieved"]),
        )
        for stated, derived in zip(manifest.promises, promises, strict=False)
        if derived["achieved"] and not stated.achieved
    ]


def _sets(manifest: Manifest) -> list[str]:
    """How sets became bits, and whether they can be restored."""
    return [
        Statement("sets.restorable", attribute=name, bits=len(entry.members))
        if entry.rest is None
        else Statement(
            "sets.rare-members", attribute=name, bits=len(entry.members), rest=entry.rest
        )
        for name, entry in manifest.bitmaps.items()
    ]


def rare_values(manifest: Manifest) -> list[str]:
    """Return what was done to rare values before the method ran."""
    rare = manifest.rare
    if rare is None:
        return []
    cells: list[str] = [
        Statement(
            "rare.cells",
            attribute=name,
            least=entry.least,
            lifted=sum(entry.lifted.values()),
            masked=entry.masked,
        )
        for name, entry in rare.attributes.items()
        if entry.lifted or entry.masked
    ]
    gone = rare.suppressed_rows
    return cells + ([Statement("rare.suppressed", rows=gone)] if gone else [])


def _rare_privately(rare: Mapping[str, Any] | None) -> list[str]:
    """Return what only the publisher may know of rare values."""
    if rare is None:
        return []
    rows = max(rare["source_rows"], 1)
    named = ("rare", "values", "least", "lifted", "masked", "suppressed", "unchanged", "loss")
    return [
        Statement(
            "rare.private",
            attribute=name,
            lifted_share=counts["lifted"] / rows,
            masked_share=counts["masked"] / rows,
            **{key: counts[key] for key in named},
        )
        for name, counts in rare["attributes"].items()
    ]


def reader_sentences(findings: Sequence[ReaderFinding]) -> list[str]:
    """Return what attackers with the sensitive table learn beyond the guarantees, in sentences."""
    sentences: list[str] = []
    for reader in READERS:
        of_reader = [finding for finding in findings if finding.reader == reader]
        if not of_reader:
            continue
        exact = all(finding.exact for finding in of_reader)
        sentences.append(
            Statement(
                "reader.certain" if exact else "reader.certain.at-most",
                known=of_reader[0].known,
                reader=Statement(f"reader.{reader}"),
                people=of_reader[0].people,
                values=[
                    Statement("values-of", l=finding.certain, attribute=finding.attribute)
                    for finding in of_reader
                ],
            )
        )
    return sentences


def uncomputed(manifest: Manifest, findings: Sequence[ReaderFinding]) -> list[str]:
    """Return which attackers with the sensitive table were not computed, and why."""
    kind = kind_of(manifest.kind)
    roles = [role for table in manifest.tables.values() for role in table.columns.values()]
    if not kind.has_sensitive_table or roles.count(Role.SENSITIVE) < 2:
        return []
    if not findings:
        return [Statement("reader.not-computed", rows=kind.finding_rows)]
    if any(finding.reader == "matching" for finding in findings):
        return []
    return [Statement("reader.matching.not-computed")]


def certain_attackers(findings: Sequence[ReaderFinding]) -> list[str]:
    """Return the sentence about the strongest reader who is certain of some value, if one is."""
    strongest = [name for name in READERS if any(f.reader == name and f.certain for f in findings)]
    return reader_sentences([f for f in findings if strongest and f.reader == strongest[-1]])


def _promises(manifest: Manifest) -> list[str]:
    if not manifest.promises:
        return [Statement("promises.none")]
    return [promise_sentence(promise, manifest.unit) for promise in manifest.promises]


def promise_sentence(promise: Promise, unit: Unit) -> str:
    """Return one guarantee, whether it holds, and what was achieved."""
    guarantee = stated(promise.to_requirement(), unit)
    if promise.unproved is not None:
        return stating("promise.not-checked", guarantee, reason=promise.unproved)
    line = stating("promise.holds" if promise.holds else "promise.does-not-hold", guarantee)
    achieved = _figures(promise.achieved)
    if achieved:
        line = stating("promise.achieved", line, figures=achieved)
    return line if promise.warning is None else stating("promise.excludes-nothing", line)


def guarantee_line(promise: Promise, unit: Unit) -> str:
    """Return one guarantee for a screen: what it means, then its name and what was achieved."""
    guarantee = stated(promise.to_requirement(), unit)
    if promise.unproved is not None:
        return stating("promise.not-checked", guarantee, reason=promise.unproved)
    achieved = _figures(promise.achieved)
    if achieved:
        line = stating(
            "promise.figures", guarantee, requirement=promise.requirement, figures=achieved
        )
    else:
        line = stating("promise", guarantee, requirement=promise.requirement)
    if promise.holds:
        return line
    return stating("promise.broken" if achieved else "promise.not-proved", line)


def _figures(achieved: Mapping[str, float | None]) -> list[Statement]:
    return [
        Statement("figure.unbounded", name=name)
        if figure is None
        else Statement("figure", name=name, value=figure)
        for name, figure in achieved.items()
    ]


def worth(manifest: Manifest, facts: Mapping[str, Any], utility: Mapping[str, Any]) -> list[str]:
    """Return the information loss of the quasi-identifiers, against the original."""
    loss = utility.get("loss")
    if loss is None:
        return []
    sentences: list[str] = [Statement("worth.loss", loss=loss)]
    bound = facts.get("lower_bound")
    if bound is not None:
        sentences.append(Statement("worth.bound", bound=bound))
    vague = facts.get("root_rows", 0)
    if vague:
        share = vague / max(manifest.published_rows, 1)
        sentences.append(Statement("worth.vague-rows", rows=vague, share=share))
    return sentences


ALPHA = "alpha-k-anonymity"  # by name: its module takes milliseconds to import


def known_weaknesses(manifest: Manifest) -> list[str]:
    """Return the known weaknesses that apply to a release."""
    requirements = [promise.to_requirement() for promise in manifest.promises]
    sensitive = [
        {name for name, role in table.columns.items() if role is Role.SENSITIVE}
        for table in manifest.tables.values()
    ]
    # Of the guarantees: what they leave out, and for whom they hold.
    weaknesses: list[str] = []
    if any(sensitive) and all(isinstance(r, SizeRequirement) for r in requirements):
        weaknesses.append(Statement("weakness.homogeneity"))
    weaknesses += [
        Statement("weakness.secret", finest=secret[0], others=secret[1:])
        for secret in manifest.secrets or ()
    ]
    if any(limits_knowledge(r) for r in requirements):
        weaknesses.append(Statement("weakness.knowledge"))
    # Of the kind of release and its method.
    weaknesses += kind_of(manifest.kind).weaknesses(manifest)
    if _naive(requirements):
        weaknesses.append(Statement("weakness.non-membership"))
    if _hides_by_harmless_values(requirements):
        weaknesses.append(Statement("weakness.harmless-values"))
    if _reads_sensitive(manifest, requirements):
        weaknesses.append(manifest.method.minimality())
    weaknesses += manifest.method.weaknesses()
    if manifest.method.publishes_tight_cells:
        to_grid = manifest.method.rounds_to_grid
        weaknesses.append(
            Statement("weakness.downcoding.grid" if to_grid else "weakness.downcoding")
        )
    # Of several rows of a person, of weights, and of rows that are missing.
    alike = kind_of(manifest.kind).makes_alike
    weaknesses += _several_rows(manifest.keeping) if manifest.keeps_rows and alike else []
    columns = [pair for one in manifest.tables.values() for pair in one.columns.items()]
    weaknesses += [
        Statement("weakness.weights", column=name) for name, role in columns if role is Role.WEIGHT
    ]
    if manifest.suppressed_rows:
        weaknesses.append(Statement("weakness.absence"))
    weaknesses.append(Statement("weakness.intersection"))
    return weaknesses


def _several_rows(keeping: Keeping) -> list[str]:
    """Return what several rows of a person leave open."""
    if keeping.numbered:
        return [Statement("weakness.person-numbers")]
    weaknesses: list[str] = [Statement("weakness.number-of-rows")]
    if keeping.scope is Scope.ROWS:
        weaknesses.append(Statement("weakness.person-intersection"))
    return weaknesses


def _naive(requirements: list[Requirement]) -> bool:
    """Return whether distinct values are counted and nothing bounds their shares."""
    bounded = any(isinstance(r, PDiversity) or r.name == ALPHA for r in requirements)
    diversities = [r for r in requirements if isinstance(r, Diversity)]
    return not bounded and any(isinstance(r, DistinctLDiversity) for r in diversities)


def _hides_by_harmless_values(requirements: list[Requirement]) -> bool:
    """Return whether a guarantee fails an attacker who rules out values that may be disclosed."""
    spared = [r for r in requirements if r.coverage.spared and not isinstance(r, MDiversity)]
    return any(not (isinstance(r, Diversity) and r.counts_sensitive_rows) for r in spared)


def _reads_sensitive(manifest: Manifest, requirements: list[Requirement]) -> bool:
    """Return whether the method chose groups by sensitive values and quasi-identifiers together."""
    if manifest.method.blind_to_quasi_identifiers and not manifest.keeps_rows:
        return False
    return any(not isinstance(r, SizeRequirement) and not judged_on_items(r) for r in requirements)

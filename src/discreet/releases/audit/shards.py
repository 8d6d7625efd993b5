"""The audit in shards: whole classes or groups, judged by themselves and joined.

A guarantee holds if it holds in every shard, compared with the counts of the whole release; counts
are summed. One machine has one shard, the whole release.

The labels that published terms link to, as far as an audit can derive them.

A release contains neither the knowledge table nor its path: the manifest has its fingerprint and
the meaning of its columns. The auditor provides the table, by the job or by itself; a prior that
was estimated from the original can be estimated again only with the original.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discreet.errors import InputError
from discreet.hierarchies.files import hierarchy_from_rows
from discreet.knowledge.table import Knowledge, link
from discreet.methods.base import Task
from discreet.releases.audit.figures import Picture, picture_of, tally
from discreet.releases.kinds.base import ReleaseTally, View, absent_tables, verdict_on
from discreet.releases.manifest import Manifest, Promise
from discreet.releases.registry import kind_of
from discreet.requirements.attackers.judging import judge_key_sets
from discreet.requirements.attackers.km_anonymity import judge_items
from discreet.requirements.base import Domain, Domains, Requirement, Verdict
from discreet.requirements.judge import full_check, judged_on_items, key_sets, limits_knowledge
from discreet.requirements.population import DeltaPresence
from discreet.requirements.quasi_sensitive import LinkRequirement
from discreet.requirements.republication import SeriesRequirement
from discreet.statements import Statement
from discreet.table.coded_table import Tables
from discreet.table.counts import summed_weights
from discreet.table.roles import Role


@dataclass(frozen=True, eq=False)
class ShardFindings:
    """The findings of one shard."""

    # by guarantee; None where the shard has nothing it covers, a reason where it is not derivable
    verdicts: tuple[Verdict | str | None, ...]
    problems: tuple[str, ...]
    picture: Picture
    tally: ReleaseTally
    evidence: Any = None  # compared by the kind over all shards


def judge_shard(
    tables: Tables, manifest: Manifest, original: Task | None, knowledge: Mapping[str, Knowledge]
) -> ShardFindings:
    """Judge every guarantee on the classes of a shard."""
    kind = kind_of(manifest.kind)
    requirements = [promise.to_requirement() for promise in manifest.promises]
    absent = absent_tables(kind, tables, manifest)
    if absent:
        nothing = (None,) * len(requirements)
        return ShardFindings(nothing, tuple(absent), Picture(), ReleaseTally())
    # Count the classes once for all guarantees.
    refined = any(requirement.algebra.refined for requirement in requirements)
    linked = linked_domains(tables, manifest, original, knowledge)
    views = kind.views(tables, domains_of(tables, manifest) | linked, refined=refined)
    # Each guarantee on its own counts, or why they cannot be derived.
    verdicts = tuple(
        _verdict_in_population(requirement, views, tables, manifest, original)
        if requirement.counting.population or requirement.counting.weights
        else underivable(requirement, linked, manifest)
        or _verdict_for_attackers(requirement, tables, manifest, views)
        or verdict_on(kind, requirement, views)
        for requirement in requirements
    )
    # What else all shards add up to.
    by_table = dict(zip(tables, views, strict=False))  # one view a projection, else one in all
    return ShardFindings(
        verdicts,
        (*kind.shard_problems(tables, manifest), *other_knowledge(linked, manifest)),
        Picture()
        if manifest.keeps_rows and not kind.has_records
        else picture_of(by_table, kind, manifest.disclosable),
        tally(tables, manifest, kind, views),
        kind.worlds(tables, manifest).evidence(),
    )


def _verdict_in_population(
    requirement: Requirement,
    views: Sequence[View],
    tables: Tables,
    manifest: Manifest,
    original: Task | None,
) -> Verdict | str:
    """Judge a guarantee about a population, or return why it cannot be derived.

    Sums of published weights follow from the files; who fits a group needs the population.
    """
    # The files must show all rows, each in one group by its cells.
    if not kind_of(manifest.kind).has_records:
        return Statement("unproved.generalized-alone")
    if manifest.suppressed_rows and not requirement.algebra.bears_suppression:
        return Statement("unproved.generalized-all-rows")
    # Sampling weights are published beside the rows.
    ((name, table),) = tables.items()
    (view,) = views
    if requirement.counting.weights:
        weight = summed_weights(table, table.classes)
        if weight is None:
            return Statement("unproved.no-weights")
        return full_check(requirement, replace(view.counts, weight=weight), view.domains)
    # The persons whom cells cover are known to the publisher alone.
    if original is None or original.basis.population is None:
        return Statement("unproved.population")
    population, levels = original.basis.population, manifest.method.levels_of(name) or {}
    alone = isinstance(requirement, DeltaPresence)  # a person is in one group, or in none
    try:
        people = population.persons_fitting(table, levels, alone=alone)
    except InputError:  # cells that no person of the population fits
        return Verdict(False, {})
    if people is None:
        return Statement("unproved.overlapping-cells")
    return full_check(requirement, replace(view.counts, population=people), view.domains)


def _verdict_for_attackers(
    requirement: Requirement, tables: Tables, manifest: Manifest, views: Sequence[View]
) -> Verdict | str | None:
    """Judge a guarantee for attackers who know some columns; None where one knows all."""
    if not limits_knowledge(requirement):
        return None
    if judged_on_items(requirement):
        holding = [table for table in tables.values() if table.quasi_sensitive]
        return judge_items(requirement, holding[0]) if len(holding) == 1 else Verdict(False, {})
    if not kind_of(manifest.kind).has_records:
        return Statement("unproved.several-tables")
    ((_, table),) = tables.items()
    quasi = [column.name for column in table.quasi_identifiers]
    sensitive = [column.name for column in table.sensitive]
    attacked = key_sets(requirement, quasi)
    named = {name for keys in attacked for name in keys.columns}
    known = {name for keys in attacked for name in keys.known}
    if not named <= set(quasi) or not known <= set(sensitive):
        return Verdict(False, {})  # it names columns that are not published
    (view,) = views
    return judge_key_sets(requirement, attacked, table, view.domains).verdict


def join_shards(shards: Sequence[ShardFindings], manifest: Manifest) -> JoinedFindings:
    """Return the joint findings of all shards."""
    promises = []
    for number, promise in enumerate(manifest.promises):
        verdicts = [shard.verdicts[number] for shard in shards]
        promises.append(joined_guarantee(promise.to_requirement(), verdicts, manifest))
    counted = sum((shard.tally for shard in shards), ReleaseTally())
    evidence = [shard.evidence for shard in shards if shard.evidence is not None]
    problems = dict.fromkeys(line for shard in shards for line in shard.problems)
    joined = kind_of(manifest.kind).joined_problems(manifest, counted, evidence)
    picture = shards[0].picture if len(shards) == 1 else Picture.joined([s.picture for s in shards])
    return JoinedFindings(tuple(promises), (*problems, *joined), picture, counted)


@dataclass(frozen=True, eq=False)
class JoinedFindings:
    """The findings of all shards of a release."""

    promises: tuple[Promise, ...]
    problems: tuple[str, ...]
    picture: Picture
    tally: ReleaseTally


def joined_guarantee(
    requirement: Requirement, verdicts: Sequence[Verdict | str | None], manifest: Manifest
) -> Promise:
    """Judge a guarantee: it must hold in every shard, and all that it names must be published."""
    reason = next((each for each in verdicts if isinstance(each, str)), None)
    if reason is not None:
        return not_derived(requirement, reason)
    judged = [each for each in verdicts if isinstance(each, Verdict)]
    smaller_is_better = requirement.algebra.smaller_is_better
    verdict = (
        judged[0]
        if len(judged) == 1
        else Verdict.worst(judged, smaller_is_better=smaller_is_better)
    )
    if len(judged) > 1:  # it excludes nothing of an attribute if it does so in no shard
        vacuous = tuple(n for n in verdict.vacuous_for if all(_is_vacuous(n, v) for v in judged))
        verdict = replace(verdict, vacuous_for=vacuous)
    published = {name for entry in manifest.tables.values() for name in entry.columns}
    if not published.issuperset(requirement.coverage.names):
        verdict = replace(verdict, holds=False)
    return Promise.of(requirement, verdict)


def _is_vacuous(attribute: str, verdict: Verdict) -> bool:
    """Return whether a shard's verdict excludes nothing of an attribute, or the shard lacks it."""
    absent = bool(verdict.by_attribute) and attribute not in verdict.by_attribute
    return absent or attribute in verdict.vacuous_for


def not_derived(requirement: Requirement, reason: str) -> Promise:
    """Return a guarantee that could not be checked, and is not claimed."""
    return Promise(
        requirement=requirement.name,
        parameters=requirement.parameters(),
        holds=False,
        achieved={},
        unproved=reason,
    )


def bare(findings: ShardFindings) -> ShardFindings:
    """Return findings without their details of each class, to send them to another machine."""
    verdicts = tuple(
        bare_verdict(each) if isinstance(each, Verdict) else each for each in findings.verdicts
    )
    return replace(findings, verdicts=verdicts)


def bare_verdict(verdict: Verdict) -> Verdict:
    """Return a verdict without the details of each class."""
    return replace(verdict, passes=np.zeros(0, bool))


def domains_of(tables: Tables, manifest: Manifest) -> dict[str, Domain]:
    """Return the domain of each sensitive attribute, from the release alone."""
    domains = {}
    for table in tables.values():
        for column in table.sensitive:
            attribute = manifest.attributes.get(column.name)
            rows = attribute.hierarchy if attribute else None
            hierarchy = hierarchy_from_rows(column, rows, "manifest") if rows else None
            domains[column.name] = Domain.of(column, hierarchy)
    return domains


def linked_domains(
    tables: Tables, manifest: Manifest, original: Task | None, knowledge: Mapping[str, Knowledge]
) -> dict[str, Domain]:
    """The links of the published cells of every quasi-sensitive attribute with a known table."""
    known = original.knowledge if original is not None else knowledge
    domains = {}
    for table in tables.values():
        for column in table.quasi_sensitive:
            if column.name not in known:
                continue
            links = link(column, known[column.name])
            if original is not None:
                links = links.with_prior(original.links[column.name].prior)
            elif _prior(manifest, column.name) == "estimated":
                links = links.with_prior(None)
            domains[column.name] = Domain(links.knowledge.labels, links=links)
    return domains


def underivable(requirement: Requirement, domains: Domains, manifest: Manifest) -> str | None:
    """Return why a guarantee cannot be derived from the given files; None where it can."""
    if isinstance(requirement, SeriesRequirement):
        return (
            "it covers all releases of the series, and one folder does not show the groups of the "
            "others. Add --ledger PLACE, or name all folders with --persons CSV"
        )
    if not isinstance(requirement, LinkRequirement):
        return None
    # Guarantees about linked labels need the knowledge table, and some its prior.
    published = {
        name: role for table in manifest.tables.values() for name, role in table.columns.items()
    }
    every = tuple(name for name, role in published.items() if role is Role.QUASI_SENSITIVE)
    for name in requirement.named or every:
        if name not in domains:
            return (
                f"it covers the labels that '{name}' links to, and the knowledge table was not "
                "given. Add --original JOB, or --knowledge FILE"
            )
        links = domains[name].links
        if requirement.needs_prior and (links is None or links.prior is None):
            return (
                f"the prior over the labels of '{name}' was estimated from the original table. "
                "Add --original JOB"
            )
    return None


def public_promise(promise: Promise, manifest: Manifest) -> Promise:
    """Return a guarantee as a release states it: without figures that need the original.

    The distance from a prior that was estimated from the original is such a figure, and so are
    the figures achieved for persons with several rows and those of a population table.
    """
    requirement = promise.to_requirement()
    if requirement.counting.population or (manifest.keeps_rows and not manifest.keeping.numbered):
        return promise.model_copy(update={"achieved": {}, "by_attribute": {}})
    if not (isinstance(requirement, LinkRequirement) and requirement.needs_prior):
        return promise
    every = (
        name
        for table in manifest.tables.values()
        for name, role in table.columns.items()
        if role is Role.QUASI_SENSITIVE
    )
    if all(_prior(manifest, name) == "given" for name in requirement.named or every):
        return promise
    return promise.model_copy(update={"achieved": {}, "by_attribute": {}})


def other_knowledge(domains: Domains, manifest: Manifest) -> list[str]:
    """Return where the given knowledge table is not the one that the release was made with."""
    problems = []
    for name, domain in domains.items():
        entry = manifest.attributes[name].knowledge if name in manifest.attributes else None
        if domain.links is None or entry is None:
            continue
        if entry.sha256 != domain.links.knowledge.sha256:
            problems.append(
                f"the knowledge table of '{name}' is not the one that the release was made with"
            )
    return problems


def _prior(manifest: Manifest, name: str) -> str:
    attribute = manifest.attributes.get(name)
    if attribute is None or attribute.knowledge is None:
        return "estimated"
    return attribute.knowledge.prior

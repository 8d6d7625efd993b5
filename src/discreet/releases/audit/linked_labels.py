"""The labels that published terms link to, as far as an audit can derive them.

A release contains neither the knowledge table nor its path: the manifest has its fingerprint and
the meaning of its columns. The auditor provides the table, by the job or by itself; a prior that
was estimated from the original can be estimated again only with the original.
"""

from __future__ import annotations

from collections.abc import Mapping

from discreet.knowledge.table import Knowledge, link
from discreet.methods.base import Task
from discreet.releases.manifest import Manifest, Promise
from discreet.requirements.base import Domain, Domains, Requirement
from discreet.requirements.quasi_sensitive import LinkRequirement
from discreet.requirements.republication import SeriesRequirement
from discreet.table.coded_table import CodedTable
from discreet.table.roles import Role


def linked_domains(
    tables: Mapping[str, CodedTable],
    manifest: Manifest,
    original: Task | None,
    knowledge: Mapping[str, Knowledge],
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
    if requirement.needs_population or (manifest.keeps_rows and not manifest.keeping.numbered):
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

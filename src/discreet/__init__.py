"""Publish tables about people so that nobody in them is disclosed.

The public names load when they are first used, so that ``import discreet`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import discreet.extras  # noqa: F401  registers its hooks before any fork

__version__ = "0.2.0"

_HOME_OF_NAME = {
    # The verbs
    "publish": "discreet.api.publish",
    "check": "discreet.api.check",
    "apply": "discreet.api.apply",
    "audit": "discreet.api.audit",
    "audit_bayes": "discreet.api.bayes",
    "audit_series": "discreet.api.series",
    "measure": "discreet.api.measure",
    "attack": "discreet.api.attack",
    "attack_table": "discreet.api.attack_table",
    "measure_table": "discreet.api.measure_table",
    "compare_tables": "discreet.api.compare_tables",
    "evidence": "discreet.addons.evidence.make",
    "compare": "discreet.api.compare",
    "repair": "discreet.api.repair",
    "profile": "discreet.api.profile",
    "propose": "discreet.api.propose",
    "explore_projections": "discreet.api.explore",
    "minimal_nodes": "discreet.api.publish",
    "read_release": "discreet.releases.frames",
    "export": "discreet.addons.places.export",
    "codebook": "discreet.addons.places.codebook",
    # What they take
    "Job": "discreet.job.model",
    "Attribute": "discreet.job.parts",
    "Role": "discreet.table.roles",
    "ValueType": "discreet.table.roles",
    "Distance": "discreet.table.roles",
    "Source": "discreet.io.source",
    "Output": "discreet.job.parts",
    "Verify": "discreet.job.parts",
    "KnowledgeSource": "discreet.io.knowledge",
    "Ledger": "discreet.ledger.ledger",
    "LedgerSettings": "discreet.ledger.settings",
    "Person": "discreet.job.person",
    "MeasureSettings": "discreet.utility.settings",
    "Correlation": "discreet.methods.series.beliefs.correlation",
    # What they return
    "Release": "discreet.pipeline.release",
    "Manifest": "discreet.releases.manifest",
    "Result": "discreet.result",
    "Audit": "discreet.releases.audit.audit",
    "Check": "discreet.job.table_check",
    "SeriesAudit": "discreet.api.series_audit",
    "BayesAudit": "discreet.api.bayes",
    "Measures": "discreet.utility.figures",
    "ProjectedMeasures": "discreet.utility.figures",
    "AttackReport": "discreet.attacks.run",
    "TableAttack": "discreet.attacks.tables.table_attack",
    "TableMeasures": "discreet.releases.table_measures",
    "TableComparison": "discreet.attacks.tables.table_comparison",
    "Evidence": "discreet.addons.evidence.document",
    "Comparison": "discreet.utility.comparison",
    "Repairs": "discreet.api.repair",
    "Profile": "discreet.job.table_profile",
    "ProposedJob": "discreet.job.proposing.job_text",
    "Exploration": "discreet.api.explore",
    "Export": "discreet.addons.places.export",
    "Codebook": "discreet.addons.places.codebook",
    # Methods
    "FullDomain": "discreet.methods.full_domain.full_domain",
    "MInvariance": "discreet.methods.series.m_invariance.m_invariance",
    "RhoDifferent": "discreet.methods.series.rho_different.rho_different",
    "Codip": "discreet.methods.codip.codip",
    "Anatomy": "discreet.methods.decomposition.anatomy",
    "Decomposition": "discreet.methods.decomposition.decomposition",
    "Unlinked": "discreet.methods.unlinked.unlinked",
    "TopDown": "discreet.methods.top_down.top_down",
    "Mondrian": "discreet.methods.mondrian.mondrian",
    "MsaDiversity": "discreet.methods.msa_diversity.msa_diversity",
    "LocalRecoding": "discreet.methods.local_recoding.local_recoding",
    "QuasiSensitive": "discreet.methods.quasi_sensitive.quasi_sensitive",
    # Requirements
    "KAnonymity": "discreet.requirements.k_anonymity",
    "DistinctLDiversity": "discreet.requirements.diversity",
    "EntropyLDiversity": "discreet.requirements.diversity",
    "RecursiveClDiversity": "discreet.requirements.diversity",
    "PdRecursiveClDiversity": "discreet.requirements.diversity",
    "NpdRecursiveClDiversity": "discreet.requirements.diversity",
    "MultiAttributeLDiversity": "discreet.requirements.multi_attribute",
    "PDiversity": "discreet.requirements.diversity",
    "MDiversity": "discreet.requirements.diversity",
    "TCloseness": "discreet.requirements.closeness",
    "AlphaKAnonymity": "discreet.requirements.value_bounds",
    "KmAnonymity": "discreet.requirements.attackers.km_anonymity",
    "LkcPrivacy": "discreet.requirements.value_bounds",
    "DeltaPresence": "discreet.requirements.population",
    "KMap": "discreet.requirements.population",
    "PopulationRisk": "discreet.requirements.population",
    "BetaLikeness": "discreet.requirements.value_bounds",
    "DeltaDisclosure": "discreet.requirements.value_bounds",
    "SaDiversity": "discreet.requirements.sa_diversity",
    "ConditionalLDiversity": "discreet.requirements.sa_diversity",
    "QsClDiversity": "discreet.requirements.quasi_sensitive",
    "QsTCloseness": "discreet.requirements.quasi_sensitive",
    # Errors
    "DiscreetError": "discreet.errors",
    "EngineError": "discreet.errors",
    "InputError": "discreet.errors",
    "JobError": "discreet.errors",
    "HierarchyError": "discreet.errors",
    "ReleaseError": "discreet.errors",
    "RiskError": "discreet.errors",
    "PromiseError": "discreet.errors",
    "InfeasibleError": "discreet.errors",
    "AuditError": "discreet.errors",
}

__all__ = ["__version__", *_HOME_OF_NAME]


if TYPE_CHECKING:
    from discreet.addons.evidence.document import Evidence as Evidence
    from discreet.addons.evidence.make import evidence as evidence
    from discreet.addons.places.codebook import Codebook as Codebook
    from discreet.addons.places.codebook import codebook as codebook
    from discreet.addons.places.export import Export as Export
    from discreet.addons.places.export import export as export
    from discreet.api.apply import apply as apply
    from discreet.api.attack import attack as attack
    from discreet.api.attack_table import attack_table as attack_table
    from discreet.api.audit import audit as audit
    from discreet.api.bayes import BayesAudit as BayesAudit
    from discreet.api.bayes import audit_bayes as audit_bayes
    from discreet.api.check import check as check
    from discreet.api.compare import compare as compare
    from discreet.api.compare_tables import compare_tables as compare_tables
    from discreet.api.explore import Exploration as Exploration
    from discreet.api.explore import explore_projections as explore_projections
    from discreet.api.measure import measure as measure
    from discreet.api.measure_table import measure_table as measure_table
    from discreet.api.profile import profile as profile
    from discreet.api.propose import propose as propose
    from discreet.api.publish import minimal_nodes as minimal_nodes
    from discreet.api.publish import publish as publish
    from discreet.api.repair import Repairs as Repairs
    from discreet.api.repair import repair as repair
    from discreet.api.series import audit_series as audit_series
    from discreet.api.series_audit import SeriesAudit as SeriesAudit
    from discreet.attacks.run import AttackReport as AttackReport
    from discreet.attacks.tables.table_attack import TableAttack as TableAttack
    from discreet.attacks.tables.table_comparison import TableComparison as TableComparison
    from discreet.errors import AuditError as AuditError
    from discreet.errors import DiscreetError as DiscreetError
    from discreet.errors import EngineError as EngineError
    from discreet.errors import HierarchyError as HierarchyError
    from discreet.errors import InfeasibleError as InfeasibleError
    from discreet.errors import InputError as InputError
    from discreet.errors import JobError as JobError
    from discreet.errors import PromiseError as PromiseError
    from discreet.errors import ReleaseError as ReleaseError
    from discreet.errors import RiskError as RiskError
    from discreet.io.knowledge import KnowledgeSource as KnowledgeSource
    from discreet.io.source import Source as Source
    from discreet.job.model import Job as Job
    from discreet.job.parts import Attribute as Attribute
    from discreet.job.parts import Output as Output
    from discreet.job.parts import Verify as Verify
    from discreet.job.person import Person as Person
    from discreet.job.proposing.job_text import ProposedJob as ProposedJob
    from discreet.job.table_check import Check as Check
    from discreet.job.table_profile import Profile as Profile
    from discreet.ledger.ledger import Ledger as Ledger
    from discreet.ledger.settings import LedgerSettings as LedgerSettings
    from discreet.methods.codip.codip import Codip as Codip
    from discreet.methods.decomposition.anatomy import Anatomy as Anatomy
    from discreet.methods.decomposition.decomposition import Decomposition as Decomposition
    from discreet.methods.full_domain.full_domain import FullDomain as FullDomain
    from discreet.methods.local_recoding.local_recoding import LocalRecoding as LocalRecoding
    from discreet.methods.mondrian.mondrian import Mondrian as Mondrian
    from discreet.methods.msa_diversity.msa_diversity import MsaDiversity as MsaDiversity
    from discreet.methods.quasi_sensitive.quasi_sensitive import QuasiSensitive as QuasiSensitive
    from discreet.methods.series.beliefs.correlation import Correlation as Correlation
    from discreet.methods.series.m_invariance.m_invariance import MInvariance as MInvariance
    from discreet.methods.series.rho_different.rho_different import RhoDifferent as RhoDifferent
    from discreet.methods.top_down.top_down import TopDown as TopDown
    from discreet.methods.unlinked.unlinked import Unlinked as Unlinked
    from discreet.pipeline.release import Release as Release
    from discreet.releases.audit.audit import Audit as Audit
    from discreet.releases.frames import read_release as read_release
    from discreet.releases.manifest import Manifest as Manifest
    from discreet.releases.table_measures import TableMeasures as TableMeasures
    from discreet.requirements.attackers.km_anonymity import KmAnonymity as KmAnonymity
    from discreet.requirements.closeness import TCloseness as TCloseness
    from discreet.requirements.diversity import DistinctLDiversity as DistinctLDiversity
    from discreet.requirements.diversity import EntropyLDiversity as EntropyLDiversity
    from discreet.requirements.diversity import MDiversity as MDiversity
    from discreet.requirements.diversity import NpdRecursiveClDiversity as NpdRecursiveClDiversity
    from discreet.requirements.diversity import PDiversity as PDiversity
    from discreet.requirements.diversity import PdRecursiveClDiversity as PdRecursiveClDiversity
    from discreet.requirements.diversity import RecursiveClDiversity as RecursiveClDiversity
    from discreet.requirements.k_anonymity import KAnonymity as KAnonymity
    from discreet.requirements.multi_attribute import (
        MultiAttributeLDiversity as MultiAttributeLDiversity,
    )
    from discreet.requirements.population import DeltaPresence as DeltaPresence
    from discreet.requirements.population import KMap as KMap
    from discreet.requirements.population import PopulationRisk as PopulationRisk
    from discreet.requirements.quasi_sensitive import QsClDiversity as QsClDiversity
    from discreet.requirements.quasi_sensitive import QsTCloseness as QsTCloseness
    from discreet.requirements.sa_diversity import ConditionalLDiversity as ConditionalLDiversity
    from discreet.requirements.sa_diversity import SaDiversity as SaDiversity
    from discreet.requirements.value_bounds import AlphaKAnonymity as AlphaKAnonymity
    from discreet.requirements.value_bounds import BetaLikeness as BetaLikeness
    from discreet.requirements.value_bounds import DeltaDisclosure as DeltaDisclosure
    from discreet.requirements.value_bounds import LkcPrivacy as LkcPrivacy
    from discreet.result import Result as Result
    from discreet.table.roles import Distance as Distance
    from discreet.table.roles import Role as Role
    from discreet.table.roles import ValueType as ValueType
    from discreet.utility.comparison import Comparison as Comparison
    from discreet.utility.figures import Measures as Measures
    from discreet.utility.figures import ProjectedMeasures as ProjectedMeasures
    from discreet.utility.settings import MeasureSettings as MeasureSettings
else:

    def __getattr__(name: str) -> Any:
        if name not in _HOME_OF_NAME:
            raise AttributeError(f"module 'discreet' has no attribute '{name}'")
        value = getattr(import_module(_HOME_OF_NAME[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)

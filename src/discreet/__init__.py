"""Publish tables about people so that nobody in them is disclosed.

The public names load when they are first used, so that ``import discreet`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME_OF_NAME = {
    "Job": "discreet.job",
    "Attribute": "discreet.job_parts",
    "Output": "discreet.job_parts",
    "Verify": "discreet.job_parts",
    "Source": "discreet.io.source",
    "publish": "discreet.publishing",
    "minimal_nodes": "discreet.publishing",
    "Release": "discreet.publishing",
    "audit": "discreet.checking",
    "measure": "discreet.checking",
    "compare": "discreet.comparing",
    "Comparison": "discreet.metrics.comparison",
    "MeasureSettings": "discreet.metrics.settings",
    "read_release": "discreet.releases.reading",
    "explore_projections": "discreet.exploration",
    "FullDomain": "discreet.algorithms.full_domain",
    "MInvariance": "discreet.algorithms.m_invariance",
    "RhoDifferent": "discreet.algorithms.rho_different",
    "Ledger": "discreet.ledger.ledger",
    "LedgerSettings": "discreet.ledger.settings",
    "Correlation": "discreet.models.correlation",
    "Codip": "discreet.algorithms.codip",
    "attack": "discreet.checking",
    "Anatomy": "discreet.algorithms.anatomy",
    "Decomposition": "discreet.algorithms.decomposition",
    "Mondrian": "discreet.algorithms.mondrian",
    "MsaDiversity": "discreet.algorithms.msa_diversity",
    "LocalRecoding": "discreet.algorithms.local_recoding",
    "LiYe": "discreet.algorithms.li_ye",
    "Gal": "discreet.algorithms.gal",
    "Mmdcf": "discreet.algorithms.mmdcf",
    "QuasiSensitive": "discreet.algorithms.quasi_sensitive",
    "DiscreetError": "discreet.errors",
    "InputError": "discreet.errors",
    "JobError": "discreet.errors",
    "HierarchyError": "discreet.errors",
    "ReleaseError": "discreet.errors",
    "PromiseError": "discreet.errors",
    "InfeasibleError": "discreet.errors",
    "AuditError": "discreet.errors",
    "KAnonymity": "discreet.models.sizes",
    "DistinctLDiversity": "discreet.models.diversity",
    "EntropyLDiversity": "discreet.models.diversity",
    "RecursiveCLDiversity": "discreet.models.diversity",
    "PdRecursiveCLDiversity": "discreet.models.diversity",
    "NpdRecursiveCLDiversity": "discreet.models.diversity",
    "MultiAttributeLDiversity": "discreet.models.multi_attribute",
    "PDiversity": "discreet.models.diversity",
    "MDiversity": "discreet.models.diversity",
    "TCloseness": "discreet.models.closeness",
    "AlphaKAnonymity": "discreet.models.likeness",
    "BetaLikeness": "discreet.models.likeness",
    "DeltaDisclosure": "discreet.models.likeness",
    "SADiversity": "discreet.models.sa_diversity",
    "ConditionalLDiversity": "discreet.models.sa_diversity",
    "QSCLDiversity": "discreet.models.links",
    "QSTCloseness": "discreet.models.links",
    "KnowledgeSource": "discreet.io.knowledge",
}

__all__ = ["__version__", *_HOME_OF_NAME]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF_NAME:
        raise AttributeError(f"module 'discreet' has no attribute '{name}'")
    value = getattr(import_module(_HOME_OF_NAME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


if TYPE_CHECKING:
    from discreet.algorithms.anatomy import Anatomy as Anatomy
    from discreet.algorithms.codip import Codip as Codip
    from discreet.algorithms.decomposition import Decomposition as Decomposition
    from discreet.algorithms.full_domain import FullDomain as FullDomain
    from discreet.algorithms.gal import Gal as Gal
    from discreet.algorithms.li_ye import LiYe as LiYe
    from discreet.algorithms.local_recoding import LocalRecoding as LocalRecoding
    from discreet.algorithms.m_invariance import MInvariance as MInvariance
    from discreet.algorithms.mmdcf import Mmdcf as Mmdcf
    from discreet.algorithms.mondrian import Mondrian as Mondrian
    from discreet.algorithms.msa_diversity import MsaDiversity as MsaDiversity
    from discreet.algorithms.quasi_sensitive import QuasiSensitive as QuasiSensitive
    from discreet.algorithms.rho_different import RhoDifferent as RhoDifferent
    from discreet.checking import attack as attack
    from discreet.checking import audit as audit
    from discreet.checking import measure as measure
    from discreet.comparing import compare as compare
    from discreet.errors import AuditError as AuditError
    from discreet.errors import DiscreetError as DiscreetError
    from discreet.errors import HierarchyError as HierarchyError
    from discreet.errors import InfeasibleError as InfeasibleError
    from discreet.errors import InputError as InputError
    from discreet.errors import JobError as JobError
    from discreet.errors import PromiseError as PromiseError
    from discreet.errors import ReleaseError as ReleaseError
    from discreet.exploration import explore_projections as explore_projections
    from discreet.io.knowledge import KnowledgeSource as KnowledgeSource
    from discreet.io.source import Source as Source
    from discreet.job import Job as Job
    from discreet.job_parts import Attribute as Attribute
    from discreet.job_parts import Output as Output
    from discreet.job_parts import Verify as Verify
    from discreet.ledger.ledger import Ledger as Ledger
    from discreet.ledger.settings import LedgerSettings as LedgerSettings
    from discreet.metrics.comparison import Comparison as Comparison
    from discreet.metrics.settings import MeasureSettings as MeasureSettings
    from discreet.models.closeness import TCloseness as TCloseness
    from discreet.models.correlation import Correlation as Correlation
    from discreet.models.diversity import DistinctLDiversity as DistinctLDiversity
    from discreet.models.diversity import EntropyLDiversity as EntropyLDiversity
    from discreet.models.diversity import MDiversity as MDiversity
    from discreet.models.diversity import NpdRecursiveCLDiversity as NpdRecursiveCLDiversity
    from discreet.models.diversity import PDiversity as PDiversity
    from discreet.models.diversity import PdRecursiveCLDiversity as PdRecursiveCLDiversity
    from discreet.models.diversity import RecursiveCLDiversity as RecursiveCLDiversity
    from discreet.models.likeness import AlphaKAnonymity as AlphaKAnonymity
    from discreet.models.likeness import BetaLikeness as BetaLikeness
    from discreet.models.likeness import DeltaDisclosure as DeltaDisclosure
    from discreet.models.links import QSCLDiversity as QSCLDiversity
    from discreet.models.links import QSTCloseness as QSTCloseness
    from discreet.models.multi_attribute import MultiAttributeLDiversity as MultiAttributeLDiversity
    from discreet.models.sa_diversity import ConditionalLDiversity as ConditionalLDiversity
    from discreet.models.sa_diversity import SADiversity as SADiversity
    from discreet.models.sizes import KAnonymity as KAnonymity
    from discreet.publishing import Release as Release
    from discreet.publishing import minimal_nodes as minimal_nodes
    from discreet.publishing import publish as publish
    from discreet.releases.reading import read_release as read_release

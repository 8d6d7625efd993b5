"""The methods, by the name that a job gives them: built-ins, then those of plugins."""

from __future__ import annotations

from typing import Annotated

from discreet.by_name import ByName
from discreet.methods.base import Method
from discreet.methods.codip.codip import Codip
from discreet.methods.decomposition.anatomy import Anatomy
from discreet.methods.decomposition.decomposition import Decomposition
from discreet.methods.full_domain.full_domain import FullDomain
from discreet.methods.local_recoding.local_recoding import LocalRecoding
from discreet.methods.mondrian.mondrian import Mondrian
from discreet.methods.msa_diversity.msa_diversity import MsaDiversity
from discreet.methods.quasi_sensitive.quasi_sensitive import QuasiSensitive
from discreet.methods.rivals.gal import Gal
from discreet.methods.rivals.li_ye import LiYe
from discreet.methods.rivals.mmdcf import Mmdcf
from discreet.methods.series.m_invariance.m_invariance import MInvariance
from discreet.methods.series.rho_different.rho_different import RhoDifferent
from discreet.plugins import Registry

_METHODS: tuple[type[Method], ...] = (
    FullDomain,
    Mondrian,
    LocalRecoding,
    MsaDiversity,
    Decomposition,
    Anatomy,
    Codip,
    QuasiSensitive,
    MInvariance,
    RhoDifferent,
    LiYe,
    Gal,
    Mmdcf,
)

METHODS: Registry[Method] = Registry("method", "discreet.methods", Method, _METHODS)
AnyMethod = Annotated[Method, ByName(METHODS, "method")]  # a field of a job that holds any of them

"""The methods, by the name that a job gives them."""

from __future__ import annotations

from typing import Annotated

from discreet.algorithms.anatomy import Anatomy
from discreet.algorithms.codip import Codip
from discreet.algorithms.decomposition import Decomposition
from discreet.algorithms.full_domain import FullDomain
from discreet.algorithms.gal import Gal
from discreet.algorithms.li_ye import LiYe
from discreet.algorithms.local_recoding import LocalRecoding
from discreet.algorithms.m_invariance import MInvariance
from discreet.algorithms.method import Method
from discreet.algorithms.mmdcf import Mmdcf
from discreet.algorithms.mondrian import Mondrian
from discreet.algorithms.msa_diversity import MsaDiversity
from discreet.algorithms.quasi_sensitive import QuasiSensitive
from discreet.algorithms.rho_different import RhoDifferent
from discreet.named import ByName

METHODS: tuple[type[Method], ...] = (
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

AnyMethod = Annotated[Method, ByName(METHODS, "method")]  # a field of a job that holds any of them

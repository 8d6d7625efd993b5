"""The methods, by the name that a job gives them."""

from __future__ import annotations

from typing import Annotated

from discreet.algorithms.full_domain import FullDomain
from discreet.algorithms.m_invariance import MInvariance
from discreet.algorithms.method import Method
from discreet.algorithms.rho_different import RhoDifferent
from discreet.named import ByName

METHODS: tuple[type[Method], ...] = (FullDomain, MInvariance, RhoDifferent)

AnyMethod = Annotated[Method, ByName(METHODS, "method")]  # a field of a job that holds any of them

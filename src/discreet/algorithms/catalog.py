"""The methods, by the name that a job gives them."""

from __future__ import annotations

from typing import Annotated

from discreet.algorithms.codip import Codip
from discreet.algorithms.full_domain import FullDomain
from discreet.algorithms.method import Method
from discreet.algorithms.mondrian import Mondrian
from discreet.algorithms.quasi_sensitive import QuasiSensitive
from discreet.named import ByName

METHODS: tuple[type[Method], ...] = (FullDomain, Mondrian, Codip, QuasiSensitive)

AnyMethod = Annotated[Method, ByName(METHODS, "method")]  # a field of a job that holds any of them

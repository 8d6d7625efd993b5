"""The methods, by the name that a job gives them."""

from __future__ import annotations

from discreet.algorithms.full_domain import FullDomain
from discreet.algorithms.method import Method

METHODS: dict[str, type[Method]] = {method.name: method for method in (FullDomain,)}

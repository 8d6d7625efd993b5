"""The conformance kit: what discreet expects of a requirement, method, attack or kind of release.

Each function raises an AssertionError that says what is wrong, and returns nothing. The tests of
discreet run them on everything that is built in; those of a plugin run them on what it adds.
"""

from discreet.testing.attack_checks import check_attack
from discreet.testing.kind_checks import check_kind
from discreet.testing.method_checks import check_method
from discreet.testing.requirement_checks import check_requirement

__all__ = ["check_attack", "check_kind", "check_method", "check_requirement"]

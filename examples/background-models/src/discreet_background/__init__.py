"""Models of the literature that are rarely asked for, as requirements and a method of a plugin."""

from discreet_background.blind_mondrian import BlindMondrian
from discreet_background.graded_alpha import GradedAlphaKAnonymity
from discreet_background.guarding_nodes import GuardingNodes
from discreet_background.ke_anonymity import KeAnonymity
from discreet_background.nt_closeness import NtCloseness
from discreet_background.p_sensitive import PSensitiveKAnonymity
from discreet_background.xy_linkability import XyLinkability

__all__ = [
    "BlindMondrian",
    "GradedAlphaKAnonymity",
    "GuardingNodes",
    "KeAnonymity",
    "NtCloseness",
    "PSensitiveKAnonymity",
    "XyLinkability",
]

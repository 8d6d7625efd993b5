"""How tests save releases of tables that they make up: openly, whatever the verdict is."""

from __future__ import annotations

from typing import Any

REASON = "A test on a made-up table."
ACCEPTING = ("--accept-risk", REASON)  # of a command that publishes
UNATTACKED: dict[str, Any] = {"attack": None, "accept_risk": REASON}  # quick, of Release.save

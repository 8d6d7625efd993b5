"""What the pages of Studio need to publish: how a release is saved, and who may accept its risk."""

from discreet.pipeline.decide import require_reason
from discreet.pipeline.release import ATTACK_SECONDS
from discreet.pipeline.run import save_release

__all__ = ["ATTACK_SECONDS", "require_reason", "save_release"]

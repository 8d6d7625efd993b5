"""The systems that MSA-diversity is compared with (Abdalaal, 2012, chapter 3).

- ``li_ye``: Li and Ye; section 3.3.
- ``gal``: Gal, Chen and Gangopadhyay, 2008; section 3.4.
- ``mmdcf``: Yang Xiao-chun et al., 2008; section 3.5.

To import this package registers the three, so that a job may name them.
"""

from experiments.rivals.gal import Gal
from experiments.rivals.li_ye import LiYe
from experiments.rivals.mmdcf import Mmdcf

from discreet.methods.registry import METHODS

for method in (LiYe, Gal, Mmdcf):
    METHODS.register(method)

__all__ = ["Gal", "LiYe", "Mmdcf"]

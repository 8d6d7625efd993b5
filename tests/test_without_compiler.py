"""Every method publishes where Numba is told not to compile (``NUMBA_DISABLE_JIT=1``)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
SCRIPT = """
from tests.mass.cases import METHODS, make_case
from tests.mass.endings import DEFECTS, PUBLISHED
from tests.mass.running import run

for first in range(len(METHODS)):
    for number in range(first, 20 * len(METHODS), len(METHODS)):
        case = make_case(number)
        endings = run(case)
        assert not [ending for ending in endings if ending.outcome in DEFECTS], (number, endings)
        if PUBLISHED in [ending.outcome for ending in endings]:
            print(case.method)
            break
"""


def test_every_method_publishes_without_compiled_kernels():
    from discreet.methods.registry import METHODS

    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=ROOT, capture_output=True, text=True,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert set(done.stdout.split()) == set(METHODS) - {"unlinked"}  # it forms no groups

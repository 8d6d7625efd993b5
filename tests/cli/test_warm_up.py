"""``discreet warm-up`` compiles what a method needs, once."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import nullcontext

import pytest

from discreet.api import warm_up as module
from discreet.api.warm_up import warm_up
from discreet.errors import EngineError, InputError
from discreet.methods.registry import METHODS


@pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="nothing is compiled")
def test_warming_up_twice_compiles_once(tmp_path):
    said = [
        subprocess.run(
            [sys.executable, "-m", "discreet", "warm-up", "--method", "anatomy", "--quiet"],
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()[1]
        for _ in range(2)
    ]
    assert int(said[0]) > 5
    assert int(said[1]) == 0


def test_an_unknown_method_is_refused():
    with pytest.raises(InputError, match="no built-in method 'nothing'. Known: full-domain"):
        warm_up(["nothing"])


def test_warming_up_needs_numba(monkeypatch):
    monkeypatch.setattr(module.TIERS, "installed", False)
    with pytest.raises(EngineError, match="Numba is not installed"):
        warm_up(["mondrian"])


def test_every_method_can_be_warmed_up(monkeypatch):
    """Interpreted here, so that nothing is compiled: only the jobs are tried."""
    phases = []
    monkeypatch.setattr(module, "_compiling", nullcontext)
    warm_up(progress=lambda phase, share: phases.append(phase))
    assert phases == [f"compiling {name}" for name in METHODS.built_in]

"""Memory that one thread frees is used again by others."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

PROGRAM = """
import sys, threading
from ctypes import CDLL
from discreet.cli.publishing import reuse_memory
if sys.argv[1] == "one":
    assert reuse_memory()
threads = [threading.Thread(target=lambda: [bytearray(1000) for _ in range(1000)])]
for thread in threads:
    thread.start()
    thread.join()
libc = CDLL(None)
libc.malloc_stats()
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="heaps of threads are glibc's")
@pytest.mark.parametrize(("heaps", "second"), [("one", False), ("several", True)])
def test_threads_share_one_heap(heaps: str, second: bool) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, heaps], capture_output=True, text=True, check=True
    )
    assert "Arena 0:" in done.stderr
    assert ("Arena 1:" in done.stderr) is second

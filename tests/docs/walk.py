"""Walk through a page as a new user would: its shell blocks in one shell, in an empty folder.

A ``text`` block is what the ``sh`` block before it prints; a line ``…`` in it stands for any lines.
Blocks that install discreet are left out: ``make package`` installs it into clean environments.
``python -m tests.docs.walk PAGE`` writes the output anew.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from tests.docs.notebooks import BLOCK
from tests.docs.tutorials import Output, environment

MARK = "---- end of a block ----"
INSTALLS = ("pip install", "make ")


def walk(page: Path, folder: Path) -> list[Output]:
    """Run the shell blocks of a page one after another; return the outputs that it shows."""
    blocks = [
        block
        for block in BLOCK.finditer(page.read_text(encoding="utf-8"))
        if block[1] in ("sh", "text") and not block[2].startswith(INSTALLS)
    ]
    script = "".join(f"{block[2]}echo '{MARK}'\n" for block in blocks if block[1] == "sh")
    done = subprocess.run(
        ["sh", "-e"], input=script, cwd=folder, env=environment(folder / ".programs"),
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, f"{page.name}\n{done.stdout}{done.stderr}"
    assert "Error" not in done.stderr, done.stderr  # of a command before a pipe
    printed = iter(done.stdout.split(f"{MARK}\n"))
    outputs, last = [], ""
    for block in blocks:
        if block[1] == "sh":
            last = next(printed)
        else:
            outputs.append(Output(block[2], last, block.span(2)))
    return outputs


def rewrite(page: Path) -> None:
    """Put what is printed into the page, where it shows something else."""
    with tempfile.TemporaryDirectory() as folder:
        outputs = walk(page, Path(folder))
    text = page.read_text(encoding="utf-8")
    for output in reversed(outputs):
        if not output.agrees or output.shown == "…\n":
            begin, end = output.place
            text = text[:begin] + output.printed + text[end:]
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        rewrite(Path(name))

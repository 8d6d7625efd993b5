"""Walk through a page as a new user would: its commands in one shell, in an empty folder.

Blocks of Python run where the shell is.

A ``text`` block is what the ``sh`` block before it prints; a line ``…`` in it stands for any lines.
Blocks that install discreet are left out: ``make package`` installs it into a clean environment and
walks through the README there. ``python -m tests.docs.walk PAGE`` writes the output anew.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.docs.notebooks import BLOCK

ANY = "…"
MARK = "---- end of a block ----"
INSTALLS = ("pip install", "make ")
SETTINGS = {
    "COLUMNS": "100",
    "NO_COLOR": "1",
}


@dataclass(frozen=True)
class Output:
    """What a block prints, as the page has it and as it is."""

    shown: str
    printed: str
    place: tuple[int, int]  # in the page

    @property
    def agrees(self) -> bool:
        """Whether the page shows what is printed."""
        parts = [re.escape(part) for part in re.split(rf"(?m)^{ANY}\n", self.shown)]
        return re.fullmatch(r"(?:.*\n)*?".join(parts), self.printed) is not None


def walk(page: Path, folder: Path, python: str | Path = sys.executable) -> list[Output]:
    """Run the shell blocks of a page one after another; return the outputs that it shows."""
    blocks = [
        block
        for block in BLOCK.finditer(page.read_text(encoding="utf-8"))
        if block[1] in ("sh", "python", "text") and not block[2].startswith(INSTALLS)
    ]
    commands = {"sh": "{}", "python": "python - <<'END'\n{}END\n"}
    script = "".join(
        f"{commands[block[1]].format(block[2])}echo '{MARK}'\n"
        for block in blocks
        if block[1] in commands
    )
    done = subprocess.run(
        ["sh", "-e"], input=script, cwd=folder, env=environment(folder / ".programs", python),
        capture_output=True, text=True, check=False, timeout=1200,
    )  # fmt: skip
    assert done.returncode == 0, f"{page.name}\n{done.stdout}{done.stderr}"
    assert "Error" not in done.stderr, done.stderr  # of a command before a pipe
    printed = iter(done.stdout.split(f"{MARK}\n"))
    outputs, last = [], ""
    for block in blocks:
        if block[1] in commands:
            last = plain(next(printed))
        else:
            outputs.append(Output(block[2], last, block.span(2)))
    return outputs


def environment(programs: Path, python: str | Path = sys.executable) -> dict[str, str]:
    """Return the variables of a user whose ``python`` and ``discreet`` are of one environment."""
    programs.mkdir(exist_ok=True)
    for name, call in (("python", ""), ("discreet", " -m discreet")):
        (programs / name).write_text(f'#!/bin/sh\nexec "{python}"{call} "$@"\n')
        (programs / name).chmod(0o755)
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, **SETTINGS, "PATH": path}


def plain(printed: str) -> str:
    """Return what was printed without spaces at the ends of lines."""
    return "".join(f"{line.rstrip()}\n" for line in printed.splitlines())


def replace_outputs(page: Path, outputs: list[Output]) -> None:
    """Put what was printed into a page, where it shows something else."""
    text = page.read_text(encoding="utf-8")
    for output in reversed(outputs):
        if not output.agrees:
            begin, end = output.place
            text = text[:begin] + output.printed + text[end:]
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as empty:
            replace_outputs(Path(name), walk(Path(name), Path(empty)))

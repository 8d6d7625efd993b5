"""Tutorials run: their blocks in order, in a folder of their own, with the output that they show.

A ``python`` block runs in one namespace with those before it, a ``sh`` block in a shell that stops
at the first failure. A ``text`` block after either is what it prints; a line ``…`` in it stands for
any lines. A block whose first line is ``# NAME`` with a file's ending is that file. The folder
``examples`` is there. ``python -m tests.docs.tutorials`` writes the output anew.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "tutorials"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
FILE = re.compile(r"# ([\w/-]+\.(?:ya?ml|csv|txt))\n")
ANY = "…"
os.environ["DISCREET_INSECURE_FIXED_ORDER"] = "1"  # some pages show rows, and groups by number


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


def pages() -> list[Path]:
    """The tutorials, in their order."""
    return sorted(FOLDER.glob("[0-9][0-9]-*.md"))


def run(page: Path, folder: Path) -> list[Output]:
    """Run all blocks of a page in a folder; the outputs that it shows."""
    shutil.copytree(ROOT / "examples", folder / "examples", dirs_exist_ok=True)
    names: dict[str, object] = {"__name__": "tutorial"}
    outputs, printed = [], ""
    for block in BLOCK.finditer(page.read_text(encoding="utf-8")):
        language, text = block.groups()
        named = FILE.match(text)
        if named:
            (folder / named[1]).write_text(text[named.end() :], encoding="utf-8")
        elif language == "python":
            printed = _python(text, names, folder, page.name)
        elif language == "sh":
            printed = _shell(text, folder)
        elif language == "text":
            outputs.append(Output(text, printed, block.span(2)))
    return outputs


def _python(text: str, names: dict[str, object], folder: Path, name: str) -> str:
    caught = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(caught):
        exec(compile(text, name, "exec"), names)  # noqa: S102
    return _plain(caught.getvalue())


def _shell(text: str, folder: Path) -> str:
    head = f'set -e\ndiscreet() {{ "{sys.executable}" -m discreet "$@"; }}\n'
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1"}
    done = subprocess.run(
        ["sh", "-c", head + text], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, f"{text}\n{done.stdout}{done.stderr}"
    return _plain(done.stdout)


def _plain(printed: str) -> str:
    return "".join(f"{line.rstrip()}\n" for line in printed.splitlines())


def rewrite(page: Path) -> None:
    """Put what is printed into the page, where it shows something else."""
    with tempfile.TemporaryDirectory() as folder:
        outputs = run(page, Path(folder))
    text = page.read_text(encoding="utf-8")
    for output in reversed(outputs):
        if not output.agrees:
            begin, end = output.place
            text = text[:begin] + output.printed + text[end:]
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:] or [page.name for page in pages()]:
        rewrite(FOLDER / name)

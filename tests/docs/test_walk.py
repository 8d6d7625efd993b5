"""A new user who follows the README or the quick start sees what these pages show."""

from __future__ import annotations

import re
import shlex
from typing import Any

import pytest
from tests.commands import COMMANDS
from tests.docs.notebooks import BLOCK, ROOT
from tests.docs.walk import Output, walk

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("page", ["README.md", "docs/quick-start.md"])
def test_a_walk_prints_what_the_page_shows(page, tmp_path):
    outputs = walk(ROOT / page, tmp_path)
    assert len(outputs) >= 2
    for output in outputs:
        assert output.agrees, f"{page} shows:\n{output.shown}\nprinted:\n{output.printed}"
    if page == "README.md":
        # Its job is that of the demonstration, and its Python made a release of it.
        demo = tmp_path / "discreet-demo"
        blocks = BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))
        (job,) = (text for kind, text in blocks if kind == "yaml" and "attributes:" in text)
        written = (demo / "job.yaml").read_text(encoding="utf-8").splitlines(True)
        assert job == "".join(line for line in written if not line.startswith("#"))
        assert (demo / "from-python" / "manifest.json").exists()


def test_every_printed_command_is_one():
    """Blocks of commands for a reader's own files are not run: their options must exist."""
    commands = [line for page in PAGES for line in commands_of(page.read_text(encoding="utf-8"))]
    assert len(commands) > len(PAGES)
    for line in commands:
        assert_parsed(COMMANDS, line)


def commands_of(text: str) -> list[str]:
    """Return the commands on a page, in blocks and in sentences."""
    blocks = re.findall(r"^```(?:sh)?\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    return [
        *(line for line in lines if line.strip().startswith("discreet ")),
        *re.findall(r"`(discreet [a-z][^`\n…]*)`", text),
    ]


def assert_parsed(command: Any, line: str) -> None:
    """Follow the names of commands; then all options must be known."""
    words = shlex.split(re.split(r"[|;>&]", line)[0], comments=True)[1:]
    while hasattr(command, "commands") and words and not words[0].startswith("-"):
        command, words = command.get_command(None, words[0]), words[1:]
        assert command is not None, line
    named = {word.partition("=")[0] for word in words if word.startswith("-") and word != "-"}
    known = {name for parameter in command.params for name in parameter.opts}
    assert named <= known | {"--help"}, line


def test_a_page_that_shows_nothing_does_not_agree_with_what_is_printed():
    assert not Output("", "Verdict\n", (0, 0)).agrees
    assert all(
        block[2].strip() for page in PAGES for block in BLOCK.finditer(page.read_text("utf-8"))
    )

"""What ARCHITECTURE.md names exists: rooms in the order of imports, files, functions."""

from __future__ import annotations

import re
from pathlib import Path

from tests.docs.notebooks import ROOT

PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
PACKAGE = ROOT / "src" / "discreet"
NAMES = sorted(set(re.findall(r"`([\w./]+)`", PAGE)))
SOURCE = "\n".join(path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py")))


def test_it_is_at_most_2000_words():
    assert len(PAGE.split()) <= 2_000


def test_every_path_that_it_names_exists():
    folders = [ROOT, PACKAGE, *(path for path in PACKAGE.iterdir() if path.is_dir())]
    named = [name for name in NAMES if "/" in name or name.endswith(".py")]
    assert named
    assert not [name for name in named if not any((folder / name).exists() for folder in folders)]


def test_every_room_is_in_its_table():
    table = PAGE.partition("## Modules")[2].partition("## One publish")[0]
    rooms = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    named = set(re.findall(r"^\| `(\w+)/` \|", table, re.MULTILINE))
    assert named == rooms - {"languages", "testing"}


def test_every_function_or_class_that_it_names_exists():
    defined = {*re.findall(r"\b(?:def|class) (\w+)", SOURCE)}
    defined |= {*re.findall(r"^\s*(\w+) *[:=]", SOURCE, re.MULTILINE)}
    named = [name for name in NAMES if re.fullmatch(r"[A-Z]\w+(\.\w+)?|[a-z]+_\w+", name)]
    assert named
    assert not [name for name in named if not set(name.split(".")) <= defined]


def test_the_steps_of_a_publish_are_those_of_the_main_job():
    """The functions of the walk are called by the main job, in the order of the page."""
    steps = PAGE.partition("## One publish")[2].partition("## Interfaces")[0]
    run = Path(PACKAGE / "pipeline" / "run.py").read_text(encoding="utf-8")
    called = [
        name.split(".")[-1] for name in re.findall(r"^\| [\w ]+ \| `([\w.]+)`", steps, re.MULTILINE)
    ]
    assert len(called) >= 12
    for name in called:
        assert re.search(rf"\b{name}\b", run), name

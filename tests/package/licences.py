"""The licences of the packages that discreet installs, from the metadata of those packages.

``python -m tests.package.licences`` writes ``requirements/licences.md`` from this environment,
with all extras installed. ``make package`` writes those of a base install beside the wheel.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib import metadata
from itertools import chain
from pathlib import Path

from packaging.requirements import Requirement

PROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"
PAGE = PROJECT.parent / "requirements" / "licences.md"
PREFACE = """\
# Licences of dependencies

What `pip install 'discreet[all]'` installs, by the metadata of the packages themselves, in the
versions that the tests run with (`requirements/development.txt`). **Base** packages come with
`pip install discreet`. discreet itself is Apache-2.0 and contains no code of theirs. `make package`
writes the list of a base install and its bill of materials (CycloneDX) beside the wheel;
`python -m tests.package.licences` writes this page.

"""


def required(lines: list[str]) -> set[str]:
    """Return the names of the packages that requirements name, and of those that they need."""
    waiting, seen = [Requirement(line) for line in lines], set()
    while waiting:
        needed = waiting.pop()
        extras = needed.extras or {""}
        name = re.sub(r"[-_.]+", "-", needed.name).lower()
        if (name, *sorted(extras)) in seen:
            continue
        seen.add((name, *sorted(extras)))
        for line in metadata.requires(name) or []:
            further = Requirement(line)
            fits = (further.marker.evaluate({"extra": one}) for one in extras if further.marker)
            if not further.marker or any(fits):
                further.marker = None
                waiting.append(further)
    return {name for name, *_ in seen}


def licence(found: metadata.Distribution) -> str:
    """Return the licence of a package: its expression, its classifiers, or its first line."""
    told = found.metadata
    named = [
        text.rpartition(" :: ")[2]
        for text in told.get_all("Classifier") or []
        if text.startswith("License :: ") and text.count(" :: ") > 1
    ]
    text = told.get("License-Expression") or ", ".join(named) or told.get("License") or ""
    return text.strip().partition("\n")[0] or "not stated in its metadata"


def table() -> str:
    """Return a row for every package that discreet needs in this environment."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    extras = dict(project["optional-dependencies"])
    del extras["all"]  # it names the others
    base = required(project["dependencies"])
    every = required([*project["dependencies"], *chain(*extras.values())])
    lines = ["| package | version | licence | part |", "| --- | --- | --- | --- |"]
    for name in sorted(every):
        found = metadata.distribution(name)
        part = "base" if name in base else "an extra"
        lines.append(f"| {found.metadata['Name']} | {found.version} | {licence(found)} | {part} |")
    return "\n".join(lines) + "\n"


def licences_of(python: Path) -> str:
    """Return a row for every package of another environment, read without its help."""
    command = [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    folder = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    lines = ["| package | version | licence |", "| --- | --- | --- |"]
    found = metadata.distributions(path=[folder])
    lines += [
        f"| {one.metadata['Name']} | {one.version} | {licence(one)} |"
        for one in sorted(found, key=lambda one: one.metadata["Name"].lower())
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(PREFACE + table(), encoding="utf-8")
    sys.stdout.write(f"Wrote {PAGE.name}.\n")

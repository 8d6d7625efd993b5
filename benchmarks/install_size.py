"""What each package of the base install weighs on this machine, with its bytecode."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from benchmarks.figures import Figure

PROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"
SECTION = "Base install, MB"
GREATEST = "≤ 450"
SHOWN_FROM = 5.0


def results(quick: bool) -> Iterator[Figure]:
    """Every package of five megabytes and more, and all of them together."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    needed = [_name(required) for required in project["dependencies"]]
    sizes = {name: _megabytes(found) for name, found in _installed(needed).items()}
    for name, size in sorted(sizes.items(), key=lambda item: -item[1]):
        if size >= SHOWN_FROM:
            yield Figure(SECTION, name, 0, ratio=size, ratio_to="1 MB")
    yield Figure(SECTION, "all", 0, ratio=sum(sizes.values()), ratio_to="1 MB", bound=GREATEST)


def _installed(waiting: list[str]) -> dict[str, Distribution]:
    """Return packages and what they require without extras, directly or through others."""
    found: dict[str, Distribution] = {}
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        try:
            found[name] = distribution(name)
        except PackageNotFoundError:
            continue  # for another platform or version of Python
        waiting += [
            _name(required) for required in found[name].requires or [] if "extra ==" not in required
        ]
    return found


def _name(required: str) -> str:
    return re.split(r"[^\w.-]", required)[0].lower().replace("_", "-")


def _megabytes(found: Distribution) -> float:
    files = [path for path in (file.locate() for file in found.files or []) if path.is_file()]
    return sum(path.stat().st_size for path in files) / 1e6

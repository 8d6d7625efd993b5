"""Print the lowest versions that pyproject.toml allows, as constraints for pip.

``python -m tests.lowest`` names the dependencies and those of the extras given as arguments.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parent.parent / "pyproject.toml"


def lowest(extras: list[str]) -> list[str]:
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    asked = list(project["dependencies"])
    for extra in extras:
        asked += project["optional-dependencies"][extra]
    found = (re.match(r"([\w-]+)(?:\[[\w,]+\])?>=([\d.]+)$", one) for one in asked)
    return sorted({f"{one[1]}=={one[2]}" for one in found if one})


if __name__ == "__main__":
    sys.stdout.write("\n".join(lowest(sys.argv[1:])) + "\n")

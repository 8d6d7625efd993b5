"""Count the functions and files of the package that one publish by mondrian enters.

``make size`` prints both figures; ``python -m tests.reach`` prints every function too, by file. The
job is the README's: a few hundred rows, one machine, CSV to CSV. Functions are counted where Python
enters them, in every thread; lambdas and comprehensions belong to the function around them.
"""

from __future__ import annotations

import sys
import tempfile
import threading
from collections import defaultdict
from pathlib import Path
from types import CodeType, FrameType

from typer.testing import CliRunner

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "discreet"
INNER = ("<lambda>", "<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>", "<module>")


def entered(arguments: list[str]) -> dict[str, set[str]]:
    """Return the functions that one run of the command line enters, by file of the package."""
    codes: set[CodeType] = set()

    def enter(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            codes.add(frame.f_code)

    from discreet.cli.app import app

    threading.setprofile(enter)
    sys.setprofile(enter)
    try:
        result = CliRunner().invoke(app, arguments)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    if result.exit_code != 0:
        raise SystemExit(result.output)
    functions: dict[str, set[str]] = defaultdict(set)
    for code in codes:
        path = Path(code.co_filename)
        # A class body is entered once, when its module is imported; its name is that of a class.
        if PACKAGE in path.parents and code.co_name not in INNER and code.co_flags & 0x2:
            place = path.relative_to(PACKAGE).as_posix()
            functions[place].add(f"{code.co_qualname}:{code.co_firstlineno}")
    return functions


def publish_by_mondrian(*options: str) -> dict[str, set[str]]:
    """Return what ``discreet publish`` of the example of mondrian enters."""
    with tempfile.TemporaryDirectory() as folder:
        job = PACKAGE.parents[1] / "examples" / "mondrian" / "job.yaml"
        return entered(["publish", str(job), "--output", f"{folder}/release", *options])


def figures() -> list[str]:
    """Return one line for each of the two runs."""
    lines = []
    for name, options in (("publish by mondrian", ()), ("the same, --no-attack", ("--no-attack",))):
        functions = publish_by_mondrian(*options)
        lines.append(
            f"{name}: functions {sum(map(len, functions.values()))}, files {len(functions)}"
        )
    return lines


if __name__ == "__main__":
    for file, names in sorted(publish_by_mondrian(*sys.argv[1:]).items()):
        print(f"{len(names):4} {file}: {', '.join(sorted(names))}")  # noqa: T201
    print("\n".join(figures()))  # noqa: T201

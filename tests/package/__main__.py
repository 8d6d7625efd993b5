"""Build the distribution twice, try it in clean environments, and describe what it installs.

``make package`` runs it. ``dist/`` then has the sdist and the wheel, equal byte for byte in both
builds, the bill of materials of a base install (CycloneDX) and the licences of its packages. Every
environment publishes, checks and audits a text file; one follows the README and names each extra
that it lacks.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from tests.docs.walk import walk
from tests.lowest import lowest
from tests.package.base_install import COMMANDS, NEEDS, prepare, run, sentence
from tests.package.licences import licences_of

ROOT = Path(__file__).resolve().parents[2]
DIST = ROOT / "dist"


def main() -> None:
    parser = argparse.ArgumentParser(description="Build and try the distribution.")
    parser.add_argument("--python", nargs="*", default=[], help="further interpreters to try")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        sdist, wheel = build_twice(place)
        environments = [("lowest", sys.executable, wheel), ("sdist", sys.executable, sdist)]
        environments += [
            (f"newest-{number}", python, wheel)
            for number, python in enumerate([sys.executable, *asked.python])
        ]
        with ThreadPoolExecutor(2) as pool:
            for line in pool.map(partial(_try, place), environments):
                say(line)
        describe(place / "newest-0" / "bin" / "python")
    for path in sorted(DIST.iterdir()):
        say(f"dist/{path.name}: {path.stat().st_size:,} bytes")


def build_twice(place: Path) -> tuple[Path, Path]:
    """Return sdist and wheel in ``dist/``, once a second build has given the same bytes."""
    builds = [place / "first", place / "second"]
    for folder in builds:
        command = ("-m", "build", "--no-isolation", "--outdir", folder, ROOT)
        must(sys.executable, *command, SOURCE_DATE_EPOCH=str(date_of_source()))
    names = sorted(path.name for path in builds[0].iterdir())
    for name in names:
        if (builds[0] / name).read_bytes() != (builds[1] / name).read_bytes():
            raise SystemExit(f"{name} differs between two builds: the build is not reproducible.")
    shutil.rmtree(DIST, ignore_errors=True)
    shutil.copytree(builds[0], DIST)
    say(f"Two builds gave the same bytes: {', '.join(names)}.")
    wheel, sdist = sorted(DIST.iterdir(), key=lambda path: path.suffix != ".whl")
    return sdist, wheel


def date_of_source() -> int:
    """Return the time of the last commit, or that of the newest change log outside a clone."""
    command = ["git", "-C", ROOT, "log", "-1", "--format=%ct"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return int(done.stdout) if done.stdout else int((ROOT / "CHANGELOG.md").stat().st_mtime)


def _try(place: Path, environment: tuple[str, str, Path]) -> str:
    """Install a distribution into an environment of its own and use it as its first user would."""
    name, interpreter, distribution = environment
    constraints = place / f"{name}.txt"
    constraints.write_text("\n".join(lowest([])) if name == "lowest" else "")
    python = installed(interpreter, place / name, "--constraint", constraints, distribution)
    work = place / f"{name}-work"
    work.mkdir()
    prepare(work)
    for command in COMMANDS:
        done = run(python, work, command)
        if done.returncode:
            raise SystemExit(f"{name}: discreet {' '.join(command)}\n{done.stdout}{done.stderr}")
    if name == "newest-0":
        try_without_extras(python, work)
        walk_as_reader(place, interpreter, distribution)
    version = must(python, "-c", "import platform; print(platform.python_version())").strip()
    return f"{name}: {distribution.name} on Python {version} publishes, checks and audits."


def installed(interpreter: str, folder: Path, *wanted: object) -> Path:
    """Make an environment with what is wanted and nothing else, not even pip; return its Python."""
    must(interpreter, "-m", "venv", "--without-pip", folder)
    python = folder / "bin" / "python"
    must(
        sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-compile",
        "--disable-pip-version-check", *wanted,
    )  # fmt: skip
    return python


def try_without_extras(python: Path, work: Path) -> None:
    """Need every extra that is not installed."""
    for extra, task in NEEDS.items():
        done = run(python, work, task)
        if not done.stderr.rstrip().endswith(sentence(extra)):
            raise SystemExit(f"Without the extra '{extra}'\n{done.stdout}{done.stderr}")


def walk_as_reader(place: Path, interpreter: str, distribution: Path) -> None:
    """Walk through the README with what it installs."""
    python, new = installed(interpreter, place / "reader", f"{distribution}[fast]"), place / "new"
    new.mkdir()
    for output in walk(ROOT / "README.md", new, python):
        if not output.agrees:
            raise SystemExit(f"README.md shows\n{output.shown}\nprinted\n{output.printed}")


def describe(python: Path) -> None:
    """Write the bill of materials and the licences of an environment with a base install."""
    must(
        sys.executable, "-m", "cyclonedx_py", "environment", python, "--output-reproducible",
        "--validate", "--of", "JSON", "--output-file", DIST / "sbom.cdx.json",
    )  # fmt: skip
    (DIST / "licences.md").write_text(licences_of(python), encoding="utf-8")


def must(*command: object, **environment: str) -> str:
    """Run a command, and end with what it printed where it fails."""
    written = [str(part) for part in command]
    done = subprocess.run(
        written, capture_output=True, text=True, check=False, cwd=tempfile.gettempdir(),
        env={key: text for key, text in os.environ.items() if key != "PYTHONPATH"} | environment,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"{' '.join(written)}\n{done.stdout}{done.stderr}")
    return done.stdout


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()

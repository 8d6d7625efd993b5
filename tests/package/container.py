"""Follow the Dockerfile step by step without a container engine.

Folders of the image lie below a prefix, ``python`` is this interpreter, and of ``USER`` and
``useradd`` only the text is read. ``make container`` follows all of it; the tests take dependencies
from this environment and warm one method up, which is a matter of seconds.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
IMAGE_FOLDERS = ("/opt/discreet", "/source", "/data")


@dataclass
class Image:
    """What the instructions of the last stage leave behind."""

    prefix: Path
    packages: str = ""  # a folder with the dependencies, where they are not installed
    variables: dict[str, str] = field(default_factory=dict)
    user: str = "root"
    folder: str = "/"
    entry: list[str] = field(default_factory=list)

    def run(self, command: str, read_only: bool = False) -> subprocess.CompletedProcess[str]:
        """Run a command in the image's folder, with its folders mapped below the prefix."""
        inside = Path(self.mapped(self.folder))
        inside.mkdir(parents=True, exist_ok=True)
        variables = {name: self.mapped(text) for name, text in self.variables.items()}
        home = {"HOME": "/nonexistent", "PATH": os.environ["PATH"], "PYTHONPATH": self.packages}
        kept = {name: text for name, text in os.environ.items() if name.startswith("PIP_")}
        line = ["sh", "-ec", self.mapped(command)]
        if read_only:
            mount = shlex.quote(self.mapped("/opt/discreet"))
            line[2] = f"mount --bind {mount} {mount} && mount -o remount,ro,bind {mount}\n{line[2]}"
            line = ["unshare", "--mount", *line]
        return subprocess.run(
            line, cwd=inside, env=home | kept | variables, capture_output=True, text=True,
            check=False,
        )  # fmt: skip

    def mapped(self, text: str) -> str:
        """Return a text with the folders of the image below the prefix."""
        for place in IMAGE_FOLDERS:
            text = re.sub(rf"(?<![\w/.]){place}\b", f"{self.prefix}{place}", text)
        return text.replace("$PATH", os.environ["PATH"])


def instructions(path: Path) -> list[tuple[str, str]]:
    """Return the instructions of a Dockerfile with their arguments."""
    text = re.sub(r"^#.*\n", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    lines = text.replace("\\\n", " ").splitlines()
    parts = (line.split(None, 1) for line in lines if line.strip())
    return [(name, rest.strip()) for name, rest in parts]


def ignored(name: str) -> bool:
    """Return whether .dockerignore keeps a name of the root folder out of the build."""
    out = False
    for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").split():
        if fnmatch(name, line.removeprefix("!")):
            out = not line.startswith("!")
    return out


def follow(prefix: Path, quick: bool = False) -> Image:
    """Build the image below a prefix, and return its last stage."""
    packages = sysconfig.get_path("purelib") if quick else ""
    image = Image(prefix, packages)
    for name, text in instructions(ROOT / "Dockerfile"):
        if name == "FROM":
            image = Image(prefix, packages)
        elif name == "WORKDIR":
            image.folder = text
        elif name == "ENV":
            image.variables |= dict(one.split("=", 1) for one in shlex.split(text))
        elif name == "COPY" and not text.startswith("--from="):
            _copy(image, text.split())
        elif name == "USER":
            image.user = text
        elif name in ("ENTRYPOINT", "CMD"):
            image.entry += re.findall(r'"([^"]*)"', text)
        elif name == "RUN" and not text.startswith("useradd"):
            done = image.run(_as_here(text, quick))
            if done.returncode:
                raise SystemExit(f"RUN {text}\n{done.stdout}{done.stderr}")
    return image


def _copy(image: Image, names: list[str]) -> None:
    *sources, target = names
    for name in sources:
        if ignored(name):
            raise SystemExit(f"COPY {name}: .dockerignore keeps it out")
        place = Path(image.mapped(image.folder)) / target
        place = place / name if target == "./" else place
        place.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            hidden = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, place, ignore=hidden)
        else:
            shutil.copy(ROOT / name, place)


def _as_here(command: str, quick: bool) -> str:
    """Return a command with this interpreter, and cheaper where the tests run it."""
    command = re.sub(r"(?<![\w/])python ", f"{shlex.quote(sys.executable)} ", command)
    if quick:
        command = command.replace("pip install", "pip install --no-deps --no-build-isolation")
        command = command.replace("warm-up", "warm-up --method anatomy")
    return command


def can_mount() -> bool:
    """Return whether this user may make a folder read-only for one command."""
    done = subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False)
    return done.returncode == 0


if __name__ == "__main__":
    from tests.package.base_install import COMMANDS, prepare

    with tempfile.TemporaryDirectory() as folder:
        built = follow(Path(folder))
        (Path(folder) / "data").mkdir()
        prepare(Path(folder) / "data")
        for arguments in COMMANDS:
            tried = built.run(shlex.join([*built.entry[:1], *arguments]), read_only=can_mount())
            if tried.returncode:
                raise SystemExit(f"{arguments}\n{tried.stdout}{tried.stderr}")
    sys.stdout.write("The Dockerfile was followed; its image publishes and audits.\n")

"""What every experiment shares: its figures, its settings, and how results are written.

A figure is a function from the experiment's settings to rows, one row a point of the figure. Rows
are written to ``<output>/<paper>-<figure>.csv`` as they come, so that an interrupted run keeps
them; at the end ``<output>/<paper>.md`` has all tables and plots, and what they were made with.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from experiments.plots import PlotPoint, plot
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

import discreet as dc

Row = dict[str, Any]


class MissingDataError(Exception):
    """A file that an experiment needs is not there."""


class Settings(BaseModel):
    """What every experiment can be told; a list is written ``2,3,4``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    data: Path | None = Field(
        default=None, description="File or folder of the data, instead of the folder DISCREET_DATA."
    )
    output: Path = Field(default=Path("experiments-out"), description="Folder for the results.")

    @field_validator("*", mode="before")
    @classmethod
    def _split(cls, written: Any, info: Any) -> Any:
        kind = str(cls.model_fields[info.field_name].annotation)
        if isinstance(written, str) and kind.startswith("tuple"):
            return tuple(part.strip() for part in written.split(",") if part.strip())
        return written


@dataclass(frozen=True)
class Plot:
    """How rows are drawn: ``measures`` against ``across``, a line for each value of ``by``."""

    across: str
    measures: Sequence[str]
    by: Sequence[str] = ()


@dataclass(frozen=True)
class Figure:
    """A figure or table of a paper, or a figure beyond it."""

    name: str  # the paper's number, or a word
    title: str
    rows: Callable[[Any], Iterator[Row]]  # from settings
    paper: str = ""  # what the paper reads from it
    plot: Plot | None = None


@dataclass(frozen=True)
class Experiment:
    """The figures of one paper."""

    name: str
    title: str
    settings: type[Settings]
    figures: tuple[Figure, ...]
    quick: Mapping[str, str] = field(default_factory=dict)  # settings of a run of seconds

    def chosen(self, names: Sequence[str] | None) -> tuple[Figure, ...]:
        """The figures with some names, all of them by default."""
        known = {figure.name: figure for figure in self.figures}
        if unknown := [name for name in names or () if name not in known]:
            raise ValueError(
                f"{self.name} has no figure {', '.join(unknown)}. Figures: {', '.join(known)}."
            )
        return self.figures if names is None else tuple(known[name] for name in names)

    def configured(self, written: Mapping[str, Any]) -> Settings:
        """The settings, or a ValueError that says what is wrong in one line each."""
        try:
            return self.settings(**written)
        except ValidationError as error:
            lines = [f"{'.'.join(map(str, p['loc']))}: {p['msg']}" for p in error.errors()]
            known = ", ".join(self.settings.model_fields)
            raise ValueError("\n".join([*lines, f"Settings: {known}."])) from None


def run(
    experiment: Experiment, figures: Sequence[Figure], settings: Settings, *, plots: bool
) -> Path:
    """Run some figures, write each row as it comes, and return the page."""
    settings.output.mkdir(parents=True, exist_ok=True)
    READ.clear()
    page = [f"# {experiment.title}\n"]
    for figure in figures:
        rows = _written(experiment, figure, settings)
        page += [
            f"## {figure.title}\n",
            figure.paper + "\n" if figure.paper else "",
            markdown(rows),
        ]
        name = f"{experiment.name}-{figure.name}.svg"
        if plots and figure.plot and rows:
            draw(figure, rows, settings.output / name)
            page.append(f"![{figure.title}]({name})\n")
    made_with = provenance(settings)
    (settings.output / f"{experiment.name}-provenance.json").write_text(
        json.dumps(made_with, indent=1) + "\n", encoding="utf-8"
    )
    page.append(
        f"Made with version {made_with['version']}, commit {made_with['commit'] or 'unknown'}; "
        f"settings and hashes of the data are in `{experiment.name}-provenance.json`.\n"
    )
    path = settings.output / f"{experiment.name}.md"
    path.write_text("\n".join(part for part in page if part), encoding="utf-8")
    return path


def _written(experiment: Experiment, figure: Figure, settings: Settings) -> list[Row]:
    path = settings.output / f"{experiment.name}-{figure.name}.csv"
    rows: list[Row] = []
    with path.open("w", encoding="utf-8", newline="") as file:
        for row in figure.rows(settings):
            if not rows:
                writer = csv.DictWriter(file, list(row))
                writer.writeheader()
            rows.append(row)
            writer.writerow(row)
            file.flush()
            print(f"{figure.name}: " + ", ".join(f"{k} {_cell(v)}" for k, v in row.items()))
    return rows


def markdown(rows: Sequence[Row]) -> str:
    """Rows as a table."""
    if not rows:
        return "No rows.\n"
    head = list(rows[0])
    lines = [f"| {' | '.join(head)} |", "|" + " --- |" * len(head)]
    lines += [f"| {' | '.join(_cell(row[name]) for name in head)} |" for row in rows]
    return "\n".join(lines) + "\n"


def _cell(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def draw(figure: Figure, rows: Sequence[Row], path: Path) -> None:
    """Draw a figure as SVG: a line for each measure and each key."""
    wanted = figure.plot
    assert wanted is not None
    lines: dict[str, list[PlotPoint]] = {}
    for row in rows:
        key = ", ".join(f"{name} {_cell(row[name])}" for name in wanted.by)
        for measure in wanted.measures:
            named = (
                measure if not key else key if len(wanted.measures) == 1 else f"{measure}, {key}"
            )
            if row[measure] is not None:
                point = PlotPoint(float(row[wanted.across]), float(row[measure]))
                lines.setdefault(named, []).append(point)
    plot(path, figure.title, (wanted.across, " · ".join(wanted.measures)), lines)


READ: set[Path] = set()  # files and folders of data that a run has opened


def provenance(settings: Settings) -> dict[str, Any]:
    """What a rerun needs: version, commit, settings, and the SHA-256 of every file of data."""
    files = {
        file for path in READ for file in (path.iterdir() if path.is_dir() else [path])
        if file.is_file()
    }  # fmt: skip
    return {
        "version": dc.__version__,
        "commit": commit(),
        "settings": settings.model_dump(mode="json", exclude={"data", "output"}),
        "data": {file.name: _hash_of_file(file) for file in sorted(files)},
    }


def _hash_of_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@cache
def commit() -> str:
    """The commit of the code, with + where files differ from it; empty where there is no Git."""
    here = Path(__file__).resolve().parent
    try:
        found = subprocess.run(
            ["git", "-C", str(here), "describe", "--always", "--abbrev=12", "--dirty=+"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
    except (OSError, subprocess.CalledProcessError):
        return ""
    return found.stdout.strip()


def data_folder() -> Path:
    """The folder of the data."""
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    return Path(os.environ.get("DISCREET_DATA", default))


def data_file(settings: Settings, *default: str) -> Path:
    """The given file, or the one below DISCREET_DATA; MissingDataError if it is not there."""
    path = settings.data or data_folder().joinpath(*default)
    if not path.exists():
        raise MissingDataError(
            f"The data are not at {path}. Give --data, or set DISCREET_DATA to the folder that has "
            f"{'/'.join(default)}; experiments/README.md says where to get them."
        )
    READ.add(path)
    return path

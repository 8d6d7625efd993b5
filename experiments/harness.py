"""What every experiment shares: its figures, its settings, and how results are written.

A figure is a function from the experiment's settings to rows, one row a point of the figure. Rows
are written to ``<output>/<paper>-<figure>.csv`` as they come, so that an interrupted run keeps
them; at the end ``<output>/<paper>.md`` has all tables, and plots where matplotlib is installed.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

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
            lines = [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()]
            known = ", ".join(self.settings.model_fields)
            raise ValueError("\n".join([*lines, f"Settings: {known}."])) from None


def run(
    experiment: Experiment, figures: Sequence[Figure], settings: Settings, *, plots: bool
) -> Path:
    """Run some figures, write each row as it comes, and return the page."""
    settings.output.mkdir(parents=True, exist_ok=True)
    if plots and find_spec("matplotlib") is None:
        print("matplotlib is not installed: no plots (pip install --group experiments).")
        plots = False
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
    """Draw a figure as SVG."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "discreet"  # the same file from the same rows
    matplotlib.rcParams["svg.fonttype"] = "none"  # letters stay text: a third of the size
    from matplotlib import pyplot

    plot = figure.plot
    assert plot is not None
    drawing, axes = pyplot.subplots(figsize=(7, 3.6), layout="constrained")
    keys = list(dict.fromkeys(tuple(row[name] for name in plot.by) for row in rows))
    for shade, key in enumerate(keys):
        part = [row for row in rows if tuple(row[name] for name in plot.by) == key]
        named = ", ".join(f"{name} {_cell(v)}" for name, v in zip(plot.by, key, strict=True))
        colour = pyplot.colormaps["viridis"](shade / len(keys))
        for measure, line in zip(plot.measures, ("-o", "--s", ":^", "-.v"), strict=False):
            points = [(row[plot.across], row[measure]) for row in part if row[measure] is not None]
            if points:
                label = ", ".join(text for text in (measure, named) if text)
                axes.plot(*zip(*points, strict=True), line, color=colour, markersize=3, label=label)
    axes.set_xlabel(plot.across)
    axes.set_ylabel(plot.measures[0] if len(plot.measures) == 1 else "")
    drawing.legend(fontsize="x-small", loc="outside right upper")
    drawing.savefig(path, metadata={"Date": None})
    pyplot.close(drawing)


def data_file(settings: Settings, *default: str) -> Path:
    """The given file, or the one below DISCREET_DATA; MissingDataError if it is not there."""
    folder = Path(
        os.environ.get("DISCREET_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")
    )
    path = settings.data or folder.joinpath(*default)
    if not path.exists():
        raise MissingDataError(
            f"The data are not at {path}. Give --data, or set DISCREET_DATA to the folder that has "
            f"{'/'.join(default)}; docs/experiments/data.md says where to get them."
        )
    return path

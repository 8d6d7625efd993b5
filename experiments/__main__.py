"""Run the experiments of a paper: ``python -m experiments decomposition --figures 7,9 --quick``.

``python -m experiments suite`` runs all methods on all tables; ``experiments.suite`` says how.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

from experiments.harness import Experiment, MissingDataError, run

from experiments import suite

PAPERS = ("l_diversity", "decomposition", "codip", "quasi_sensitive", "opinion_polls")


def experiment_of(paper: str) -> Experiment:
    """The experiment of a paper."""
    experiment: Experiment = importlib.import_module(f"experiments.{paper}").EXPERIMENT
    return experiment


def described(experiment: Experiment) -> str:
    """What an experiment has and can be told."""
    lines = [experiment.title, "", "Figures:"]
    lines += [f"  {figure.name:10} {figure.title}" for figure in experiment.figures]
    lines += ["", "Settings (--set NAME=VALUE):"]
    for name, field in experiment.settings.model_fields.items():
        lines.append(f"  {name:14} {field.description} Default: {field.default}.")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments[:1] == ["suite"]:
        return suite.main(arguments[1:])
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    parser.add_argument("paper", choices=[name.replace("_", "-") for name in PAPERS])
    parser.add_argument("--figures", help="Some figures, such as 5,8; by default all.")
    parser.add_argument("--data", type=Path, help="File or folder of the data.")
    parser.add_argument("--output", type=Path, help="Folder for the results.")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--no-plots", action="store_true")
    parser.add_argument(
        "--quick", action="store_true", help="Small settings, for a run of seconds; --set wins."
    )
    parser.add_argument("--list", action="store_true", help="Show figures and settings, and stop.")
    given = parser.parse_args(arguments)
    experiment = experiment_of(given.paper.replace("-", "_"))
    if given.list:
        print(described(experiment))
        return 0
    try:
        written = dict(experiment.quick) if given.quick else {}
        written |= dict(one.split("=", 1) if "=" in one else (one, "") for one in given.set)
        written |= {k: v for k in ("data", "output") if (v := getattr(given, k)) is not None}
        names = given.figures.split(",") if given.figures else None
        page = run(
            experiment, experiment.chosen(names), experiment.configured(written),
            plots=not given.no_plots,
        )  # fmt: skip
    except (ValueError, MissingDataError) as error:
        print(error, file=sys.stderr)
        return 2
    print(f"Written: {page}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

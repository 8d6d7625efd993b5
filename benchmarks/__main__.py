"""Run the suite and write RESULTS.md beside this file."""

from __future__ import annotations

import argparse
import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import (
    arx,
    attackers,
    attacks,
    check,
    codip,
    decomposition,
    first_release,
    full_domain,
    hard_searches,
    hospital,
    install_size,
    local_recoding,
    measures,
    msa_diversity,
    persons,
    quasi_sensitive,
    republication,
    rivals,
    spark,
    startup,
    text_files,
    whole_path,
    wide,
)
from benchmarks.figures import Figure
from discreet.table.kernels.tiers import TIERS

RESULTS = Path(__file__).resolve().parent / "RESULTS.md"

PARTS = {
    "startup": startup.results,
    "first-release": first_release.results,
    "install-size": install_size.results,
    "text-files": text_files.results,
    "full-domain": full_domain.results,
    "whole-path": whole_path.results,
    "hard-searches": hard_searches.results,
    "wide": wide.results,
    "local-recoding": local_recoding.results,
    "decomposition": decomposition.results,
    "codip": codip.results,
    "msa-diversity": msa_diversity.results,
    "quasi-sensitive": quasi_sensitive.results,
    "persons": persons.results,
    "republication": republication.results,
    "attackers": attackers.results,
    "attacks": attacks.results,
    "hospital": hospital.results,
    "measures": measures.results,
    "check": check.results,
    "peers": rivals.results,
    "arx": arx.results,
    "spark": spark.results,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller tables, about two minutes")
    parser.add_argument("--output", type=Path, default=RESULTS, help="where the results go")
    parser.add_argument(
        "--only",
        choices=list(PARTS),
        help="one part of the suite, to be printed",
    )
    parser.add_argument(
        "--update", action="store_true", help="with --only: replace its sections in the results"
    )
    arguments = parser.parse_args()
    if not full_domain.data_folder().is_dir():
        parser.error("the real data are not there; name their folder in DISCREET_DATA")
    TIERS.asked = "compiled"  # in this process; commands choose for themselves
    figures: list[Figure] = []
    for name, results in PARTS.items():
        if arguments.only in (None, name):
            print(name)
            for figure in results(arguments.quick):
                figures.append(figure)
                print(" ", *_cells(figure), sep=" | ")
    if arguments.only is None:
        arguments.output.write_text(_page(figures, arguments.quick), encoding="utf-8")
        print(f"Written to {arguments.output}")
    elif arguments.update:
        page = arguments.output.read_text(encoding="utf-8")
        arguments.output.write_text(_updated(page, figures), encoding="utf-8")
        print(f"Updated in {arguments.output}")


def _page(figures: Sequence[Figure], quick: bool) -> str:
    lines = [
        "# Benchmark results",
        "",
        f"{datetime.now(UTC):%Y-%m-%d}, {_machine()}. "
        f"Made by `make bench`{' QUICK=1' if quick else ''}; times are the least of a few runs, "
        "memory is the greatest resident size of the process. Load when it ended: "
        f"{os.getloadavg()[2]:.1f} over 15 minutes; above the number of processors others were at "
        "work, and processor time says more than the clock.",
    ]
    for section, table in _tables(figures).items():
        lines += ["", f"## {section}", "", *table]
    return "\n".join(lines) + "\n"


def _updated(page: str, figures: Sequence[Figure]) -> str:
    """Replace the sections of some figures, or append them."""
    kept = [f"{part.rstrip()}\n" for part in page.split("\n## ")]
    for section, table in _tables(figures).items():
        note = (
            f"{datetime.now(UTC):%Y-%m-%d}, load {os.getloadavg()[2]:.0f} over 15 minutes on "
            f"{os.cpu_count()} processors when it ended; the more others are at work, the more "
            "processor time the same work takes."
        )
        text = "\n".join([section, "", note, "", *table, ""])
        place = next((i for i, part in enumerate(kept) if part.startswith(f"{section}\n")), None)
        if place is None:
            kept.append(text)
        else:
            kept[place] = text
    return "\n## ".join(kept).rstrip() + "\n"


def _tables(figures: Sequence[Figure]) -> dict[str, list[str]]:
    """The lines of the table of each section."""
    tables: dict[str, list[str]] = {}
    for figure in figures:
        head = [
            "| what | rows | seconds | processor | GB | loss | ratio | to | asked for | met |",
            "| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- | --- | --- |",
        ]
        tables.setdefault(figure.section, head).append(f"| {' | '.join(_cells(figure))} |")
    return tables


def _cells(figure: Figure) -> list[str]:
    def shown(number: float | None, digits: str) -> str:
        return "" if number is None else format(number, digits)

    met = {None: "", True: "yes", False: "**no**"}[figure.met]
    return [
        figure.what,
        f"{figure.rows:,}",
        shown(figure.seconds, ".3g"),
        shown(figure.processor, ".3g"),
        shown(figure.memory, ".2f"),
        shown(figure.loss, ".4f"),
        shown(figure.ratio, ".3g"),
        figure.ratio_to,
        figure.bound,
        met,
    ]


def _machine() -> str:
    model = platform.processor() or platform.machine()
    information = Path("/proc/cpuinfo")
    if information.exists():
        names = [line for line in information.read_text().splitlines() if "model name" in line]
        model = names[0].partition(":")[2].strip() if names else model
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    return (
        f"{os.cpu_count()} processors ({model}), {memory:.0f} GB, {platform.system()}, "
        f"Python {platform.python_version()}"
    )


if __name__ == "__main__":
    main()

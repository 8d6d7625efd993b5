"""Run the suite and write results.json and RESULTS.md beside this file."""

from __future__ import annotations

import argparse
import time

from benchmarks import (
    arx,
    attackers,
    attacks,
    audits,
    check,
    codip,
    decomposition,
    first_release,
    full_domain,
    hard_searches,
    hospital,
    in_place,
    install_size,
    local_recoding,
    measures,
    memory,
    msa_diversity,
    persons,
    quasi_sensitive,
    republication,
    rivals,
    skewed,
    spark,
    startup,
    text_files,
    whole_path,
    wide,
)
from benchmarks.figures import Figure
from benchmarks.record import Part, Record, cells
from discreet.table.kernels.tiers import TIERS

PARTS = {  # what users ask first comes first
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
    "memory": memory.results,
    "audits": audits.results,
    "hospital": hospital.results,
    "spark": spark.results,
    "in-place": in_place.results,
    "msa-diversity": msa_diversity.results,
    "codip": codip.results,
    "skewed": skewed.results,
    "persons": persons.results,
    "check": check.results,
    "peers": rivals.results,
    "arx": arx.results,
    "attackers": attackers.results,
    "attacks": attacks.results,
    "measures": measures.results,
    "republication": republication.results,
    "quasi-sensitive": quasi_sensitive.results,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller tables, about two minutes")
    parser.add_argument(
        "--only", nargs="+", choices=list(PARTS), help="these parts of the suite, to be printed"
    )
    parser.add_argument(
        "--update", action="store_true", help="with --only: replace these parts in the results"
    )
    arguments = parser.parse_args()
    if not full_domain.data_folder().is_dir():
        parser.error("the real data are missing; name their folder in DISCREET_DATA")
    TIERS.asked = "compiled"  # in this process; commands choose for themselves
    record = Record.read() if arguments.only else Record()
    for name in arguments.only or PARTS:
        part = _measured(name, arguments.quick)
        record.add(part, list(PARTS))
        if not arguments.only or arguments.update:
            record.write()  # after every part, so that nothing is lost when a run is stopped


def _measured(name: str, quick: bool) -> Part:
    """Run a part of the suite, printing its figures."""
    print(name, flush=True)
    figures: list[Figure] = []
    started = time.monotonic()
    for figure in PARTS[name](quick):
        figures.append(figure)
        print(" ", *cells(figure), sep=" | ", flush=True)
    part = Part.of(name, figures, time.monotonic() - started, quick)
    print(f"  {part.minutes} minutes", flush=True)
    return part


if __name__ == "__main__":
    main()

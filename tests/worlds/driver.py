"""Run many cases in several processes; a run goes on where it stopped."""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import traceback
from collections import Counter, defaultdict
from pathlib import Path

from tests.worlds.cases import METHODS, make_case, name_of


def ended(number: int) -> tuple[int, list[tuple[str, str, int]]]:
    from tests.worlds.running import DISAGREES, run

    try:
        return number, run(make_case(number))
    except Exception:
        return number, [(DISAGREES, traceback.format_exc(limit=-3), 0)]


def say(*parts: object) -> None:
    sys.stdout.write(" ".join(map(str, parts)) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.worlds", description=__doc__)
    parser.add_argument("--releases", type=int, default=50_000, help="published releases")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=Path("worlds-results"))
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--replay", type=int, help="run one case and print it")
    chosen = parser.parse_args()
    if chosen.replay is not None:
        say(make_case(chosen.replay))
        say(*ended(chosen.replay)[1])
        return 0
    chosen.folder.mkdir(parents=True, exist_ok=True)
    place = chosen.folder / "results.jsonl"
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    wrong: list[tuple[int, str]] = []
    done = set()

    def count(number: int, endings: list[tuple[str, str, int]]) -> None:
        done.add(number)
        for outcome, detail, within in endings:
            counts[name_of(number)][outcome] += 1
            counts[name_of(number)]["within"] += within
            if outcome == "disagrees":
                wrong.append((number, detail))

    if place.exists():
        for line in place.read_text(encoding="utf-8").splitlines():
            try:
                count(*json.loads(line))
            except ValueError:
                continue  # a line that was cut off: its case runs again
    numbers = (n for n in range(chosen.first, 100 * chosen.releases + 1) if n not in done)
    context = multiprocessing.get_context("spawn")
    with place.open("a", encoding="utf-8") as file, context.Pool(chosen.processes) as pool:
        for number, endings in pool.imap(ended, numbers, chunksize=16):
            count(number, endings)
            file.write(json.dumps([number, endings]) + "\n")
            file.flush()
            if sum(own["published"] for own in counts.values()) >= chosen.releases:
                break
    heads = ("published", "refused", "disagrees", "within")
    say("| case | " + " | ".join(heads) + " |\n| --- |" + " ---: |" * len(heads))
    for name in METHODS:
        say(f"| {name} | " + " | ".join(f"{counts[name][one]:,}" for one in heads) + " |")
    total = sum(counts.values(), Counter[str]())
    say("| all | " + " | ".join(f"{total[one]:,}" for one in heads) + " |")
    for number, detail in wrong[:20]:
        say(number, detail)
    return 1 if wrong else 0

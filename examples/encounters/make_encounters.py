"""Write a made-up table of hospital encounters, sorted by date; most patients have one or two.

python make_encounters.py [PATIENTS] > encounters.csv; 70000 patients have 100,000 encounters.
"""

from __future__ import annotations

import csv
import random
import sys
from datetime import date, timedelta

DIAGNOSES = {"hypertension": 9, "diabetes": 7, "asthma": 5, "fracture": 5, "depression": 4,
             "migraine": 3, "gastritis": 3, "cancer": 2}  # fmt: skip
DRUGS = ["none", "insulin", "steroid", "opioid", "antibiotic", "statin"]


def encounters(patients: int, seed: int = 7) -> list[list[str]]:
    """The rows, by date of admission."""
    draw = random.Random(seed)
    rows = []
    for patient in range(patients):
        born = draw.randint(1935, 2004)
        sex, town = draw.choice("fm"), f"{draw.choice([10, 11, 20])}{draw.randint(100, 140)}"
        chronic = draw.choices(list(DIAGNOSES), list(DIAGNOSES.values()))[0]
        for _ in range(min(40, int(draw.paretovariate(2.3)))):
            day = date(2024, 1, 1) + timedelta(draw.randrange(700))
            acute = draw.choices(list(DIAGNOSES), list(DIAGNOSES.values()))[0]
            rows.append(
                [
                    day.isoformat(),
                    f"{80_000_000 + patient * 37}",
                    f"{(day.year - born) // 10 * 10}s",
                    sex,
                    town,
                    chronic if draw.random() < 0.6 else acute,
                    draw.choice(DRUGS),
                ]
            )
    return sorted(rows)


if __name__ == "__main__":
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["admitted", "patient_nbr", "age", "sex", "postcode", "diagnosis", "drug"])
    writer.writerows(encounters(int(sys.argv[1]) if len(sys.argv) > 1 else 2000))

"""Made-up tables as stewards have them, for ``first_jobs``: no rule was written with them in view.

Each has one or two traps: German headers with decimal commas, a code that one row has, yes/no
columns with 3 % yes, 120 columns, several rows a person, "None" for "not tested", leading zeros.
"""

from __future__ import annotations

import csv
import random
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

SEED = 77


class Draw(random.Random):
    """Draws cells."""

    def of(self, *values: Any, weights: Sequence[float] | None = None) -> Any:
        """One of some values, the first more often unless weights say else."""
        return self.choices(values, weights or [1 / (1 + at) for at in range(len(values))])[0]

    def yes(self, share: float, words: tuple[str, str] = ("no", "yes")) -> str:
        """The second word with some chance."""
        return words[self.random() < share]

    def whole(self, mean: float, spread: float, low: int, high: int) -> int:
        """A whole number between two bounds."""
        return int(min(high, max(low, self.gauss(mean, spread))))

    def day(self, first: date, days: int) -> date:
        """One of the days from a first one on."""
        return first + timedelta(days=self.randrange(days))


def _listed(text: str) -> list[str]:
    return text.split()


def _comma(number: float, digits: int) -> str:
    return f"{number:.{digits}f}".replace(".", ",")


def _write(place: Path, header: str, rows: Iterator[list[Any]], delimiter: str = ",") -> None:
    with place.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(header.split(","))
        writer.writerows(rows)


def clinic(place: Path) -> None:
    """Admissions of a German clinic, with decimal commas and German dates."""

    def rows(draw: Draw) -> Iterator[list[Any]]:
        codes = "I10 E11.9 J18.9 I50.0 N18.3 C50.9 F32.1 K35.8 S72.0 M54.5 I21.4 A41.9 G40.9"
        for number in range(4200):
            born = date(2024, 1, 1) - timedelta(days=int(draw.whole(58, 19, 1, 98) * 365.25))
            diagnosis = draw.of(*codes.split())
            creatinine = abs(draw.gauss(1.0 + 1.4 * (diagnosis == "N18.3"), 0.35))
            area = draw.choice([0, 1, 2, 4]), draw.choice([1109, 4229, 6108, 9117])
            yield [
                f"F{2024000000 + 7 * number}", born.strftime("%d.%m.%Y"),
                draw.of("w", "m", "d", weights=[50, 49, 0.4]), f"{area[0]}{area[1]}",
                draw.day(date(2023, 1, 1), 365).strftime("%d.%m.%Y"),
                draw.of("Innere", "Chirurgie", "Gynäkologie", "Neurologie", "Onkologie"),
                diagnosis, _comma(creatinine, 2), _comma(draw.lognormvariate(1.5, 1.1), 1),
                _comma(draw.gauss(78, 15), 1), draw.of("nein", "ja", "ehemals"),
                draw.yes(0.04, ("nein", "ja")), draw.of("AOK", "TK", "Barmer", "DAK", "privat"),
            ]  # fmt: skip

    header = (
        "Fallnummer,Geburtsdatum,Geschlecht,PLZ,Aufnahmedatum,Fachabteilung,Hauptdiagnose,"
        "Kreatinin,CRP,Gewicht,Raucher,Verlegt,Kostenträger"
    )
    _write(place, header, rows(Draw(SEED)), ";")


def students(place: Path) -> None:
    """Students, with numbers that begin with zeros."""

    def rows(draw: Draw) -> Iterator[list[Any]]:
        districts = [f"District {number:02d}" for number in range(1, 19)]
        programmes = _listed("Law Medicine CS History Biology Maths Art Nursing Physics")
        for number in range(6500):
            year, points = draw.randrange(1, 5), max(0.0, min(4.0, draw.gauss(2.9, 0.6)))
            yield [
                f"{104231 + 13 * number:08d}", draw.day(date(2004 - year, 1, 1), 900),
                draw.of("F", "M", "X", weights=[54, 45, 1]), draw.of(*districts),
                draw.of(*programmes),
                year, draw.of("none", "partial", "full", weights=[80, 14, 6]), draw.yes(0.07),
                f"{points:.2f}", max(0, int(draw.gauss((3.2 - points) * 1.5, 1))), draw.yes(0.4),
                draw.of("home", "hall", "private"), draw.yes(0.1),
            ]  # fmt: skip

    header = (
        "student_no,dob,gender,district,programme,year_of_study,scholarship,disability_support,"
        "gpa,failed_modules,first_in_family,term_address,dropout"
    )
    _write(place, header, rows(Draw(SEED)))


def payroll(place: Path) -> None:
    """A payroll with names and several yes/no columns of 3 % yes."""

    def rows(draw: Draw) -> Iterator[list[Any]]:
        given = _listed("Anna Ben Carla David Eva Frank Gina Hugo Iris Jan Kim Leo Mara Nils Olga")
        family = _listed("Abel Brandt Costa Dietz Evers Falk Geiger Huber Jung Klein Lang Moser")
        jobs = _listed("clerk driver engineer manager technician analyst")
        for number in range(2300):
            grade = draw.whole(4, 1.8, 1, 9)
            rare = [draw.yes(0.03, ("N", "Y")) for _ in range(4)]
            yield [
                f"E{number + 1:05d}", f"{draw.choice(given)} {draw.choice(family)}",
                draw.day(date(2000, 1, 1), 8600), int(draw.gauss(1980, 10)), draw.of("F", "M"),
                draw.of("Leeds", "York", "Hull", "Bath"), grade,
                draw.of(*jobs) if grade < 9 else "director",
                int(18_000 + grade * 4200 + draw.gauss(0, 2500)),
                int(max(0, draw.gauss(grade * 300, 500))), draw.yes(0.3, ("N", "Y")), *rare,
            ]  # fmt: skip

    header = (
        "emp_code,name,hire_date,birth_year,sex,site,grade,job_title,salary,bonus,union_member,"
        "sick_leave_long,disciplinary,garnishment,maternity"
    )
    _write(place, header, rows(Draw(SEED)))


def survey(place: Path) -> None:
    """A survey of 120 columns with a weight."""

    def rows(draw: Draw) -> Iterator[list[Any]]:
        brackets = ["18-29", "30-44", "45-59", "60-74", "75+"]
        for number in range(1800):
            attitude = draw.gauss(0, 1)
            scales = [
                min(5, max(1, round(3 + attitude * 0.6 + draw.gauss(0, 1)))) for _ in range(112)
            ]
            answers = [
                "" if draw.random() < 0.03 else scale if at % 3 else draw.of(0, 1, weights=[85, 15])
                for at, scale in enumerate(scales)
            ]
            yield [
                number + 1, draw.of(*brackets, weights=[2, 3, 3, 2, 1]), draw.of(1, 2),
                draw.of("North", "South", "East", "West", "Capital"), draw.of("low", "mid", "high"),
                draw.of(1, 2, 3, 4, 5), draw.of("<1k", "1-2k", "2-3k", "3-5k", "5k+"),
                f"{abs(draw.gauss(1, 0.2)):.4f}", *answers,
            ]  # fmt: skip

    questions = ",".join(f"q{number:03d}" for number in range(1, 113))
    header = f"resp,age_group,sex,region,educ,hh_size,income_band,wt,{questions}"
    _write(place, header, rows(Draw(SEED)))


def registry(place: Path) -> None:
    """A cancer registry with several rows a person."""

    def rows(draw: Draw) -> Iterator[list[Any]]:
        places = [f"{1000 + 37 * number:05d}" for number in range(24)]
        for number in range(2600):
            sex = draw.of("male", "female")
            person = [int(draw.gauss(1955, 12)), sex, draw.of(*places)]
            illness = [draw.of("C50", "C61", "C34", "C18", "C43"), draw.of("I", "II", "III", "IV")]
            day = draw.day(date(2019, 1, 1), 1400)
            for visit in range(1 + int(draw.expovariate(0.7))):
                day += timedelta(days=draw.randrange(20, 200))
                yield [
                    f"P{100003 + 17 * number}", visit + 1, day, *person, *illness,
                    draw.of("surgery", "chemo", "radiation", "none", "immuno"),
                    draw.yes(0.97), draw.of("None", "neg", "pos", weights=[88, 11.5, 0.5]),
                    f"{draw.lognormvariate(1, 0.8):.2f}" if sex == "male" else "",
                ]  # fmt: skip

    header = (
        "pid,visit_no,visit_date,birth_year,sex,municipality,icd10,stage,treatment,"
        "alive_at_visit,hiv_test,psa"
    )
    _write(place, header, rows(Draw(SEED)))


def laboratory(place: Path) -> None:
    """Results of tests, of which "None" means not tested, and a drug that one row has."""

    def rows(draw: Draw) -> Iterator[list[Any]]:
        for number in range(9000):
            drug = draw.of("metformin", "insulin", "statin", "none", "warfarin")
            yield [
                f"S-{900000 + 3 * number}", draw.whole(52, 20, 0, 95), draw.of("F", "M"),
                f"0{draw.randrange(2100, 2140)}", draw.of("white", "black", "asian", "other"),
                draw.of("None", ">7", ">8", "Norm", weights=[82, 5, 8, 5]),
                draw.of("None", "high", "normal", weights=[70, 12, 18]),
                draw.of("None", "neg", "pos", weights=[90, 9, 1]),
                draw.of("None", "neg", "opioid", "cocaine", weights=[94, 4, 1.5, 0.5]),
                "rarecillin" if number == 4711 else drug, draw.of("A1", "A2", "B1", "ICU"),
            ]  # fmt: skip

    header = "sample_id,age,sex,zip,ethnicity,a1c,lipids,hep_b,drug_screen,medication,ward"
    _write(place, header, rows(Draw(SEED)))


def benefits(place: Path) -> None:
    """Social benefits of households, with codes that begin with zeros."""

    def rows(draw: Draw) -> Iterator[list[Any]]:
        nations = _listed("AT DE TR RS SY AF RO HU BA UA PL NG")
        for number in range(12_000):
            yield [
                f"{7 + 3 * number:09d}", number // 2 + 1, f"{draw.randrange(1, 30) * 13:05d}",
                draw.whole(40, 12, 18, 67), draw.of("f", "m"), draw.of(*nations),
                draw.of("single", "married", "divorced", "widowed"), draw.of(0, 1, 2, 3, 4, 5, 6),
                draw.of("housing", "income", "child", "care"), f"{abs(draw.gauss(620, 240)):.2f}",
                draw.yes(0.03, ("0", "1")), int(draw.expovariate(1 / 14)),
                draw.of(0, 0, 0, int(draw.lognormvariate(8, 1))), draw.of("rent", "own", "shelter"),
                draw.of(0, 0, 0, 0, 30, 50, 70, 100),
            ]  # fmt: skip

    header = (
        "case_no,household_id,municipality_code,age,sex,nationality,marital_status,children,"
        "benefit_type,monthly_amount,sanctioned,months_on_benefit,debt,housing,disability_degree"
    )
    _write(place, header, rows(Draw(SEED)))

"""A table as a German clinic exports it: 60 columns, one header twice, decimal commas."""

from __future__ import annotations

import random
from pathlib import Path

FIRST = ("Jürgen", "Änne", "Zoë", "Günther", "Ayşe", "İlknur", "Björn", "Renée", "Łukasz", "Uwe")
LAST = ("Müller", "Groß", "Öztürk", "Weiß", "Kaya", "Søren", "Krüger", "Nowak", "Çelik", "Böhm")
TOWNS = {"01067": "Dresden", "04109": "Leipzig", "09111": "Chemnitz", "07743": "Jena",
         "06108": "Halle", "08056": "Zwickau", "99084": "Erfurt", "02826": "Görlitz"}  # fmt: skip
WARDS = ("Innere Medizin", "Chirurgie", "Gynäkologie", "Neurologie", "Pädiatrie")
DIAGNOSES = ("I10", "E11.9", "J45.0", "F32.1", "C50.9", "K21.0", "M54.5", "B20", "N18.3", "I48.0")
INSURANCE = ("AOK", "TK", "Barmer", "DAK", "privat")
YES_NO = (
    "Diabetes", "Asthma", "Hypertonie", "Raucher", "Alkohol", "Schwangerschaft", "Dialyse", "HIV",
    "Hepatitis", "Tumor", "Depression", "Epilepsie", "Sturz", "Dekubitus", "MRSA", "Allergie",
    "Schmerzen", "Übelkeit", "Schwindel", "Fieber",
)  # fmt: skip
LABORATORY = (
    "Natrium", "Kalium", "Kreatinin", "Harnstoff", "Bilirubin", "GOT", "GPT", "CRP", "Leukozyten",
    "Hämoglobin", "Thrombozyten", "Quick", "Glukose", "HbA1c", "TSH", "Cholesterin",
)  # fmt: skip


def write_clinic(path: Path, rows: int = 1200, seed: int = 7) -> Path:
    """Write the table, separated by semicolons."""
    draw = random.Random(seed)
    head = ["Fallnummer", "Patient", "Geburtsdatum", "Geschlecht", "PLZ", "Ort", "Aufnahme",
            "Entlassung", "Station", "Station", "Versicherung", "Hauptdiagnose", "Nebendiagnose",
            "Familienstand", "Beruf", "Größe (cm)", "Gewicht (kg)", "Blutgruppe", "Bemerkung",
            "Kosten (€)", "Verweildauer", "Pflegegrad", "Erfasst von", "Zimmer"]  # fmt: skip
    head += [f"{name} (j/n)" for name in YES_NO] + list(LABORATORY)
    lines = [head]
    for number in range(rows):
        plz = draw.choice(list(TOWNS))
        day, stay = draw.randrange(1, 28), draw.randrange(1, 21)
        ward = draw.choice(WARDS)
        height = round(draw.gauss(171, 9), 1)
        diagnosis = draw.choices(DIAGNOSES, range(10, 0, -1))[0]
        cells = [
            f"{4000000 + 37 * number:08}",
            f"{draw.choice(FIRST)} {draw.choice(LAST)}",
            f"{draw.randrange(1, 29):02}.{draw.randrange(1, 13):02}.{draw.randrange(1935, 2010)}",
            draw.choice("mw" * 49 + "d"), plz, TOWNS[plz],
            f"{day:02}.03.2024", f"{day + stay if day + stay < 31 else 31:02}.03.2024",
            ward, ward if draw.random() < 0.8 else draw.choice(WARDS),
            draw.choices(INSURANCE, (40, 25, 15, 12, 8))[0], diagnosis,
            draw.choice(("", *DIAGNOSES)),
            draw.choice(("ledig", "verheiratet", "geschieden", "verwitwet")),
            draw.choice(("Köchin", "Lehrer", "Rentner", "Schüler", "Bäcker", "Ärztin", "")),
            f"{height:.1f}".replace(".", ","),
            f"{draw.gauss(78, 14):.1f}".replace(".", ","),
            draw.choices(("A+", "0+", "B+", "AB+", "A-", "0-"), (37, 35, 9, 4, 6, 9))[0],
            draw.choice(("", "", "Wiedervorstellung in 3 Monaten", "Angehörige informiert")),
            f"{draw.lognormvariate(8, 0.5):.2f}".replace(".", ","), str(stay),
            draw.choice(("", "1", "2", "3", "4", "5")), draw.choice(("mka", "jfr", "bsc")),
            f"{draw.randrange(1, 4)}.{draw.randrange(1, 25):02}",
        ]  # fmt: skip
        cells += ["j" if draw.random() < 0.03 else "n" for _ in YES_NO]
        cells += [f"{draw.gauss(50 + 3 * n, 9):.1f}".replace(".", ",") for n in range(16)]
        lines.append(cells)
    path.write_text("\n".join(";".join(cells) for cells in lines) + "\n", encoding="utf-8")
    return path

"""Made-up tables whose roles are known, to judge proposed roles.

A table is a list of columns, each with its name, the role that we give it and its cells. Letters of
roles: i identifier, q quasi-identifier, s sensitive, n insensitive, d drop. Two letters: either is
right, such as dropping a copy or giving it the role of its original.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from typing import Any, NamedTuple

Cells = list[Any]

GIVEN = {
    "en": "James Mary Robert Linda David Susan Karen Nancy Paul Helen Mark Laura Kevin Amy Brian",
    "de": "Jürgen Sabine Uwe Anke Thorsten Petra Stefan Julia Kai Ute Ralf Silke Jonas Lena Bernd",
    "fr": "Jean Marie Pierre Camille Luc Nathalie Hugo Chloé Alain Inès Yves Sylvie Paul Manon",
    "es": "José María Antonio Carmen Javier Lucía Pablo Elena Sergio Paula Diego Marta Raúl Rocío",
    "pt": "João Ana Pedro Mariana Tiago Beatriz Rui Inês Bruno Carla Paulo Sofia Nuno Joana Luís",
    "tr": "Mehmet Ayşe Ahmet Fatma Mustafa Zeynep Emre Elif Murat Merve Can Selin Burak Ebru Ali",
}
FAMILY = {
    "en": "Smith Jones Taylor Brown Hall Green Adams Baker Carter Turner Parker Cook Reed Ward",
    "de": "Müller Schmidt Weber Fischer Wagner Becker Schulz Koch Bauer Lange Vogt Kühn Böhm Graf",
    "fr": "Martin Bernard Dubois Durand Moreau Laurent Garnier Faure Roux Blanc Perrin Morin Colin",
    "es": "García López Pérez Gómez Ruiz Díaz Moreno Álvarez Romero Navarro Torres Vázquez Ramos",
    "pt": "Silva Santos Ferreira Pereira Costa Oliveira Martins Sousa Lopes Marques Alves Ribeiro",
    "tr": "Yılmaz Kaya Demir Şahin Çelik Yıldız Öztürk Aydın Arslan Doğan Kılıç Aslan Koç Kurt",
}


def _listed(text: str) -> list[str]:
    return text.split()


class LabelledTable(NamedTuple):
    """Columns with their cells, and the roles that are right for each."""

    name: str
    cells: dict[str, Cells]
    roles: dict[str, str]


class Drawing:
    """Draws the cells of a table."""

    def __init__(self, rows: int, seed: int) -> None:
        self.rows = rows
        self.random = random.Random(seed)

    def each(self, make: Callable[[], Any]) -> Cells:
        return [make() for _ in range(self.rows)]

    def of(self, *values: Any) -> Cells:
        """Draw values, the first more often."""
        weights = [1 / (1 + at) for at in range(len(values))]
        return self.random.choices(values, weights, k=self.rows)

    def words(self, text: str) -> Cells:
        return self.of(*text.split())

    def whole(self, low: int, high: int) -> Cells:
        return self.each(lambda: self.random.randint(low, high))

    def normal(self, mean: float, spread: float, digits: int = 1) -> Cells:
        return self.each(lambda: round(self.random.gauss(mean, spread), digits))

    def amounts(self, median: float, digits: int = 0) -> Cells:
        return self.each(lambda: round(median * self.random.lognormvariate(0, 0.7), digits or None))

    def digits(self, count: int) -> str:
        return "".join(self.random.choice("0123456789") for _ in range(count))

    def numbers(self, form: str) -> Cells:
        """Distinct numbers; # stands for a digit."""
        made: dict[str, None] = {}
        while len(made) < self.rows:
            made[("".join(self.digits(1) if sign == "#" else sign for sign in form))] = None
        return list(made)

    def codes(self, count: int, form: str) -> Cells:
        pool = ["".join(self.digits(1) if s == "#" else s for s in form) for _ in range(count)]
        return self.random.choices(pool, k=self.rows)

    def names(self, language: str) -> Cells:
        given, family = GIVEN[language].split(), FAMILY[language].split()
        return self.each(lambda: f"{self.random.choice(given)} {self.random.choice(family)}")

    def given(self, language: str) -> Cells:
        return self.of(*GIVEN[language].split())

    def family(self, language: str) -> Cells:
        return self.of(*FAMILY[language].split())

    def dates(self, first: str, last: str, form: str = "%Y-%m-%d") -> Cells:
        start = date.fromisoformat(first)
        days = (date.fromisoformat(last) - start).days
        return self.each(lambda: (start + timedelta(self.random.randint(0, days))).strftime(form))

    def sentences(self, words: str) -> Cells:
        known = words.split()
        return self.each(lambda: " ".join(self.random.choices(known, k=12)) + ".")

    def repeated(self, keys: Sequence[Any], mean: int = 2) -> Cells:
        """Keys of which each has some rows."""
        pool = list(keys)[: max(self.rows // mean, 1)]
        return self.random.choices(pool, k=self.rows)


def check_luhn(draw: Drawing) -> str:
    """A card number."""
    head = "4" + draw.digits(14)
    total = 0
    for at, sign in enumerate(reversed(head)):
        digit = int(sign) * (2 if at % 2 == 0 else 1)
        total += digit - 9 if digit > 9 else digit
    return head + str(-total % 10)


def check_iban(draw: Drawing, country: str = "DE") -> str:
    """An account number."""
    body = draw.digits(18)
    rest = int("".join(str(int(sign, 36)) for sign in body + country + "00")) % 97
    return f"{country}{98 - rest:02}{body}"


def check_cpf(draw: Drawing) -> str:
    """A Brazilian tax number."""
    found = [int(sign) for sign in draw.digits(9)]
    for length in (9, 10):
        total = sum(digit * (length + 1 - at) for at, digit in enumerate(found))
        found.append(total * 10 % 11 % 10)
    text = "".join(map(str, found))
    return f"{text[:3]}.{text[3:6]}.{text[6:9]}-{text[9:]}"


def check_tckn(draw: Drawing) -> str:
    """A Turkish national number."""
    digits = [draw.random.randint(1, 9), *(int(sign) for sign in draw.digits(8))]
    digits.append((7 * sum(digits[0:9:2]) - sum(digits[1:8:2])) % 10)
    digits.append(sum(digits) % 10)
    return "".join(map(str, digits))


def check_dni(draw: Drawing) -> str:
    """A Spanish national number."""
    body = draw.digits(8)
    return body + "TRWAGMYFPDXBNJZSQVHLCKE"[int(body) % 23]


def table(name: str, *columns: tuple[str, str, Cells]) -> LabelledTable:
    """A table of names, roles and cells."""
    return LabelledTable(
        name, {n: cells for n, _, cells in columns}, {n: role for n, role, _ in columns}
    )


def encounters(draw: Drawing) -> LabelledTable:
    """Hospital encounters with codes and brackets, a patient has several."""
    icd = ["250.83", "428", "276", "V58", "414", "786.5", "E885", "401.9", "486", "599"]
    return table(
        "encounters",
        ("encounter_id", "i", draw.numbers("2#######")),
        ("patient_nbr", "id", draw.repeated(draw.numbers("8#######"))),
        ("race", "q", draw.of("Caucasian", "AfricanAmerican", "Hispanic", "Asian", "Other")),
        ("gender", "q", draw.of("Female", "Male")),
        ("age", "q", draw.of(*(f"[{low}-{low + 10})" for low in range(0, 100, 10)))),
        ("admitted", "q", draw.dates("2019-01-01", "2023-12-31")),
        ("admission_type_id", "qnd", draw.whole(1, 8)),
        ("medical_specialty", "q", draw.words("Cardiology Surgery Neurology Urology Oncology")),
        ("email", "di", [f"p{number % 900}@mail.example" for number in range(draw.rows)]),
        ("diag_1", "s", draw.of(*icd)),
        ("diag_2", "s", draw.of(*icd)),
        ("glucose", "s", draw.of("None", "Norm", ">200", ">300")),
        ("insulin", "s", draw.of("No", "Steady", "Up", "Down")),
        ("medication", "s", draw.words("metformin glipizide none statin")),
        ("readmitted", "s", draw.of("NO", ">30", "<30")),
        ("discharge_note", "d", draw.sentences("patient well pain left right home rest daily day")),
        ("country", "n", ["US"] * draw.rows),
    )


def household_survey(draw: Drawing) -> LabelledTable:
    """A household survey of 152 columns."""
    region = draw.whole(1, 7)
    items = _listed(
        "food rent_paid fuel clothing transport health_care education_fees phone_bills tobacco_exp"
        " alcohol_exp furniture_cost repairs_cost insurance_cost holidays_cost gifts_cost"
    )
    seen = _listed(
        "roof walls floor_material toilet water_source electricity tv radio fridge bicycle car"
        " motorbike computer internet rooms livestock"
    )
    columns = [
        ("hhid", "d", draw.repeated(draw.numbers("10######"), 4)),
        ("interview__key", "i", draw.numbers("##-##-##-##")),
        ("hhweight", "n", draw.amounts(812, 3)),
        ("stratum", "d", draw.whole(1, 40)),
        ("psu", "d", draw.whole(1, 300)),
        ("region", "q", region),
        ("region_name", "dq", [f"Region {one}" for one in region]),
        ("urban", "q", draw.whole(0, 1)),
        ("hhsize", "q", draw.whole(1, 11)),
        ("relation_head", "q", draw.whole(1, 6)),
        ("sex", "q", draw.whole(1, 2)),
        ("age_years", "q", draw.whole(0, 97)),
        ("marital_status", "q", draw.whole(1, 5)),
        ("educ_level", "q", draw.whole(0, 7)),
        ("ethnicity", "q", draw.whole(1, 9)),
        ("occupation_isco", "q", draw.whole(11, 96)),
        ("religion", "s", draw.whole(1, 4)),
        ("disability", "s", draw.whole(0, 1)),
        ("total_income", "s", draw.amounts(21_000)),
        ("wage_main_job", "s", draw.amounts(9_000)),
        ("remittances", "s", draw.amounts(900)),
        ("debt", "s", draw.amounts(2_000)),
        ("remarks", "d", draw.sentences("respondent absent spoke to wife second visit in evening")),
    ]
    columns += [(f"exp_{item}", "s", draw.amounts(300)) for item in items]
    columns += [(name, "nqd", draw.whole(0, 3)) for name in seen]
    answers = 152 - len(columns)
    columns += [(f"s{4 + at // 12}q{at % 12 + 1}", "s", draw.whole(1, 5)) for at in range(answers)]
    return table("household survey", *columns)


def german_registry(draw: Drawing) -> LabelledTable:
    """A German disease registry."""
    icd = ["E11.9", "I10.0", "J45.0", "F32.1", "C50.9", "M54.5", "K29.7", "G43.0", "I21.4"]
    return table(
        "Krankheitsregister (German)",
        ("Versichertennummer", "i", draw.numbers("A#########")),
        ("Nachname", "di", draw.family("de")),
        ("Vorname", "di", draw.given("de")),
        ("Geburtsdatum", "q", draw.dates("1930-01-01", "2005-12-31", "%d.%m.%Y")),
        ("Geschlecht", "q", draw.of("männlich", "weiblich", "divers")),
        ("PLZ", "q", draw.codes(60, "0####")),
        ("Wohnort", "q", draw.words("Leipzig Dresden Chemnitz Halle Zwickau Plauen")),
        ("Straße", "i", [f"Lindenstraße {n}" for n in range(draw.rows)]),
        ("Staatsangehörigkeit", "q", draw.words("deutsch polnisch syrisch türkisch")),
        ("Familienstand", "q", draw.words("verheiratet ledig geschieden verwitwet")),
        ("Beruf", "q", draw.words("Lehrer Koch Pfleger Fahrer Maurer Verkäufer Arzt")),
        ("Aufnahmedatum", "q", draw.dates("2022-01-01", "2023-12-31", "%d.%m.%Y")),
        ("Hauptdiagnose", "s", draw.of(*icd)),
        ("Medikament", "s", draw.words("Ramipril Metformin ASS Bisoprolol keines")),
        ("Raucher", "s", draw.words("nein ja")),
        ("Bruttoeinkommen", "s", draw.amounts(2900)),
        ("Konfession", "s", draw.words("evangelisch katholisch keine")),
        (
            "Bemerkung",
            "d",
            draw.sentences("Patient klagt über Schmerzen seit Wochen ist müde"),
        ),
    )


def french_staff(draw: Drawing) -> LabelledTable:
    """French staff records."""
    return table(
        "personnel (French)",
        ("matricule", "i", draw.numbers("M######")),
        ("nom", "di", draw.family("fr")),
        ("prénom", "di", draw.given("fr")),
        ("courriel", "i", [f"agent{n}@societe.example" for n in range(draw.rows)]),
        ("date_de_naissance", "q", draw.dates("1958-01-01", "2002-12-31", "%d/%m/%Y")),
        ("sexe", "q", draw.of("Femme", "Homme")),
        ("code_postal", "q", draw.codes(50, "0####")),
        ("commune", "q", draw.words("Nice Cannes Antibes Menton Grasse Vence")),
        ("situation_familiale", "q", draw.words("marié célibataire divorcé pacsé veuf")),
        ("nb_enfants", "q", draw.whole(0, 5)),
        ("diplôme", "q", draw.words("bac licence master doctorat cap")),
        ("métier", "q", draw.words("comptable soudeur ingénieur vendeur chauffeur")),
        ("date_entrée", "q", draw.dates("2005-01-01", "2023-12-31", "%d/%m/%Y")),
        ("salaire_brut", "s", draw.amounts(2700)),
        ("syndicat", "s", draw.words("aucun CGT CFDT FO")),
        ("handicap", "s", draw.words("non oui")),
        ("iban", "i", [check_iban(draw, "FR") for _ in range(draw.rows)]),
        ("commentaire", "d", draw.sentences("agent ponctuel demande mutation vers autre service")),
    )


def spanish_health(draw: Drawing) -> LabelledTable:
    """A Spanish health survey."""
    return table(
        "encuesta de salud (Spanish)",
        ("dni", "i", [check_dni(draw) for _ in range(draw.rows)]),
        ("teléfono", "i", draw.numbers("+34 6## ### ###")),
        ("factor_expansion", "n", draw.amounts(900, 2)),
        ("edad", "q", draw.whole(16, 95)),
        ("sexo", "q", draw.of("mujer", "hombre")),
        ("estado_civil", "q", draw.words("casado soltero divorciado viudo")),
        ("nivel_estudios", "q", draw.words("primaria secundaria bachillerato universidad")),
        ("ocupación", "q", draw.words("maestro cocinero albañil médico vendedor")),
        ("provincia", "q", draw.words("Sevilla Cádiz Huelva Jaén Granada Málaga")),
        ("municipio", "q", draw.codes(80, "410##")),
        ("nacionalidad", "q", draw.words("española marroquí rumana colombiana")),
        ("tamaño_hogar", "q", draw.whole(1, 7)),
        ("enfermedad_crónica", "s", draw.words("ninguna diabetes asma hipertensión")),
        ("medicamento", "s", draw.words("ninguno metformina ibuprofeno omeprazol")),
        ("fumador", "s", draw.words("no sí")),
        ("ingresos_mensuales", "s", draw.amounts(1500)),
        ("voto_recuerdo", "s", draw.of("PP", "PSOE", "Otro", "Ninguno")),
    )


def portuguese_credit(draw: Drawing) -> LabelledTable:
    """Brazilian customers of a bank."""
    return table(
        "clientes (Portuguese)",
        ("cpf", "i", [check_cpf(draw) for _ in range(draw.rows)]),
        ("nome", "di", draw.names("pt")),
        ("celular", "i", draw.numbers("(11) 9####-####")),
        ("endereço", "i", [f"Rua das Flores, {n}" for n in range(draw.rows)]),
        ("cep", "q", draw.codes(70, "0####-###")),
        ("cidade", "q", draw.words("Campinas Santos Sorocaba Osasco Bauru")),
        ("uf", "q", draw.words("SP RJ MG PR")),
        ("data_nascimento", "q", draw.dates("1945-01-01", "2003-12-31")),
        ("sexo", "q", draw.of("feminino", "masculino")),
        ("estado_civil", "q", draw.words("solteiro casado divorciado viúvo")),
        ("escolaridade", "q", draw.words("fundamental médio superior")),
        ("profissão", "q", draw.words("professor pedreiro motorista cozinheiro")),
        ("renda_mensal", "s", draw.amounts(2500)),
        ("saldo_devedor", "s", draw.amounts(4000)),
        ("limite_crédito", "s", draw.amounts(5000)),
        ("inadimplente", "s", draw.whole(0, 1)),
        ("observações", "d", draw.sentences("cliente pediu contato por carta sem resposta ainda")),
    )


def turkish_hospital(draw: Drawing) -> LabelledTable:
    """Turkish hospital admissions."""
    return table(
        "hastane (Turkish)",
        ("TC_Kimlik_No", "i", [check_tckn(draw) for _ in range(draw.rows)]),
        ("Ad_Soyad", "di", draw.names("tr")),
        ("Doğum_Tarihi", "q", draw.dates("1940-01-01", "2010-12-31", "%d.%m.%Y")),
        ("Cinsiyet", "q", draw.of("Kadın", "Erkek")),
        ("İl", "q", draw.words("İzmir Manisa Aydın Muğla Denizli")),
        ("İlçe", "q", draw.codes(40, "ilce##")),
        ("Uyruk", "q", draw.words("TC Suriye Irak Almanya")),
        ("Meslek", "q", draw.words("öğretmen çiftçi işçi memur emekli")),
        ("Medeni_Durum", "q", draw.words("evli bekar boşanmış dul")),
        ("Başvuru_Tarihi", "q", draw.dates("2023-01-01", "2023-12-31", "%d.%m.%Y")),
        ("Tanı", "s", draw.words("grip astım migren gastrit diyabet")),
        ("İlaç", "s", draw.words("parol majezik insülin yok")),
        ("Sigara", "s", draw.words("hayır evet")),
        ("Aylık_Gelir", "s", draw.amounts(30_000)),
        ("Açıklama", "d", draw.sentences("hasta iki gündür ateşli öksürük şikayeti var kontrol")),
    )


def without_names(draw: Drawing) -> LabelledTable:
    """Columns named by letters: only values tell."""
    icd = ["E11.9", "I10", "J45.0", "F32.1", "C50.9", "M54.5", "K29.7", "G43.0", "S72.0"]
    sex = draw.of("F", "M")
    return table(
        "columns without names",
        ("a", "i", draw.numbers("#########")),
        ("b", "i", [check_luhn(draw) for _ in range(draw.rows)]),
        ("c", "i", [check_iban(draw) for _ in range(draw.rows)]),
        ("d", "di", draw.names("en")),
        ("e", "di", [f"{draw.random.randint(1, 400)} Oak Street" for _ in range(draw.rows)]),
        ("f", "q", sex),
        ("g", "dq", ["1" if one == "F" else "2" for one in sex]),
        ("h", "q", draw.dates("1935-01-01", "2004-12-31")),
        ("j", "q", draw.dates("2022-01-01", "2023-12-31")),
        ("k", "q", draw.codes(90, "0####")),
        ("l", "q", draw.words("married single divorced widowed")),
        ("m", "q", draw.words("Germany France Spain Turkey Poland")),
        ("n", "s", draw.of(*icd)),
        ("o", "s", draw.words("C09AA05 A10BA02 N02BE01 J01CA04 C07AB07")),
        ("p", "s", draw.of("€20k-30k", "€30k-40k", "€40k-60k", "€60k or more")),
        ("r", "d", draw.sentences("the person said that the work was hard and days were long")),
        ("t", "n", ["1"] * draw.rows),
    )


def pupils(draw: Drawing) -> LabelledTable:
    """School records."""
    return table(
        "pupils",
        ("student_id", "i", draw.numbers("S######")),
        ("first_name", "di", draw.given("en")),
        ("last_name", "di", draw.family("en")),
        ("dob", "q", draw.dates("2007-09-01", "2012-08-31")),
        ("gender", "q", draw.of("F", "M", "X")),
        ("ethnic_group", "q", draw.words("White Black Asian Mixed")),
        ("home_postcode", "q", draw.codes(60, "LS# #AB")),
        ("home_language", "q", draw.words("English Urdu Polish Punjabi")),
        ("school", "q", draw.words("Northfield Eastgate Priory Abbey")),
        ("year_group", "q", draw.whole(7, 11)),
        ("parent_phone", "i", draw.numbers("07### ### ###")),
        ("free_school_meals", "s", draw.words("no yes")),
        ("special_needs", "s", draw.words("none SEN EHCP")),
        ("exclusions", "s", draw.whole(0, 4)),
        ("maths_grade", "s", draw.whole(1, 9)),
        ("teacher_comment", "d", draw.sentences("works hard in class but talks too much at times")),
    )


def orders(draw: Drawing) -> LabelledTable:
    """A shop's orders, a customer has several."""
    return table(
        "orders",
        ("order_no", "i", draw.numbers("7########")),
        ("customer_id", "id", draw.repeated(draw.numbers("C#######"), 3)),
        ("ip_address", "di", [f"10.{n // 250 % 250}.{n % 250}.7" for n in range(draw.rows)]),
        ("card_number", "i", [check_luhn(draw) for _ in range(draw.rows)]),
        ("order_date", "q", draw.dates("2023-01-01", "2023-12-31")),
        ("ship_city", "q", draw.words("Austin Dallas Houston Waco Tyler")),
        ("ship_zip", "q", draw.codes(80, "7####")),
        ("customer_age", "q", draw.whole(18, 90)),
        ("customer_gender", "q", draw.of("female", "male")),
        ("product_category", "qnd", draw.words("books garden toys pharmacy adult")),
        ("quantity", "qnd", draw.whole(1, 6)),
        ("amount_usd", "s", draw.amounts(60, 2)),
        ("credit_score", "s", draw.whole(400, 850)),
        ("created_at", "d", [f"2023-05-01T00:00:{n:06}" for n in range(draw.rows)]),
        ("currency", "n", ["USD"] * draw.rows),
    )


def court_records(draw: Drawing) -> LabelledTable:
    """Convictions."""
    return table(
        "court records",
        ("case_number", "i", draw.numbers("23-CR-#####")),
        ("defendant", "di", draw.names("en")),
        ("birth_year", "q", draw.whole(1940, 2004)),
        ("sex", "q", draw.of("M", "F")),
        ("race", "q", draw.words("White Black Hispanic Asian")),
        ("county", "q", draw.words("Kent Essex Surrey Dorset Devon")),
        ("employment_status", "q", draw.words("employed unemployed student retired")),
        ("education", "q", draw.words("primary secondary tertiary")),
        ("offence", "s", draw.words("theft assault fraud speeding burglary")),
        ("sentence_months", "s", draw.whole(0, 120)),
        ("drug_test", "s", draw.words("negative positive refused")),
        ("prior_convictions", "s", draw.whole(0, 9)),
        ("fine_amount", "s", draw.amounts(250)),
        ("hearing_date", "q", draw.dates("2021-01-01", "2023-12-31")),
        ("judge_id", "qd", draw.whole(1, 30)),
        (
            "narrative",
            "d",
            draw.sentences("officer saw the suspect leave by the back door late"),
        ),
    )


MADE: tuple[Callable[[Drawing], LabelledTable], ...] = (
    encounters, household_survey, german_registry, french_staff, spanish_health,
    portuguese_credit, turkish_hospital, without_names,
)  # fmt: skip
HELD_OUT = (pupils, orders, court_records)  # written before, never used to adjust the rules


def made_tables(rows: int, seed: int = 1) -> list[LabelledTable]:
    """All made-up tables."""
    return [make(Drawing(rows, seed + at)) for at, make in enumerate((*MADE, *HELD_OUT))]

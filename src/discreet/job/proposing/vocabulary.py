"""What the name of a column says, in English, German, French, Spanish, Portuguese and Turkish.

Names are compared as words without accents (`words_of`). In the lists below ``*`` stands for any
letters, ``a+b`` for both words in any order, ``=a`` for a name of this word alone, and ``KEY`` and
``DATE`` for the words of their kind.
The first meaning that fits name and values counts, so the specific ones come first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from functools import cache
from typing import NamedTuple

from discreet.table.roles import Role

_I, _Q, _S = Role.IDENTIFIER, Role.QUASI_IDENTIFIER, Role.SENSITIVE
_D, _N = Role.DROP, Role.INSENSITIVE


class Sense(NamedTuple):
    """The role that a meaning suggests, its noun, and how likely an attacker knows it."""

    role: Role
    noun: str
    known: int = 0  # quasi-identifiers with the largest come first


class Meaning(Enum):
    """What a column is about."""

    HOUSEHOLD = Sense(Role.HOUSEHOLD, "a household's number")
    SAMPLE_WEIGHT = Sense(Role.WEIGHT, "a sampling weight")
    SAMPLE_DESIGN = Sense(_D, "a sampling unit, which stands for a small area")
    PERSON_KEY = Sense(_I, "a person's or a record's number")
    NATIONAL_NUMBER = Sense(_I, "a national, tax or insurance number")
    ACCOUNT = Sense(_I, "a bank account or card number")
    E_MAIL = Sense(_I, "an e-mail address")
    TELEPHONE = Sense(_I, "a telephone number")
    ADDRESS = Sense(_I, "a street address")
    LOGIN = Sense(_I, "an account name or the address of a device")
    NAME = Sense(_I, "a person's name")
    FREE_TEXT = Sense(_D, "free text, which may name persons")
    BOOK_KEEPING = Sense(_D, "a note on how the row was recorded")
    SEX = Sense(_Q, "a sex or gender", 100)
    AGE = Sense(_Q, "an age", 99)
    BIRTH = Sense(_Q, "a date of birth", 98)
    POSTCODE = Sense(_Q, "a postcode", 97)
    PLACE = Sense(_Q, "a place", 96)
    REGION = Sense(_Q, "a region", 95)
    ORIGIN = Sense(_Q, "an ethnic group", 90)
    COUNTRY = Sense(_Q, "a country or nationality", 88)
    MARITAL = Sense(_Q, "a marital status", 86)
    EDUCATION = Sense(_Q, "a level of education", 84)
    OCCUPATION = Sense(_Q, "an occupation", 82)
    EMPLOYMENT = Sense(_Q, "a position at work", 80)
    RELATION = Sense(_Q, "a position in the household", 78)
    HOUSEHOLD_SIZE = Sense(_Q, "a number of persons or children in the household", 76)
    LANGUAGE = Sense(_Q, "a language", 74)
    EVENT_DATE = Sense(_Q, "the date of an event", 72)
    INSTITUTION = Sense(_Q, "an institution that a person is seen at", 60)
    DWELLING = Sense(_Q, "a home or possession that neighbours see", 40)
    APPEARANCE = Sense(_Q, "what others see of a person", 50)
    DIAGNOSIS = Sense(_S, "a diagnosis")
    DRUG = Sense(_S, "a drug")
    TREATMENT = Sense(_S, "a treatment")
    HEALTH = Sense(_S, "a fact about health")
    MONEY = Sense(_S, "an amount of money")
    RELIGION = Sense(_S, "a religion")
    POLITICS = Sense(_S, "a political opinion or vote")
    CRIME = Sense(_S, "an offence")
    SEXUALITY = Sense(_S, "a fact about sexual life")
    HABIT = Sense(_S, "the use of alcohol, tobacco or drugs")
    WELFARE = Sense(_S, "a social benefit")
    RESULT = Sense(_S, "a result of an examination")
    OPINION = Sense(_S, "an opinion or feeling")

    @property
    def sense(self) -> Sense:
        """The meaning's role, noun and rank."""
        return Sense(*self.value)


_KEY = "id|ids|key|no|nr|nbr|num|number|nummer|numero|numara|identifier|kimlik|kodu|code|cod|codigo"
_DATE = "date|datum|fecha|data|tarih|tarihi|day|tag|jour|dia|gun|year|jahr|annee|ano|anio|yil|yili"

_WORDS: dict[Meaning, str] = {
    Meaning.HOUSEHOLD_SIZE: (
        "hhsize household+size hh+size family+size children kids dependants dependents "
        "haushaltsgrosse kinder kinderzahl personenzahl taille+menage enfants nb+enfants "
        "tamano+hogar hijos integrantes tamanho+familia filhos moradores hane+buyukluk* cocuk "
        "cocuklar cocuk+sayisi kisi+sayisi "
        "child kid nkids nchild* kids* children* =family =fam famsize parity size+family hijo "
        "filho enfant siblings geschwister hermanos irmaos"
    ),
    Meaning.HOUSEHOLD: (
        "household+KEY hh+KEY hhid hhnr haushalt*+KEY haushaltsnummer haushaltsnr haushaltsid "
        "family+KEY familien*+KEY familiennummer menage+KEY foyer+KEY hogar+KEY folio "
        "domicilio+KEY agregado+KEY familia+KEY hane+KEY haneno =household =hogar =haushalt "
        "=menage =hh =hane"
    ),
    Meaning.SAMPLE_WEIGHT: (
        "fnlwgt *weight+sampl* *weight+survey *weight+final hhweight pweight pweights "
        "weighting sampling+weight gewichtung hochrechnungsfaktor hochrechnung gewichtungsfaktor "
        "ponderation coefficient+ponderation poids+sondage poids+final poids+menage "
        "poids+individu ponderacion ponderador factor+expansion factorel peso+amostral "
        "peso+muestral fator+expansao agirlik+katsayi* orneklem+agirlik* agirlikli"
    ),
    Meaning.SAMPLE_DESIGN: (
        "stratum strata psu ssu cluster enumeration+area ea segment+sampl* upm estrato estratos "
        "conglomerado grappe strate schicht tabaka kume"
    ),
    Meaning.NATIONAL_NUMBER: (
        "ssn social+security+KEY sozialversicherungsnummer svnr steuer*+KEY steuernummer steuerid "
        "versichertennummer versichertennr krankenversichertennummer passport passeport pasaporte "
        "passaporte pasaport reisepass* personalausweis* nir secu securite+sociale dni nie nif "
        "cpf rg tckn tc+kimlik kimlik+no national+KEY nhs+KEY medicare+KEY medicaid+KEY tax+KEY "
        "insurance+KEY licen?e driver+licen?e fuhrerschein* permis+conduire seguridad+social"
    ),
    Meaning.ACCOUNT: (
        "iban bic account+KEY konto kontonummer kontonr bankverbindung rib+KEY credit+card "
        "card+KEY kreditkarte* carte+bancaire tarjeta cartao kart+KEY hesap+KEY cuenta+KEY "
        "conta+KEY compte+KEY"
    ),
    Meaning.E_MAIL: (
        "email mail emails courriel correo eposta posta+elektron* e+mail e+posta"
    ),
    Meaning.TELEPHONE: (
        "phone telephone mobile fax telefon tel handy handynummer telefonnummer rufnummer "
        "portable telefono movil celular telefone telemovel gsm cep+telefon*"
    ),
    Meaning.BIRTH: (
        "dob birthdate birthday birthyear yob born bday birth+DATE geburtsdatum geburtsjahr "
        "geburtstag gebdat gebdatum gebjahr naissance+DATE ne+DATE nacimiento+DATE "
        "nascimento+DATE dtnasc dogum+DATE dogumtarihi naissance nacimiento nascimento"
    ),
    Meaning.POSTCODE: (
        "zip zipcode zipcodes postcode postalcode postal postleitzahl plz cp code+postal "
        "codigo+postal cep cod+postal posta+kodu postakodu pincode"
    ),
    Meaning.EVENT_DATE: (
        "DATE+admi* DATE+discharg* DATE+visit DATE+enter* DATE+start DATE+end DATE+death "
        "DATE+exam* DATE+diagnos* DATE+event DATE+treatment DATE+order DATE+sale admitted "
        "discharged admission+DATE aufnahmedatum entlassungsdatum aufnahme+DATE entlassung*+DATE "
        "behandlungsdatum untersuchungs* sterbedatum besuch+DATE eintritt* austritt* entree+DATE "
        "sortie+DATE consultation+DATE deces+DATE ingreso+DATE alta+DATE visita+DATE "
        "consulta+DATE defuncion+DATE internacao+DATE atendimento+DATE obito+DATE basvuru+DATE "
        "yatis+DATE taburcu+DATE muayene+DATE olum+DATE cikis+DATE giris+DATE"
    ),
    Meaning.BOOK_KEEPING: (
        "timestamp created updated modified uploaded inserted batch filename version recorded "
        "erstellt geandert horodatage zeitstempel creado actualizado criado atualizado olusturma "
        "interviewer enumerator encuestador enqueteur entrevistador"
    ),
    Meaning.DIAGNOSIS: (
        "diagnosis diagnoses diagnos? diag dx icd disease diseases disorder illness condition "
        "conditions symptom symptoms comorbid* diagnose diagnosen hauptdiagnose nebendiagnose "
        "diagnosetext krankheit krankheiten erkrankung* befund symptome beschwerden diagnostic "
        "diagnostics maladie maladies symptomes affection pathologie diagnostico diagnosticos "
        "enfermedad enfermedades sintoma sintomas padecimiento doenca doencas cid tani teshis "
        "hastalik hastaliklar* semptom* sikayet* cause+death causa+muerte cause+deces "
        "todesursache"
    ),
    Meaning.DRUG: (
        "drug drugs medication medications medicine medicines atc prescription* substance+active "
        "pharma* medikament medikamente arzneimittel wirkstoff praparat pzn medicament "
        "medicaments ordonnance medicamento medicamentos farmaco farmacos remedio remedios receta "
        "ilac ilaclar* recete insulin metformin"
    ),
    Meaning.TREATMENT: (
        "treatment treatments therapy therapies procedure procedures surgery operation therapie "
        "therapien behandlung behandlungen eingriff ops traitement traitements intervention "
        "tratamiento tratamientos cirugia procedimiento tratamento tratamentos cirurgia "
        "procedimento tedavi tedaviler* ameliyat"
    ),
    Meaning.SEXUALITY: (
        "sexuality sexual* orientation+sex* homosex* lgbt* sexualitat"
    ),
    Meaning.HABIT: (
        "smok* smoker tobacco alcohol drinking cannabis rauch* raucher alkohol tabak fum* fumeur "
        "tabac alcool fumador tabaco fumante sigara icki dependency addict* *sucht toxicoman* "
        "adiccion* bagimlilik*"
    ),
    Meaning.HEALTH: (
        "health hiv aids disability disabilities disabled pregnancy pregnant allerg* vaccin* "
        "blood bmi glucose hba cholesterol pressure heart lab readmi* outcome mental disposition "
        "hospitali* covid gesundheit* behinderung schwanger* blutdruck blut* impf* allergie* "
        "sante handicap grossesse sang tension salud discapacidad embarazo alergia* sangre "
        "vacuna* saude deficiencia gravidez gestante sangue saglik engel* gebelik hamile* kan "
        "alerji* asi"
    ),
    Meaning.OPINION: (
        "satisf* dissatisf* happy happiness wellbeing trust attitude* opinion opinions agree* "
        "approve* approval favo?r* belief* importance stress* rated rating ratings "
        "zufrieden* meinung* vertrauen einstellung* gluck* zustimm* confiance avis bonheur "
        "attitudes accord felicidad confianza acuerdo satisfac* confianca felicidade concord* "
        "memnun* guven mutlu* gorus* tutum*"
    ),
    Meaning.MONEY: (
        "income incomes salary salaries wage wages earning earnings revenue debt debts credit "
        "loan loans balance savings wealth rent pension tax taxes expenditure* expense expenses "
        "spend* spent cost costs charge charges amount turnover capital+gain capital+loss "
        "mortgage payment payments exp remittance* *einkommen* *gehalt *lohn *verdienst miete "
        "schulden kredit* vermogen kosten ausgaben* rente betrag revenu revenus salaire salaires "
        "loyer dette dettes depense depenses montant cout patrimoine epargne solde credito saldo "
        "limite inadimpl* atraso ingreso ingresos salario salarios sueldo renta deuda deudas "
        "gasto gastos monto importe ahorro ahorros renda rendimento rendimentos vencimento divida "
        "dividas despesa despesas poupanca gelir geliri maas ucret borc harcama* gider* kira "
        "tutar kazanc tasarruf monthly+pay"
    ),
    Meaning.WELFARE: (
        "welfare benefit benefits unemploy*+benefit snap+benefit sozialhilfe burgergeld "
        "arbeitslosengeld allocation allocations rsa subsidio subsidios ayuda prestacion* "
        "bolsa+familia beneficio beneficios sosyal+yardim yardim"
    ),
    Meaning.RELIGION: (
        "religion religious religions faith konfession kirche culte religiao iglesia igreja din "
        "dini mezhep"
    ),
    Meaning.POLITICS: (
        " trade+union "
        "partei wahl wahlverhalten stimme meinung gewerkschaft parti votes politique syndicat "
        "partido voto votos sindicato oy secim siyasi sendika ideology"
    ),
    Meaning.CRIME: (
        "crime crimes criminal conviction* offen?e offen?es arrest* prison sentence straftat* "
        "vorstrafe* delikt delit infraction condamn* delito* condena* crime* condenacao suc "
        "sabika* mahkumiyet"
    ),
    Meaning.SEX: (
        "sex gender sexe geschlecht genre sexo genero cinsiyet cins"
    ),
    Meaning.AGE: (
        "age ages alter idade edad yas yasi agegroup altersgruppe ppage *age+years "
        "age? agegrp"
    ),
    Meaning.MARITAL: (
        "marital married marriage civil+status familienstand zivilstand personenstand etat+civil "
        "situation+familiale matrimonial* estado+civil medeni* evlilik"
    ),
    Meaning.ORIGIN: (
        "race races ethnic* ethnicity tribe caste indigenous migration* herkunft ethnie origine "
        "raza etnia etnica indigena raca cor etnik koken irk"
    ),
    Meaning.COUNTRY: (
        "country countries nationality nation citizenship birthplace land staatsangehorigkeit "
        "staatsburgerschaft nationalitat staat pays nationalite pais nacionalidad nacionalidade "
        "ulke uyruk uyrugu vatandaslik "
        "citizen* foreign* immigrant* migrant* nativ* born+abroad auslander* etranger* "
        "extranjer* estrangeir* yabanci"
    ),
    Meaning.EDUCATION: (
        "education educ school+level degree degrees qualification schooling literacy bildung "
        "bildungsabschluss schulabschluss abschluss ausbildung schulbildung diplome etudes "
        "etude+niveau instruction scolar* educacion estudios escolaridad escolaridade educacao "
        "instrucao egitim ogrenim mezuniyet "
        "edu educ* edlevel* school+years yschool* highschool hschool qualific* diplom* study "
        "studies"
    ),
    Meaning.OCCUPATION: (
        "occupation job jobs profession isco trade beruf berufe berufsgruppe tatigkeit metier csp "
        "pcs ocupacion profesion oficio ocupacao profissao cargo meslek is+KEY "
        "developer administrator engineer designer programmer scientist manager teacher nurse "
        "clerk farmer student retired pensioner veteran military rentner schuler retraite "
        "etudiant jubilado estudiante aposentado emekli ogrenci"
    ),
    Meaning.EMPLOYMENT: (
        "workclass employment employed industry nace sector employer company workplace unemployed "
        "erwerb* beschaftigung* branche arbeitgeber emploi secteur employeur entreprise activite "
        "empleo empleador empresa situacion+laboral emprego empregador setor istihdam sektor "
        "isveren isyeri "
        "self+emp* selfemp* unemp* outwork* worker seniority tenure+job hours+work* "
        "hours+week* whrs* work+status years+work* experience exper labor labour job+status "
        "arbeits* beruf*+erfahrung* anciennete heures+travail antiguedad horas+trab* "
        "experiencia deneyim kidem calisma*"
    ),
    Meaning.RELATION: (
        "relationship relation head verwandtschaft* lien+parente parentesco yakinlik"
    ),
    Meaning.LANGUAGE: (
        "language languages tongue sprache muttersprache langue langues idioma lingua lengua dil "
        "ana+dil anadil "
        "lang"
    ),
    Meaning.INSTITUTION: (
        "hospital clinic school university ward department provider physician doctor surgeon "
        "court branch store klinik krankenhaus station abteilung schule universitat arzt hausarzt "
        "filiale gericht hopital clinique service ecole universite medecin agence clinica escuela "
        "universidad medico servicio sucursal escola universidade medica loja hastane bolum okul "
        "doktor hekim sube specialty fachrichtung especialidad "
        "site center centre institution inst zentrum centro merkez"
    ),
    Meaning.ADDRESS: (
        "address street house+KEY adresse anschrift strasse hausnummer rue voie direccion calle "
        "domicilio endereco rua morada logradouro adres adresi sokak cadde mahalle latitude "
        "longitude lat lon lng gps coordinates koordinaten"
    ),
    Meaning.REGION: (
        "region state province county district territory governorate urban rural urbrur "
        "bundesland kreis landkreis bezirk regierungsbezirk kanton departement regione provincia "
        "comunidad+autonoma departamento estado uf concelho distrito regiao il bolge ilce "
        "kent+kir nuts "
        "north south east west northeast northwest southeast southwest midwest nord sud ost "
        "norte sur sul oeste kuzey guney dogu bati metro* smsa urbanicity inland"
    ),
    Meaning.PLACE: (
        "city town village municipality commune place residence location ort wohnort stadt "
        "gemeinde wohngemeinde ville localite ciudad municipio localidad poblacion cidade "
        "freguesia localidade sehir koy yer neighbo?rhood population inhabitants einwohner* "
        "habitants habitantes nufus"
    ),
    Meaning.DWELLING: (
        "roof wall walls floor dwelling housing home tenure own owns owned car cars vehicle tv "
        "radio fridge refrigerator water toilet electricity electcon internet computer rooms "
        "bicycle motorbike livestock cattle dach wohnung auto fahrzeug eigentum toit mur logement "
        "voiture vivienda techo pared piso agua coche carro casa telhado parede moradia veiculo "
        "konut cati duvar araba ev tuvalet"
    ),
    Meaning.APPEARANCE: (
        "height stature handed* left+hand* eye+colo* hair+colo* glasses korpergrosse augenfarbe "
        "haarfarbe estatura altura boy+cm"
    ),
    Meaning.RESULT: (
        "score grade grades exam test result results rating punkte zensur prufung ergebnis "
        "resultat resultats examen nota notas resultado resultados puntaje calificacion pontuacao "
        "sinav puan sonuc"
    ),
    Meaning.FREE_TEXT: (
        "comment comments remark remarks notes freetext narrative kommentar kommentare bemerkung "
        "bemerkungen anmerkung anmerkungen freitext notiz notizen commentaire commentaires "
        "remarque remarques observation observations comentario comentarios observacion "
        "observaciones observacao observacoes obs aciklama not notlar yorum"
    ),
    Meaning.LOGIN: (
        "username login user+name nickname handle ip mac imei url benutzername utilisateur "
        "usuario kullanici device+KEY photo foto"
    ),
    Meaning.NAME: (
        "=first =last name names surname firstname lastname fullname cognome nominativo "
        "middlename familyname forename givenname initials vorname "
        "nachname familienname zuname nom prenom nombre apellido apellidos nome sobrenome apelido "
        "ad adi soyad soyadi isim fname lname"
    ),
    Meaning.PERSON_KEY: (
        "id ids uuid guid mrn pid personid patientid respid patient+KEY person+KEY subject+KEY "
        "member+KEY customer+KEY client+KEY case+KEY encounter+KEY visit+KEY record+KEY "
        "employee+KEY student+KEY respondent+KEY patient person subject respondent "
        "patientennummer patientennr patnr fallnummer fallnr kundennummer personalnummer "
        "matrikelnummer aktenzeichen dossier expediente prontuario matricula hasta+KEY "
        "musteri+KEY dosya+KEY kayit+KEY sira+KEY kimlik key number nummer numero numara "
        "identificador identifiant "
        "=nr =no =obs =row =index =idx caseid caseno patid patno persid personnr subjid "
        "subjectid userid custid customerid clientid memberid studentid empid idnum idno "
        "recordid rowid rownum*"
    ),
}  # fmt: skip

_FILLING = (
    " of de du da do das dos des di der die the la le el los las l d en im in an am at a o e y et "
    "und ve and "
)


class _Pattern(NamedTuple):
    single: re.Pattern[str]
    whole: frozenset[str]
    together: tuple[tuple[re.Pattern[str], ...], ...]


@cache
def _patterns() -> dict[Meaning, _Pattern]:
    patterns = {}
    for meaning, words in _WORDS.items():
        listed = words.split()
        alone = "|".join(_regular(word) for word in listed if "+" not in word and word[0] != "=")
        whole = frozenset(word[1:] for word in listed if word[0] == "=")
        together = [
            tuple(re.compile(rf"\b(?:{_regular(part)})\b") for part in word.split("+"))
            for word in listed
            if "+" in word
        ]
        patterns[meaning] = _Pattern(re.compile(rf"\b(?:{alone})\b"), whole, tuple(together))
    return patterns


def _regular(word: str) -> str:
    expanded = {"KEY": _KEY, "DATE": _DATE}.get(word, word)
    return expanded.replace("*", "[a-z]*").replace("?", "[a-z]")


def named_meanings(words: str) -> Iterator[tuple[Meaning, str]]:
    """Yield the meanings of a column's name, given as words, each with the words that say so."""
    telling = [word for word in words.split() if f" {word} " not in _FILLING]
    name = " ".join(telling) or words
    if name.startswith(ASKED):  # a question; a rate by month or hour is a number
        yield Meaning.OPINION, ASKED.strip()
    for meaning, pattern in _patterns().items():
        matched = _matching_words(pattern, name)
        if matched is not None:
            yield meaning, matched


ASKED = "rate "
SHORTEST_STEM = 4  # letters
LONGEST_AFFIX = 3


@cache
def _stems() -> list[tuple[str, Meaning]]:
    """Listed words, the longest first, that a short affix may make another word of."""
    stems = [
        (word, meaning)
        for meaning, words in _WORDS.items()
        if meaning.sense.role in (_Q, _S)
        for word in re.findall(r"(?<!\S)[a-z]+(?!\S)", words)
        if len(word) >= SHORTEST_STEM
    ]
    return sorted(stems, key=lambda stem: -len(stem[0]))


def stem_meanings(words: str) -> Iterator[tuple[Meaning, str]]:
    """Yield the meanings of words that a short affix makes of listed ones: educ+w, n+disease."""
    for word in words.split():
        for stem, meaning in _stems():
            affix = len(word) - len(stem)
            fits = word.startswith(stem) or word.endswith(stem)
            if 0 < affix <= LONGEST_AFFIX and fits:
                yield meaning, word
                break


def _matching_words(pattern: _Pattern, name: str) -> str | None:
    """Return the words of a name that fit a pattern; None where none do."""
    for parts in pattern.together:
        matches = [match for part in parts if (match := part.search(name))]
        if len({match.start() for match in matches}) == len(parts):
            return " ".join(match[0] for match in matches)
    single = pattern.single.search(name)
    if single:
        return single[0]
    return name if name in pattern.whole else None

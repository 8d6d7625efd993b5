"""Words that tell what a column's values are: sexes, countries, diseases, names of persons.

Short lists of our own in six or seven languages, without accents and in small letters. They
recognize a column where most values, or for names of persons a good share, are listed.

Harmless values of a sensitive attribute, whose disclosure may harm no person, are a proposal for
the steward, who alone can decide: "No" may be the secret of a survey. Only listed words and the
number 0 are proposed, so no other cell is repeated. In a yes/no column the majority is proposed,
whichever it is; elsewhere a word for the absence of a finding, or 0 where it is the most frequent
count.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from discreet.job.identifying import without_accents
from discreet.job.proposing.vocabulary import Meaning
from discreet.statements import Statement
from discreet.table.coded_table import Column
from discreet.typing import Ints


def _listed(text: str) -> frozenset[str]:
    return frozenset(word.replace("_", " ") for word in text.split())


FAMILIAR: dict[Meaning, frozenset[str]] = {
    Meaning.SEX: _listed(
        "m f w male female man woman men women mann frau mannlich weiblich divers homme femme h"
        " masculin feminin hombre mujer masculino femenino feminino homem mulher erkek kadin kiz"
        " other diverse x unknown non-binary nonbinary"
    ),
    Meaning.MARITAL: _listed(
        "married single divorced widowed separated never-married never_married cohabiting"
        " partnered civil_partnership verheiratet ledig geschieden verwitwet getrennt_lebend"
        " marie mariee celibataire divorce divorcee veuf veuve pacse pacsee separe separee casado"
        " casada soltero soltera divorciado divorciada viudo viuda union_libre separado separada"
        " solteiro solteira viuvo viuva uniao_estavel evli bekar bosanmis dul married-civ-spouse"
        " married-spouse-absent married-af-spouse"
    ),
    Meaning.ORIGIN: _listed(
        "white black asian hispanic latino caucasian african-american africanamerican mixed"
        " amer-indian-eskimo asian-pac-islander native_american indigenous roma branca preta parda"
        " amarela indigena mestizo afrodescendiente other other/mixed"
    ),
    Meaning.RELIGION: _listed(
        "christian muslim catholic protestant orthodox jewish hindu buddhist sikh atheist none"
        " no_religion evangelisch katholisch romisch-katholisch muslimisch judisch konfessionslos"
        " catholique protestante musulman musulmane juif juive sans_religion catolico catolica"
        " evangelico evangelica musulmano judio ateo sin_religion catolica_romana judaica"
        " sem_religiao musluman hristiyan yahudi alevi sunni"
    ),
    Meaning.COUNTRY: _listed(
        "germany france spain portugal turkey italy poland austria switzerland netherlands belgium"
        " sweden norway denmark finland ireland greece england uk united_kingdom usa united_states"
        " united-states mexico canada brazil argentina chile colombia peru china japan india"
        " pakistan bangladesh vietnam philippines indonesia egypt morocco nigeria kenya ethiopia"
        " south_africa syria iraq iran afghanistan russia ukraine romania bulgaria hungary"
        " czechia deutschland frankreich spanien turkei italien polen osterreich schweiz syrien"
        " rumanien allemagne espagne turquie italie pologne maroc algerie tunisie senegal alemania"
        " francia espana turquia italia polonia marruecos venezuela ecuador bolivia alemanha franca"
        " espanha brasil angola mocambique almanya fransa ispanya turkiye italya suriye irak de fr"
        " es pt tr it pl at ch nl be gb us br"
    ),
    Meaning.EDUCATION: _listed(
        "bachelors masters doctorate hs-grad some-college bachelor master phd primary secondary"
        " tertiary high_school high_school_or_less college some_college university none abitur"
        " hauptschule realschule mittlere_reife fachhochschule universitat lehre hochschule"
        " gymnasium kein_abschluss bac licence doctorat brevet cap bts sans_diplome primaire"
        " secondaire superieur primaria secundaria bachillerato universidad licenciatura maestria"
        " fundamental medio superior mestrado doutorado ensino_medio ensino_superior ilkokul"
        " ortaokul lise universite yuksek_lisans doktora"
    ),
    Meaning.DIAGNOSIS: _listed(
        "diabetes asthma hypertension cancer influenza flu depression anxiety migraine gastritis"
        " pneumonia bronchitis arthritis stroke epilepsy hiv hepatitis copd anemia obesity dementia"
        " tuberculosis psoriasis eczema ulcer angina gout hypothyroidism schizophrenia healthy"
        " asthme hypertension_arterielle grippe cancer_du_sein diabete migrane bluthochdruck"
        " krebs grippe_a depressionen rheuma schlaganfall gastrite pneumonie asma hipertension"
        " depresion cancer_de_mama gripe migrana neumonia hipertensao depressao enxaqueca"
        " pneumonia_bacteriana diyabet astim hipertansiyon kanser grip depresyon migren gastrit"
        " zaturre cold fracture appendicitis"
    ),
    Meaning.DRUG: _listed(
        "aspirin ibuprofen paracetamol metformin insulin amoxicillin atorvastatin simvastatin"
        " omeprazole amlodipine lisinopril metoprolol prednisone warfarin sertraline fluoxetine"
        " salbutamol levothyroxine antibiotic statin ramipril bisoprolol pantoprazol metformina"
        " ibuprofeno insulina insuline amoxicilina omeprazol losartan parasetamol"
    ),
}

GIVEN_NAMES = _listed(
    "james john robert michael william david richard joseph thomas charles mary patricia jennifer"
    " linda elizabeth barbara susan jessica sarah karen emma olivia ava sophia isabella mia amelia"
    " noah liam oliver elijah lucas mason logan ethan jack harry george emily grace anna laura"
    " hans peter klaus jurgen wolfgang thomas andreas stefan michael markus sabine petra monika"
    " ursula renate karin heike anja katrin julia lena lea felix jonas leon finn paul maximilian"
    " jean pierre michel andre philippe alain jacques marie nathalie isabelle catherine monique"
    " francoise sylvie camille chloe manon lucie louis hugo jules gabriel arthur antoine nicolas"
    " jose antonio manuel francisco juan pedro jesus javier carlos miguel luis maria carmen ana"
    " isabel dolores pilar teresa rosa lucia paula elena marta sofia diego pablo alejandro sergio"
    " joao paulo rafael fernando ricardo bruno tiago joana beatriz ines mariana fernanda juliana"
    " adriana camila gabriela catarina rui nuno mehmet mustafa ahmet ali huseyin hasan ibrahim"
    " ismail osman murat emre yusuf fatma ayse emine hatice zeynep elif merve esra busra selin"
    " deniz cem can burak ozge ebru giulia marco chiara luca matteo alessandro alessandra giuseppe"
    " giovanni giorgio francesca silvia paolo andrea davide stefano roberta federica simona"
)
FAMILY_NAMES = _listed(
    "smith jones williams taylor brown davies evans wilson johnson roberts miller davis moore"
    " anderson jackson white harris martin thompson garcia martinez robinson clark lewis walker"
    " muller schmidt schneider fischer weber meyer wagner becker schulz hoffmann schafer koch bauer"
    " richter klein wolf bernard dubois durand moreau laurent simon lefebvre leroy roux david"
    " rodriguez gonzalez fernandez lopez sanchez perez gomez ruiz hernandez diaz moreno munoz"
    " silva santos ferreira pereira oliveira costa rodrigues martins jesus sousa fernandes"
    " goncalves gomes lopes marques almeida ribeiro yilmaz kaya demir sahin celik yildiz yildirim"
    " ozturk aydin ozdemir arslan dogan kilic aslan cetin kara koc kurt rossi russo ferrari"
    " esposito bianchi romano colombo ricci marino greco bruno gallo conti mancini rizzo lombardi"
)
STREET_WORDS = (
    r"(?:\b(?:street|st|road|rd|avenue|ave|lane|ln|drive|dr|court|square|boulevard|blvd|weg|platz"
    r"|allee|gasse|rue|impasse|chemin|calle|avenida|avda|plaza|paseo|rua|travessa|largo|sokak"
    r"|sokagi|cadde|caddesi|cad|sok|mahallesi|mah|bulvari)\b|stra(?:ss|ß)e|str\.)"
)

# Values that also name the column of a yes/no question: 'female', 'black', 'married', 'diabetes'.
_ASKED = (Meaning.SEX, Meaning.ORIGIN, Meaning.MARITAL, Meaning.RELIGION, Meaning.DIAGNOSIS,
          Meaning.DRUG)  # fmt: skip
_SAY_NOTHING = _listed("other none unknown mixed cold healthy divers diverse general amarela")
_SHORTEST = 3  # letters of a value that names a column


def value_meanings(words: str) -> Iterator[tuple[Meaning, str]]:
    """Yield the meanings of a name that is, or contains, a familiar value: one that is asked."""
    for meaning in _ASKED:
        for word in words.split():
            asked = len(word) >= _SHORTEST and word not in _SAY_NOTHING
            if asked and word in FAMILIAR[meaning]:
                yield meaning, word


_YES = _listed("yes y true t positive pos + 1 ja j wahr oui o vrai si s verdadero sim verdadeiro"
               " evet e dogru vero positiv positif positivo pozitif")  # fmt: skip
_NO = _listed("no n false f negative neg - 0 nein falsch non faux falso nao hayir h yanlis negativ"
              " negatif negativo")  # fmt: skip
_REASONS = {
    "none": _listed(
        "no none nil nothing never absent n/a na not_applicable nein kein keine keiner nie ohne"
        " entfallt nicht_zutreffend non aucun aucune rien jamais sans_objet ninguno ninguna nada"
        " nunca no_aplica nao nenhum nenhuma nao_se_aplica hayir yok hic hicbiri nessuno nessuna"
        " niente mai false falsch faux falso"
    ),
    "normal": _listed(
        "normal norm negative neg healthy unremarkable within_normal_limits wnl no_finding"
        " no_findings negativ gesund unauffallig ohne_befund o.b. negatif sain saine"
        " rien_a_signaler negativo sano sana sin_hallazgos saudavel sem_alteracoes saglikli normale"
        " nella_norma"
    ),
    "untested": _listed(
        "not_tested untested not_done not_performed not_taken not_available not_measured"
        " nicht_getestet nicht_untersucht nicht_gemessen nicht_durchgefuhrt non_teste non_mesure"
        " non_realise no_realizado no_medido sin_prueba nao_testado nao_realizado nao_medido"
        " test_edilmedi yapilmadi olculmedi non_testato non_eseguito"
    ),
}


def harmless_values(column: Column) -> tuple[list[str], Statement] | None:
    """The values that may be no secret, and the reason; None where none is, or all are."""
    text = column.text.drop_nulls()
    words = [_plain(value) for value in text.to_list()]
    counts = column.counts[: len(words)]  # a missing value comes last
    if len(words) < 2:
        return None
    if len(words) == 2 and set(words) <= _YES | _NO and {*words} & _YES and {*words} & _NO:
        most = int(counts.argmax())
        share = int(counts[most]) / max(int(counts.sum()), 1)
        if share <= 0.5:
            return None
        return [text[most]], Statement("harmless.majority", share=share)
    reason_of = {
        value: reason
        for value, word in zip(text.to_list(), words, strict=True)
        for reason, listed in _REASONS.items()
        if word in listed
    }
    if not reason_of and _mostly_zero(text, counts):
        return ["0"], Statement("harmless.zero")
    if not reason_of or len(reason_of) == len(words):
        return None
    reasons = [
        Statement(f"harmless.{reason}", values=[v for v, its in reason_of.items() if its == reason])
        for reason in dict.fromkeys(reason_of.values())
    ]
    return list(reason_of), Statement("harmless.several", reasons=reasons)


def is_harmless(value: str) -> bool:
    """Whether a value says "no", "none", "normal" or "not tested", or is 0."""
    word = _plain(value)
    return word == "0" or word in _NO or any(word in listed for listed in _REASONS.values())


def _mostly_zero(text: pl.Series, counts: Ints) -> bool:
    """Whether all values are whole numbers from 0 on, of which 0 is the most frequent."""
    if not text.str.contains(r"^\d{1,9}$").all() or "0" not in text.to_list():
        return False
    return bool(text[int(counts.argmax())] == "0")


def _plain(value: str) -> str:
    """A value in small letters, without accents and surrounding blanks."""
    return without_accents(value.strip()).lower()

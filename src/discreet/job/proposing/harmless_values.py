"""Values of a sensitive attribute whose disclosure may harm no person, and why.

A proposal for the steward, who alone can decide: "No" may be the secret of a survey. Only words of
the lists below, in seven languages, without accents and in small letters, and the number 0 are
proposed, so no other cell is repeated. In a yes/no column the majority is proposed, whichever it
is; elsewhere a word for the absence of a finding, or 0 where it is the most frequent count.
"""

from __future__ import annotations

import polars as pl

from discreet.job.identifying import without_accents
from discreet.table.coded_table import Column
from discreet.typing import Ints


def _listed(text: str) -> frozenset[str]:
    return frozenset(word.replace("_", " ") for word in text.split())


_YES = _listed("yes y true t positive pos + 1 ja j wahr oui o vrai si s verdadero sim verdadeiro"
               " evet e dogru vero positiv positif positivo pozitif")  # fmt: skip
_NO = _listed("no n false f negative neg - 0 nein falsch non faux falso nao hayir h yanlis negativ"
              " negatif negativo")  # fmt: skip
_REASONS = {
    "says that there is none": _listed(
        "no none nil nothing never absent n/a na not_applicable nein kein keine keiner nie ohne"
        " entfallt nicht_zutreffend non aucun aucune rien jamais sans_objet ninguno ninguna nada"
        " nunca no_aplica nao nenhum nenhuma nao_se_aplica hayir yok hic hicbiri nessuno nessuna"
        " niente mai false falsch faux falso"
    ),
    "says that nothing was found": _listed(
        "normal norm negative neg healthy unremarkable within_normal_limits wnl no_finding"
        " no_findings negativ gesund unauffallig ohne_befund o.b. negatif sain saine"
        " rien_a_signaler negativo sano sana sin_hallazgos saudavel sem_alteracoes saglikli normale"
        " nella_norma"
    ),
    "says that it was not examined": _listed(
        "not_tested untested not_done not_performed not_taken not_available not_measured"
        " nicht_getestet nicht_untersucht nicht_gemessen nicht_durchgefuhrt non_teste non_mesure"
        " non_realise no_realizado no_medido sin_prueba nao_testado nao_realizado nao_medido"
        " test_edilmedi yapilmadi olculmedi non_testato non_eseguito"
    ),
}


def harmless_values(column: Column) -> tuple[list[str], str] | None:
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
        return [text[most]], f"the majority of a yes/no column, {share:.0%}"
    found = {
        value: reason
        for value, word in zip(text.to_list(), words, strict=True)
        for reason, listed in _REASONS.items()
        if word in listed
    }
    if not found and _mostly_zero(text, counts):
        return ["0"], "the most frequent of its whole numbers: mostly there is nothing to count"
    if not found or len(found) == len(words):
        return None
    reasons = dict.fromkeys(found.values())
    return list(found), "; ".join(
        f"{', '.join(repr(value) for value, one in found.items() if one == reason)} {reason}"
        for reason in reasons
    )


def _mostly_zero(text: pl.Series, counts: Ints) -> bool:
    """Whether all values are whole numbers from 0 on, of which 0 is the most frequent."""
    if not text.str.contains(r"^\d{1,9}$").all() or "0" not in text.to_list():
        return False
    return bool(text[int(counts.argmax())] == "0")


def _plain(value: str) -> str:
    """A value in small letters, without accents and surrounding blanks."""
    return without_accents(value.strip()).lower()

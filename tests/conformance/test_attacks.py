"""The built-in attacks pass the conformance kit that plugins use."""

from __future__ import annotations

import pytest

import discreet as dc
from discreet.attacks.registry import ATTACKS
from discreet.testing import check_attack
from discreet.testing.sample_tables import ATTRIBUTES, sample_job, sample_table

# Attacks that only releases by other methods allow, or that need to be told something.
GIVEN: dict[str, dict[str, object]] = {
    "similarity": {"kinds_of": {"diagnosis": {"breath": ("asthma", "cold", "flu")}}},
    "background-knowledge": {
        "rules": [{"who": {"zip": ["101"]}, "attribute": "diagnosis", "never": ["flu"]}]
    },
}


# They need another release, suppressed rows or several tables, which the kit's releases lack.
ELSEWHERE = {"intersection", "absence", "associated"}


@pytest.mark.parametrize("name", [name for name in ATTACKS.built_in if name not in ELSEWHERE])
def test_conformance(name, tmp_path):
    releases = []
    if name == "quasi-sensitive-linking":
        releases.append(quasi_sensitive_case(tmp_path))
    check_attack(ATTACKS[name](**GIVEN.get(name, {})), releases=releases)


def quasi_sensitive_case(folder):
    path = folder / "knowledge.csv"
    path.write_text("label,term\nflu,asthma\nflu,cold\nill,flu\nill,gout\nill,cold\n")
    knowledge = {"path": str(path), "label": "label", "term": "term"}
    entry = {"role": "quasi-sensitive", "multi_valued": " ", "knowledge": knowledge}
    job = sample_job(
        dc.QuasiSensitive(), [dc.QsClDiversity(c=3, l=2)], {**ATTRIBUTES, "diagnosis": entry}
    )
    return sample_table(9), job

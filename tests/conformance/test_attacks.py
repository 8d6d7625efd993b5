"""The built-in attacks pass the conformance kit that plugins use."""

from __future__ import annotations

from typing import ClassVar

import pytest

import discreet as dc
from discreet.attacks.base import Attack, Finding
from discreet.attacks.class_attacks import Homogeneity
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


@pytest.mark.parametrize("name", ATTACKS.built_in)
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
        dc.QuasiSensitive(), [dc.QSCLDiversity(c=3, l=2)], {**ATTRIBUTES, "diagnosis": entry}
    )
    return sample_table(9), job


class Mistaken(Homogeneity):
    """An attack whose findings are changed."""

    name: ClassVar[str] = "mistaken"
    changes: ClassVar[dict[str, object]] = {}

    def run(self, scene):
        found = super().run(scene)
        return [Finding(**{**vars(one), **self.changes}) for one in found]


def mistaken(**changes):
    kind: type[Attack] = type("Other", (Mistaken,), {"__doc__": "Wrong.", "changes": changes})
    return kind()


@pytest.mark.parametrize(
    ("attack", "problem"),
    [
        (mistaken(mean=1.5, greatest=1.5), "mean 1.5, which is not in"),
        (mistaken(mean=0.9, greatest=0.1), "a mean above its greatest"),
        (mistaken(histogram=(1, 2)), "a histogram of 3"),
        (mistaken(exceeded=True), "exceeds what a release guarantees"),
        (mistaken(mean=0.0), "without the release"),
        (mistaken(attack="other"), "is named 'other'"),
    ],
    ids=lambda case: case if isinstance(case, str) else "",
)
def test_mistakes_are_found(attack, problem, monkeypatch):
    monkeypatch.setitem(ATTACKS.built_in, "mistaken", type(attack))
    with pytest.raises(AssertionError, match=problem):
        check_attack(attack)

"""Each input of the verdict counts: disturbing it alone changes the verdict's word or reasons.

And what must not count does not: attackers that were not chosen, and what follows from the two
tables without any link.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from tests.saving import REASON

import discreet as dc
from discreet.addons.evidence.safe_harbor import named_identifier
from discreet.attacks.attackers import AttackerPreset, StandardAttacker
from discreet.attacks.registry import ATTACKS
from discreet.attacks.run import AttackReport
from discreet.job.attackers import JobAttackers
from discreet.job.parts import SignOff
from discreet.releases.analyst_errors import AnalystError, AnalystErrors
from discreet.releases.manifest import Manifest, SinglingOut
from discreet.report.risk_verdict import LOOK, READY, REFUSE, Review, RiskVerdict, risk_verdict


@pytest.fixture(scope="module")
def calm() -> tuple[Manifest, AttackReport]:
    """A release of which no attacker learns anything: each group has every pair equally often."""
    pairs = [(s, t) for s in "abcdef" for t in "uvwxyz"] * 2
    frame = pl.DataFrame(
        {
            "q": [1] * 36 + [2] * 36,
            "s": [s for s, _ in pairs],
            "t": [t for _, t in pairs],
            "v": [("k", "l", "m")[n % 3] for n in range(72)],
        }
    )
    roles = {"q": "quasi-identifier", "s": "sensitive", "t": "sensitive", "v": "sensitive"}
    job = dc.Job(
        attributes={name: {"role": role} for name, role in roles.items()},
        requirements=[dc.KAnonymity(k=3), dc.PDiversity(l=2)],
        method="mondrian",
    )
    release = dc.publish(frame, job, seed=1)
    return release.manifest, dc.attack(release, original=frame)


def judged(
    manifest: Manifest,
    attacks: AttackReport | None,
    chosen: Any = ("acquaintance", "colleague"),
    **further: Any,
) -> RiskVerdict:
    attackers = JobAttackers.model_validate(chosen)
    utility = further.pop("utility", {"loss": 0.1})
    return risk_verdict(manifest, Review(attacks), attackers, SignOff(), utility, **further)


def with_finding(attacks: AttackReport, attacker: StandardAttacker, **change: Any) -> AttackReport:
    """The same report, where one finding of an attacker about a value is disturbed."""
    at = next(
        number
        for number, one in enumerate(attacks.findings)
        if one.attacker is attacker and one.is_belief and one.aim in ("s", "t", "v")
    )
    found = list(attacks.findings)
    found[at] = replace(found[at], **change)
    return replace(attacks, findings=tuple(found))


def test_an_undisturbed_release_is_ready_for_every_choice(calm):
    for chosen in ("internal", "research", ["insider"], ["investigator"], ["excluder"]):
        assert judged(*calm, chosen).word == READY, (chosen, judged(*calm, chosen))


@pytest.mark.parametrize("attacker", ["acquaintance", "insider", "investigator", "excluder"])
@pytest.mark.parametrize("figure", ["newly_certain", "newly_above"])
def test_each_figure_of_each_chosen_attacker_counts_and_of_others_does_not(calm, attacker, figure):
    manifest, attacks = calm
    disturbed = with_finding(attacks, StandardAttacker(attacker), **{figure: 72})
    found = judged(manifest, disturbed, [attacker])
    assert found.word == REFUSE
    assert any(attacker in reason and "72 of 72" in reason for reason in found.reasons)
    if attacker == "acquaintance":
        return  # everybody's knowledge includes the acquaintance's
    apart = judged(manifest, disturbed, "internal")
    assert apart.word == READY and not apart.reasons
    assert any(attacker in sentence and "72 of 72" in sentence for sentence in apart.stronger)


def test_the_chance_to_pick_a_row_counts(calm):
    manifest, attacks = calm
    risks = (attacks.risks[0], *(replace(one, prosecutor=0.6) for one in attacks.risks[1:]))
    assert judged(manifest, replace(attacks, risks=risks)).word == REFUSE


def test_persons_who_are_singled_out_count_and_who_was_not_measured_does(calm):
    manifest, attacks = calm
    assert manifest.singling_out is not None
    assert judged(manifest, attacks).word == READY
    for known in ("0", "2", "all"):
        chosen = {"0": "internal", "2": "research", "all": "public"}[known]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                SinglingOut, "singled_out", lambda _, of, known=known: 0.2 * (of == known)
            )
            assert judged(manifest, attacks, chosen, ledger=True).word == REFUSE
            for other in {"internal", "research", "public"} - {chosen}:
                assert judged(manifest, attacks, other, ledger=True).word == READY
    unmeasured = manifest.model_copy(update={"singling_out": None})
    assert judged(unmeasured, attacks, "research").word == LOOK
    assert judged(unmeasured, attacks, "internal").word == READY


def test_a_broken_guarantee_refuses_whoever_breaks_it(calm):
    manifest, attacks = calm
    broken = with_finding(attacks, StandardAttacker.EXCLUDER, exceeded=True, inside=True)
    found = judged(manifest, broken, "internal")
    assert found.word == REFUSE and "it is broken" in found.reasons[0]


@pytest.mark.parametrize(
    "change",
    [{"unproved": "the population is not given"}, {"vacuous_for": ["s"]}],
    ids=["unproved", "vacuous"],
)
def test_an_unproved_or_vacuous_guarantee_counts(calm, change):
    manifest, attacks = calm
    disturbed = manifest.model_copy(deep=True)
    disturbed.promises[1] = disturbed.promises[1].model_copy(update=change)
    found = judged(disturbed, attacks)
    assert found.word == LOOK and "p-diversity" in found.reasons[0]


def test_no_guarantee_and_an_uncovered_attribute_count(calm):
    manifest, attacks = calm
    disturbed = manifest.model_copy(deep=True)
    disturbed.promises = []
    assert judged(disturbed, attacks).word == LOOK
    disturbed = manifest.model_copy(update={"coverage": {**manifest.coverage, "t": []}})
    found = judged(disturbed, attacks)
    assert found.word == LOOK and any("no guarantee covers" in one for one in found.reasons)


def test_a_column_that_may_identify_by_permission_counts_for_every_choice(calm):
    for chosen in ("internal", "research", ["investigator"]):
        found = judged(*calm, chosen, unguarded=["s", "v"])
        assert found.word == LOOK and "'s' and 'v'" in found.reasons[0]


def test_a_loss_of_nearly_everything_counts(calm):
    assert judged(*calm, utility={"loss": 0.95}).word == LOOK


@pytest.mark.parametrize("name", [name for name in ATTACKS if name != "intersection"])
def test_an_attack_that_was_left_out_counts_where_its_attacker_was_chosen(calm, name):
    manifest, attacks = calm
    attackers = [str(one) for one in ATTACKS[name].attackers]
    for disturbed in (
        replace(attacks, omitted={name: "the time limit of 1 s was reached"}),
        replace(attacks, omitted={f"{name} (reader 'row')": "more than 5 rows"}),
        replace(attacks, tried=attacks.tried - {name}),
    ):
        found = judged(manifest, disturbed, attackers[:1])
        assert found.word == LOOK and any(name in reason for reason in found.reasons)
        if "acquaintance" not in attackers:
            assert judged(manifest, disturbed, "internal").word == READY


def test_no_attack_at_all_counts(calm):
    manifest, _ = calm
    assert judged(manifest, None).word == LOOK


def test_the_archivist_needs_a_ledger_and_what_earlier_releases_reveal_counts(calm):
    found = judged(*calm, "public")
    assert found.word == LOOK and "ledger" in found.reasons[0]
    assert judged(*calm, "public", ledger=True).word == READY
    revealed = judged(*calm, "research", ledger=True, series=["3 records are also in others."])
    assert revealed.word == LOOK and revealed.reasons == ["3 records are also in others."]
    named = judged(*calm, ["acquaintance"], ledger=True, series=["3 records."])
    assert named.word == READY and named.stronger == ("3 records.",)


def test_presets_choose_the_attackers_of_the_specification():
    chosen = {
        (preset, ledger): [str(one) for one in preset.attackers(ledger=ledger)]
        for preset in AttackerPreset
        for ledger in (False, True)
    }
    assert chosen[AttackerPreset.INTERNAL, False] == ["acquaintance"]
    assert chosen[AttackerPreset.INTERNAL, True] == ["acquaintance", "archivist"]
    assert chosen[AttackerPreset.RESEARCH, False] == ["acquaintance", "colleague"]
    assert chosen[AttackerPreset.RESEARCH, True] == ["acquaintance", "colleague", "archivist"]
    everyone = ["acquaintance", "colleague", "insider", "archivist"]
    assert chosen[AttackerPreset.PUBLIC, False] == chosen[AttackerPreset.PUBLIC, True] == everyone
    assert JobAttackers().chosen(ledger=False).unchanged == 2
    assert JobAttackers.model_validate("public").chosen(ledger=False).unchanged is None


def test_a_column_that_follows_from_a_known_one_makes_nobody_newly_certain():
    """The rating follows from the rise in the whole table: the release adds nothing to that."""
    frame = pl.DataFrame(
        {
            "q": [n // 8 for n in range(64)],
            "rise": [str(n % 8) for n in range(64)],
            "rating": ["high" if n % 8 > 5 else "low" for n in range(64)],
        }
    )
    roles = {"q": "quasi-identifier", "rise": "sensitive", "rating": "sensitive"}
    job = dc.Job(
        attributes={name: {"role": role} for name, role in roles.items()},
        requirements=[dc.KAnonymity(k=4)],
        method="mondrian",
    )
    for method in ("mondrian", {"anatomy": {"l": 2}}, {"decomposition": {"l": 1}}):
        try:
            release = dc.publish(frame, job.using(method), seed=1)
        except dc.JobError:
            continue
        found = dc.attack(release, original=frame)
        rating = [
            one
            for one in found.about_values
            if one.aim == "rating" and one.details.get("known") == ["rise"]
        ]
        assert all(one.newly_certain == one.newly_above == 0 for one in rating), rating
        assert all(one.baseline == pytest.approx(1) for one in rating), rating


def test_a_release_that_serves_no_better_than_unlinked_tables_says_so(tmp_path):
    """One group holds everybody: the release says of the link what two tables say."""
    frame = pl.DataFrame(
        {
            "q": [n % 2 for n in range(80)],
            "s": ["ab"[(n % 2 + (n % 5 == 0)) % 2] for n in range(80)],
        }
    )
    attributes = {"q": {"role": "quasi-identifier"}, "s": {"role": "sensitive"}}
    for k, useless in ((80, True), (3, False)):
        job = dc.Job(attributes=attributes, requirements=[dc.KAnonymity(k=k)], method="mondrian")
        release = dc.publish(frame, job, seed=1)
        release.save(tmp_path / str(k), attack=60, accept_risk=REASON)
        said = "Analysts gain nothing by the link"
        page = (tmp_path / f"{k}.private.html").read_text(encoding="utf-8")
        assert any(said in line for line in release.verdict().lines()) is useless
        assert (said in page) is useless


def test_worse_counts_are_said_where_shares_are_better(tmp_path):
    frame = pl.DataFrame({"q": [n % 4 for n in range(80)], "s": list("abcd") * 20})
    attributes = {"q": {"role": "quasi-identifier"}, "s": {"role": "sensitive"}}
    release = dc.publish(frame, dc.Job(attributes=attributes, method="mondrian"), seed=1)
    release.save(tmp_path / "release", attack=60, accept_risk=REASON)
    worse = AnalystErrors(AnalystError(0.3, 0.1), AnalystError(0.1, 0.2), None)
    release.review = replace(release.review, errors=worse)
    (said,) = release.verdict().utility
    assert (said.id, said.parameters) == (
        "verdict.counts-worse", {"release": 0.3, "unlinked": 0.1}
    )  # fmt: skip
    assert said in release.verdict().lines()
    assert said in release.private_page().html()


def test_an_evidence_pack_starts_with_the_verdict_and_says_met_to_none_against_it(tmp_path):
    frame = pl.DataFrame(
        {"q": [n // 20 for n in range(80)], "s": ["abcd"[n // 20] for n in range(80)]}
    )
    frame.write_csv(tmp_path / "table.csv")
    (tmp_path / "job.yaml").write_text(
        "source: {path: table.csv}\nattributes:\n  q: {role: quasi-identifier}\n"
        "  s: {role: sensitive}\nrequirements:\n  - k-anonymity: {k: 20}\nmethod: mondrian\n"
    )
    job = dc.Job.load(tmp_path / "job.yaml")
    release = dc.publish(None, job, seed=1)
    assert release.save(tmp_path / "release", attack=60, accept_risk=REASON)
    assert release.verdict().word == REFUSE
    for framework in ("ema", "hipaa", "nist", "gdpr"):
        pack = dc.evidence(tmp_path / "release", framework, original=job)
        assert pack.verdict is not None and pack.verdict.word == REFUSE
        data = pack.to_dict()
        assert data["verdict"]["reasons"] == release.verdict().reasons
        assert data["thresholds"][0]["value"] <= 0.09  # 20 rows alike
        assert "met" not in {one["verdict"] for one in data["thresholds"]}
        page = pack._page()
        assert page.lede[0] == f"Verdict about risk: {REFUSE}."
        assert page.sections[0].title == f"Verdict about risk: {REFUSE}"
        risk = next(card for card in page.cards if card.key == "greatest-risk")
        assert ("0.09" in risk.note) is (framework == "ema")
    public = dc.evidence(tmp_path / "release", "ema")
    assert public.verdict is None
    assert public._page().lede[0].startswith("Verdict about risk: not given")


@pytest.mark.parametrize(
    ("name", "letter"),
    [
        ("number_outpatient", None), ("number_of_patients", None), ("num_procedures", None),
        ("number_diagnoses", None), ("patient_number", "H"), ("account_number", "J"),
        ("number plate", "L"), ("medical record number", "H"), ("number", "R"),
    ],
)  # fmt: skip
def test_counts_are_no_identifying_numbers(name, letter):
    assert named_identifier(name) == letter


@pytest.mark.parametrize(
    ("spared", "more", "chosen", "ready"),
    [
        ({}, {}, ["acquaintance"], False),  # "none" becomes certain
        ({"non_sensitive_values": ["none"]}, {}, ["acquaintance"], True),
        ({"non_sensitive_values": ["none"]}, {}, ["excluder"], False),  # without "none": certain
        ({"non_sensitive_values": ["none"]}, {"ruled_out": "harmless"}, ["excluder"], True),
    ],
)
def test_beliefs_in_harmless_values_do_not_count(spared, more, chosen, ready):
    """One group has no finding at all; others have one, or three where "none" is ruled out."""
    groups = [["none"] * 9, ["none"] * 9 + ["a"] * 9, ["none"] * 9 + ["b"] * 9]
    if more:
        groups = [["none"] * 9, *[["none"] * 12 + ["a"] * 4 + ["b"] * 4 + ["c"] * 4] * 2]
    rows = [(str(q), value) for q, group in enumerate(groups) for value in group]
    frame = pl.DataFrame(rows, schema=["q", "s"], orient="row")
    job = dc.Job(
        attributes={"q": {"role": "quasi-identifier"}, "s": {"role": "sensitive", **spared}},
        requirements=[{"p-diversity": {"l": 2 if spared else 1, **more}}],
        method={"full-domain": {"levels": {"q": 0}}},
    )
    release = dc.publish(frame, job, seed=1)
    found = judged(release.manifest, dc.attack(release, original=frame), chosen, utility={})
    words = [figure.word for figure in found.figures if figure.key in ("believed", "certain")]
    assert words
    assert (set(words) == {READY}) == ready, found


def test_a_published_column_whose_role_is_a_guess_asks_for_a_look(calm):
    decided, guessed = judged(*calm), judged(*calm, guessed=["v"])
    assert (decided.word, guessed.word) == (READY, LOOK)
    assert [reason.id for reason in guessed.reasons] == ["verdict.guessed-roles"]


def test_guesses_count_while_their_columns_are_published():
    roles = {"q": "quasi-identifier", "s": "sensitive", "t": "drop"}
    attributes = {name: {"role": role} for name, role in roles.items()}
    job = dc.Job(attributes=attributes, unconfirmed=["s", "t"])
    assert job.guessed == ["s"] and not job.confirmed().guessed
    with pytest.raises(dc.JobError, match=r"unconfirmed: 'u' is not an attribute"):
        dc.Job(attributes=attributes, unconfirmed=["u"])

"""Evidence packs: figures of audit and attacks, nothing more, marked gaps, and pages that print."""

from __future__ import annotations

import base64
import json
import re
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.report.test_browser import CUT_OFF
from tests.report.test_leaks import MARK, marked_job, write_table
from tests.saving import UNATTACKED
from typer.testing import CliRunner

import discreet as dc
from discreet.addons.evidence.document import NOT_COMPUTED, TO_WRITE, Evidence
from discreet.addons.evidence.make import frameworks
from discreet.attacks.base import Criterion
from discreet.cli.app import app
from discreet.io.signatures import create_keys, is_signed
from discreet.releases.audit.audit import read_tables
from discreet.releases.kinds.base import class_sizes
from discreet.releases.manifest import Manifest
from discreet.releases.registry import kind_of

JOBS = {
    "generalized": ("mondrian", "[{k-anonymity: {k: 4}}, {distinct-l-diversity: {l: 2}}]"),
    "decomposed": ("{decomposition: {l: {disease: 2, job: 2}}}", "[]"),
    "bucketized": ("{anatomy: {l: 2}}", "[]"),
}
KINDS = list(JOBS)


@dataclass
class Made:
    folder: Path
    job: dc.Job
    public: dict[str, Evidence]
    private: dict[str, Evidence]
    audit: dc.Audit
    attacks: dc.AttackReport


@pytest.fixture(scope="module")
def packs(tmp_path_factory) -> dict[str, Made]:
    made = {}
    for kind, (method, requirements) in JOBS.items():
        folder = tmp_path_factory.mktemp(kind)
        write_table(folder)
        job = marked_job(folder, method, requirements)
        if kind == "bucketized":
            attributes = {**job.attributes, "job": dc.Attribute(role="drop")}
            job = job.model_copy(update={"attributes": attributes})
        place = dc.publish(None, job, seed=1).save(folder / "release", **UNATTACKED)
        assert Manifest.load(place).kind == kind
        made[kind] = Made(
            place,
            job,
            {name: dc.evidence(place, name) for name in frameworks()},
            {name: dc.evidence(place, name, original=job) for name in frameworks()},
            dc.audit(place),
            dc.attack(place, original=job),
        )
    return made


def smallest_and_mean(made: Made) -> tuple[float, float]:
    """The greatest and the mean chance within the groups, straight from the files."""
    manifest = Manifest.load(made.folder)
    tables = read_tables(made.folder, manifest)
    sizes = [size for size in class_sizes(kind_of(manifest.kind), tables).values() if len(size)]
    return max(1 / s.min() for s in sizes), max(len(s) / s.sum() for s in sizes)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", frameworks())
def test_figures_are_those_of_the_files_and_of_audit_and_attacks(packs, kind, name):
    made = packs[kind]
    audit, attacks = made.audit, made.attacks
    public, private = made.public[name].figures, made.private[name].figures
    greatest, mean = smallest_and_mean(made)
    assert public["greatest_risk"] == pytest.approx(greatest)
    assert public["mean_risk"] == pytest.approx(mean)
    assert public["guarantees_kept"] == sum(promise.holds for promise in audit.promises)
    assert public["risk_by_attacks"] is None
    assert private["risk_by_attacks"] == [risk.to_dict() for risk in attacks.risks]
    if len(attacks.risks) > 1:
        assert private["greatest_risk"] == max(risk.prosecutor for risk in attacks.risks[1:])
        assert private["mean_risk"] == max(risk.marketer for risk in attacks.risks[1:])
    written = json.loads((made.folder.parent / "release.private.json").read_text())
    assert private["loss"] == written["utility"].get("loss")
    assert public["loss"] is None
    tests = made.private[name].thresholds
    assert tests[0].value == private["greatest_risk"]
    assert tests[0].at_most == 0.09
    assert tests[0].verdict == ("met" if private["greatest_risk"] <= 0.09 else "not met")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", frameworks())
def test_every_attacker_of_a_pack_is_one_of_the_attacks(packs, kind, name):
    made = packs[kind]
    attacks = made.attacks
    known = {
        (one.title, one.shown_aim, f"{one.greatest:.1%}", f"{one.mean:.1%}", one.verdict)
        for one in attacks.findings
    }
    shown = [
        (row["attack"], row["aim"], row["greatest"], row["mean"], row["verdict"])
        for section in made.private[name].to_dict()["sections"]
        for part in section["parts"]
        for row in part.get("rows", ())
        if "attack" in row
    ]
    assert len(shown) >= len({one.criterion for one in attacks.findings})
    assert set(shown) <= known
    worst = {one.title for one in attacks.by_criterion.values() if one is not None}
    assert worst <= {row[0] for row in shown}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", frameworks())
def test_a_pack_without_the_original_attacks_nothing_and_says_so(packs, kind, name):
    public, private = packs[kind].public[name], packs[kind].private[name]
    assert not public.private
    assert private.private
    assert public.not_computed > private.not_computed
    assert "PRIVATE" not in public._page().html()
    assert "PRIVATE" in private._page().html()
    text = json.dumps(public.to_dict())
    assert "people.csv" not in text
    assert "the original," not in text
    assert public.to_write == private.to_write == text.count('"to-write"')


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", frameworks())
def test_no_pack_holds_a_sensitive_cell(packs, kind, name):
    for made in (packs[kind].public[name], packs[kind].private[name]):
        for text in (made._page().html(), json.dumps(made.to_dict())):
            found = set(MARK.findall(text))
            # values that a guarantee of the manifest names
            named = {"Raremark0", "Secretmark1"} if kind != "decomposed" else set()
            assert found <= named


@pytest.mark.parametrize("name", frameworks())
def test_gaps_and_what_was_not_computed_are_marked_on_the_page(packs, name):
    made = packs["generalized"].public[name]
    page = made._page().html()
    assert page.count(f"<b>{TO_WRITE}:</b>") == made.to_write >= 5
    assert page.count(f"<b class='warn'>{NOT_COMPUTED}:</b>") == made.not_computed >= 3
    assert "<div class='sign'>" in page


def test_the_gdpr_pack_has_a_section_for_each_criterion(packs):
    titles = [one.title.lower() for one in packs["generalized"].private["gdpr"].sections]
    for criterion in Criterion:
        assert any(criterion in title for title in titles)


def test_the_hipaa_pack_judges_18_identifiers_and_names_removed_columns(packs):
    made = packs["generalized"].private["hipaa"]
    assert len(made.figures["safe_harbor"]) == 18
    (rows,) = [
        part["rows"]
        for section in made.to_dict()["sections"]
        for part in section["parts"]
        if "identifier" in part.get("rows", [{}])[0]
    ]
    assert [row[""] for row in rows] == list("ABCDEFGHIJKLMNOPQR")
    assert rows[0]["not published"] == "name"


def test_a_population_adds_its_risks(packs):
    made = packs["generalized"]
    folder = made.folder.parent
    both = dc.evidence(made.folder, "ema", original=made.job, population=folder / "people.csv")
    attacks = dc.attack(made.folder, original=made.job, population=folder / "people.csv")
    assert attacks.risks[1].journalist is not None
    assert both.figures["population_risk"] == attacks.risks[1].journalist
    assert both.figures["mean_population_risk"] == attacks.risks[1].marketer_population
    assert both.not_computed < made.private["ema"].not_computed
    with pytest.raises(dc.InputError, match="needs the original"):
        dc.evidence(made.folder, "ema", population=folder / "people.csv")


def test_population_risk_of_the_private_file_is_used(packs, tmp_path):
    made = packs["generalized"]
    copy = shutil.copytree(made.folder, tmp_path / "release")
    written = json.loads((made.folder.parent / "release.private.json").read_text())
    known = {"source": "weights", "persons": 5000.0, "average": 0.01, "maximum": 0.08}
    written["utility"]["population"] = known
    (tmp_path / "release.private.json").write_text(json.dumps(written))
    pack = dc.evidence(copy, "ema", original=made.job)
    assert pack.figures["population_risk"] == 0.08
    assert pack.figures["mean_population_risk"] == 0.01
    verdicts = {one.figure: one.verdict for one in pack.thresholds}
    assert verdicts["greatest risk in the population"] == "met"
    text = json.dumps(pack.to_dict())
    assert "estimated from sampling weights: 0.0100 on average and at most 0.0800" in text
    assert dc.evidence(copy, "ema").figures["population_risk"] is None  # public


def test_a_release_that_fails_its_audit_gets_no_pack(packs, tmp_path):
    copy = tmp_path / "release"
    shutil.copytree(packs["generalized"].folder, copy)
    with (copy / "records.csv").open("a") as file:
        file.write("30,101,x,y\n")
    with pytest.raises(dc.AuditError, match="no evidence was written"):
        dc.evidence(copy, "ema")


def test_figures_of_another_release_s_private_file_are_not_used(packs, tmp_path):
    made = packs["generalized"]
    copy = tmp_path / "release"
    shutil.copytree(made.folder, copy)
    written = json.loads((made.folder.parent / "release.private.json").read_text())
    written["utility"]["classes"] += 1
    (tmp_path / "release.private.json").write_text(json.dumps(written))
    assert dc.evidence(copy, "ema", original=made.job).figures["loss"] is None
    written["utility"]["classes"] -= 1
    (tmp_path / "release.private.json").write_text(json.dumps(written))
    assert dc.evidence(copy, "ema", original=made.job).figures["loss"] is not None


def test_saved_packs_are_signed_and_private_ones_readable_by_their_owner(packs, tmp_path):
    public = create_keys(tmp_path / "steward.key")
    made = packs["generalized"]
    open_pack = made.public["ema"].save(tmp_path / "open.json", sign=tmp_path / "steward.key")
    closed = made.private["ema"].save(tmp_path / "closed.html", sign=tmp_path / "steward.key")
    assert json.loads(open_pack.read_text())["framework"] == "ema"
    assert stat.S_IMODE(closed.stat().st_mode) == 0o600
    assert closed.read_text().startswith("<!doctype html>")
    for place in (open_pack, closed):
        checked = tmp_path / f"check-{place.name}"
        checked.mkdir()
        shutil.copy(place, checked / "manifest.json")
        shutil.copy(place.with_name(f"{place.name}.sig"), checked / "manifest.sig")
        assert is_signed(checked, "manifest.json", public)
    with pytest.raises(dc.InputError, match="already exists"):
        made.public["ema"].save(open_pack)
    made.public["ema"].save(open_pack, force=True)
    assert not (tmp_path / "open.json.sig").exists()  # of what it replaced
    with pytest.raises(dc.InputError, match="is no framework"):
        dc.evidence(made.folder, "iso")


def test_the_command_writes_beside_the_release_and_prints_json(packs, tmp_path):
    release = shutil.copytree(packs["generalized"].folder, tmp_path / "release")
    done = CliRunner().invoke(app, ["evidence", str(release), "--for", "nist", "--json"])
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert said["path"] == str(tmp_path / "release.evidence-nist.html")
    assert said["figures"] == packs["generalized"].public["nist"].figures
    assert "parts are to be written by the publisher" in done.stderr
    again = CliRunner().invoke(app, ["evidence", str(release), "--for", "nist"])
    assert again.exit_code == 2
    assert "already exists" in again.output
    assert CliRunner().invoke(app, ["audit", str(release), "--quiet"]).exit_code == 0


@pytest.mark.parametrize("name", frameworks())
@pytest.mark.parametrize("kind", KINDS)
def test_a_pack_fits_its_window_and_prints_whole(browser, packs, tmp_path, kind, name):
    path = packs[kind].private[name].save(tmp_path / "pack.html")
    page = browser.open(path)
    for width in (360, 1000, 1600):
        page.resize(width)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.errors == []
    assert page.requests == [path.resolve().as_uri()]
    page.print_layout()
    assert page.evaluate(CUT_OFF) == 0
    printed = browser.call("Page.printToPDF", {"preferCSSPageSize": True}, page.session)
    pdf = base64.b64decode(printed["data"])
    assert 2 <= len(re.findall(rb"/Type\s*/Page\b(?!s)", pdf)) <= 8

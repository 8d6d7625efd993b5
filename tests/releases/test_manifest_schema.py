"""A manifest says what its schema names, in one form; its page is the one that it gives."""

from __future__ import annotations

import json
import shutil
from itertools import takewhile
from pathlib import Path

import polars as pl
import pytest
from tests import naive
from tests.saving import UNATTACKED

import discreet as dc
from discreet.releases.manifest import sha256_of

ATTRIBUTES = {
    "name": {"role": "identifier"},
    "secret_column": {"role": "drop"},
    "age": {"role": "quasi-identifier", "type": "integer"},
    "ill": {"role": "sensitive"},
    "job": {"role": "sensitive"},
    "note": {"role": "insensitive"},
}
FRAME = pl.DataFrame(
    {
        "name": [f"P{i}" for i in range(24)],
        "secret_column": ["x"] * 24,
        "age": range(24),
        "ill": list("abcd") * 6,
        "job": list("uvwxyz") * 4,
        "note": ["n"] * 24,
    }
)


def publish(place: Path, method="mondrian", requirements=({"p-diversity": {"l": 2}},)) -> Path:
    job = dc.Job(attributes=ATTRIBUTES, requirements=list(requirements), method=method)
    return dc.publish(FRAME, job).save(place, **UNATTACKED)


@pytest.fixture(scope="module")
def releases(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("schema")
    return {
        "generalized": publish(folder / "generalized"),
        "decomposed": publish(folder / "decomposed", {"decomposition": {"l": {"ill": 2}}}, []),
    }


@pytest.fixture(params=["generalized", "decomposed"])
def forged(request, releases, tmp_path) -> Path:
    return shutil.copytree(releases[request.param], tmp_path / "forged")


def objects(value, place=()):
    """Every JSON object of a manifest, with the way to it."""
    if isinstance(value, dict):
        yield place
        for name, inner in value.items():
            yield from objects(inner, (*place, name))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from objects(inner, (*place, number))


def refused(folder: Path) -> bool:
    try:
        return not dc.audit(folder).ok
    except dc.ReleaseError:
        return True


def test_a_release_that_was_not_changed_passes(forged):
    naive.write_manifest(forged, naive.read_manifest(forged))
    assert dc.audit(forged).ok


def test_an_unknown_key_anywhere_is_refused(forged):
    said = naive.read_manifest(forged)
    places = list(objects(said))
    assert len(places) > 10
    for place in places:
        changed = json.loads(json.dumps(said))
        inner = changed
        for part in place:
            inner = inner[part]
        inner["unheard of"] = "Ann has a"
        naive.write_manifest(forged, changed)
        assert refused(forged), place


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"format": 1', '"format": 1,\n "format": 1'),  # twice
        ('"format": 1', '"format":  1'),  # another form
        ('"format": 1', '"format": 1.0'),
        ('"format": 1', '"format": NaN'),
        ('"holds": true', '"holds": 1'),
    ],
)
def test_another_way_to_write_the_same_is_refused(forged, old, new):
    path = forged / "manifest.json"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    assert refused(forged)


def test_any_other_report_is_refused(forged):
    report = forged / "report.html"
    report.write_text(report.read_text(encoding="utf-8") + "<!-- Ann has a -->", encoding="utf-8")
    said = naive.read_manifest(forged)
    said["report_sha256"] = sha256_of(report)
    naive.write_manifest(forged, said)
    assert "'report.html' is not the page that" in " ".join(dc.audit(forged).problems)


def test_a_report_of_another_version_is_not_vouched_for(forged):
    said = naive.read_manifest(forged)
    said["discreet"] = "0.0.1"
    naive.write_manifest(forged, said)
    report = forged / "report.html"
    for page in (report.read_text(encoding="utf-8"), "<p>Ann has a</p>"):
        report.write_text(page, encoding="utf-8")
        said["report_sha256"] = sha256_of(report)
        naive.write_manifest(forged, said)
        found = dc.audit(forged)
        assert not found.ok
        assert "can only be checked with that version" in " ".join(found.problems)
    report.unlink()
    assert dc.audit(forged).ok


@pytest.mark.parametrize("also", [True, False])
def test_a_column_that_the_manifest_lacks_is_no_defect(forged, also):
    said = naive.read_manifest(forged)
    table = next(name for name, one in said["tables"].items() if "note" in one["columns"])
    del said["tables"][table]["columns"]["note"]
    if also:
        del said["attributes"]["note"]
    naive.write_manifest(forged, said)
    problems = " ".join(dc.audit(forged).problems)
    assert "are not those that the manifest lists" in problems


def test_escaped_is_said_only_of_columns_with_an_escaped_cell(forged):
    said = naive.read_manifest(forged)
    said["attributes"]["ill"]["escaped"] = True
    naive.write_manifest(forged, said)
    assert any("attributes.ill.escaped" in one for one in dc.audit(forged).problems)


def test_escaped_is_said_where_a_cell_is(tmp_path):
    attributes = {name: {**one} for name, one in ATTRIBUTES.items()}
    attributes["ill"]["escape"] = attributes["job"]["escape"] = True
    frame = FRAME.with_columns(ill=pl.Series(list("*bcd") * 6))
    job = dc.Job(attributes=attributes, requirements=[{"p-diversity": {"l": 2}}], method="mondrian")
    place = dc.publish(frame, job).save(tmp_path / "release", **UNATTACKED)
    said = naive.read_manifest(place)["attributes"]
    assert said["ill"]["escaped"]
    assert not said["job"]["escaped"]
    assert dc.audit(place, original=None).ok


def test_the_l_of_a_method_is_that_of_its_promise(releases, tmp_path):
    forged = shutil.copytree(releases["decomposed"], tmp_path / "forged")
    said = naive.read_manifest(forged)
    said["method"]["l"]["ill"] = 4
    naive.write_manifest(forged, said)
    assert "'method.l' is not the l of a guarantee" in dc.audit(forged).problems


@pytest.mark.parametrize("reader", [{"reader": "nobody"}, {"certain": "Ann"}, {"more": 1}])
def test_readers_have_a_schema(releases, tmp_path, reader):
    forged = shutil.copytree(releases["decomposed"], tmp_path / "forged")
    said = naive.read_manifest(forged)
    said["readers"][0] |= reader
    naive.write_manifest(forged, said)
    with pytest.raises(dc.ReleaseError, match=r"readers\.0"):
        dc.audit(forged)


def test_the_public_report_names_no_unpublished_column_and_no_job(releases):
    for place in releases.values():
        report = (place / "report.html").read_text(encoding="utf-8")
        private = place.with_name(f"{place.name}.private.html").read_text(encoding="utf-8")
        assert "secret_column" not in report
        assert "role:" not in report
        assert "secret_column" in private
        assert "role:" in private


@pytest.mark.parametrize(
    ("requirements", "covered"),
    [
        ([], {"ill": [], "job": []}),
        ([{"k-anonymity": {"k": 4}}], {"ill": [], "job": []}),
        (
            [{"k-anonymity": {"k": 2}}, {"distinct-l-diversity": {"l": 2, "attribute": "ill"}}],
            {"ill": ["distinct-l-diversity"], "job": []},
        ),
        ([{"t-closeness": {"t": 0.5}}], {"ill": ["t-closeness"], "job": ["t-closeness"]}),
        # Single rows pass with four values: it excludes nothing about them.
        ([{"t-closeness": {"t": 0.8}}], {"ill": [], "job": ["t-closeness"]}),
    ],
)
def test_what_no_guarantee_covers_is_said_first(tmp_path, requirements, covered):
    job = dc.Job(attributes=ATTRIBUTES, requirements=requirements, method="mondrian")
    release = dc.publish(FRAME, job)
    place = release.save(tmp_path / "release", **UNATTACKED)
    assert naive.read_manifest(place)["coverage"] == covered
    open_ = [name for name, by in covered.items() if not by]
    warning = f"no guarantee covers {', '.join(repr(name) for name in open_)}"
    report = (place / "report.html").read_text(encoding="utf-8")
    lede = report.split("<nav")[0]
    top = takewhile(lambda line: line.startswith("WARNING: "), release.explanation)
    assert any(warning in line for line in top) == bool(open_)
    assert ("no guarantee covers" in lede) == bool(open_)
    said = next(line for line in release.explanation if line.startswith("Sensitive: "))
    for name, by in covered.items():
        how = f"covered by {', '.join(by)}" if by else "not covered by any guarantee"
        assert f"{name} ({how})" in said
    assert dc.audit(place).ok


def test_a_decomposition_without_the_known_attribute_covers_the_others(tmp_path):
    method = {"decomposition": {"l": {"ill": 2, "job": 2}, "conditional_l": {"l": 2}}}
    place = publish(tmp_path / "release", method, [])
    covered = naive.read_manifest(place)["coverage"]
    primary = naive.read_manifest(place)["method"]["primary"]
    (other,) = {"ill", "job"} - {primary}
    assert covered[primary] == ["sa-diversity"]
    assert covered[other] == ["sa-diversity", "conditional-l-diversity"]

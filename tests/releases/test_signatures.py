"""Signed releases: by the trusted key, by another one, altered, and without the package."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from tests.saving import ACCEPTING, UNATTACKED
from typer.testing import CliRunner

import discreet as dc
from discreet.cli.app import app
from discreet.releases.manifest import sha256_of

JOB = """
source: {path: people.csv}
attributes:
  age: {role: quasi-identifier, hierarchy: suppress}
  job: {role: sensitive}
requirements: [{k-anonymity: {k: 2}}]
method: mondrian
"""


def run(*arguments: object):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def place(tmp_path: Path) -> Path:
    frame = pl.DataFrame({"age": ["20", "30"] * 4, "job": ["cook", "nurse", "clerk", "cook"] * 2})
    frame.write_csv(tmp_path / "people.csv")
    (tmp_path / "job.yaml").write_text(JOB)
    for name in ("key", "other"):
        assert run("keys", "new", tmp_path / name).exit_code == 0
    made = run("publish", tmp_path / "job.yaml", "--sign", tmp_path / "key", "--quiet", *ACCEPTING)
    assert made.exit_code == 0, made.output
    return tmp_path


def problems(folder: Path, key: Path) -> str:
    found = dc.audit(folder, trust=key)
    assert found.signed == found.ok
    return "\n".join(found.problems)


def test_a_signed_release_is_trusted(place):
    result = run("audit", place / "release", "--trust", place / "key.pub")
    assert result.exit_code == 0
    assert "The manifest is signed by the trusted key." in result.output
    assert dc.audit(place / "release", trust=place / "key.pub").to_dict()["signed"] is True


def test_a_signature_that_nobody_asked_for_is_remarked_upon(place):
    found = dc.audit(place / "release")
    assert found.ok
    assert found.signed is None
    assert "The signature was not checked" in found.remarks[0]
    output = run("audit", place / "release").output
    assert "every guarantee holds; 1 check could not be made" in " ".join(output.split())


def test_a_page_of_another_version_is_as_trusted_as_its_signature(place, monkeypatch):
    monkeypatch.setattr("discreet.api.audit.__version__", "9.9.9")
    found = dc.audit(place / "release", trust=place / "key.pub")
    assert found.ok
    assert "can only be checked with that version" in found.remarks[0]
    assert not dc.audit(place / "release").ok


def test_an_unsigned_release_is_refused(place):
    (place / "release" / "manifest.sig").unlink()
    result = run("audit", place / "release", "--trust", place / "key.pub")
    assert result.exit_code == 1
    assert "the manifest is not signed" in result.output
    assert dc.audit(place / "release").ok


def test_a_signature_by_another_key_is_refused(place):
    assert "does not match the signature of the trusted key" in problems(
        place / "release", place / "other.pub"
    )


def test_an_altered_manifest_is_refused(place):
    path = place / "release" / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text())))
    assert "does not match the signature of the trusted key" in problems(
        place / "release", place / "key.pub"
    )


def test_a_table_that_was_replaced_with_its_hash_is_refused(place):
    folder = place / "release"
    path, manifest = folder / "records.csv", folder / "manifest.json"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([lines[0], *reversed(lines[1:])]))
    changed = json.loads(manifest.read_text())
    changed["tables"]["records"]["sha256"] = sha256_of(path)
    manifest.write_text(json.dumps(changed, indent=1))
    assert "does not match the signature of the trusted key" in problems(folder, place / "key.pub")


def test_anything_but_a_signature_beside_the_manifest_is_refused(place):
    (place / "release" / "manifest.sig").write_bytes(b"Ann has flu")
    assert "'manifest.sig' is not a signature" in "\n".join(dc.audit(place / "release").problems)
    assert "'manifest.sig' is not a signature" in problems(place / "release", place / "key.pub")


def test_from_python(place):
    made = dc.publish(None, dc.Job.load(place / "job.yaml"))
    folder = made.save(place / "mine", sign=place / "key", **UNATTACKED)
    assert dc.audit(folder, trust=place / "key.pub").ok


def test_openssl_checks_the_same_signature(place):
    folder = place / "release"
    command = ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", place / "key.pub", "-rawin"]
    try:
        subprocess.run(
            [*command, "-in", folder / "manifest.json", "-sigfile", folder / "manifest.sig"],
            check=True,
            capture_output=True,
        )
    except FileNotFoundError:
        pytest.skip("openssl is not installed")


def test_keys_are_private_and_never_overwritten(place):
    assert stat.S_IMODE((place / "key").stat().st_mode) == 0o600
    before = (place / "key").read_bytes()
    (place / "key.pub").unlink()
    result = run("keys", "new", place / "key")
    assert result.exit_code == 2
    assert "already exists" in result.output
    assert (place / "key").read_bytes() == before


def test_a_key_that_others_can_read_is_refused(place):
    (place / "key").chmod(0o644)
    result = run(
        "publish", place / "job.yaml", "--sign", place / "key", "--output", place / "no", *ACCEPTING
    )
    assert result.exit_code == 2
    assert "other users can read this private key" in result.output
    assert not (place / "no").exists()


@pytest.mark.parametrize("name", ["missing", "people.csv", "key"])
def test_what_is_no_public_key_is_refused(place, name):
    result = run("audit", place / "release", "--trust", place / name)
    assert result.exit_code == 2
    assert name in result.output


def test_without_the_package_one_sentence_says_what_to_install(place, monkeypatch):
    for name in [n for n in sys.modules if n.partition(".")[0] == "cryptography"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cryptography", None)
    for call in (
        (
            "publish",
            place / "job.yaml",
            "--sign",
            place / "key",
            "--output",
            place / "no",
            *ACCEPTING,
        ),
        ("audit", place / "release", "--trust", place / "key.pub"),
        ("keys", "new", place / "third"),
    ):
        result = run(*call)
        assert result.exit_code == 2
        assert "pip install 'discreet[sign]'" in result.output

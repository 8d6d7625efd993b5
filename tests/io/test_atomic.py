"""A release folder appears whole or not at all, whatever ends the run."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from discreet.errors import ReleaseError
from discreet.io.atomic import hidden_folder, release_place, write_private

WRITER = """
import sys, time
from pathlib import Path
from discreet.io.atomic import release_place
with release_place(Path(sys.argv[1]), force=True) as folder:
    (folder / "records.csv").write_text("a")
    print("writing", flush=True)
    time.sleep(30)
"""


@contextmanager
def writer(place: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that is in the middle of writing to a place."""
    command = [sys.executable, "-c", WRITER, str(place)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "writing\n"
        try:
            yield process
        finally:
            process.kill()


def publish(place: Path, text: str, force: bool = False) -> None:
    with release_place(place, force) as folder:
        (folder / "manifest.json").write_text(json.dumps({"method": text}))


def published(place: Path) -> str:
    return json.loads((place / "manifest.json").read_text())["method"]


def test_it_appears_at_the_end(tmp_path: Path) -> None:
    place = tmp_path / "deep" / "release"
    with release_place(place) as folder:
        (folder / "manifest.json").write_text("{}")
        assert not place.exists()
        assert folder.parent == place.parent
    assert [entry.name for entry in place.parent.iterdir()] == ["release"]
    assert (place / "manifest.json").read_text() == "{}"


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_error_leaves_nothing(tmp_path: Path, error: type[BaseException]) -> None:
    with pytest.raises(error), release_place(tmp_path / "release") as folder:
        (folder / "records.csv").write_text("a")
        raise error
    assert list(tmp_path.iterdir()) == []


def test_what_is_there_is_refused_before_any_work(tmp_path: Path) -> None:
    publish(tmp_path / "release", "old")
    with (
        pytest.raises(ReleaseError, match=r"already exists.*--force"),
        release_place(tmp_path / "release"),
    ):
        pytest.fail("the block must not run")
    assert published(tmp_path / "release") == "old"


def test_force_replaces_a_release(tmp_path: Path) -> None:
    publish(tmp_path / "release", "old")
    publish(tmp_path / "release", "new", force=True)
    assert published(tmp_path / "release") == "new"
    assert [entry.name for entry in tmp_path.iterdir()] == ["release"]


def test_force_keeps_the_old_one_until_the_end(tmp_path: Path) -> None:
    publish(tmp_path / "release", "old")
    with pytest.raises(ValueError), release_place(tmp_path / "release", force=True):
        raise ValueError
    assert published(tmp_path / "release") == "old"


def test_force_spares_what_is_no_release(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "thesis.tex").write_text("precious")
    with pytest.raises(ReleaseError, match="not a release"):
        publish(tmp_path / "home", "new", force=True)
    (tmp_path / "file").write_text("precious")
    with pytest.raises(ReleaseError, match="not a folder"):
        publish(tmp_path / "file", "new", force=True)
    assert (tmp_path / "home" / "thesis.tex").read_text() == "precious"


def test_one_that_appears_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    place = tmp_path / "release"
    with pytest.raises(ReleaseError, match="already exists"), release_place(place):
        place.mkdir()
        (place / "manifest.json").write_text("other")
    assert (place / "manifest.json").read_text() == "other"
    assert [entry.name for entry in tmp_path.iterdir()] == ["release"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_leaves_nothing(tmp_path: Path, number: signal.Signals) -> None:
    with writer(tmp_path / "release") as process:
        process.send_signal(number)
        assert process.wait(10) != 0
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_run_left_is_cleared_and_a_live_one_is_spared(tmp_path: Path) -> None:
    with writer(tmp_path / "release") as process:
        process.kill()
        process.wait(10)
    (dead,) = tmp_path.iterdir()
    with writer(tmp_path / "release"):
        assert not dead.exists()
        (live,) = tmp_path.iterdir()
        publish(tmp_path / "release", "mine")
        assert (live / "records.csv").exists()


def test_an_old_release_that_lost_its_place_comes_back(tmp_path: Path) -> None:
    publish(tmp_path / "release", "old")
    (tmp_path / "release").rename(tmp_path / ".release.replaced-0123")
    with pytest.raises(ValueError), release_place(tmp_path / "release", force=True):
        raise ValueError
    assert published(tmp_path / "release") == "old"


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs permissions that bind")
def test_an_unwritable_place(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(ReleaseError, match="cannot be written"):
        publish(tmp_path / "release", "x")


def test_a_place_below_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(ReleaseError, match="cannot be written"):
        publish(tmp_path / "file" / "release", "x")


def test_private_files_are_private_from_the_start(tmp_path: Path) -> None:
    path = tmp_path / "release.private.json"
    path.write_text("old")
    path.chmod(0o644)
    write_private(path, "{}")
    assert path.read_text() == "{}"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("umask, mode", [(0o022, 0o755), (0o027, 0o750)])
def test_nobody_else_enters_a_folder_before_it_takes_its_place(tmp_path, umask, mode) -> None:
    usual = os.umask(umask)
    try:
        with release_place(tmp_path / "release") as folder:
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
            (folder / "manifest.json").write_text("{}")
    finally:
        os.umask(usual)
    assert stat.S_IMODE((tmp_path / "release").stat().st_mode) == mode


def test_a_private_file_that_cannot_be_written_says_that_the_release_is_complete(tmp_path) -> None:
    with pytest.raises(ReleaseError, match="The release itself is complete") as caught:
        write_private(tmp_path / "missing" / "release.private.json", "{}")
    assert "Nothing was left" not in str(caught.value)


def test_an_old_release_that_lost_its_place_is_not_overwritten(tmp_path: Path) -> None:
    publish(tmp_path / "release", "old")
    (tmp_path / "release").rename(tmp_path / ".release.replaced-12")
    with (
        pytest.raises(ReleaseError, match="an interrupted run had moved it aside"),
        release_place(tmp_path / "release"),
    ):
        pytest.fail("the block must not run")
    assert published(tmp_path / "release") == "old"


def test_a_replaced_release_that_cannot_be_removed_is_named(tmp_path, monkeypatch) -> None:
    publish(tmp_path / "release", "old")
    monkeypatch.setattr("discreet.io.atomic.shutil.rmtree", lambda *_, **__: None)
    with pytest.warns(UserWarning, match=r"\.release\.replaced-.* could not be removed"):
        publish(tmp_path / "release", "new", force=True)
    assert published(tmp_path / "release") == "new"


PRIVATE_WRITER = """
import sys, time
from pathlib import Path
import discreet.io.atomic
discreet.io.atomic.os.fsync = lambda file: (print("writing", flush=True), time.sleep(30))
discreet.io.atomic.write_private(Path(sys.argv[1]), "a private report")
"""


@contextmanager
def private_writer(place: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that is in the middle of writing a private report."""
    command = [sys.executable, "-c", PRIVATE_WRITER, str(place)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "writing\n"
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("begun", [writer, private_writer])
def test_the_next_run_of_any_name_clears_what_a_killed_one_left(tmp_path: Path, begun) -> None:
    with begun(tmp_path / "first") as process:
        process.kill()
        process.wait(10)
    assert len(list(tmp_path.iterdir())) == 1
    publish(tmp_path / "second", "x")
    assert [entry.name for entry in tmp_path.iterdir()] == ["second"]


@pytest.mark.parametrize("begun", [writer, private_writer])
def test_what_a_live_run_of_another_name_writes_is_spared(tmp_path: Path, begun) -> None:
    with begun(tmp_path / "first"):
        (live,) = tmp_path.iterdir()
        publish(tmp_path / "second", "x")
        with hidden_folder(tmp_path / "third"):
            assert live.exists()


def test_what_another_machine_left_on_a_shared_disk_is_spared(tmp_path, monkeypatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("discreet.io.atomic.socket.gethostname", lambda: "elsewhere")
        with writer(tmp_path / "first") as process:
            process.kill()
            process.wait(10)
        (dead,) = tmp_path.iterdir()
        publish(tmp_path / "first", "x")
        assert dead.exists()  # as the other machine, this one has no right to it
    for foreign in (".photo.partial-upload", ".first.partial-zz", ".x.partial-0123456789abcdef"):
        (tmp_path / foreign).mkdir()
    (tmp_path / "link").symlink_to(tmp_path / ".photo.partial-upload")
    before = {entry.name for entry in tmp_path.iterdir()} - {dead.name}
    publish(tmp_path / "second", "x")
    assert {entry.name for entry in tmp_path.iterdir()} == before | {"second"}


@pytest.mark.parametrize("private", [None, {"seed": 1}])
def test_a_release_that_a_ledger_records_is_never_replaced(tmp_path: Path, private) -> None:
    place = tmp_path / "release"
    with release_place(place) as folder:
        (folder / "manifest.json").write_text('{"recorded": true}')
    if private is not None:
        (tmp_path / "release.private.json").write_text(json.dumps(private))
    with pytest.raises(ReleaseError, match="a ledger records this release"):
        publish(place, "new", force=True)
    assert (place / "manifest.json").read_text() == '{"recorded": true}'


def test_nor_is_one_of_an_earlier_version_or_one_that_cannot_be_read(tmp_path: Path) -> None:
    place = tmp_path / "release"
    publish(place, "old")
    record = tmp_path / "release.private.json"
    record.write_text('{"held_back": []}')
    with pytest.raises(ReleaseError, match="a ledger records this release"):
        publish(place, "new", force=True)
    record.unlink()
    (place / "manifest.json").write_text("{")
    with pytest.raises(ReleaseError, match="cannot be read"):
        publish(place, "new", force=True)


def test_nor_is_one_that_is_recorded_while_another_run_writes(tmp_path: Path) -> None:
    place = tmp_path / "release"
    publish(place, "old")
    with (
        pytest.raises(ReleaseError, match="a ledger records"),
        release_place(place, force=True) as folder,
    ):
        (folder / "manifest.json").write_text("{}")
        (place / "manifest.json").write_text('{"recorded": true}')

"""The selection of the tests of one method."""

from __future__ import annotations

from tests import of_method


def test_files_are_selected_by_imports_by_name_and_among_those_of_all_methods():
    selected = {
        path.relative_to(of_method.TESTS).as_posix() for path in of_method.files_of("mondrian")
    }
    assert selected >= {
        "methods/test_mondrian.py",
        "oracles/test_mondrian.py",
        "properties/test_publish_mondrian.py",
        "conformance/test_methods.py",
        "releases/test_figures.py",  # imports the method
    }
    assert not selected & {"methods/test_codip.py", "cli/test_interrupts.py"}


def test_imports_are_followed_through_files_of_the_tests(tmp_path, monkeypatch):
    monkeypatch.setattr(of_method, "TESTS", tmp_path / "tests")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "helper.py").write_text(
        "from discreet.methods.mondrian import mondrian\n"
    )
    outer = tmp_path / "tests" / "test_outer.py"
    outer.write_text("from tests.helper import mondrian\n")
    assert of_method.is_of_method(outer, "mondrian")
    assert not of_method.is_of_method(outer, "codip")


def test_cases_of_other_methods_are_left_out():
    file = of_method.TESTS / "conformance" / "test_methods.py"
    assert of_method.concerns(file, "full-domain", "full-domain")
    assert not of_method.concerns(file, "full-domain", "mondrian")
    assert of_method.concerns(file, "", "mondrian")  # the file imports Mondrian
    assert not of_method.concerns(of_method.TESTS / "io" / "test_frames.py", "", "mondrian")

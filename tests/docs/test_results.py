"""The page of benchmark results has the figures of the record, and marks what is not reached."""

from benchmarks.figures import Figure
from benchmarks.record import RECORD, RESULTS, Part, Record


def test_the_page_of_results_is_made_from_the_record():
    assert RESULTS.read_text(encoding="utf-8") == Record.read(RECORD).page()


def test_a_part_that_runs_again_replaces_its_own_figures(tmp_path):
    order = ["first", "second"]
    record = Record()
    for name, ratio in (("second", 3.0), ("first", 1.0), ("second", 2.0)):
        figure = Figure(name, f"{name} line", 1000, 0.5, ratio=ratio, ratio_to="one", bound="≤ 1.5")
        record.add(Part.of(name, [figure], 60.0, False), order)
    record.write(tmp_path)
    assert [part.name for part in record.parts] == order
    read = Record.read(tmp_path / RECORD.name)
    assert read == record
    page = (tmp_path / RESULTS.name).read_text(encoding="utf-8")
    assert page == read.page()
    assert "| first line | 1,000 | 0.5 |  |  |  | 1 | one | ≤ 1.5 | yes |" in page
    assert "- second: second line, 1,000 rows: 2 × one, asked for ≤ 1.5" in page
    assert "3 × one" not in page

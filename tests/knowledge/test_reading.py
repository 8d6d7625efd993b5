"""Knowledge tables from files: three layouts, weights, and what is wrong with them."""

from __future__ import annotations

import numpy as np
import pytest
from tests.tables import coded_column

from discreet.errors import InputError
from discreet.io.knowledge import KnowledgeSource, read_knowledge
from discreet.knowledge.table import Knowledge, estimated_prior, knowledge_from_sets, link, terms_of
from discreet.table.roles import Role


def read(folder, text: str, **given) -> Knowledge:
    (folder / "e.csv").write_text(text, encoding="utf-8")
    return read_knowledge(KnowledgeSource(path="e.csv", **given), folder)


def sets(table: Knowledge) -> dict[str, list[str]]:
    return {
        label: [table.terms[t] for t in table.term[table.term_start[i] : table.term_start[i + 1]]]
        for i, label in enumerate(table.labels)
    }


EXPECTED = {"Grippe": ["fièvre", "toux"], "gout": ["pain"], "none": []}


def test_three_layouts_say_the_same(tmp_path):
    long = read(
        tmp_path,
        "l,t\nGrippe,toux\nGrippe,fièvre\nGrippe,toux\ngout,pain\nnone,\n",
        label="l",
        term="t",
    )
    wide = read(
        tmp_path, "l,a,b\nGrippe,toux,fièvre\ngout,,pain\nnone,,\n", label="l", term=["a", "b"]
    )
    rest = read(tmp_path, "l,a,b\nGrippe,toux,fièvre\ngout,,pain\nnone,,\n", label="l", term="*")
    cell = read(
        tmp_path,
        "l;t\nGrippe;toux | fièvre\ngout;pain\nnone;\n",
        label="l",
        term="t",
        separator="|",
    )
    for table in (long, wide, rest, cell):
        assert sets(table) == EXPECTED
        assert table.without_terms == ("none",)
        assert table.doubled == ()
        assert table.sha256 == long.sha256


def test_a_label_on_several_lines_gets_all_terms_and_is_reported(tmp_path):
    text = "l,t\nflu,a|b\nflu,c\ngout,a\n"
    table = read(tmp_path, text, label="l", term="t", separator="|")
    assert sets(table) == {"flu": ["a", "b", "c"], "gout": ["a"]}
    assert table.doubled == ("flu",)


def test_weights_are_the_prior(tmp_path):
    table = read(
        tmp_path, "l,t,n\nflu,a,30\nflu,b,30\ngout,a,10\n", label="l", term="t", weight="n"
    )
    assert table.weight is not None
    assert list(table.weight) == [0.75, 0.25]
    assert table.sha256 != read(tmp_path, "l,t\nflu,a\nflu,b\ngout,a\n", label="l", term="t").sha256


@pytest.mark.parametrize(
    ("text", "given", "said"),
    [
        ("l,t\nflu,a\n", {"label": "label", "term": "t"}, "no column 'label'"),
        ("l,t\nflu,a\n", {"label": "l", "term": "l"}, "'l' is named twice"),
        ("l,t\n,a\nflu,b\n", {"label": "l", "term": "t"}, "1 of 2 rows have no label"),
        ("l,t\nflu,\n", {"label": "l", "term": "t"}, "no label has a term"),
        ("l\nflu\n", {"label": "l", "term": "*"}, "no column is left"),
        ("l,t,n\nflu,a,0\n", {"label": "l", "term": "t", "weight": "n"}, "not above 0"),
        (
            "l,t,n\nflu,a,1\nflu,b,2\n",
            {"label": "l", "term": "t", "weight": "n"},
            "1 labels have several weights",
        ),
    ],
)
def test_problems_are_named(tmp_path, text, given, said):
    with pytest.raises(InputError, match=said):
        read(tmp_path, text, **given)


def test_terms_and_links_of_cells():
    cells = ["a|b", None, "*", "b", "z", "a|z", "a|b"]
    column = coded_column("s", cells, Role.QUASI_SENSITIVE, "|")
    terms = terms_of(column)
    assert terms.names.to_list() == ["a", "b", "z"]
    assert dict(zip(column.text.to_list(), terms.length.tolist(), strict=True)) == {
        "*": 0, "a|b": 2, "a|z": 2, "b": 1, "z": 1, None: 0,
    }  # fmt: skip
    assert list(terms.counts(column.counts)) == [3, 3, 2]
    links = link(column, knowledge_from_sets([("L", "ab"), ("M", "b")]))
    of_cell = {
        text: None
        if which < 0
        else links.label[links.start[which] : links.start[which + 1]].tolist()
        for text, which in zip(column.text.to_list(), links.set_of_value, strict=True)
    }
    assert of_cell == {"*": [0, 1], None: [0, 1], "a|b": [0], "b": [0, 1], "z": None, "a|z": None}
    assert links.unlinked_rows(column.counts) == 2
    assert estimated_prior(links, column.counts) == pytest.approx([3.5 / 5, 1.5 / 5])


def test_more_labels_than_a_word_has_bits():
    table = knowledge_from_sets([(f"{n:03}", ["a", *("b" if n % 2 else "c")]) for n in range(200)])
    column = coded_column("s", ["a|b", "a", "b|c"], Role.QUASI_SENSITIVE, "|")
    links = link(column, table)
    sizes = [int(links.size[which]) if which >= 0 else 0 for which in links.set_of_value]
    assert sizes == [200, 100, 0]
    first = links.label[links.start[links.set_of_value[1]] :][:100]
    assert np.array_equal(first, np.arange(1, 200, 2))


def test_nothing_linked_leaves_all_labels_as_likely():
    links = link(
        coded_column("s", ["z"], Role.QUASI_SENSITIVE, "|"), knowledge_from_sets([("L", "a")] * 2)
    )
    assert list(estimated_prior(links, np.array([1]))) == [1.0]

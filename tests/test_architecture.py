"""The shape of the package: imports go one way, engines stay in their room, names are exported."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest
from tests.size import size_of, table

import discreet
from discreet.attacks.registry import ATTACKS
from discreet.methods.registry import METHODS
from discreet.requirements.registry import REQUIREMENTS

PACKAGE = Path(discreet.__file__).parent
# A room may import from itself and from the rooms to its left.
ORDER = [
    "errors", "regular_files", "languages", "statements", "extras", "typing",
    "plugins", "by_name", "listing", "result", "table", "hierarchies", "knowledge", "requirements",
    "methods", "io", "utility", "ledger", "releases", "attacks", "job", "report", "pipeline",
    "api", "cli", "testing", "__main__", "addons",
]  # fmt: skip
ENGINE_LIBRARIES = {"pyspark"}


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def room_of(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def imported(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            if node.module == "discreet":
                names |= {f"discreet.{alias.name}" for alias in node.names}
    return names


def wrong_ways(path: Path) -> list[str]:
    """Return what a module imports from rooms after its own, and engines outside their room."""
    room = room_of(path)
    if room == "__init__":
        return []
    wrong = []
    for name in imported(path):
        parts = name.split(".")
        if parts[0] == "discreet" and len(parts) > 1 and parts[1] in ORDER:
            if ORDER.index(parts[1]) > ORDER.index(room):
                wrong.append(f"{path.relative_to(PACKAGE)} imports {name}")
        elif parts[0] in ENGINE_LIBRARIES and "addons" not in path.parts:
            wrong.append(f"{path.relative_to(PACKAGE)} imports {name}")
    return wrong


def test_imports_go_one_way():
    # So the core imports no add-on, either: 'addons' is the last room.
    assert [wrong for path in modules() for wrong in wrong_ways(path)] == []


@pytest.mark.parametrize(
    ("room", "line"),
    [("table", "from discreet.methods.base import Task"), ("methods", "import pyspark.sql")],
)
def test_a_wrong_import_is_found(tmp_path, monkeypatch, room, line):
    monkeypatch.setattr(sys.modules[__name__], "PACKAGE", tmp_path)
    (tmp_path / room).mkdir()
    (tmp_path / room / "module.py").write_text(f"{line}\n")
    assert len(wrong_ways(tmp_path / room / "module.py")) == 1


def test_lines_by_room_add_up_to_the_package():
    printed = list(table())
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in modules())
    files = len(modules())
    assert any(re.match(rf"ALL +{lines:,} .* {files:,} ", line) for line in printed)
    for room in {room_of(path) for path in modules() if path.parent != PACKAGE}:
        assert any(line.startswith(room) for line in printed), room


def test_the_size_of_a_file_counts_what_it_says():
    size = size_of(
        '"""Head."""\n\nimport os\n\n# Why.\nLIMIT = 2 * 10**3\nSMALL = 3\n\n\n'
        "def first(rows):\n    found, *kept = rows  # not a line of its own\n    return found\n"
    )
    assert (size.lines, size.code, size.docstrings, size.comments) == (12, 5, 1, 1)
    assert (size.functions, size.constants, size.large_constants) == ([3], 2, 1)
    assert size.pronouns == 2


def test_each_kernel_says_why_it_must_be_compiled():
    kernels, unexplained = 0, []
    for path in modules():
        lines = path.read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines):
            if re.match(r"@kernel\b", line):
                kernels += 1
                if not lines[number - 1].startswith("# Compiled: "):
                    unexplained.append(f"{path.relative_to(PACKAGE)}: {lines[number + 1]}")
    assert unexplained == []
    assert kernels > 0


def test_no_class_name_is_used_twice():
    homes = defaultdict(list)
    for path in modules():
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(str(path.relative_to(PACKAGE)))
    assert {name: paths for name, paths in homes.items() if len(paths) > 1} == {}


def test_array_types_have_names_in_one_module():
    named = re.compile(r"^\w+(: TypeAlias)? = NDArray", re.MULTILINE)
    found = [path for path in modules() if named.search(path.read_text(encoding="utf-8"))]
    assert found == [PACKAGE / "typing.py"]


def test_papers_are_cited_by_their_authors():
    numbered = re.compile(r"\bpapers? 00\d|\(file \d", re.IGNORECASE)
    root = PACKAGE.parents[1]
    for path in (*modules(), *root.glob("docs/**/*.md"), *root.glob("tests/papers/*.py")):
        assert not numbered.search(path.read_text(encoding="utf-8")), path


# A search for the root of a component, or for a path that increases a flow. The audit matches
# persons and values by code of its own on purpose (``releases/audit/person_tally.py``): it must
# not share an error with the methods.
GRAPH_SEARCH = re.compile(r"while (\w+)\[(\w+)\] != \2:|augment", re.IGNORECASE)


def test_components_and_flows_are_found_in_one_module():
    found = [path for path in modules() if GRAPH_SEARCH.search(path.read_text(encoding="utf-8"))]
    assert found == [PACKAGE / "table" / "graphs.py"]
    assert GRAPH_SEARCH.search("while parent[one] != one:")


def test_every_method_has_tests_of_its_name():
    files = [path.stem for path in Path(__file__).parent.rglob("test_*.py")]
    for name in METHODS.built_in:
        assert any(f"_{name.replace('-', '_')}" in file for file in files), name


def test_every_public_name_loads_and_is_its_home_s():
    for name in discreet.__all__:
        assert getattr(discreet, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = discreet.Nothing


def test_a_class_that_a_job_can_name_has_the_words_of_that_name():
    kinds = [*METHODS.built_in.values(), *REQUIREMENTS.built_in.values()]
    kinds = [kind for kind in kinds if kind.__name__ in discreet.__all__]
    for kind in (*kinds, *ATTACKS.built_in.values()):
        assert kind.__name__ == "".join(word.capitalize() for word in kind.name.split("-"))


@pytest.mark.parametrize("module", ["discreet", "discreet.cli.app"])
def test_bare_import_and_help_load_nothing_heavy(module):
    heavy = {"numpy", "numba", "polars", "pydantic", "pyarrow"}
    code = f"import sys, {module}; print(*{heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


KIND_NAMES = {"generalized", "bucketized", "generalized-buckets", "decomposed", "projected"}
# Where kinds are known by name: their folder, the world model, their registry, a setting of some
# methods, and the conformance kit, which makes a release of each.
KNOW_KINDS = (
    "releases/kinds/", "releases/worlds/", "releases/registry.py",
    "methods/msa_diversity/msa_diversity.py",
    "methods/series/", "methods/shared/grouped_rows.py", "testing/",
)  # fmt: skip


def kinds_known_by_name(source: str) -> list[str]:
    """Return where code asks for the name of a kind or guesses at the facts of a method."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and node.value in KIND_NAMES:
            found.append(f"line {node.lineno}: '{node.value}'")
        elif isinstance(node, ast.Name) and node.id.removesuffix("Kind").lower() in KIND_NAMES:
            if node.id.endswith("Kind"):
                found.append(f"line {node.lineno}: {node.id}")
        elif isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            if any("manifest.kind" in ast.unparse(side) for side in sides):
                found.append(f"line {node.lineno}: {ast.unparse(node)}")
        elif (
            isinstance(node, ast.Call)
            and ast.unparse(node.func) == "getattr"
            and ast.unparse(node.args[0]).endswith("manifest.method")
        ):
            found.append(f"line {node.lineno}: {ast.unparse(node)}")
    return found


def test_only_kinds_know_their_names():
    known = {
        str(path.relative_to(PACKAGE)): kinds_known_by_name(path.read_text(encoding="utf-8"))
        for path in modules()
        if not path.relative_to(PACKAGE).as_posix().startswith(KNOW_KINDS)
    }
    assert {path: lines for path, lines in known.items() if lines} == {}


def test_a_kind_known_by_name_is_found():
    for line in (
        "if manifest.kind == name: pass",
        "x = 'decomposed'",
        "BucketizedKind()",
        "getattr(scene.manifest.method, 'levels', None)",
    ):
        assert len(kinds_known_by_name(line)) == 1

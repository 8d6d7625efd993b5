"""Print how large the package is: lines by room, and the figures that tell how easy it is to carry.

Run it with ``make size``. Nothing fails on a figure: the table is there to be read before and after
a change. A code line is a line that is not blank, not a comment, and no part of a docstring or of
an import.
"""

from __future__ import annotations

import ast
import io
import statistics
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "discreet"
ADD_ONS = ("addons",)
PRONOUNS = {"one", "some", "own", "found", "made", "said", "kept", "given"}
LARGE = 1_000  # a constant from here on is likely to choose between algorithms by size
SEAMS = {  # the classes that all rooms share
    "Requirement": "requirements/base.py",
    "Kind": "releases/kinds/base.py",
    "Method": "methods/base.py",
    "Task": "methods/base.py",
}
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Size:
    """The figures of some files."""

    lines: int = 0
    code: int = 0
    docstrings: int = 0
    comments: int = 0
    files: int = 0
    classes: int = 0
    constants: int = 0
    large_constants: int = 0
    pronouns: int = 0
    functions: list[int] = field(default_factory=list)  # the lines of each

    def add(self, other: Size) -> None:
        """Add the figures of other files."""
        for name, figure in vars(other).items():
            setattr(self, name, getattr(self, name) + figure)


def size_of(source: str) -> Size:
    """Return the figures of one file."""
    tree = ast.parse(source)
    lines = source.splitlines()
    documented, imports = set[int](), set[int]()
    size = Size(lines=len(lines), files=1)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            imports |= _lines(node)
        elif isinstance(node, Function):
            size.functions.append(len(_lines(node)))
        elif isinstance(node, ast.ClassDef):
            size.classes += 1
        if isinstance(node, ast.Module | ast.ClassDef | Function) and _has_docstring(node):
            documented |= _lines(node.body[0])
        size.pronouns += sum(name in PRONOUNS for name in _assigned(node))
    for value in _constants(tree):
        size.constants += 1
        size.large_constants += value >= LARGE
    comments = {
        token.start[0]
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT and not token.line[: token.start[1]].strip()
    }
    filled = {number for number, line in enumerate(lines, 1) if line.strip()}
    size.docstrings, size.comments = len(documented), len(comments)
    size.code = len(filled - documented - comments - imports)
    return size


def _lines(node: ast.stmt) -> set[int]:
    return set(range(node.lineno, (node.end_lineno or node.lineno) + 1))


def _has_docstring(node: ast.Module | ast.ClassDef | Function) -> bool:
    first = node.body[0] if node.body else None
    return (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    )


def _assigned(node: ast.AST) -> Iterator[str]:
    """The names that an assignment binds."""
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr):
        targets = [node.target]
    for target in targets:
        for part in target.elts if isinstance(target, ast.Tuple) else [target]:
            name = part.value if isinstance(part, ast.Starred) else part
            if isinstance(name, ast.Name):
                yield name.id


def _constants(tree: ast.Module) -> Iterator[float]:
    """The numbers that a module names in capitals, also where they are products or powers."""
    for node in tree.body:
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        if not all(name.lstrip("_").isupper() for name in _assigned(node)):
            continue
        value = _number(node.value)
        if value is not None:
            yield value


def _number(node: ast.expr) -> float | None:
    """The value of an expression of literal numbers; None for any other expression."""
    if isinstance(node, ast.Constant):
        number = isinstance(node.value, int | float) and not isinstance(node.value, bool)
        return node.value if number else None
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _number(node.operand)
        return None if value is None else -value
    if not isinstance(node, ast.BinOp):
        return None
    left, right = _number(node.left), _number(node.right)
    if left is None or right is None:
        return None
    match node.op:
        case ast.Mult():
            return left * right
        case ast.Pow():
            return left**right
        case ast.LShift():
            return int(left) << int(right)
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Div():
            return left / right
    return None


def room_of(path: Path) -> str:
    """The add-on or the folder of the package that a file belongs to."""
    place = path.relative_to(PACKAGE)
    for add_on in ADD_ONS:
        if place.as_posix().startswith(add_on + "/"):
            return add_on if add_on != "addons" else "/".join(place.parts[:2])
    return place.parts[0] if len(place.parts) > 1 else "(top)"


def by_room() -> dict[str, Size]:
    """The figures of every room, core first, each part in the order of its lines."""
    rooms: dict[str, Size] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        rooms.setdefault(room_of(path), Size()).add(size_of(path.read_text(encoding="utf-8")))
    return dict(sorted(rooms.items(), key=lambda item: (item[0] in add_ons(rooms), -item[1].lines)))


def add_ons(rooms: dict[str, Size]) -> set[str]:
    """The rooms that are no part of the core."""
    return {room for room in rooms if room.startswith(ADD_ONS)}


def seam(name: str) -> tuple[int, int, int]:
    """The methods, the class variables and the annotated fields of a class that rooms share."""
    tree = ast.parse((PACKAGE / SEAMS[name]).read_text(encoding="utf-8"))
    home = next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == name)
    annotated = [node for node in home.body if isinstance(node, ast.AnnAssign)]
    flags = [node for node in annotated if ast.unparse(node.annotation).startswith("ClassVar")]
    methods = [node for node in home.body if isinstance(node, Function)]
    return len(methods), len(flags), len(annotated) - len(flags)


def table() -> Iterator[str]:
    """The lines of the printed table."""
    rooms = by_room()
    sums = {"core": Size(), "add-ons": Size()}
    for room, size in rooms.items():
        sums["add-ons" if room in add_ons(rooms) else "core"].add(size)
    whole = Size()
    yield f"{'':18}{'lines':>8}{'code':>8}{'files':>7}{'functions':>11}{'median':>8}"
    for part, total in sums.items():
        for room, size in rooms.items():
            if (room in add_ons(rooms)) == (part == "add-ons"):
                yield _row(room, size)
        yield _row(part.upper(), total)
        whole.add(total)
    yield _row("ALL", whole)
    yield ""
    yield f"docstring lines {whole.docstrings:,}, comment lines {whole.comments:,}"
    yield f"classes {whole.classes:,}"
    yield f"constants {whole.constants:,}, of {LARGE:,} and more {whole.large_constants:,}"
    share = 1_000 * whole.pronouns / whole.lines
    yield f"pronouns as names {whole.pronouns:,}, in 1,000 lines {share:.1f}"
    yield f"Requirement: methods {seam('Requirement')[0]}, flags {seam('Requirement')[1]}"
    yield f"Kind: methods {seam('Kind')[0]}"
    yield f"Method: flags {seam('Method')[1]}, methods {seam('Method')[0]}"
    yield f"Task: fields {seam('Task')[2]}"


def _row(name: str, size: Size) -> str:
    median = statistics.median(size.functions) if size.functions else 0
    return (
        f"{name:18}{size.lines:8,}{size.code:8,}{size.files:7,}"
        f"{len(size.functions):11,}{median:8.0f}"
    )


if __name__ == "__main__":
    sys.stdout.write("\n".join(table()) + "\n")

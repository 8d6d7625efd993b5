"""Change the code of guarantees and audits in one place at a time, and count what no test notices.

    python -m tests.mutants --mutants 200 --seed 1

A mutant has one comparison, operator, constant, condition or choice of a minimum changed. Messages,
annotations and docstrings are left alone. Each mutant is run in a copy of the tree against the
tests of requirements, releases, traps, checks, persons and oracles, until one fails. What survives
is printed with its place, to be killed by a test or shown to mean the same.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("requirements", "releases/audit")
TESTS = ("requirements", "releases", "traps", "check", "persons", "oracles")
SECONDS = 600  # for the tests of one mutant; an endless loop counts as noticed

COMPARISONS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
OPERATORS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult}
OPERATORS |= {ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.FloorDiv: ast.Div}
CHOICES = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum"}
CHOICES |= {"any": "all", "all": "any", "argmin": "argmax", "argmax": "argmin"}


def changed(node: ast.AST) -> ast.AST | None:
    """Return a node with another meaning, or None where nothing is changed."""
    new = copy.deepcopy(node)
    match new:
        case ast.Compare(ops=[op]) if type(op) in COMPARISONS:
            new.ops = [COMPARISONS[type(op)]()]
        case ast.BinOp(op=op) if type(op) in OPERATORS:
            new.op = OPERATORS[type(op)]()
        case ast.BoolOp(op=op):
            new.op = ast.Or() if isinstance(op, ast.And) else ast.And()
        case ast.UnaryOp(op=ast.Not() | ast.Invert(), operand=operand):
            return operand
        case ast.Constant(value=bool(value)):
            new.value = not value
        case ast.Constant(value=int(value) | float(value)):
            new.value = value + 1
        case ast.Call(func=ast.Name(id=name)) if name in CHOICES:
            new.func.id = CHOICES[name]  # type: ignore[attr-defined]
        case ast.Call(func=ast.Attribute(attr=name)) if name in CHOICES:
            new.func.attr = CHOICES[name]  # type: ignore[attr-defined]
        case ast.IfExp(body=body, orelse=orelse):
            new.body, new.orelse = orelse, body
        case _:
            return None
    return new


def places(tree: ast.Module) -> Iterator[ast.expr]:
    """Yield the expressions of functions that may be changed, without messages and annotations."""

    def within(node: ast.AST) -> Iterator[ast.expr]:
        if isinstance(node, ast.Raise | ast.JoinedStr | ast.AnnAssign):
            return
        if isinstance(node, ast.expr) and changed(node) is not None:
            yield node
        for name, part in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list"):
                continue
            for inner in part if isinstance(part, list) else [part]:
                if isinstance(inner, ast.AST):
                    yield from within(inner)

    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            for statement in node.body:
                yield from within(statement)


class Replacement(ast.NodeTransformer):
    """Put one node in the place of another."""

    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else self.generic_visit(node)


def all_places() -> list[tuple[Path, int]]:
    """Return the files and numbers of all places."""
    found = []
    for room in ROOMS:
        for path in sorted((ROOT / "src/discreet" / room).rglob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            found += [(path.relative_to(ROOT), i) for i, _ in enumerate(places(tree))]
    return found


def run_mutant(tree: Path, path: Path, number: int) -> tuple[bool, str]:
    """Return whether a test notices a mutant, and what it is."""
    source = (ROOT / path).read_text(encoding="utf-8")
    parsed = ast.parse(source)
    node = list(places(parsed))[number]
    new = changed(node)
    assert new is not None
    label = f"{path}:{node.lineno}: {ast.unparse(node)}  ->  {ast.unparse(new)}"
    mutant = ast.unparse(ast.fix_missing_locations(Replacement(node, new).visit(parsed)))
    # the tests of the mutant's room first: most mutants die there
    rooms = TESTS if path.parts[2] == "requirements" else ("releases", "traps", *TESTS)
    tests = [f"tests/{room}" for room in dict.fromkeys(rooms)]
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "PYTHONPATH": f"{tree / 'src'}{os.pathsep}{tree}"}
    (tree / path).write_text(mutant, encoding="utf-8")
    try:
        done = subprocess.run(
            command, cwd=tree, env=environment, capture_output=True, timeout=SECONDS, check=False
        )
        noticed = done.returncode != 0
    except subprocess.TimeoutExpired:
        noticed = True
    finally:
        (tree / path).write_text(source, encoding="utf-8")
    return noticed, label


def main() -> None:
    """Draw mutants, run them and print what survives."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutants", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--room", choices=ROOMS)
    options = parser.parse_args()
    candidates = [
        place
        for place in all_places()
        if options.room is None or options.room in place[0].as_posix()
    ]
    drawn = random.Random(options.seed).sample(candidates, min(options.mutants, len(candidates)))
    survivors = 0
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        for name in ("src", "tests", "experiments", "examples"):
            shutil.copytree(ROOT / name, tree / name)
        shutil.copy(ROOT / "pyproject.toml", tree)
        for count, (path, number) in enumerate(drawn, 1):
            noticed, label = run_mutant(tree, path, number)
            survivors += not noticed
            print("killed  " if noticed else "SURVIVED", f"{count:4}", label, flush=True)
    print(f"{len(candidates)} places, {len(drawn)} mutants, {survivors} survived")


if __name__ == "__main__":
    main()

"""Do the unit tests notice?  Changes one spot of a module at a time, and runs the quick tests on each.

    python benchmarks/mutants.py mlloss/functional.py mlloss/_fast.py mlloss/metrics.py [--only N]

A mutant that no test fails on is printed, with its line: look at it, and either a test is missing, or the
change makes no difference.  ``--only N`` takes about N mutants of each module, evenly spread.  Each mutant is
a child process that imports the changed module in place of the file, so that no file is touched.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib
import importlib.abc
import importlib.util
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parents[1]))

import pytest
import torch

for heavy in "hypothesis", "playwright.sync_api", "sklearn.metrics", "sympy":
    importlib.import_module(heavy)  # once, for all children

TESTS = [  # the quickest first
    ["tests/unit/test_golden.py", "-k", "cpu and (float64 or not float)"],
    ["tests/unit/test_metrics.py", "tests/unit/test_identities.py", "-k", "cpu and not compiled"],
    ["tests/unit/test_errors.py", "-k", "cpu"],
    ["tests/unit/test_losses.py", "-k", "cpu and not random"],
    ["tests/unit/test_transforms.py", "-k", "cpu and not compiled"],
]
SECONDS = 300  # a mutant may not end

SWAPS: dict[type, type] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
NAMES = {
    "amax": "amin",
    "amin": "amax",
    "min": "max",
    "max": "min",
    "sum": "amax",
    "all": "any",
    "any": "all",
}


def changes(node: ast.AST) -> Iterator[ast.AST]:
    """What may stand in the place of a node."""
    new = copy.deepcopy(node)
    if isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in SWAPS:
        new.op = SWAPS[type(node.op)]()
        yield new
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        new.ops = [SWAPS[type(node.ops[0])]()]
        yield new
    elif isinstance(node, ast.UnaryOp):
        yield new.operand
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield ast.Constant(node.value + 1)
    elif isinstance(node, ast.If | ast.IfExp):
        new.test = ast.UnaryOp(ast.Not(), new.test)
        yield new
    elif isinstance(node, ast.Attribute) and node.attr in NAMES:
        new.attr = NAMES[node.attr]
        yield new
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and len(node.args) <= 2:
        if isinstance(node.func.value, ast.Name) and node.func.value.id in ("torch", "F", "math"):
            return
        yield new.func.value  # without the method


def spots(tree: ast.AST) -> Iterator[tuple[ast.AST, str, int | None]]:
    """Parent, field and index of every node whose change would be one of behaviour."""
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns", "decorator_list", "bases"):
            continue
        for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(child, ast.JoinedStr | ast.Import | ast.ImportFrom | ast.Raise) or not isinstance(
                child, ast.AST
            ):
                continue  # messages are matched by the tests, not spelled out
            yield tree, name, index
            yield from spots(child)


def mutants(source: str) -> Iterator[tuple[int, str, str]]:
    """Line, description and source of each mutant."""
    tree = ast.parse(source)
    for parent, name, index in list(spots(tree)):
        value = getattr(parent, name)
        node = value if index is None else value[index]
        for new in changes(node):
            place(parent, name, index, ast.copy_location(new, node))
            text = ast.unparse(ast.fix_missing_locations(tree))
            short = [ast.unparse(x).splitlines()[0][:60] for x in (node, new)]
            place(parent, name, index, node)
            if isinstance(node, ast.expr | ast.stmt):
                yield node.lineno, " → ".join(short), text


def place(parent: ast.AST, name: str, index: int | None, node: ast.AST) -> None:
    if index is None:
        setattr(parent, name, node)
    else:
        getattr(parent, name)[index] = node


class Changed(importlib.abc.MetaPathFinder, importlib.abc.SourceLoader):
    """Imports one module from a changed source."""

    def __init__(self, module: str, path: str, source: str) -> None:
        self.module, self.path, self.source = module, path, source

    def find_spec(self, name: str, path: object = None, target: object = None) -> object:
        return importlib.util.spec_from_loader(name, self) if name == self.module else None

    def get_filename(self, name: str) -> str:
        return self.path

    def get_data(self, path: str) -> bytes:
        return self.source.encode()


def survives(module: str, path: Path, source: str) -> bool:
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1] == 0
    signal.alarm(SECONDS)
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    sys.meta_path.insert(0, Changed(module, str(path), source))
    torch.set_num_threads(1)
    quick = ["-x", "-q", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
    for tests in TESTS:
        if pytest.main([*quick, *tests]) != 0:
            os._exit(1)
    os._exit(0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="+", type=Path)
    parser.add_argument("--only", type=int)
    options = parser.parse_args()
    for path in options.modules:
        module, source = ".".join(path.with_suffix("").parts), path.read_text()
        if not survives(module, path, source):
            sys.exit(f"the tests fail on {path} as it is")
        rows = list(mutants(source))
        rows = rows[:: max(1, len(rows) // options.only)] if options.only else rows
        killed = 0
        for line, what, changed in rows:
            if survives(module, path, changed):
                print(f"{path}:{line}: {what}", flush=True)
            else:
                killed += 1
        print(f"{path}: {killed} of {len(rows)} mutants killed, {100 * killed / len(rows):.1f} %", flush=True)


if __name__ == "__main__":
    main()

"""The mutants of a module: each changes one expression."""

from __future__ import annotations

import ast
import copy
import gc
import importlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src"

_Place = tuple[str, str, int]
"""A file, a function in it and the line where it begins."""

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
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


@dataclass(frozen=True)
class Mutant:
    """One change: which node of which module, and how to say it."""

    path: Path
    lines: tuple[int, ...]  # its own, then those it is part of, up to its statement
    at: int  # the node's place in ast.walk
    change: str

    @property
    def line(self) -> int:
        """Its own line."""
        return self.lines[0]


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Every mutant of a module."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    annotations = set(_inside_annotations(tree))
    parents = _parents(tree)
    for at, node in enumerate(ast.walk(tree)):
        if node in annotations or not hasattr(node, "lineno"):
            continue
        change = _change_of(node)
        if change is not None:
            yield Mutant(path, tuple(_lines(node, parents)), at, change)


def _parents(tree: ast.Module) -> dict[ast.AST, ast.AST]:
    parents = {}
    for node in ast.walk(tree):
        for child in ast.iter_child_nodes(node):
            parents[child] = node
    return parents


def _lines(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> Iterator[int]:
    """Where a node begins, and what it is part of: Python may count it as run there."""
    while True:
        line = getattr(node, "lineno", None)
        if line is not None:
            yield line
        if isinstance(node, ast.stmt):
            return
        node = parents[node]


def _inside_annotations(tree: ast.Module) -> Iterator[ast.AST]:
    """What mypy looks at and Python never runs."""
    for node in ast.walk(tree):
        annotation = getattr(node, "annotation", None) or getattr(node, "returns", None)
        if annotation is not None:
            yield from ast.walk(annotation)


def _change_of(node: ast.AST) -> str | None:
    if isinstance(node, ast.Compare):
        return f"{ast.unparse(node)} -> {ast.unparse(_mutated(node))}"
    if isinstance(node, ast.BoolOp):
        return f"{ast.unparse(node)} -> {ast.unparse(_mutated(node))}"
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return f"{ast.unparse(node)} -> {ast.unparse(_mutated(node))}"
    if isinstance(node, ast.Constant) and type(node.value) in (bool, int):
        return f"{ast.unparse(node)} -> {ast.unparse(_mutated(node))}"
    return None


def _mutated(node: ast.AST) -> ast.AST:
    """The node with its one change."""
    changed = copy.deepcopy(node)
    if isinstance(changed, ast.Compare):
        first = type(changed.ops[0])
        changed.ops[0] = _COMPARISONS[first]()
    elif isinstance(changed, ast.BoolOp):
        changed.op = ast.Or() if isinstance(changed.op, ast.And) else ast.And()
    elif isinstance(changed, ast.UnaryOp):
        return changed.operand
    elif isinstance(changed, ast.Constant):
        changed.value = (
            not changed.value
            if isinstance(changed.value, bool)
            else int(str(changed.value)) + 1
        )
    return changed


def source_of(mutant: Mutant) -> str:
    """The whole module with the change in it."""
    return ast.unparse(_tree_of(mutant))


def _tree_of(mutant: Mutant) -> ast.Module:
    tree = ast.parse(mutant.path.read_text(encoding="utf-8"))
    target = list(ast.walk(tree))[mutant.at]

    class Change(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            if node is target:
                return ast.copy_location(_mutated(node), node)
            return self.generic_visit(node)

    changed = Change().visit(tree)
    assert isinstance(changed, ast.Module)
    return ast.fix_missing_locations(changed)


def put_into_this_process(mutant: Mutant) -> None:
    """Give the functions of an imported module the code of the mutant.

    What the module computed when it was imported stays as it was.
    """
    module = mutant.path.relative_to(SOURCE).with_suffix("")
    importlib.import_module(".".join(module.parts).removesuffix(".__init__"))
    code = compile(_tree_of(mutant), str(mutant.path), "exec", dont_inherit=True)
    functions = list(_functions_in(code))
    times_seen = Counter(place for place, _ in functions)
    changed = {place: code for place, code in functions if times_seen[place] == 1}
    for function in gc.get_objects():
        if isinstance(function, FunctionType):
            place = _place_of(function.__code__)
            function.__code__ = changed.get(place, function.__code__)


def _functions_in(code: CodeType) -> Iterator[tuple[_Place, CodeType]]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield _place_of(constant), constant
            yield from _functions_in(constant)


def _place_of(code: CodeType) -> _Place:
    return code.co_filename, code.co_qualname, code.co_firstlineno

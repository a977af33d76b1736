"""Which lines of a Python file were changed, and which of them tests have run.

A line counts with the whole statement it belongs to: only statements can be run, and
every version of Python agrees where they begin.
"""

from __future__ import annotations

import ast
import json
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator
from difflib import SequenceMatcher
from typing import Final, NamedTuple, TypeAlias

_NEVER_RUN: Final = (ast.Global, ast.Nonlocal)
"""Statements that do nothing when they are run."""
_Documented: TypeAlias = (
    ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
)


class Statement(NamedTuple):
    """The lines of a statement, without those of the statements in it."""

    first: int
    last: int


def changed_statements(old: str, new: str) -> dict[int, Statement]:
    """Return the changed lines of the new version, each with its statement.

    Lines without code are left out. There are none where the new version is no Python.
    """
    try:
        module = ast.parse(new)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    statements = sorted(_statements(module))
    starts = [statement.first for statement in statements]

    changed = {}
    for line in _changed_lines(old, new):
        index = bisect_right(starts, line) - 1
        if index >= 0 and line <= statements[index].last:
            changed[line] = statements[index]
    return changed


def never_run(changed: dict[int, Statement], run: Collection[int]) -> tuple[int, ...]:
    """Return the changed lines whose statement was never run."""
    lines = []
    for line, statement in sorted(changed.items()):
        numbers = range(statement.first, statement.last + 1)
        if not any(number in run for number in numbers):
            lines.append(line)
    return tuple(lines)


def lines_run(stream: Iterable[bytes]) -> dict[str, set[int]] | None:
    """Read which lines were run, by file; None where the tracer was replaced.

    What is no event of the tracer is left to others.
    """
    run: dict[str, set[int]] = {}
    for text in stream:
        try:
            event = json.loads(text)
        except ValueError:
            continue
        if not isinstance(event, dict):
            continue
        kind = event.get("event")
        if kind == "untraced":
            return None
        if kind != "line":
            continue
        file = event.get("file")
        line = event.get("line")
        if isinstance(file, str) and isinstance(line, int):
            run.setdefault(file, set()).add(line)
    return run


def _changed_lines(old: str, new: str) -> Iterator[int]:
    """The numbers of the lines that only the new version has."""
    old_lines = old.splitlines()
    new_lines = new.splitlines()
    matcher = SequenceMatcher(
        a=old_lines,
        b=new_lines,
        autojunk=False,
    )
    for kind, _, _, first, end in matcher.get_opcodes():
        if kind in ("insert", "replace"):
            yield from range(first + 1, end + 1)


def _statements(module: ast.Module) -> Iterator[Statement]:
    docstrings = set(_docstrings(module))
    for node in ast.walk(module):
        if not isinstance(node, ast.stmt) or node in docstrings:
            continue
        if not isinstance(node, _NEVER_RUN) and not _is_mere_annotation(node):
            yield _lines_of(node)


def _docstrings(module: ast.Module) -> Iterator[ast.stmt]:
    for node in ast.walk(module):
        if not isinstance(node, _Documented) or not node.body:
            continue
        match node.body[0]:
            case ast.Expr(value=ast.Constant()) as docstring:
                yield docstring


def _is_mere_annotation(node: ast.stmt) -> bool:
    return isinstance(node, ast.AnnAssign) and node.value is None


def _lines_of(node: ast.stmt) -> Statement:
    """The lines of a statement; of a compound statement, those of its head."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    starts = [decorator.lineno for decorator in decorators]
    first = min([node.lineno, *starts])
    cases: list[ast.stmt] = getattr(node, "cases", [])
    body: list[ast.stmt] = getattr(node, "body", cases)
    last = node.end_lineno or node.lineno
    if body:
        last = max(node.lineno, _first_line(body[0]) - 1)
    return Statement(first, last)


def _first_line(node: ast.AST) -> int:
    """Where a statement or a case begins."""
    if isinstance(node, ast.match_case):
        return node.pattern.lineno
    first: int = getattr(node, "lineno", 0)
    return first

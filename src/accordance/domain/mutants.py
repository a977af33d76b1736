"""Mutants: Python code with a small fault, by which tests show what they notice.

Each mutant changes an expression and leaves every other character of the file as it
is. A mutant that no test notices survives: nothing checks what that expression does.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from types import MappingProxyType
from typing import Final, NamedTuple

from accordance.domain.facts import CommandRun

_COMPARISONS: Final[Mapping[type[ast.cmpop], type[ast.cmpop]]] = MappingProxyType(
    {
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
)
_ARITHMETIC: Final[Mapping[type[ast.operator], type[ast.operator]]] = MappingProxyType(
    {
        ast.Add: ast.Sub,
        ast.Sub: ast.Add,
        ast.Mult: ast.FloorDiv,
        ast.Div: ast.Mult,
        ast.FloorDiv: ast.Mult,
        ast.Mod: ast.Mult,
    }
)
_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_MOST_SHOWN: Final = 60  # characters of an expression


class SourceSpan(NamedTuple):
    """A part of a text, by lines from 1 and by bytes of UTF-8 in a line."""

    first_line: int
    first_byte: int
    last_line: int
    end_byte: int


@dataclass(frozen=True, slots=True)
class Mutant:
    """A fault in a Python file."""

    span: SourceSpan
    text: str  # what stands there instead
    change: str  # as people read it
    lines: tuple[int, ...]  # its own, then those it is part of, up to its statement

    @property
    def line(self) -> int:
        """The line that it begins in."""
        return self.span.first_line


def mutants_of(source: str, lines: Collection[int] | None = None) -> tuple[Mutant, ...]:
    """Return the mutants of a Python file that begin in these lines, or in any.

    There are none where the text is no Python, or is nested too deeply.
    """
    try:
        return tuple(_mutants(ast.parse(source), lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()


def mutated(source: str, mutant: Mutant) -> str:
    """Return a file with the fault of a mutant."""
    lines = _LINE.findall(source)
    span = mutant.span
    first = lines[span.first_line - 1].encode()
    last = lines[span.last_line - 1].encode()
    before = first[: span.first_byte].decode()
    after = last[span.end_byte :].decode()
    kept_before = lines[: span.first_line - 1]
    kept_after = lines[span.last_line :]
    return "".join((*kept_before, before, mutant.text, after, *kept_after))


class PlacedMutant(NamedTuple):
    """A mutant, and the file that it is in."""

    file: str
    mutant: Mutant


def chosen_mutants(
    candidates: Iterable[PlacedMutant],
    most: int,
    seed: str,
) -> tuple[PlacedMutant, ...]:
    """Return some of the mutants: the same for the same seed, spread over the lines."""
    drawn = sorted(candidates, key=lambda placed: _lot(placed, seed))
    counters: dict[tuple[str, int], Iterator[int]] = {}
    ranked = []
    for order, placed in enumerate(drawn):
        place = (placed.file, placed.mutant.line)
        rank_on_line = next(counters.setdefault(place, count()))
        ranked.append((rank_on_line, order))
    ranked.sort()
    return tuple(drawn[order] for _, order in ranked[:most])


def is_noticed(run: CommandRun) -> bool:
    """Whether a test command that passes without a fault has noticed it."""
    is_broken_off = run.report is not None and run.sound_report is None
    return is_broken_off or not run.passed


def _lot(placed: PlacedMutant, seed: str) -> str:
    mutant = placed.mutant
    text = "\0".join((seed, placed.file, repr(mutant.span), mutant.text))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _mutants(module: ast.Module, lines: Collection[int] | None) -> Iterator[Mutant]:
    left_out = {*_annotations(module), *_parts_of_texts(module)}
    parents = _parents(module)
    for node in ast.walk(module):
        if not isinstance(node, ast.expr) or node in left_out:
            continue
        if lines is not None and node.lineno not in lines:
            continue
        is_returned = isinstance(parents[node], ast.Return)
        for changed in _changed(node, is_returned=is_returned):
            yield _mutant(node, changed, tuple(_lines(node, parents)))


def _mutant(node: ast.expr, changed: ast.expr, lines: tuple[int, ...]) -> Mutant:
    text = ast.unparse(changed)
    change = f"{_short(ast.unparse(node))} -> {_short(text)}"
    if not isinstance(changed, ast.Constant):
        text = f"({text})"  # whatever it stands beside
    last_line = node.end_lineno or node.lineno
    end = node.end_col_offset or node.col_offset
    span = SourceSpan(
        first_line=node.lineno,
        first_byte=node.col_offset,
        last_line=last_line,
        end_byte=end,
    )
    return Mutant(
        span=span,
        text=text,
        change=change,
        lines=lines,
    )


def _short(text: str) -> str:
    if len(text) <= _MOST_SHOWN:
        return text
    return f"{text[:_MOST_SHOWN]}..."


def _changed(node: ast.expr, *, is_returned: bool) -> Iterator[ast.expr]:
    """Yield an expression with each of the faults it can have."""
    is_none = isinstance(node, ast.Constant) and node.value is None
    if is_returned and not is_none:
        yield ast.Constant(None)

    match node:
        case ast.Compare(left=left, ops=[first, *others], comparators=compared):
            opposite = _COMPARISONS[type(first)]
            yield ast.Compare(left, [opposite(), *others], compared)
        case ast.BoolOp(op=ast.And(), values=values):
            yield ast.BoolOp(ast.Or(), values)
        case ast.BoolOp(op=ast.Or(), values=values):
            yield ast.BoolOp(ast.And(), values)
        case ast.BinOp(left=left, op=operator, right=right):
            other = _ARITHMETIC.get(type(operator))
            if other is not None:
                yield ast.BinOp(left, other(), right)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield operand
        case ast.Constant(value=value):
            yield from _changed_constants(value)


def _changed_constants(value: object) -> Iterator[ast.Constant]:
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif isinstance(value, int):
        yield ast.Constant(value + 1)


def _annotations(module: ast.Module) -> Iterator[ast.AST]:
    """What type checkers look at and Python never runs."""
    for node in ast.walk(module):
        for name in ("annotation", "returns"):
            annotation = getattr(node, name, None)
            if annotation is not None:
                yield from ast.walk(annotation)


def _parts_of_texts(module: ast.Module) -> Iterator[ast.AST]:
    """What stands inside f-strings: not all versions of Python know where."""
    for node in ast.walk(module):
        if isinstance(node, ast.JoinedStr):
            for part in node.values:
                yield from ast.walk(part)


def _parents(module: ast.Module) -> dict[ast.AST, ast.AST]:
    parents = {}
    for node in ast.walk(module):
        for child in ast.iter_child_nodes(node):
            parents[child] = node
    return parents


def _lines(node: ast.AST, parents: Mapping[ast.AST, ast.AST]) -> Iterator[int]:
    """Where a node begins, and what it is part of: Python may count it as run there."""
    while not isinstance(node, ast.stmt):
        line = getattr(node, "lineno", None)
        if line is not None:
            yield line
        node = parents[node]
    yield node.lineno

"""What the tests of a Python file assert, and where a new version asserts less.

Only the text of both versions is looked at; nothing is run. A test that calls a helper
of its own file asserts what the helper asserts.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, TypeAlias

_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
_BROAD: Final = frozenset(("Exception", "BaseException", "AssertionError"))
_SKIPS: Final = frozenset(
    """
    skip skipif skipIf skipUnless xfail expectedFailure skipTest importorskip
    """.split()  # noqa: SIM905 - names, as their libraries spell them
)
_RAISES: Final = frozenset(("raises", "warns", "deprecated_call"))
_EXACT: Final = frozenset(
    ("assertEqual", "assertEquals", "assertIs", "assertDictEqual", "assertListEqual")
)
_OF_NOTHING: Final = frozenset(("assertTrue", "assertFalse", "assertIsNotNone"))
_WHOLE_FILE: Final = ""
GONE: Final = "gone from their file"

# the kinds of things that are counted
_ASSERTIONS: Final = "assertions"
_EXACT_ONES: Final = "exact"
_CONSTANT: Final = "constant"
_SKIP_MARKS: Final = "skips"
_SWALLOWED: Final = "swallowed"
_RETURNS: Final = "returns"
_WAYS_BY_KIND: Final = MappingProxyType(
    {
        _CONSTANT: "assert what is always true",
        _SKIP_MARKS: "skipped now, or expected to fail",
        _SWALLOWED: "swallow every error",
        _RETURNS: "return before their end",
    }
)
"""How a test got weaker that has more of something, in the order of the report."""


@dataclass(frozen=True, slots=True)
class Loosening:
    """A test that asserts less than it did, and how."""

    test: str  # its name in the file, with its class; empty for the whole file
    how: str


def loosened_tests(old: str, new: str) -> tuple[Loosening, ...]:
    """Compare the tests of two versions of a file, if both are Python."""
    try:
        before = _tests_of(old)
        after = _tests_of(new)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()

    loosenings = []
    for test, counts_before in before.items():
        counts_after = after.get(test)
        if counts_after is None:
            loosenings.append(Loosening(test, GONE))
            continue
        for how in _ways(counts_before, counts_after):
            loosenings.append(Loosening(test, how))
    return tuple(loosenings)


def _ways(before: Counter[str], after: Counter[str]) -> Iterator[str]:
    """How a test got weaker."""
    asserted_before = before[_ASSERTIONS] - before[_CONSTANT]
    asserted_after = after[_ASSERTIONS] - after[_CONSTANT]
    if asserted_after < asserted_before:
        yield f"{asserted_after} of {asserted_before} assertions left"
    elif after[_EXACT_ONES] < before[_EXACT_ONES]:
        yield "compare less exactly"
    for kind, way in _WAYS_BY_KIND.items():
        if after[kind] > before[kind]:
            yield way


def _tests_of(text: str) -> dict[str, Counter[str]]:
    """What each test counts, by its name; and the file itself, by no name."""
    module = ast.parse(text)
    functions = dict(_functions_of(module))
    counts: dict[str, Counter[str]] = {_WHOLE_FILE: _file_counts(module)}
    for name, function in functions.items():
        if name.rpartition(".")[2].startswith("test"):
            counts[name] = _counts_with_helpers(name, function, functions)
    return counts


def _functions_of(module: ast.Module) -> Iterator[tuple[str, _Function]]:
    """Every function of the file and of its classes, by its name."""
    for statement in module.body:
        if isinstance(statement, _Function):
            yield statement.name, statement
        elif isinstance(statement, ast.ClassDef):
            for part in statement.body:
                if isinstance(part, _Function):
                    yield f"{statement.name}.{part.name}", part


def _file_counts(module: ast.Module) -> Counter[str]:
    """Marks that skip a whole file or a class."""
    skips = 0
    for statement in module.body:
        for part in _outside_of_functions(statement):
            skips += sum(map(_is_skip, ast.walk(part)))
    return Counter({_SKIP_MARKS: skips})


def _outside_of_functions(statement: ast.stmt) -> Sequence[ast.AST]:
    """What of a statement of the file belongs to no function."""
    if isinstance(statement, _Function):
        return ()
    if isinstance(statement, ast.ClassDef):
        return statement.decorator_list
    return (statement,)


def _counts_with_helpers(
    name: str,
    function: _Function,
    functions: Mapping[str, _Function],
) -> Counter[str]:
    """What a test counts, together with the functions of its file that it calls."""
    called = {name: function}
    to_look_at = [function]
    while to_look_at:
        looked_at = to_look_at.pop()
        for helper in _names_called(looked_at, own_class=name.rpartition(".")[0]):
            is_new = helper in functions and helper not in called
            if is_new:
                called[helper] = functions[helper]
                to_look_at.append(functions[helper])

    total: Counter[str] = Counter()
    for part in called.values():
        is_helper = part is not function
        total += _counts(part, is_helper=is_helper)
    return total


def _names_called(function: _Function, own_class: str) -> Iterator[str]:
    """What a function calls: functions of its file, or of its own class."""
    for node in ast.walk(function):
        if isinstance(node, ast.Call):
            name = _last_name(node.func)
            yield name
            yield f"{own_class}.{name}"


def _counts(function: _Function, *, is_helper: bool) -> Counter[str]:
    counts: Counter[str] = Counter()
    for node in ast.walk(function):
        counts.update(_kinds(node))
    if not is_helper:
        own_statements = function.body[:-1]
        returns = [node for node in own_statements if isinstance(node, ast.Return)]
        counts[_RETURNS] += len(returns)
    return counts


def _kinds(node: ast.AST) -> Iterator[str]:
    """The kinds of things that a node is."""
    if isinstance(node, ast.Assert):
        yield _ASSERTIONS
        if _is_constant(node.test):
            yield _CONSTANT
        elif _is_exact(node.test):
            yield _EXACT_ONES
    elif isinstance(node, ast.Call):
        yield from _kinds_of_call(node)
    elif isinstance(node, ast.ExceptHandler) and _is_broad(node):
        yield _SWALLOWED
    if _is_skip(node):
        yield _SKIP_MARKS


def _kinds_of_call(call: ast.Call) -> Iterator[str]:
    name = _last_name(call.func)
    is_assertion = name.startswith(("assert", "fail")) or name in _RAISES
    if is_assertion:
        yield _ASSERTIONS
        yield from _kinds_of_assertion(name, call.args)
    elif name == "suppress":
        suppressed = [_last_name(kind) for kind in call.args]
        if not _BROAD.isdisjoint(suppressed):
            yield _SWALLOWED


def _kinds_of_assertion(name: str, arguments: Sequence[ast.expr]) -> Iterator[str]:
    """Whether `assertTrue` and its like assert nothing, or compare exactly."""
    if name in _OF_NOTHING:
        if arguments and _is_constant(arguments[0]):
            yield _CONSTANT
    elif name in _EXACT:
        match arguments:
            case [left, right, *_] if _is_same(left, right):
                yield _CONSTANT
            case _:
                yield _EXACT_ONES


def _is_constant(test: ast.expr) -> bool:
    """Whether an assertion is true whatever the code does."""
    match test:
        case ast.Constant():
            return True
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _is_constant(operand)
        case ast.BoolOp(op=ast.Or(), values=values):
            return any(map(_is_constant, values))
        case ast.BoolOp(op=ast.And(), values=values):
            return all(map(_is_constant, values))
        case ast.Tuple(elts=elements):  # a tuple that is not empty is true
            return bool(elements)
        case ast.Compare(left=left, comparators=[right]):
            return _is_same(left, right)
    return False


def _is_same(left: ast.expr, right: ast.expr) -> bool:
    return ast.dump(left) == ast.dump(right)


def _is_exact(test: ast.expr) -> bool:
    if not isinstance(test, ast.Compare):
        return False
    return isinstance(test.ops[0], ast.Eq | ast.Is)


def _is_broad(handler: ast.ExceptHandler) -> bool:
    """Whether a handler catches every error, and a failed assertion with it."""
    if any(isinstance(node, ast.Raise) for node in ast.walk(handler)):
        return False
    if handler.type is None:
        return True
    caught = handler.type
    types = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    return any(_last_name(kind) in _BROAD for kind in types)


def _is_skip(node: ast.AST) -> bool:
    """Whether a name is that of a mark or a call by which tests are skipped."""
    return isinstance(node, ast.Attribute | ast.Name) and _last_name(node) in _SKIPS


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Name):
        return node.id
    return ""

"""Measure how readable the code is: `python -m tools.measure [FOLDER] [--by-package]`.

The figures serve to compare the code with other projects. None of them is a goal in
itself: functions can be made short by compressing lines, so size and density are shown
together. `--by-package` and `--worst 20` show where the density is.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import re
import statistics
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
LONG_MODULE = 400
"""Lines; a longer module needs a reason."""
DECISIONS_AIMED_AT = 150
"""Decision points per 1,000 code lines."""
EXPRESSIONS_AIMED_AT = 3.4
"""Expression nodes per code line."""
VAGUE_WORDS = ("one", "said", "told", "found", "whoever", "somebody", "nobody")
"""Names and words that stand where a noun should."""

_DECISIONS = (
    ast.If,
    ast.IfExp,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.ExceptHandler,
    ast.comprehension,
    ast.match_case,
)
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Module:
    """One file and what is read off it."""

    path: Path
    text: str
    tree: ast.Module

    @property
    def lines(self) -> int:
        """All lines, empty ones included."""
        return len(self.text.splitlines())

    @property
    def functions(self) -> list[_Function]:
        """Every function and method, at any depth."""
        return [node for node in ast.walk(self.tree) if isinstance(node, _Function)]


def modules_in(folder: Path) -> list[Module]:
    """Every Python file below a folder."""
    modules = []
    for path in sorted(folder.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        modules.append(Module(path, text, ast.parse(text)))
    return modules


def measure(sources: list[Module], tests: list[Module]) -> Mapping[str, object]:
    """All figures, by the name under which they are printed."""
    lines = sum(module.lines for module in sources)
    sizes = [module.lines for module in sources]
    lengths = [
        _length(function)
        for module in sources
        if "migrations"
        not in module.path.parts  # they list tables, and are never touched again
        for function in module.functions
    ]
    filled_lines = sum(_filled_lines(module) for module in sources)
    code_lines = sum(_code_lines(module) for module in sources)
    decisions = sum(_decisions(module.tree) for module in sources)
    expressions = sum(_expressions(module.tree) for module in sources)
    whole_texts = sum(_expressions_with_whole_texts(module.tree) for module in sources)
    docstrings = sum(_docstring_lines(module.tree) for module in sources)
    comments = sum(_comment_lines(module.text) for module in sources)
    inner_imports = sum(_imports_in_functions(module) for module in sources)
    return {
        "modules": len(sources),
        "lines": lines,
        "module median / max": f"{statistics.median(sizes):.0f} / {max(sizes)}",
        "modules over 400 lines": sum(size > LONG_MODULE for size in sizes),
        "function mean / p90 / max": (
            f"{statistics.mean(lengths):.1f} / {_percentile(lengths, 90)} / {max(lengths)}"
        ),
        "decision points per 1,000 code lines": round(1000 * decisions / code_lines),
        "expression nodes per code line": round(expressions / code_lines, 2),
        "  with an f-string as one node": round(whole_texts / code_lines, 2),
        "docstring lines per 100": round(100 * docstrings / filled_lines, 1),
        "comments per 100": round(100 * comments / filled_lines, 1),
        "swallowed exceptions": sum(_swallowed(module.tree) for module in sources),
        "imports in functions per 1,000": round(1000 * inner_imports / filled_lines, 1),
        "test lines / source lines": round(
            sum(module.lines for module in tests) / lines, 2
        ),
    }


@dataclass(frozen=True)
class Density:
    """How much a reader has to take in for each line of some modules."""

    name: str
    code_lines: int
    decisions: int
    expressions: int
    vague_words: int

    @property
    def decisions_per_thousand(self) -> float:
        """Decision points per 1,000 code lines."""
        return 1000 * self.decisions / max(self.code_lines, 1)

    @property
    def expressions_per_line(self) -> float:
        """Expression nodes per code line."""
        return self.expressions / max(self.code_lines, 1)

    @property
    def excess(self) -> float:
        """Decisions and expressions above what the aims allow for this much code."""
        decisions = self.decisions - self.code_lines * DECISIONS_AIMED_AT / 1000
        expressions = self.expressions - self.code_lines * EXPRESSIONS_AIMED_AT
        return max(decisions, 0) + max(expressions, 0) / 10

    def __str__(self) -> str:
        """Return the row that is printed."""
        return (
            f"{self.name:44} {self.code_lines:6}"
            f" {self.decisions_per_thousand:10.0f} {self.expressions_per_line:12.2f}"
            f" {self.vague_words:6}"
        )


def density(name: str, modules: list[Module]) -> Density:
    """Count what makes these modules dense."""
    return Density(
        name=name,
        code_lines=sum(_code_lines(module) for module in modules),
        decisions=sum(_decisions(module.tree) for module in modules),
        expressions=sum(_expressions(module.tree) for module in modules),
        vague_words=vague_words(modules).total(),
    )


def by_package(folder: Path, sources: list[Module]) -> list[Density]:
    """The density of each package right below the folder."""
    packages: dict[str, list[Module]] = {}
    for module in sources:
        package = module.path.relative_to(folder).parts[0]
        packages.setdefault(package, []).append(module)
    return [density(name, modules) for name, modules in sorted(packages.items())]


def worst_modules(folder: Path, sources: list[Module], count: int) -> list[Density]:
    """The modules that are furthest above the aims, the worst first."""
    rows = [
        density(module.path.relative_to(folder).as_posix(), [module])
        for module in sources
    ]
    rows.sort(key=lambda row: row.excess, reverse=True)
    return rows[:count]


def repeated_names(sources: list[Module]) -> Mapping[str, list[str]]:
    """Public classes whose name has two or more meanings, each with its modules."""
    homes: dict[str, list[str]] = {}
    for module in sources:
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(module.path.stem)
    return {name: places for name, places in sorted(homes.items()) if len(places) > 1}


def vague_names(sources: list[Module]) -> Counter[str]:
    """How often a variable, argument or attribute carries a name that says nothing."""
    counts: Counter[str] = Counter()
    for module in sources:
        counts.update(name for name in _names_bound(module.tree) if name in VAGUE_WORDS)
    return counts


def vague_words(sources: list[Module]) -> Counter[str]:
    """How often such a word stands in docstrings and comments."""
    counts: Counter[str] = Counter()
    for module in sources:
        prose = " ".join(_prose(module))
        counts.update(
            word for word in re.findall(r"[a-z]+", prose.lower()) if word in VAGUE_WORDS
        )
    return counts


def _length(function: _Function) -> int:
    last = function.end_lineno or function.lineno
    return last - function.lineno + 1


def _percentile(values: list[int], percent: int) -> int:
    return sorted(values)[len(values) * percent // 100]


def _code_lines(module: Module) -> int:
    """Lines that hold code: neither empty, nor comment, nor docstring."""
    comments = _comment_lines(module.text, whole_lines=True)
    return _filled_lines(module) - _docstring_lines(module.tree) - comments


def _filled_lines(module: Module) -> int:
    return sum(1 for line in module.text.splitlines() if line.strip())


def _decisions(tree: ast.Module) -> int:
    """Points at which control flow can branch; `a and b` has a decision more than `a`."""
    count = 0
    for node in ast.walk(tree):
        if isinstance(node, _DECISIONS):
            count += 1
        if isinstance(node, ast.comprehension):
            count += len(node.ifs)
        if isinstance(node, ast.BoolOp):
            count += len(node.values) - 1
    return count


def _expressions(tree: ast.Module) -> int:
    return sum(1 for node in ast.walk(tree) if isinstance(node, ast.expr))


def _expressions_with_whole_texts(node: ast.AST) -> int:
    """Expressions, with an f-string counted as a single node, because it is read as one."""
    if isinstance(node, ast.JoinedStr):
        return 1
    inner = sum(map(_expressions_with_whole_texts, ast.iter_child_nodes(node)))
    return inner + isinstance(node, ast.expr)


def _docstring_lines(tree: ast.Module) -> int:
    count = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | _Function):
            has_docstring = ast.get_docstring(node) is not None
            count += _lines_of(node.body[0]) if has_docstring else 0
    return count


def _lines_of(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def _comment_lines(text: str, *, whole_lines: bool = False) -> int:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    comments = (token for token in tokens if token.type == tokenize.COMMENT)
    return sum(
        1
        for token in comments
        if not whole_lines or token.line.lstrip().startswith("#")
    )


def _imports_in_functions(module: Module) -> int:
    inner = (node for function in module.functions for node in ast.walk(function))
    return len(
        {node for node in inner if isinstance(node, ast.Import | ast.ImportFrom)}
    )


def _swallowed(tree: ast.Module) -> int:
    """Handlers of every exception that do nothing at all."""
    handlers = (node for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler))
    return sum(
        1 for handler in handlers if _is_broad(handler) and _does_nothing(handler)
    )


def _is_broad(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    return isinstance(handler.type, ast.Name) and handler.type.id in (
        "Exception",
        "BaseException",
    )


def _does_nothing(handler: ast.ExceptHandler) -> bool:
    return all(isinstance(statement, ast.Pass) for statement in handler.body)


def _names_bound(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg


def _prose(module: Module) -> Iterator[str]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Module | ast.ClassDef | _Function):
            yield ast.get_docstring(node) or ""
    for token in tokenize.generate_tokens(io.StringIO(module.text).readline):
        if token.type == tokenize.COMMENT:
            yield token.string


def _print_densities(rows: list[Density]) -> None:
    header = f"{'':44} {'lines':>6} {'decisions':>10} {'expressions':>12} {'vague':>6}"
    sys.stdout.write(header + "\n")
    for row in rows:
        sys.stdout.write(f"{row}\n")


def main(words: list[str]) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.measure", description=__doc__.splitlines()[0]
    )
    parser.add_argument(
        "folder", nargs="?", type=Path, default=ROOT / "src" / "accordance"
    )
    parser.add_argument("--tests", type=Path, default=ROOT / "tests")
    parser.add_argument("--json", action="store_true", dest="as_json")
    parser.add_argument("--by-package", action="store_true")
    parser.add_argument("--worst", type=int, metavar="COUNT", default=0)
    options = parser.parse_args(words)
    sources = modules_in(options.folder)
    if options.by_package:
        _print_densities(by_package(options.folder, sources))
    if options.worst:
        _print_densities(worst_modules(options.folder, sources, options.worst))
    if options.by_package or options.worst:
        return
    figures = measure(sources, modules_in(options.tests))
    repeated = repeated_names(sources)
    names = vague_names(sources)
    prose = vague_words(sources)
    if options.as_json:
        whole = {
            "figures": figures,
            "repeated": repeated,
            "vague_names": names,
            "vague_words": prose,
        }
        sys.stdout.write(json.dumps(whole, indent=2) + "\n")
        return
    for name, value in figures.items():
        sys.stdout.write(f"{name:34} {value}\n")
    sys.stdout.write(f"\nclass names with more than one meaning: {len(repeated)}\n")
    for name, places in repeated.items():
        sys.stdout.write(f"  {name:20} {', '.join(places)}\n")
    sys.stdout.write(f"\nvague names bound: {dict(names.most_common())}\n")
    sys.stdout.write(
        f"vague words in docstrings and comments: {dict(prose.most_common())}\n"
    )


if __name__ == "__main__":
    main(sys.argv[1:])

"""The page on the architecture speaks of the code as it is."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "accordance"
PAGES = ("docs/architecture.md", "CONTRIBUTING.md")
NAMED = re.compile(r"`((?:[a-z_]+/)+[a-z_]+)((?:\.[A-Za-z_]+)*)`")
"""A module or package, such as `domain/turns`, and what may be named in it."""


def names_in(page: str) -> list[tuple[str, str]]:
    """Every module or function that a page names, once."""
    text = (ROOT / page).read_text(encoding="utf-8")
    matches = NAMED.findall(text)
    return sorted(
        {(place, name.lstrip(".").removeprefix("py")) for place, name in matches}
    )


def definitions_in(tree: ast.Module | ast.ClassDef) -> dict[str, ast.stmt]:
    """The functions and classes directly in a module or class, by name."""
    defined = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    return {node.name: node for node in tree.body if isinstance(node, defined)}


def is_defined(module: Path, name: str) -> bool:
    """Whether a module defines a function, a class or a method."""
    inside: ast.Module | ast.stmt = ast.parse(module.read_text(encoding="utf-8"))
    for part in name.split("."):
        if not isinstance(inside, ast.Module | ast.ClassDef):
            return False
        definitions = definitions_in(inside)
        if part not in definitions:
            return False
        inside = definitions[part]
    return True


@pytest.mark.parametrize(
    ("page", "place", "name"),
    [(page, place, name) for page in PAGES for place, name in names_in(page)],
)
def test_what_a_page_names_exists(page: str, place: str, name: str) -> None:
    """A newcomer who follows a name finds it: a folder, or a module with that function."""
    if name:
        module = PACKAGE / f"{place}.py"
        assert module.is_file(), f"{page} names {place}"
        assert is_defined(module, name), f"{page} names {place}.{name}"
        return
    paths = [
        root / f"{place}{ending}" for root in (PACKAGE, ROOT) for ending in ("", ".py")
    ]
    assert any(path.exists() for path in paths), f"{page} names {place}"


@pytest.mark.parametrize(
    ("place", "name", "exists"),
    [
        ("domain/turns", "turn_of", True),
        ("store/sql_writing", "SqlWriting.finish", True),
        ("store/sql_writing", "SqlWriting.vanish", False),
        ("domain/turns", "turn_of.something", False),
    ],
)
def test_the_test_itself(place: str, name: str, exists: bool) -> None:
    """A name that is not there is noticed."""
    assert is_defined(PACKAGE / f"{place}.py", name) is exists

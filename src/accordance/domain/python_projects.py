"""What a Python project says about itself: its requirements for tests, and its name."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from accordance.contracts.toml import InvalidToml, read_toml

_FOR_TESTS: Final = ("test", "tests", "testing", "dev")
"""Names of extras and dependency groups that tests need."""


@dataclass(frozen=True, slots=True)
class PythonProject:
    """What a Python project says about itself."""

    needs_install: bool = False
    extras: tuple[str, ...] = ()
    group: tuple[str, ...] = ()
    """Requirements of its dependency groups for tests."""
    texts: tuple[str, ...] = ()
    """All requirements that are installed for its tests."""
    reasons: tuple[str, ...] = ()

    @property
    def target(self) -> str:
        """The project with its extras, as pip expects it."""
        if not self.extras:
            return "."
        extras = ",".join(self.extras)
        return f".[{extras}]"

    @classmethod
    def of(cls, files: Mapping[str, str]) -> PythonProject:
        """Read pyproject.toml, and look for the files of older projects."""
        try:
            tables = read_toml(files.get("pyproject.toml", ""))
        except InvalidToml:
            tables = {}

        project = _table(tables, "project")
        optional = _table(project, "optional-dependencies")
        groups = _table(tables, "dependency-groups")
        extras = tuple(name for name in _FOR_TESTS if name in optional)
        group: list[str] = []
        reasons = []
        for name in _FOR_TESTS:
            group += _requirements_of(groups, name, ())

        is_project = bool(project) or "build-system" in tables
        is_older = "setup.py" in files or "setup.cfg" in files
        if is_project:
            reasons.append("pyproject.toml")
        elif is_older:
            reasons += present(files, "setup.py", "setup.cfg")
        elif group:
            reasons.append("the dependency groups of pyproject.toml")

        texts = [*group, *_texts(project.get("dependencies"))]
        for name in extras:
            texts += _texts(optional[name])
        older = [files[name] for name in present(files, "setup.py", "setup.cfg")]
        return cls(
            needs_install=is_project or is_older,
            extras=extras,
            group=tuple(dict.fromkeys(group)),
            texts=(*texts, *older),
            reasons=tuple(reasons),
        )


def _requirements_of(
    groups: Mapping[str, Any],
    name: str,
    above: tuple[str, ...],
) -> list[str]:
    """Return the requirements of a dependency group, with those it includes."""
    requirements = []
    if name in above:  # a circle is pip's to refuse
        return []
    for entry in _list(groups.get(name)):
        if isinstance(entry, str):
            requirements.append(entry)
        elif isinstance(entry, dict):
            included = str(entry.get("include-group", ""))
            requirements += _requirements_of(groups, included, (*above, name))
    return requirements


_PYTEST_REQUIREMENT: Final = re.compile(r"(?m)^\s*[\"'\[]*pytest\b|[\"']pytest\b")


def mentions_pytest(text: str) -> bool:
    """Whether a requirement, or a file of them, names pytest or its plugin."""
    return _PYTEST_REQUIREMENT.search(text) is not None


def present(files: Collection[str], *names: str) -> tuple[str, ...]:
    return tuple(name for name in names if name in files)


def _table(tables: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = tables.get(name)
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _texts(value: object) -> list[str]:
    return [text for text in _list(value) if isinstance(text, str)]


_NOT_IN_NAMES: Final = re.compile(r"[-_.]+")


def copies_of_project(
    project: str,
    tree: str,
    installed: Mapping[str, Mapping[str, Any]],
) -> tuple[str, ...]:
    """Return the installed packages by which tests would import a copy of the project.

    `installed` has for each package where it came from, as its direct_url.json says;
    `tree` is where the project lies. Only a package that is installed to be edited in
    place leads to the judged tree.
    """
    own_name = _normal_name(project)
    copies = []
    for name, origin in installed.items():
        is_editable = _table(origin, "dir_info").get("editable") is True
        if is_editable:
            continue
        url = f"{origin.get('url', '')}/"
        is_from_tree = "dir_info" in origin and url.startswith(f"file://{tree}/")
        is_own = bool(own_name) and _normal_name(name) == own_name
        if is_own or is_from_tree:
            copies.append(name)
    return tuple(copies)


def project_name(files: Mapping[str, str]) -> str:
    """Return the name in pyproject.toml; nothing where there is none."""
    try:
        tables = read_toml(files.get("pyproject.toml", ""))
    except InvalidToml:
        return ""
    return str(_table(tables, "project").get("name", ""))


def _normal_name(name: str) -> str:
    return _NOT_IN_NAMES.sub("-", name).lower()

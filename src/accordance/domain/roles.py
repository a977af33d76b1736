"""Roles: what somebody with a role may do, write and use. Shipped as data, overridden or added to in accordance.toml.

    [roles.engineer]
    max_attempts = 3
    write = { allow_paths = ["src/**", "tests/**"], deny_paths = ["**/secrets/**"] }
    read = ["docs/**"]     # beside what a task lets it write or read; what is denied stays denied

A role narrows what a task pins and never widens it. What a role of its own does not say is refused: it writes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.pins import Pins
from accordance.domain.attempts import MAX_ATTEMPTS
from accordance.domain.inheritance import beyond
from accordance.errors import InvalidPattern, InvalidRole, UnknownRole, did_you_mean

STEERING: Final = ("accordance.toml", "**/secrets/**")  # no agent rewrites the rules it is judged by
NOTHING: Final = Pins.of(())
DOCS: Final = Pins.of(["docs/**"], STEERING)
ANYTHING: Final = Pins.of(["**"], STEERING)
BUILD_FILES: Final = (
    "**/.gitattributes",
    "**/.gitignore",
    ".editorconfig",
    ".gitmodules",
    "CMakeLists.txt",
    "Cargo.lock",
    "Cargo.toml",
    "Gemfile",
    "Gemfile.lock",
    "MANIFEST.in",
    "Makefile",
    "babel.config.*",
    "build.gradle*",
    "composer.json",
    "conftest.py",
    "go.mod",
    "go.sum",
    "jest.config.*",
    "noxfile.py",
    "package-lock.json",
    "package.json",
    "pom.xml",
    "pyproject.toml",
    "pytest.ini",
    "requirements*.txt",
    "settings.gradle*",
    "setup.cfg",
    "setup.py",
    "tox.ini",
    "tsconfig*.json",
    "vitest.config.*",
)
"""How a repository is built and tested. Every role reads these, unless its `read` says something else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """One role's policy."""

    name: str
    plans: bool = False
    writes_code: bool = False
    runs_tests: bool = False
    write: Pins = NOTHING
    read: tuple[str, ...] = BUILD_FILES  # beside what its tasks let it write or read
    denied_tools: frozenset[str] = frozenset(("network",))
    pins_required: bool = True
    tests_required: bool = True  # DONE needs a test that passed
    max_attempts: int = 2

    def covers(self, other: Role) -> bool:
        """Whether this role may do everything that the other one may."""
        abilities = all(
            getattr(self, one) or not getattr(other, one) for one in ("plans", "writes_code", "runs_tests")
        )
        return (
            abilities and self.denied_tools <= other.denied_tools and beyond(other.write, self.write) is None
        )

    def policy(self) -> JsonObject:
        """As the table `role_from` reads."""
        return {
            **{key: getattr(self, key) for key in (*_SWITCHES, "max_attempts")},
            "denied_tools": sorted(self.denied_tools),
            "write": {"allow_paths": list(self.write.allowed), "deny_paths": list(self.write.forbidden)},
            "read": list(self.read),
        }


_OFFLINE: Final = frozenset(("git", "network"))
_PLANNER: Final = Role(
    name="planner", plans=True, denied_tools=_OFFLINE, pins_required=False, tests_required=False
)
_ENGINEER: Final = Role(name="engineer", writes_code=True, runs_tests=True, write=ANYTHING)
_DOC: Final = Role(name="doc", write=DOCS, pins_required=False, tests_required=False)

ROLES: Final[Mapping[str, Role]] = MappingProxyType(
    {
        role.name: role
        for role in (
            _PLANNER,
            replace(_PLANNER, name="splitter"),
            _ENGINEER,
            Role(name="reviewer", runs_tests=True, tests_required=False, max_attempts=1),
            _DOC,
            replace(_DOC, name="ssot_curator", write=Pins.of(["docs/**"], [*STEERING, "docs/archive/**"]), max_attempts=1),
            replace(_PLANNER, name="designer"),
            replace(_ENGINEER, name="executor"),
        )
    }
)  # fmt: skip
"""The roles that come with accordance."""

_SWITCHES: Final = ("plans", "writes_code", "runs_tests", "pins_required", "tests_required")
_KEYS: Final = (*_SWITCHES, "write", "read", "denied_tools", "max_attempts")
_WRITE_KEYS: Final = ("allow_paths", "deny_paths")


def roles_from(table: Mapping[str, object], base: Mapping[str, Role] = ROLES) -> Mapping[str, Role]:
    """The shipped roles with the `[roles]` table of accordance.toml laid over them. Raises InvalidRole."""
    return MappingProxyType(
        {**base, **{name: role_from(name, policy, base.get(name)) for name, policy in table.items()}}
    )


def role_from(name: str, policy: object, base: Role | None = None) -> Role:
    """One role from its table; what the table does not say stays as it is. Raises InvalidRole."""
    role = base or Role(name=name)
    said = _table(policy, f"roles.{name}", _KEYS)
    changes: dict[str, object] = {}
    for key, value in said.items():
        where = f"roles.{name}.{key}"
        if key == "write":
            changes[key] = _write_policy(value, where, role.write)
        elif key == "read":
            changes[key] = _patterns(_texts(value, where), where)
        elif key == "denied_tools":
            changes[key] = frozenset(_texts(value, where))
        elif key == "max_attempts":
            changes[key] = _count(value, where)
        else:
            changes[key] = _switch(value, where)
    return replace(role, **changes)  # type: ignore[arg-type]  # each value was checked for its key


def role_named(name: str, roles: Mapping[str, Role] = ROLES) -> Role:
    """A registered role. Raises UnknownRole."""
    try:
        return roles[name]
    except KeyError:
        raise UnknownRole(name, roles) from None


def higher_role(role: Role, roles: Mapping[str, Role] = ROLES) -> Role | None:
    """The nearest role that may do everything this one may, and more."""
    higher = [one for one in roles.values() if one.covers(role) and not role.covers(one)]
    return next(
        (one for one in higher if not any(one.covers(other) and not other.covers(one) for other in higher)),
        None,
    )


def max_attempts(role: Role, asked: int | None = None, policy: int = MAX_ATTEMPTS) -> int:
    """How often a task may be tried: the lowest that task, role or policy says."""
    return min(role.max_attempts, policy, policy if asked is None else asked)


def _write_policy(value: object, where: str, base: Pins) -> Pins:
    said = _table(value, where, _WRITE_KEYS)
    allow, deny = (
        _texts(said[key], f"{where}.{key}") if key in said else before
        for key, before in zip(_WRITE_KEYS, (base.allowed, base.forbidden), strict=True)
    )
    try:
        return Pins.of(allow, deny)
    except InvalidPattern as fault:
        raise InvalidRole(f"{where}: {fault}") from None


def _patterns(patterns: tuple[str, ...], where: str) -> tuple[str, ...]:
    try:
        return Pins.of(patterns).allowed
    except InvalidPattern as fault:
        raise InvalidRole(f"{where}: {fault}") from None


def _table(value: object, where: str, known: tuple[str, ...]) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise InvalidRole(f"{where} is a table, got {value!r}")
    if unknown := sorted(set(value) - set(known)):
        raise InvalidRole(f"{where} has no key {unknown[0]!r}; {did_you_mean(unknown[0], sorted(known))}")
    return value


def _texts(value: object, where: str) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(one, str) for one in value):
        raise InvalidRole(f"{where} is a list of texts, got {value!r}")
    return tuple(value)


def _count(value: object, where: str) -> int:
    if type(value) is not int or value < 1:
        raise InvalidRole(f"{where} is a whole number of at least 1, got {value!r}")
    return value


def _switch(value: object, where: str) -> bool:
    if not isinstance(value, bool):
        raise InvalidRole(f"{where} is true or false, got {value!r}")
    return value

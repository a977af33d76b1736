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
from typing import Annotated, Any, Final, TypeAlias

from pydantic import AfterValidator, Field, ValidationError

from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.pins import Pins, normal_pattern
from accordance.domain.attempts import MAX_ATTEMPTS
from accordance.domain.inheritance import beyond
from accordance.domain.setting_faults import first_fault
from accordance.domain.setting_tables import Count, SettingTable, Texts
from accordance.errors import InvalidPattern, InvalidRole, UnknownRole

STEERING: Final = (
    "accordance.toml",
    "**/secrets/**",
)  # no agent rewrites the rules it is judged by
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
            getattr(self, one) or not getattr(other, one)
            for one in ("plans", "writes_code", "runs_tests")
        )
        return (
            abilities
            and self.denied_tools <= other.denied_tools
            and beyond(other.write, self.write) is None
        )

    def policy(self) -> JsonObject:
        """As the table `role_from` reads."""
        return {
            **{key: getattr(self, key) for key in (*_SWITCHES, "max_attempts")},
            "denied_tools": sorted(self.denied_tools),
            "write": {
                "allow_paths": list(self.write.allowed),
                "deny_paths": list(self.write.forbidden),
            },
            "read": list(self.read),
        }


_OFFLINE: Final = frozenset(("git", "network"))
_PLANNER: Final = Role(
    name="planner",
    plans=True,
    denied_tools=_OFFLINE,
    pins_required=False,
    tests_required=False,
)
_ENGINEER: Final = Role(
    name="engineer", writes_code=True, runs_tests=True, write=ANYTHING
)
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

_SWITCHES: Final = (
    "plans",
    "writes_code",
    "runs_tests",
    "pins_required",
    "tests_required",
)


def _normal(patterns: tuple[str, ...]) -> tuple[str, ...]:
    try:
        return tuple(normal_pattern(pattern) for pattern in patterns)
    except InvalidPattern as fault:
        raise ValueError(str(fault)) from None


_OWN: Final = Role(name="a role of one's own")
Patterns: TypeAlias = Annotated[Texts, AfterValidator(_normal)]


class WritePolicy(SettingTable):
    """What a role may write, within what a task pins."""

    allow_paths: Patterns = Field(
        default=(),
        description="Patterns of what it may write.",
        examples=[["src/**", "tests/**"]],
    )
    deny_paths: Patterns = Field(
        default=(),
        description="Patterns of what it must not write, whatever is allowed.",
        examples=[["**/secrets/**"]],
    )


class RolePolicy(SettingTable):
    """What a role may do. A key that is not given stays as the shipped role has it.

    The defaults here are those of a role of your own, which may do nothing until it says so.
    """

    plans: bool = Field(
        default=_OWN.plans, description="Whether it writes plans.", examples=[True]
    )
    writes_code: bool = Field(
        default=_OWN.writes_code,
        description="Whether it changes code.",
        examples=[True],
    )
    runs_tests: bool = Field(
        default=_OWN.runs_tests, description="Whether it runs tests.", examples=[True]
    )
    write: WritePolicy = Field(
        default_factory=WritePolicy.model_construct,
        description="What it may write, within what a task pins.",
        examples=[
            {"allow_paths": ["src/**", "tests/**"], "deny_paths": ["**/secrets/**"]}
        ],
    )
    read: Patterns = Field(
        default=_OWN.read,
        description="Patterns of what it may read beside what its task names.",
        examples=[["docs/**", "pyproject.toml"]],
    )
    denied_tools: Texts = Field(
        default=tuple(_OWN.denied_tools),
        description="Tools it must not use.",
        examples=[["network", "git"]],
    )
    pins_required: bool = Field(
        default=_OWN.pins_required,
        description="Whether its tasks must have pins.",
        examples=[False],
    )
    tests_required: bool = Field(
        default=_OWN.tests_required,
        description="Whether its work counts as done only with a test that passed.",
        examples=[False],
    )
    max_attempts: Count = Field(
        default=_OWN.max_attempts,
        description="How often it may try a task.",
        examples=[3],
    )


def roles_from(
    policies: Mapping[str, RolePolicy], base: Mapping[str, Role] = ROLES
) -> Mapping[str, Role]:
    """The shipped roles with the policies of `[roles]` laid over them."""
    own = {
        name: _laid_over(base.get(name) or Role(name=name), policy)
        for name, policy in policies.items()
    }
    return MappingProxyType({**base, **own})


def role_from(name: str, table: object) -> Role:
    """One role from the table of its policy. Raises InvalidRole."""
    try:
        policy = RolePolicy.model_validate(table)
    except ValidationError as error:
        raise InvalidRole(
            first_fault(error, RolePolicy, table, f"roles.{name}")
        ) from None
    return _laid_over(Role(name=name), policy)


def _laid_over(role: Role, policy: RolePolicy) -> Role:
    """The role with what the policy says; what it does not say stays."""
    changes: dict[str, Any] = {
        key: getattr(policy, key) for key in policy.model_fields_set
    }
    if "write" in changes:
        changes["write"] = _pins(policy.write, role.write)
    if "denied_tools" in changes:
        changes["denied_tools"] = frozenset(policy.denied_tools)
    return replace(role, **changes)


def _pins(policy: WritePolicy, base: Pins) -> Pins:
    given = policy.model_fields_set
    allowed = policy.allow_paths if "allow_paths" in given else base.allowed
    forbidden = policy.deny_paths if "deny_paths" in given else base.forbidden
    return Pins.of(allowed, forbidden)


def role_named(name: str, roles: Mapping[str, Role] = ROLES) -> Role:
    """A registered role. Raises UnknownRole."""
    try:
        return roles[name]
    except KeyError:
        raise UnknownRole(name, roles) from None


def higher_role(role: Role, roles: Mapping[str, Role] = ROLES) -> Role | None:
    """The nearest role that may do everything this one may, and more."""
    higher = [
        one for one in roles.values() if one.covers(role) and not role.covers(one)
    ]
    return next(
        (
            one
            for one in higher
            if not any(one.covers(other) and not other.covers(one) for other in higher)
        ),
        None,
    )


def max_attempts(
    role: Role, asked: int | None = None, policy: int = MAX_ATTEMPTS
) -> int:
    """How often a task may be tried: the lowest that task, role or policy says."""
    return min(role.max_attempts, policy, policy if asked is None else asked)

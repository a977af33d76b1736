"""Roles: what the agent of a task may do, write and use.

They are shipped as data; accordance.toml overrides them or adds others:

    [roles.engineer]
    max_attempts = 3
    write = { allow_paths = ["src/**", "tests/**"], deny_paths = ["**/secrets/**"] }
    read = ["docs/**"]     # beside what a task lets it write or read

A role narrows what a task pins and never widens it; what is denied stays denied. A role
of your own may do nothing until its table allows it.
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
from accordance.domain.inheritance import path_beyond
from accordance.domain.setting_faults import first_fault
from accordance.domain.setting_tables import Count, SettingTable, Texts
from accordance.errors import InvalidPattern, InvalidRole

STEERING: Final = ("accordance.toml", "**/secrets/**")
"""No agent rewrites the rules it is judged by."""

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
"""How a repository is built and tested. Every role may read these files by default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRole:
    """The policy of a role."""

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

    def covers(self, other: AgentRole) -> bool:
        """Whether this role may do everything that the other role may."""
        for ability in _ABILITIES:
            if getattr(other, ability) and not getattr(self, ability):
                return False
        if not self.denied_tools <= other.denied_tools:
            return False
        return path_beyond(other.write, self.write) is None

    def policy(self) -> JsonObject:
        """Return the policy as the table that `role_from` reads."""
        switches = {switch: getattr(self, switch) for switch in _SWITCHES}
        return {
            **switches,
            "max_attempts": self.max_attempts,
            "denied_tools": sorted(self.denied_tools),
            "write": {
                "allow_paths": list(self.write.allowed),
                "deny_paths": list(self.write.forbidden),
            },
            "read": list(self.read),
        }


_ABILITIES: Final = ("plans", "writes_code", "runs_tests")
_SWITCHES: Final = (*_ABILITIES, "pins_required", "tests_required")

_OFFLINE: Final = frozenset(("git", "network"))
_PLANNER: Final = AgentRole(
    name="planner",
    plans=True,
    denied_tools=_OFFLINE,
    pins_required=False,
    tests_required=False,
)
_ENGINEER: Final = AgentRole(
    name="engineer",
    writes_code=True,
    runs_tests=True,
    write=ANYTHING,
)
_REVIEWER: Final = AgentRole(
    name="reviewer",
    runs_tests=True,
    tests_required=False,
    max_attempts=1,
)
_DOC: Final = AgentRole(
    name="doc",
    write=DOCS,
    pins_required=False,
    tests_required=False,
)
_SSOT_CURATOR: Final = replace(
    _DOC,
    name="ssot_curator",
    write=Pins.of(["docs/**"], [*STEERING, "docs/archive/**"]),
    max_attempts=1,
)
_SHIPPED: Final = (
    _PLANNER,
    replace(_PLANNER, name="splitter"),
    _ENGINEER,
    _REVIEWER,
    _DOC,
    _SSOT_CURATOR,
    replace(_PLANNER, name="designer"),
    replace(_ENGINEER, name="executor"),
)

ROLES: Final[Mapping[str, AgentRole]] = MappingProxyType(
    {role.name: role for role in _SHIPPED}
)
"""The roles that come with accordance."""


def _normal(patterns: tuple[str, ...]) -> tuple[str, ...]:
    try:
        return tuple(normal_pattern(pattern) for pattern in patterns)
    except InvalidPattern as fault:
        raise ValueError(str(fault)) from None


_OWN: Final = AgentRole(name="a role of your own")
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
    """What a role may do. A key that is not given stays as in the shipped role.

    The defaults are those of a role of your own, which may do nothing until it says so.
    """

    plans: bool = Field(
        default=_OWN.plans,
        description="Whether it writes plans.",
        examples=[True],
    )
    writes_code: bool = Field(
        default=_OWN.writes_code,
        description="Whether it changes code.",
        examples=[True],
    )
    runs_tests: bool = Field(
        default=_OWN.runs_tests,
        description="Whether it runs tests.",
        examples=[True],
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
        description="Patterns of what it may read beside the files its task names.",
        examples=[["docs/**", "pyproject.toml"]],
    )
    denied_tools: Texts = Field(
        default=tuple(_OWN.denied_tools),
        description="Tools it must not use: a kind (network, git, shell), or the name "
        "that an agent gives a tool.",
        examples=[["network", "git"]],
    )
    pins_required: bool = Field(
        default=_OWN.pins_required,
        description="Whether its tasks must have pins.",
        examples=[False],
    )
    tests_required: bool = Field(
        default=_OWN.tests_required,
        description="Whether its work is done only once a test has passed.",
        examples=[False],
    )
    max_attempts: Count = Field(
        default=_OWN.max_attempts,
        description="How often it may try a task.",
        examples=[3],
    )


def roles_from(
    policies: Mapping[str, RolePolicy], base: Mapping[str, AgentRole] = ROLES
) -> Mapping[str, AgentRole]:
    """Return the shipped roles, with the policies of `[roles]` laid over them."""
    roles = dict(base)
    for name, policy in policies.items():
        role = base.get(name) or AgentRole(name=name)
        roles[name] = _with_policy(role, policy)
    return MappingProxyType(roles)


def role_from(name: str, table: object) -> AgentRole:
    """Return the role of a policy table. Raises InvalidRole."""
    try:
        policy = RolePolicy.model_validate(table)
    except ValidationError as error:
        fault = first_fault(error, RolePolicy, table, f"roles.{name}")
        raise InvalidRole(fault) from None
    return _with_policy(AgentRole(name=name), policy)


def _with_policy(role: AgentRole, policy: RolePolicy) -> AgentRole:
    """Return the role with the keys that the policy sets; the others stay."""
    changes: dict[str, Any] = {
        key: getattr(policy, key) for key in policy.model_fields_set
    }
    if "write" in changes:
        changes["write"] = _with_write_policy(role.write, policy.write)
    if "denied_tools" in changes:
        changes["denied_tools"] = frozenset(policy.denied_tools)
    return replace(role, **changes)


def _with_write_policy(pins: Pins, policy: WritePolicy) -> Pins:
    allowed = pins.allowed
    if "allow_paths" in policy.model_fields_set:
        allowed = policy.allow_paths
    forbidden = pins.forbidden
    if "deny_paths" in policy.model_fields_set:
        forbidden = policy.deny_paths
    return Pins.of(allowed, forbidden)


def higher_role(
    role: AgentRole, roles: Mapping[str, AgentRole] = ROLES
) -> AgentRole | None:
    """Return the nearest role that may do everything this role may, and more."""
    higher = [other for other in roles.values() if _may_more(other, role)]
    for candidate in higher:
        lower = [other for other in higher if _may_more(candidate, other)]
        if not lower:
            return candidate
    return None


def _may_more(higher: AgentRole, lower: AgentRole) -> bool:
    return higher.covers(lower) and not lower.covers(higher)


def max_attempts(
    role: AgentRole,
    asked: int | None = None,
    policy: int = MAX_ATTEMPTS,
) -> int:
    """Return how often a task may be tried: the lowest of all limits."""
    limits = [role.max_attempts, policy]
    if asked is not None:
        limits.append(asked)
    return min(limits)

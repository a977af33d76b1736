"""Roles: shipped as data, overridden by a table, never widened by a task."""

from __future__ import annotations

import json
import tomllib

import pytest

from accordance.contracts.context import ROLES as KNOWN
from accordance.domain.roles import (
    ROLES,
    AgentRole,
    RolePolicy,
    higher_role,
    max_attempts,
    role_from,
    roles_from,
)
from accordance.errors import InvalidRole


def test_the_shipped_roles_are_those_a_task_may_name() -> None:
    """One list, said in two layers."""
    assert set(ROLES) == KNOWN


@pytest.mark.parametrize(
    "name", [name for name, role in ROLES.items() if role.write.allowed]
)
@pytest.mark.parametrize(
    "path", ["accordance.toml", "docs/secrets/key", "docs/Secrets/key"]
)
def test_no_shipped_role_writes_what_steers_the_gate(name: str, path: str) -> None:
    """Secrets and the gate's own settings are nobody's."""
    assert ROLES[name].write.rule(path) == "forbidden"


def test_a_table_is_laid_over_the_shipped_roles() -> None:
    """What it does not say stays; a role of one's own may do only what it says."""
    table = tomllib.loads(
        """
        [roles.engineer]
        max_attempts = 5
        write = { allow_paths = ["src/**"] }

        [roles.translator]
        tests_required = false
        denied_tools = []
        write.allow_paths = ["locale/"]
        read = ["docs/**"]
        """
    )["roles"]
    roles = roles_from(
        {name: RolePolicy.model_validate(policy) for name, policy in table.items()}
    )
    engineer, translator = roles["engineer"], roles["translator"]
    assert (
        engineer.max_attempts,
        engineer.write.rule("src/a"),
        engineer.writes_code,
    ) == (5, "allowed", True)
    assert engineer.write.rule("src/secrets/k") == "forbidden"
    assert (engineer.write.rule("docs/a"), ROLES["engineer"].write.rule("docs/a")) == (
        "not_allowed",
        "allowed",
    )
    assert translator.write.allowed == ("locale/",)
    assert translator.read == ("docs/**",)
    assert "pyproject.toml" in engineer.read
    assert not translator.writes_code
    assert not translator.denied_tools
    assert roles["doc"] is ROLES["doc"]


def test_a_policy_changes_only_the_keys_it_sets() -> None:
    """The shipped engineer stays as it is in all else."""
    policies = {
        "engineer": RolePolicy(write={"deny_paths": ["docs/**"]}),  # type: ignore[arg-type]
        "doc": RolePolicy(max_attempts=1),
    }
    roles = roles_from(policies)
    assert roles["engineer"].write.allowed == ROLES["engineer"].write.allowed
    assert roles["engineer"].write.rule("docs/a.md") == "forbidden"
    assert roles["doc"].write == ROLES["doc"].write
    assert roles["doc"].max_attempts == 1


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (3, r"\[roles.x\] is a table, got 3"),
        ({"wirte": {}}, r"\[roles.x\] has no key 'wirte'; did you mean write"),
        (
            {"write": {"allow": []}},
            r"\[roles.x.write\] has no key 'allow'; did you mean allow_paths",
        ),
        (
            {"write": {"allow_paths": "src"}},
            r"\[roles.x.write\] allow_paths is a list of texts, got 'src'",
        ),
        (
            {"write": {"deny_paths": [1]}},
            r"\[roles.x.write\] deny_paths is a list of texts, got \[1\]",
        ),
        (
            {"write": {"allow_paths": ["../x"]}},
            r"\[roles.x.write\] allow_paths: '../x' is not a pattern",
        ),
        (
            {"write": {"deny_paths": ["../x"]}},
            r"\[roles.x.write\] deny_paths: '../x' is not a pattern",
        ),
        ({"read": "docs"}, r"\[roles.x\] read is a list of texts, got 'docs'"),
        ({"read": ["/etc"]}, r"\[roles.x\] read: '/etc' is not a pattern"),
        (
            {"max_attempts": 0},
            r"\[roles.x\] max_attempts is a whole number from 1, got 0",
        ),
        ({"max_attempts": True}, r"\[roles.x\] max_attempts is a whole number"),
        ({"plans": 1}, r"\[roles.x\] plans is true or false, got 1"),
    ],
)
def test_policies_that_cannot_be_read(policy: object, message: str) -> None:
    """Refused with the key and what it should be."""
    with pytest.raises(InvalidRole, match=message):
        role_from("x", policy)


@pytest.mark.parametrize("role", ROLES.values(), ids=lambda role: role.name)
def test_a_role_can_be_written_down_and_read_again(role: AgentRole) -> None:
    """As the table that accordance.toml would have."""
    assert role_from(role.name, json.loads(json.dumps(role.policy()))) == role


@pytest.mark.parametrize(
    ("name", "higher"),
    [
        ("ssot_curator", "doc"),
        ("doc", "engineer"),
        ("reviewer", "engineer"),
        ("engineer", None),
        ("planner", None),
    ],
)
def test_the_next_higher_role(name: str, higher: str | None) -> None:
    """It may do everything the lower one may, and more; equals are not higher."""
    found = higher_role(ROLES[name])
    assert (found.name if found else None) == higher


@pytest.mark.parametrize(
    ("asked", "policy", "allowed"), [(None, 3, 2), (1, 3, 1), (9, 3, 2), (None, 1, 1)]
)
def test_the_lowest_number_of_attempts_wins(
    asked: int | None, policy: int, allowed: int
) -> None:
    """Of what task, role and policy say."""
    assert max_attempts(ROLES["engineer"], asked, policy) == allowed

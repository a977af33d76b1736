"""Who may do what."""

from __future__ import annotations

import pytest

from accordance.domain.access import (
    RIGHTS,
    Identity,
    Right,
    Role,
    rights_of,
    role_of_person,
)
from accordance.errors import NotAllowed


def somebody(
    role: Role, tasks: tuple[str, ...] = (), contracts: tuple[str, ...] = ()
) -> Identity:
    """An identity of a role."""
    return Identity(
        name="ada", role=role, rights=RIGHTS[role], tasks=tasks, contracts=contracts
    )


def test_each_role_has_more_than_the_one_below() -> None:
    """An agent stands apart: it works, and does not look around."""
    assert RIGHTS[Role.VIEWER] < RIGHTS[Role.OPERATOR] < RIGHTS[Role.ADMIN]
    assert Right.READ not in RIGHTS[Role.AGENT]


def test_a_missing_right_is_named() -> None:
    """With what there is instead."""
    somebody(Role.ADMIN).must(Right.MANAGE)
    with pytest.raises(
        NotAllowed, match="'manage', and this key, viewer, has check, read"
    ):
        somebody(Role.VIEWER).must(Right.MANAGE)


@pytest.mark.parametrize(
    ("identity", "sees"),
    [
        (somebody(Role.VIEWER, tasks=("b",)), True),
        (somebody(Role.AGENT), True),
        (somebody(Role.AGENT, tasks=("a",)), True),
        (somebody(Role.AGENT, tasks=("plan",)), True),
        (somebody(Role.AGENT, tasks=("b",)), False),
        (Identity(name="x", role=Role.AGENT, rights=frozenset()), False),
    ],
    ids=["reader", "agent", "its task", "its plan", "another task", "no right"],
)
def test_who_sees_a_task(identity: Identity, sees: bool) -> None:
    """Readers see all; agents what they may work on."""
    assert identity.sees_task("a", "plan") is sees


def test_contracts_of_an_agent() -> None:
    """It hands in what it is bound to."""
    somebody(Role.AGENT).must_hand_in("any")
    bound = somebody(Role.AGENT, contracts=("x",))
    bound.must_hand_in("x")
    with pytest.raises(NotAllowed, match="hands in x and nothing else, not y"):
        bound.must_hand_in("y")


def test_scopes_narrow_and_never_widen() -> None:
    """None means all of the role."""
    assert rights_of(Role.VIEWER) == RIGHTS[Role.VIEWER]
    assert rights_of(Role.OPERATOR, [Right.RUN]) == {Right.RUN}
    with pytest.raises(
        NotAllowed, match="viewer does not have run; it has check, read"
    ):
        rights_of(Role.VIEWER, [Right.RUN, Right.READ])


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("ada", Role.ADMIN),
        ("grace", Role.OPERATOR),
        ("coder", Role.AGENT),
        ("joan", Role.VIEWER),
    ],
)
def test_the_role_of_a_person(name: str, role: Role) -> None:
    """The highest list counts; a star is everybody."""
    lists = {
        "admins": ["ada"],
        "operators": ["ada", "grace"],
        "agents": ["coder", "grace"],
        "viewers": ["*"],
    }
    assert role_of_person(name, **lists) is role


def test_a_stranger_has_no_role() -> None:
    """Without a star."""
    assert (
        role_of_person("x", admins=[], operators=["y"], agents=["z"], viewers=[])
        is None
    )

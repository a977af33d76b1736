"""Who may do what: roles, the rights they have, and what a key is bound to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from accordance.errors import NotAllowed


class Right(StrEnum):
    """What a person or a program may do."""

    CHECK = "check"  # read contracts, check messages
    READ = "read"  # look at everything in the project
    WORK = "work"  # take tasks up, hand in messages and reviews
    PLAN = "plan"  # import, approve, amend, pause and cancel plans
    DECIDE = "decide"  # answer questions; retry, cancel and requeue tasks
    RUN = "run"  # start and stop runs
    MANAGE = "manage"  # keys and webhooks


class Role(StrEnum):
    """What a person or a program is in a project."""

    VIEWER = "viewer"
    AGENT = "agent"
    OPERATOR = "operator"
    ADMIN = "admin"


_VIEWER: Final = frozenset({Right.CHECK, Right.READ})
_OPERATOR: Final = _VIEWER | {Right.WORK, Right.PLAN, Right.DECIDE, Right.RUN}
RIGHTS: Final[Mapping[Role, frozenset[Right]]] = MappingProxyType(
    {
        Role.VIEWER: _VIEWER,
        Role.AGENT: frozenset({Right.CHECK, Right.WORK}),
        Role.OPERATOR: _OPERATOR,
        Role.ADMIN: frozenset(Right),
    }
)
"""The rights of each role. An agent sees the tasks it may work on, and nothing else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Who asks, and what they may do."""

    name: str  # as the chain of events names them
    role: Role
    rights: frozenset[Right]
    key_id: str | None = None
    tasks: tuple[str, ...] = ()
    """The tasks, or the plans, that a key is bound to; none: it is not bound."""
    contracts: tuple[str, ...] = ()
    """The contracts, by version, that a key is bound to; none: it is not bound."""

    def may(self, right: Right) -> bool:
        """Whether they have a right."""
        return right in self.rights

    def must(self, right: Right) -> None:
        """Raise NotAllowed unless they have a right."""
        if not self.may(right):
            raise NotAllowed(
                f"{self.name} may not do this: it takes the right {right.value!r},"
                f" and this key, {self.role.value}, has {_listed(self.rights)}"
            )

    def is_bound_elsewhere(self, task_id: str, plan_id: str) -> bool:
        """Whether they are bound to other tasks than this."""
        return bool(self.tasks) and not {task_id, plan_id} & set(self.tasks)

    def sees_task(self, task_id: str, plan_id: str) -> bool:
        """Whether they may look at a task: as readers, or as its possible worker."""
        if self.may(Right.READ):
            return True
        return self.may(Right.WORK) and not self.is_bound_elsewhere(task_id, plan_id)

    def must_hand_in(self, contract: str) -> None:
        """Raise NotAllowed if they are bound to other contracts than this version."""
        if self.contracts and contract not in self.contracts:
            raise NotAllowed(
                f"{self.name} hands in {', '.join(self.contracts)} and nothing else,"
                f" not {contract}"
            )


def rights_of(role: Role, scopes: Iterable[Right] = ()) -> frozenset[Right]:
    """Return the rights of a role, narrowed to scopes if there are any.

    Raises NotAllowed for a scope that the role does not have.
    """
    wanted = frozenset(scopes)
    beyond = wanted - RIGHTS[role]
    if beyond:
        raise NotAllowed(
            f"the role {role.value} does not have {_listed(beyond)}",
            way_out=f"it has {_listed(RIGHTS[role])}",
        )
    return wanted or RIGHTS[role]


def worker_of_key(key: str, worker: str) -> str:
    """Return what the ledger calls a worker whom the holder of a key has named."""
    return f"{key}/{worker}"


def author_behind(worker: str) -> str:
    """Return who answers for a worker: all workers of a key are the same author."""
    return worker.partition("/")[0]


def _listed(rights: Iterable[Right]) -> str:
    return ", ".join(sorted(right.value for right in rights))


def role_of_person(
    name: str,
    *,
    admins: Iterable[str],
    operators: Iterable[str],
    agents: Iterable[str],
    viewers: Iterable[str],
) -> Role | None:
    """Return the role of a name that a provider vouches for; None: it may not come in.

    The highest list that has their name, or a star for everybody, counts.
    """
    lists = (
        (Role.ADMIN, admins),
        (Role.OPERATOR, operators),
        (Role.AGENT, agents),
        (Role.VIEWER, viewers),
    )
    for role, names in lists:
        known = frozenset(names)
        if name in known or "*" in known:
            return role
    return None

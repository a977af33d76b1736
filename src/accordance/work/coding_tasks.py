"""Tasks of a plan that change a repository: the nodes that carry a `task` of scc.task.v1, and the tag `code`.

    {"task_id": "72c84e9c-...", "node_type": "ACTION", "tags": ["code"], "title": "Round half up", ...,
     "task": {"role": "engineer", "pins": {"allowed_paths": ["src/**"]}, "allowedTests": ["python -m unittest"]}}

`task_id` and `goal` are the node's own where the task does not say them. What a change is held to is part of the plan, so
that it can be recomputed later; the routes of a machine only say who makes it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from accordance.api import check_value
from accordance.contracts.catalogue.plan import Node, Plan
from accordance.contracts.catalogue.task import TASK
from accordance.contracts.context import ROLES, Context
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.limits import Limits
from accordance.contracts.reading import parse_object
from accordance.contracts.violation import Rejected, Violation, excerpt
from accordance.domain.lifecycle import TERMINAL, State
from accordance.domain.plan import plan_graph
from accordance.domain.records import PlanRecord, TaskRecord
from accordance.domain.routing import Kind, RouteRequest, wanted
from accordance.errors import AccordanceError
from accordance.store.ledger import Transaction
from accordance.work.research_tasks import check_briefs
from accordance.work.time_limits import check_time_limits

TAG: Final = "code"
KEY: Final = "task"
EXTERNAL: Final = (
    "external"  # what tasks and routes call somebody elsewhere, who asks for work
)
_UNDER_WAY: Final = (State.IN_PROGRESS, State.READY_TO_CHECK, State.TO_BE_MODIFY)
_STANDING_STILL: Final = (State.PENDING, State.BLOCKED, *TERMINAL)
_LIMITS: Final = Limits(
    max_bytes=1 << 30
)  # our own copy of a plan: it was checked when it came
_NOWHERE: Final[Mapping[str, bytes]] = {}


class InvalidTasks(AccordanceError):
    """Tasks of a plan that could not be judged by. Names every reason."""

    code = "invalid-tasks"

    def __init__(self, violations: tuple[Violation, ...]) -> None:
        super().__init__(violations)
        self.violations = violations

    @property
    def text(self) -> str:
        """Every reason."""
        return "; ".join(map(str, self.violations))


def coding_task(tx: Transaction, task: TaskRecord) -> bytes | None:
    """The scc.task.v1 a task of a plan carries, as JSON; None if it changes no repository."""
    if TAG not in task.tags:
        return None
    return coding_tasks(tx, tx.plan(task.plan_id)).get(task.task_id)


def coding_tasks(tx: Transaction, plan: PlanRecord) -> Mapping[str, bytes]:
    """All of them, by their ids. A plan's document never changes, so it is read once."""
    found = _KNOWN.get(plan.document)
    if found is None:
        _KNOWN[plan.document] = found = _read(tx.blob(plan.document))
    return found


_KNOWN: Final[dict[str, Mapping[str, bytes]]] = {}


def _read(document: bytes) -> Mapping[str, bytes]:
    if b'"task":' not in document:
        return _NOWHERE
    plan: dict[str, Any] = parse_object(document, _LIMITS)
    return {
        node["task_id"]: json.dumps(_whole(node), ensure_ascii=False).encode()
        for node in plan["nodes"]
        if KEY in node and TAG in node["tags"]
    }


def _whole(node: Mapping[str, Any]) -> JsonObject:
    """The task with what it takes from its node."""
    goal = node.get("goal_statement") or node["title"]
    return {"task_id": node["task_id"], "goal": goal, **node[KEY]}


def change_to_make(tx: Transaction, task: TaskRecord) -> bytes | None:
    """The scc.task.v1 that somebody who takes up a task now has to carry out; None for a review, or where nothing is changed."""
    return (
        None if task.progress.state is State.READY_TO_CHECK else coding_task(tx, task)
    )


def is_change(tx: Transaction, task: TaskRecord) -> bool:
    """Whether whoever takes up a task now has to change a repository."""
    return change_to_make(tx, task) is not None


def wanted_in(tx: Transaction, task: TaskRecord, kind: Kind) -> RouteRequest:
    """What routes look at of a task that is in the ledger."""
    change = coding_task(tx, task) if kind == "action" else None
    return wanted_for(task, kind, change)


def wanted_for(task: TaskRecord, kind: Kind, change: bytes | None) -> RouteRequest:
    """What routes look at of a task; the change it asks for may say which models and executors may make it."""
    if change is None:
        return wanted(task, kind)
    asked = json.loads(change)
    return replace(
        wanted(task, kind),
        models=_allowed(asked, "allowedModels"),
        executors=_allowed(asked, "allowedExecutors"),
    )


def allows_external(change: bytes | None) -> bool:
    """Whether an outside worker may do what is to be done: anything but a change whose task leaves them out."""
    allowed = (
        None if change is None else _allowed(json.loads(change), "allowedExecutors")
    )
    return allowed is None or EXTERNAL in allowed


def _allowed(asked: Mapping[str, Any], key: str) -> frozenset[str] | None:
    """Those that a task allows; None where it says nothing about them."""
    names = asked.get(key)
    return frozenset(names) if names else None


def changes_under_way(tx: Transaction, plan_id: str) -> set[str]:
    """The changes of a plan that are made or reviewed now; not those whose review waits for a person, or for something else."""
    tasks = coding_tasks(tx, tx.plan(plan_id))
    found = (task for task in tx.tasks(plan_id, *_UNDER_WAY) if task.task_id in tasks)
    return {task.task_id for task in found if _moves(tx, task)}


def _moves(tx: Transaction, task: TaskRecord) -> bool:
    if task.progress.state is not State.READY_TO_CHECK:
        return True
    checks = (tx.progress(one) for one in tx.node(task.task_id).checked_by)
    return any(at.active and at.state not in _STANDING_STILL for at in checks)


def check_tasks(plan: Plan, roles: Collection[str] = ROLES) -> tuple[Violation, ...]:
    """Why tasks of a plan could not be judged by: every reason, at the place where it stands in the plan."""
    late = (*check_time_limits(plan), *check_briefs(plan))
    carrying = [(at, node) for at, node in enumerate(plan.nodes) if _carries_task(node)]
    if not carrying:
        return late
    graph = plan_graph(plan)
    context = Context(roles=frozenset(roles))
    return late + tuple(
        fault
        for at, node in carrying
        for fault in (
            *_misplaced(node, f"$.nodes[{at}]", is_work=graph[node.task_id].is_work),
            *_faults(node, f"$.nodes[{at}]", context),
        )
    )


def _carries_task(node: Node) -> bool:
    """Other plans may have a key of that name and mean something else: an object, or the tag, says what is meant."""
    said = _said(node)
    return isinstance(said, dict) or (said is not None and TAG in node.tags)


def _said(node: Node) -> object:
    return (node.model_extra or {}).get(KEY)


def _misplaced(node: Node, where: str, *, is_work: bool) -> Iterator[Violation]:
    """A task stands at an ACTION without parts that has the tag."""
    if TAG not in node.tags:
        yield Violation(
            "task_misplaced",
            f"{where}.tags",
            f"the tag {TAG}, for it carries a task",
            excerpt(node.tags),
        )
    if node.node_type != "ACTION" or not is_work:
        kind = node.node_type if is_work else f"{node.node_type} with parts"
        yield Violation(
            "task_misplaced", f"{where}.{KEY}", "an ACTION without parts", f"a {kind}"
        )


def _faults(node: Node, where: str, context: Context) -> Iterator[Violation]:
    """What the contract of tasks says, as seen from the plan."""
    said = _said(node)
    if not isinstance(said, dict):
        yield Violation("wrong_type", f"{where}.{KEY}", "an object", excerpt(said))
        return
    task = _whole(
        {**node.model_dump(include={"task_id", "title", "goal_statement"}), KEY: said}
    )
    if task["task_id"] != node.task_id:
        expected = f"{excerpt(node.task_id)}, the id of the node"
        yield Violation(
            "wrong_task", f"{where}.{KEY}.task_id", expected, excerpt(task["task_id"])
        )
    result = check_value(task, TASK, context)
    for one in result.violations if isinstance(result, Rejected) else ():
        fix = one.fix and one.fix._replace(path=_below(where, one.fix.path, said))
        yield one._replace(path=_below(where, one.path, said), fix=fix)


def _below(where: str, path: str, said: JsonObject) -> str:
    """A path in the task as a path in the plan; what the task takes from its node is the node's."""
    key = path.removeprefix("$.")
    return (
        f"{where}.{key}"
        if key == "task_id" and key not in said
        else f"{where}.{KEY}{path[1:]}"
    )

"""Coding tasks: nodes that carry a `task` of scc.task.v1 and the tag `code`.

They change a repository:

    {"task_id": "72c84e9c-...", "node_type": "ACTION", "tags": ["code"],
     "title": "Round half up", ...,
     "task": {"role": "engineer", "pins": {"allowed_paths": ["src/**"]},
              "allowedTests": ["python -m unittest"]}}

A task without `task_id` or `goal` takes them from its node. What a change is held to is
part of the plan, so that it can be recomputed; the routes only choose who makes it.
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
from accordance.contracts.reading import parse_object
from accordance.contracts.violation import Rejected, Violation, excerpt
from accordance.domain.lifecycle import TERMINAL, State
from accordance.domain.plan import plan_graph
from accordance.domain.records import PlanRecord, TaskRecord
from accordance.domain.routing import Kind, RouteRequest, route_request
from accordance.errors import AccordanceError
from accordance.store.ledger import Transaction
from accordance.work.coding_keys import KEY, TAG
from accordance.work.plan_documents import DOCUMENT_LIMITS, DocumentReader
from accordance.work.research_tasks import check_briefs
from accordance.work.time_limits import check_time_limits

EXTERNAL: Final = "external"
"""How tasks and routes name an outside worker, who asks for work."""

_UNDER_WAY: Final = (State.IN_PROGRESS, State.READY_TO_CHECK, State.TO_BE_MODIFY)
_STANDING_STILL: Final = (State.PENDING, State.BLOCKED, *TERMINAL)
_NODE_FIELDS: Final = frozenset(("task_id", "title", "goal_statement"))
"""What a task may take from its node."""


class InvalidTasks(AccordanceError):
    """Tasks of a plan by which no change could be judged. Names every violation."""

    code = "invalid-tasks"

    def __init__(self, violations: tuple[Violation, ...]) -> None:
        super().__init__(violations)
        self.violations = violations

    @property
    def text(self) -> str:
        """Every violation."""
        return "; ".join(map(str, self.violations))


# -- the coding tasks of a plan in the ledger


def coding_task(tx: Transaction, task: TaskRecord) -> bytes | None:
    """Return the scc.task.v1 of a task, as JSON; None if it changes no repository."""
    if TAG not in task.tags:
        return None
    return coding_tasks(tx, tx.plan(task.plan_id)).get(task.task_id)


def coding_tasks(tx: Transaction, plan: PlanRecord) -> Mapping[str, bytes]:
    """Return the scc.task.v1 of every task of a plan that changes code, by task id."""
    return _CODING_TASKS.value(tx, plan)


def _read(document: bytes) -> Mapping[str, bytes]:
    if b'"task":' not in document:
        return {}

    plan: dict[str, Any] = parse_object(document, DOCUMENT_LIMITS)
    tasks = {}
    for node in plan["nodes"]:
        if KEY in node and TAG in node["tags"]:
            task = _completed(node)
            tasks[node["task_id"]] = json.dumps(task, ensure_ascii=False).encode()
    return tasks


def _completed(node: Mapping[str, Any]) -> JsonObject:
    """The task of a node, completed with what it takes from the node."""
    goal = node.get("goal_statement") or node["title"]
    return {"task_id": node["task_id"], "goal": goal, **node[KEY]}


_CODING_TASKS: Final = DocumentReader(_read)


def change_to_make(tx: Transaction, task: TaskRecord) -> bytes | None:
    """Return the scc.task.v1 that the next worker on a task has to carry out.

    None if the worker would review, or change no repository.
    """
    if task.progress.state is State.READY_TO_CHECK:
        return None
    return coding_task(tx, task)


def is_change(tx: Transaction, task: TaskRecord) -> bool:
    """Whether the next worker on a task has to change a repository."""
    return change_to_make(tx, task) is not None


def changes_under_way(tx: Transaction, plan_id: str) -> set[str]:
    """Return the changes of a plan that are being made or reviewed now.

    A change whose review waits for a person, or for something else, is not under way.
    """
    coding = coding_tasks(tx, tx.plan(plan_id))
    return {
        task.task_id
        for task in tx.tasks(plan_id, *_UNDER_WAY)
        if task.task_id in coding and _is_moving(tx, task)
    }


def _is_moving(tx: Transaction, task: TaskRecord) -> bool:
    if task.progress.state is not State.READY_TO_CHECK:
        return True

    for check_id in tx.node(task.task_id).checked_by:
        check = tx.progress(check_id)
        if check.active and check.state not in _STANDING_STILL:
            return True
    return False


# -- who may make a change


def wanted_in(tx: Transaction, task: TaskRecord, kind: Kind) -> RouteRequest:
    """Return what the routes look at to choose an executor for a stored task."""
    change = coding_task(tx, task) if kind == "action" else None
    return wanted_for(task, kind, change)


def wanted_for(task: TaskRecord, kind: Kind, change: bytes | None) -> RouteRequest:
    """Return what the routes look at to choose an executor for a task.

    A change may restrict the models and executors that are allowed to make it.
    """
    request = route_request(task, kind)
    if change is None:
        return request

    coding = json.loads(change)
    return replace(
        request,
        models=_allowed(coding, "allowedModels"),
        executors=_allowed(coding, "allowedExecutors"),
    )


def allows_external(change: bytes | None) -> bool:
    """Whether an outside worker may do the work.

    They may, unless it is a change whose task names other executors only.
    """
    if change is None:
        return True
    allowed = _allowed(json.loads(change), "allowedExecutors")
    return allowed is None or EXTERNAL in allowed


def _allowed(coding: Mapping[str, Any], key: str) -> frozenset[str] | None:
    """The names that a task allows; None if it does not restrict them."""
    names = coding.get(key)
    return frozenset(names) if names else None


# -- checking the coding tasks of a plan


def check_tasks(plan: Plan, roles: Collection[str] = ROLES) -> tuple[Violation, ...]:
    """Return why tasks of a plan could not be judged by, each with its place."""
    violations = [*check_time_limits(plan), *check_briefs(plan)]
    carriers = [
        (position, node)
        for position, node in enumerate(plan.nodes)
        if _carries_task(node)
    ]
    if not carriers:
        return tuple(violations)

    graph = plan_graph(plan)
    context = Context(roles=frozenset(roles))
    for position, node in carriers:
        place = f"$.nodes[{position}]"
        is_work = graph[node.task_id].is_work
        violations.extend(_misplaced(node, place, is_work=is_work))
        violations.extend(_violations_of_task(node, place, context))
    return tuple(violations)


def _carries_task(node: Node) -> bool:
    """Whether a node carries a coding task.

    Other plans may use the key for something else. An object, or the tag, tells that a
    coding task is meant.
    """
    task = _task_of(node)
    return isinstance(task, dict) or (task is not None and TAG in node.tags)


def _task_of(node: Node) -> object:
    return (node.model_extra or {}).get(KEY)


def _misplaced(node: Node, place: str, *, is_work: bool) -> Iterator[Violation]:
    """A task belongs to an ACTION without parts that has the tag."""
    if TAG not in node.tags:
        yield Violation(
            "task_misplaced",
            f"{place}.tags",
            f"the tag {TAG}, for it carries a task",
            excerpt(node.tags),
        )

    if node.node_type != "ACTION" or not is_work:
        kind = node.node_type if is_work else f"{node.node_type} with parts"
        yield Violation(
            "task_misplaced", f"{place}.{KEY}", "an ACTION without parts", f"a {kind}"
        )


def _violations_of_task(
    node: Node, place: str, context: Context
) -> Iterator[Violation]:
    """The violations of the contract of tasks, with paths as seen from the plan."""
    carried = _task_of(node)
    if not isinstance(carried, dict):
        yield Violation("wrong_type", f"{place}.{KEY}", "an object", excerpt(carried))
        return

    fields = node.model_dump(include=set(_NODE_FIELDS))
    task = _completed({**fields, KEY: carried})
    if task["task_id"] != node.task_id:
        yield Violation(
            "wrong_task",
            f"{place}.{KEY}.task_id",
            f"{excerpt(node.task_id)}, the id of the node",
            excerpt(task["task_id"]),
        )

    result = check_value(task, TASK, context)
    if isinstance(result, Rejected):
        for violation in result.violations:
            yield _seen_from_plan(violation, place, carried)


def _seen_from_plan(violation: Violation, place: str, carried: JsonObject) -> Violation:
    fix = violation.fix
    if fix:
        fix = fix._replace(path=_path_in_plan(place, fix.path, carried))
    return violation._replace(
        path=_path_in_plan(place, violation.path, carried), fix=fix
    )


def _path_in_plan(place: str, path: str, carried: JsonObject) -> str:
    """A path in the task as a path in the plan.

    A `task_id` that the task takes from its node is the node's.
    """
    key = path.removeprefix("$.")
    is_of_node = key == "task_id" and key not in carried
    return f"{place}.{key}" if is_of_node else f"{place}.{KEY}{path[1:]}"

"""A short plan becomes a plan of the contract, with every default written out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from accordance.contracts.catalogue.plan import Node
from accordance.contracts.jsonpath import JsonObject, without_nulls
from accordance.domain.coding_keys import KEY, TAG
from accordance.domain.short_plans.entries import shown
from accordance.domain.short_plans.model import (
    POLICY,
    ROLES,
    ShortInput,
    ShortPlan,
    ShortTask,
)
from accordance.domain.short_plans.naming import (
    code_task_id,
    is_uuid,
    slug,
    task_id,
)
from accordance.domain.short_plans.needs import TaskNames, refuse_circles
from accordance.errors import InvalidPlanFile

VERSION: Final = "plan_json_v1"
TIME_LIMIT: Final = "timeoutMs"
CRITERIA: Final = "acceptance_criteria"
DELIVERABLE: Final = "deliverable_spec"
_SET_ELSEWHERE: Final = (*Node.model_fields, CRITERIA, DELIVERABLE, TIME_LIMIT)


@dataclass(frozen=True, slots=True)
class Compiled:
    """A plan of the contract, and the line that each part of it comes from."""

    document: JsonObject
    lines: Mapping[str, int]
    """Lines by JSON path: `$.nodes[2]`, `$.edges[5]`, `$.requirements[0]`."""

    def line_of(self, path: str) -> int:
        """Return the line of a path, or of the nearest part around it; 0 if none."""
        while path:
            if path in self.lines:
                return self.lines[path]
            path = _parent(path)
        return 0


def _parent(path: str) -> str:
    """Return the path of the object or list around a path; nothing for the whole."""
    end = max(path.rfind("."), path.rfind("["))
    if end < 0:
        return ""
    return path[:end]


@dataclass(slots=True)
class _Draft:
    """The parts of a plan, while it is compiled."""

    plan_id: str
    owner: str
    nodes: list[JsonObject] = field(default_factory=list)
    edges: list[JsonObject] = field(default_factory=list)
    requirements: list[JsonObject] = field(default_factory=list)
    lines: dict[str, int] = field(default_factory=dict)
    names: TaskNames = field(default_factory=TaskNames)
    waiting: list[tuple[ShortTask, str]] = field(default_factory=list)


def compile_plan(plan: ShortPlan) -> Compiled:
    """Return the plan of the contract. Raises InvalidPlanFile."""
    plan_id = plan.id or slug(plan.title)
    draft = _Draft(plan_id, plan.owner)
    root = _add_task(draft, plan.root, plan.root.id or plan_id)
    _add_waiting(draft)

    head = {
        "plan_id": plan_id,
        "title": plan.title,
        "root_task_id": root,
        "created_at": plan.created,
        "owner_agent_id": plan.owner,
        "constraints": plan.constraints,
    }
    document: JsonObject = {
        "schema_version": VERSION,
        "plan": head,
        "nodes": draft.nodes,
        "edges": draft.edges,
        "requirements": draft.requirements,
    }
    return Compiled(document, draft.lines)


# -- nodes


def _add_task(draft: _Draft, task: ShortTask, own_id: str) -> str:
    """Add a task with its parts; return its id."""
    draft.names.add(task, own_id, is_root=not draft.nodes)
    draft.lines[f"$.nodes[{len(draft.nodes)}]"] = task.line
    draft.nodes.append(_node(draft, task, own_id))
    draft.waiting.append((task, own_id))
    _add_inputs(draft, task, own_id)

    for part in task.parts:
        part_id = _id_of(draft, part)
        _add_edge(draft, "DECOMPOSE", (own_id, part_id), part, {"and_or": task.combine})
        if part.alternative is not None:
            group = {"group_id": part.alternative}
            _add_edge(draft, "ALTERNATIVE", (own_id, part_id), part, group)
        _add_task(draft, part, part_id)
        if part.check is not None:
            _add_check(draft, task, own_id, part, part.check)
    return own_id


def _add_check(
    draft: _Draft,
    parent: ShortTask,
    parent_id: str,
    task: ShortTask,
    check: ShortTask,
) -> None:
    """Add the check of a task beside it: it needs the task, and nothing else."""
    name = task.id or task.title
    whole = replace(check, type="CHECK", needs=((name, check.line), *check.needs))
    check_id = _id_of(draft, whole)
    combined = {"and_or": parent.combine}
    _add_edge(draft, "DECOMPOSE", (parent_id, check_id), whole, combined)
    _add_task(draft, whole, check_id)


def _id_of(draft: _Draft, task: ShortTask) -> str:
    name = task.id or task.title
    if task.changes_code:
        if is_uuid(name):
            return name
        return code_task_id(draft.plan_id, name)
    return task.id or task_id(draft.plan_id, task.title)


def role_of(task: ShortTask, owner: str) -> str:
    """Return who does a task."""
    if task.role is not None:
        return task.role
    if task.changes_code:
        return POLICY
    return ROLES.get(task.node_type, owner)


def _node(draft: _Draft, task: ShortTask, own_id: str) -> JsonObject:
    node: JsonObject = {
        "task_id": own_id,
        "plan_id": draft.plan_id,
        "node_type": task.node_type,
        "title": task.title,
        "owner_agent_id": role_of(task, draft.owner),
        "priority": task.priority,
        "tags": list(tags_of(task)),
    }
    stated = {
        "goal_statement": task.goal,
        "rationale": task.why,
        CRITERIA: None if task.accept is None else list(task.accept),
        DELIVERABLE: task.deliver,
        TIME_LIMIT: task.timeout,
        KEY: _change(task) if task.changes_code else None,
    }
    node.update(without_nulls(stated))
    node.update(_further(task, node))
    return node


def tags_of(task: ShortTask) -> tuple[str, ...]:
    """Return the tags of a task; a task that changes code always has its own."""
    if task.changes_code and TAG not in task.tags:
        return (*task.tags, TAG)
    return task.tags


def _further(task: ShortTask, node: JsonObject) -> Mapping[str, Any]:
    for key in task.further:
        if key in _SET_ELSEWHERE or key in node:
            raise InvalidPlanFile(
                f"further: {shown(key)} of {shown(task.title)} is set by a key of"
                " its own",
                task.lines.get("further", task.line),
                way_out="use that key instead",
            )
    return task.further


def _change(task: ShortTask) -> JsonObject:
    """Return the scc.task.v1 of a task that changes code."""
    pins: JsonObject = {
        "allowed_paths": list(task.allowed or ()),
        "forbidden_paths": list(task.forbidden),
        "read_paths": list(task.read),
    }
    limits = {"max_files": task.max_files, "max_loc": task.max_loc}
    pins.update(without_nulls(limits))

    change: JsonObject = {"role": task.policy, "pins": pins}
    stated = {
        "allowedTests": task.tests,
        "allowedExecutors": task.executor,
        "allowedModels": task.models,
    }
    for key, names in stated.items():
        if names is not None:
            change[key] = list(names)
    return {**change, **_code(task, change)}


def _code(task: ShortTask, change: JsonObject) -> Mapping[str, Any]:
    for key in task.code:
        if key in change:
            raise InvalidPlanFile(
                f"code: {shown(key)} of {shown(task.title)} is set by a key of its own",
                task.lines.get("code", task.line),
                way_out="use that key instead",
            )
    return task.code


# -- edges and inputs


def _add_edge(
    draft: _Draft,
    kind: str,
    ends: tuple[str, str],
    task: ShortTask,
    metadata: Mapping[str, str],
    line: int = 0,
) -> None:
    source, target = ends
    draft.lines[f"$.edges[{len(draft.edges)}]"] = line or task.line
    draft.edges.append(
        {
            "edge_id": f"{kind.lower()}:{source}:{target}",
            "plan_id": draft.plan_id,
            "from_task_id": source,
            "to_task_id": target,
            "edge_type": kind,
            "metadata": dict(metadata),
        }
    )


def _add_waiting(draft: _Draft) -> None:
    """Add what the tasks need. An edge points from what is needed to who needs it."""
    refuse_circles(draft.waiting, draft.names)
    for task, own_id in draft.waiting:
        for needed, line in _needed(draft, task):
            _add_edge(draft, "DEPENDS_ON", (needed, own_id), task, {}, line)


def _needed(draft: _Draft, task: ShortTask) -> Iterator[tuple[str, int]]:
    """Yield the ids of what a task needs, each once."""
    lines: dict[str, int] = {}
    for name, line in task.needs:
        lines.setdefault(draft.names.id_of(name, line), line)
    yield from lines.items()


def _add_inputs(draft: _Draft, task: ShortTask, own_id: str) -> None:
    lines: dict[str, int] = {}
    for need in task.inputs:
        requirement_id = need.id or f"{own_id}.{slug(need.name)}"
        if requirement_id in lines:
            first = lines[requirement_id]
            raise InvalidPlanFile(
                f"{shown(task.title)} has two inputs {shown(need.name)}"
                f" (lines {first} and {need.line})",
                need.line,
                way_out="give them different names",
            )
        lines[requirement_id] = need.line
        draft.lines[f"$.requirements[{len(draft.requirements)}]"] = need.line
        draft.requirements.append(_requirement(need, requirement_id, own_id))


def _requirement(need: ShortInput, requirement_id: str, own_id: str) -> JsonObject:
    requirement: JsonObject = {
        "requirement_id": requirement_id,
        "task_id": own_id,
        "name": need.name,
        "kind": need.kind,
        "required": need.required,
        "min_count": need.count,
        "allowed_types": list(need.types),
        "source": need.source,
    }
    if need.keywords:
        requirement["validation"] = {"filename_keywords": list(need.keywords)}
    return requirement

"""A plan of the contract becomes a short plan: the way back.

What nesting or a key cannot say is refused by name, never dropped. Ids of edges and the
order of the lists are not kept: they say nothing about the plan.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from accordance.contracts.catalogue.plan import (
    Edge,
    EdgeMetadata,
    Node,
    Plan,
    PlanHead,
    Requirement,
    RequirementValidation,
)
from accordance.contracts.jsonpath import without
from accordance.domain.coding_keys import KEY, TAG
from accordance.domain.json_numbers import as_whole_number
from accordance.domain.short_plans.compiling import (
    CRITERIA,
    DELIVERABLE,
    TIME_LIMIT,
    role_of,
    tags_of,
)
from accordance.domain.short_plans.entries import shown
from accordance.domain.short_plans.model import (
    POLICY,
    ShortInput,
    ShortPlan,
    ShortTask,
)
from accordance.domain.short_plans.naming import code_task_id, slug, task_id
from accordance.errors import NotExpressible

_Json: TypeAlias = dict[str, Any]

DEEPEST: Final = 24
"""Levels of nesting that every format can still read."""

_PINS: Final[Mapping[str, str]] = {
    "allowed_paths": "allowed",
    "forbidden_paths": "forbidden",
    "read_paths": "read",
}
_LIMITS: Final = ("max_files", "max_loc")
_NAMES: Final[Mapping[str, str]] = {
    "allowedTests": "tests",
    "allowedExecutors": "executor",
    "allowedModels": "models",
}


@dataclass(slots=True)
class _Links:
    """What the edges of a plan say about its nodes."""

    parent: dict[str, str] = field(default_factory=dict)
    parts: dict[str, list[str]] = field(default_factory=dict)
    combine: dict[str, str] = field(default_factory=dict)
    needs: dict[str, list[str]] = field(default_factory=dict)
    groups: dict[str, tuple[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Source:
    """A plan that is shortened, with what is looked up in it."""

    plan_id: str
    owner: str
    root: str
    nodes: Mapping[str, _Json]
    links: _Links
    inputs: Mapping[str, Sequence[ShortInput]]
    places: Mapping[str, int]
    short_names: Mapping[str, str]
    """How `needs` names each task: by its title, or by its id."""

    def named(self, task: str) -> str:
        """Return a task as an error names it."""
        return shown(str(self.nodes[task]["title"]))


def shorten(document: _Json) -> ShortPlan:
    """Return the short form of a plan that its contract accepts.

    Raises NotExpressible.
    """
    _refuse_extras(document, Plan.model_fields, "the plan file")
    head = document["plan"]
    _refuse_extras(head, PlanHead.model_fields, "the plan")

    nodes = {str(node["task_id"]): node for node in document["nodes"]}
    root = head["root_task_id"]
    requirements = document.get("requirements", ())
    source = _Source(
        plan_id=head["plan_id"],
        owner=head["owner_agent_id"],
        root=root,
        nodes=nodes,
        places={task: place for place, task in enumerate(nodes)},
        links=_links(document["edges"], nodes),
        inputs=_inputs(requirements),
        short_names=_short_names(root, nodes),
    )
    _refuse_what_nesting_cannot_say(source)
    id_by_default = slug(head["title"])
    own_id = None if source.plan_id == id_by_default else source.plan_id
    return ShortPlan(
        title=head["title"],
        id=own_id,
        owner=source.owner,
        created=head["created_at"],
        constraints=head.get("constraints"),
        root=_task(source, source.root),
    )


def _not_expressible(text: str) -> NotExpressible:
    return NotExpressible(text, way_out="keep the plan as JSON")


def _refuse_extras(table: _Json, known: Collection[str], what: str) -> None:
    for key in table:
        if key not in known:
            raise _not_expressible(
                f"{what} has the key {shown(key)}, which a short plan cannot express"
            )


# -- edges


def _links(edges: Sequence[_Json], nodes: Mapping[str, _Json]) -> _Links:
    links = _Links()
    for edge in edges:
        what = f"the edge {shown(edge['edge_id'])}"
        _refuse_extras(edge, Edge.model_fields, what)
        metadata = edge.get("metadata") or {}
        _refuse_extras(metadata, EdgeMetadata.model_fields, f"{what}: metadata")
        _take_edge(links, edge, metadata, nodes)
    return links


def _take_edge(
    links: _Links,
    edge: _Json,
    metadata: _Json,
    nodes: Mapping[str, _Json],
) -> None:
    source = edge["from_task_id"]
    target = edge["to_task_id"]
    title = shown(nodes[target]["title"])
    if edge["edge_type"] == "DECOMPOSE":
        if links.parent.setdefault(target, source) != source:
            raise _not_expressible(
                f"{title} is a part of two goals, which nesting cannot express"
            )
        links.combine[source] = metadata.get("and_or") or "AND"
        parts = links.parts.setdefault(source, [])
        if target not in parts:
            parts.append(target)
    elif edge["edge_type"] == "DEPENDS_ON":
        needs = links.needs.setdefault(target, [])
        if source not in needs:
            needs.append(source)
    else:
        group = (source, metadata["group_id"])
        if links.groups.setdefault(target, group) != group:
            raise _not_expressible(
                f"{title} is in two groups of alternatives; a short plan allows one"
            )


def _refuse_what_nesting_cannot_say(source: _Source) -> None:
    links = source.links
    for task in source.nodes:
        is_tied = task in links.needs or task in links.groups
        if task == source.root:
            if is_tied or task in links.parent:
                raise _not_expressible(
                    f"the root {source.named(task)} waits for a task or is a part"
                )
            continue
        if task not in links.parent:
            raise _not_expressible(
                f"{source.named(task)} is a part of no goal, which nesting cannot express"
            )
        if _depth(links, task) > DEEPEST:
            raise _not_expressible(
                f"{source.named(task)} lies more than {DEEPEST} levels deep"
            )
        parent, _ = links.groups.get(task, (links.parent[task], ""))
        if parent != links.parent[task]:
            raise _not_expressible(
                f"{source.named(task)} is an alternative under a goal that is not"
                " its own"
            )


def _depth(links: _Links, task: str) -> int:
    depth = 0
    while task in links.parent and depth <= DEEPEST:
        task = links.parent[task]
        depth += 1
    return depth


def _short_names(root: str, nodes: Mapping[str, _Json]) -> Mapping[str, str]:
    """Return how `needs` names each task: by title where no other task has its words."""
    by_words: dict[str, list[str]] = {}
    for task, node in nodes.items():
        if task != root:
            by_words.setdefault(slug(str(node["title"])), []).append(task)

    names = {}
    for task, node in nodes.items():
        title = str(node["title"])
        is_only = by_words.get(slug(title)) == [task]
        is_an_id = title in nodes
        names_the_task = is_only and not is_an_id
        names[task] = title if names_the_task else task
    return names


# -- tasks


def _task(source: _Source, own_id: str) -> ShortTask:
    node = source.nodes[own_id]
    links = source.links
    needed = links.needs.get(own_id, ())
    needs = [(source.short_names[task], 0) for task in needed]
    part_ids = links.parts.get(own_id, ())
    in_file_order = sorted(part_ids, key=source.places.__getitem__)
    parts = [_task(source, part) for part in in_file_order]
    inputs = source.inputs.get(own_id, ())
    _, group = links.groups.get(own_id, ("", None))
    further = without(node, Node.model_fields)

    values: dict[str, Any] = {
        "title": node["title"],
        "goal": node.get("goal_statement"),
        "why": node.get("rationale"),
        "priority": node["priority"],
        "needs": tuple(needs),
        "combine": links.combine.get(own_id, "AND"),
        "alternative": group,
        "inputs": tuple(inputs),
        "parts": tuple(parts),
        **_stated(further),
        **_code(node, further),
    }
    return _with_defaults(source, node, values, further)


def _with_defaults(
    source: _Source,
    node: _Json,
    values: dict[str, Any],
    further: _Json,
) -> ShortTask:
    """Leave out what the compiler would write out by itself."""
    own_id = node["task_id"]
    kind = node["node_type"]
    is_root = own_id == source.root
    by_default = "GOAL" if values["parts"] else "ACTION"
    is_stated = is_root or kind != by_default
    task = ShortTask(**values, type=kind if is_stated else None, further=further)

    tags = tuple(node["tags"])
    if tags_of(task) != tags:
        task = replace(task, tags=tags)
    if role_of(task, source.owner) != node["owner_agent_id"]:
        task = replace(task, role=node["owner_agent_id"])
    if _id_by_default(source, task, is_root=is_root) != own_id:
        task = replace(task, id=own_id)
    return task


def _id_by_default(source: _Source, task: ShortTask, *, is_root: bool) -> str:
    if is_root:
        return source.plan_id
    if task.changes_code:
        return code_task_id(source.plan_id, task.title)
    return task_id(source.plan_id, task.title)


def _stated(further: _Json) -> dict[str, Any]:
    """Take the keys that have a short name out of the further keys of a node.

    A value that the short key could not give back as it is stays among the further.
    """
    values: dict[str, Any] = {}
    if _are_texts(further.get(CRITERIA)):
        values["accept"] = tuple(further.pop(CRITERIA))
    if further.get(DELIVERABLE) is not None:
        values["deliver"] = further.pop(DELIVERABLE)
    limit = as_whole_number(further.get(TIME_LIMIT))
    if limit is not None and limit > 0:
        values["timeout"] = further.pop(TIME_LIMIT)
    return values


def _are_texts(value: object) -> bool:
    if not isinstance(value, list):
        return False
    return all(isinstance(item, str) and item.strip() for item in value)


def _code(node: _Json, further: _Json) -> dict[str, Any]:
    """Take the task of a node that changes code out of its further keys."""
    change = further.get(KEY)
    if TAG not in node["tags"] or not isinstance(change, dict):
        return {}
    pins = change.get("pins")
    if not isinstance(pins, dict) or not _are_texts(pins.get("allowed_paths")):
        return {}

    title = shown(str(node["title"]))
    _refuse_extras(pins, (*_PINS, *_LIMITS), f"the pins of {title}")
    values: dict[str, Any] = {}
    for key, name in _PINS.items():
        values[name] = tuple(pins.get(key, ()))
    for key in _LIMITS:
        if key in pins:
            values[key] = pins[key]
    values["policy"] = change.get("role", POLICY)

    rest = without(change, ("pins", "role"))
    for key, name in _NAMES.items():
        if _are_texts(rest.get(key)):
            values[name] = tuple(rest.pop(key))
    values["code"] = rest
    del further[KEY]
    return values


# -- inputs


def _inputs(requirements: Sequence[_Json]) -> Mapping[str, list[ShortInput]]:
    inputs: dict[str, list[ShortInput]] = {}
    for requirement in requirements:
        what = f"the input {shown(requirement['name'])}"
        _refuse_extras(requirement, Requirement.model_fields, what)
        validation = requirement.get("validation") or {}
        _refuse_extras(validation, RequirementValidation.model_fields, what)

        own_id = requirement["requirement_id"]
        by_default = f"{requirement['task_id']}.{slug(requirement['name'])}"
        need = ShortInput(
            name=requirement["name"],
            id=None if own_id == by_default else own_id,
            kind=requirement["kind"],
            required=bool(requirement.get("required", True)),
            count=requirement.get("min_count", 1),
            types=tuple(requirement.get("allowed_types", ())),
            source=requirement.get("source", "ANY"),
            keywords=tuple(validation.get("filename_keywords") or ()),
        )
        inputs.setdefault(requirement["task_id"], []).append(need)
    return inputs

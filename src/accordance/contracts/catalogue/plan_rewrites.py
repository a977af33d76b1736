"""Completing a plan under its root. A plan may come with marks instead of tasks, and with nodes that belong to nothing.

1. External planners write a chain START -> ... -> END. The two are marks and no tasks: what follows START belongs to the
   root, an edge into END says nothing, and the marks go, with a warning. Only a mere mark goes; a task that happens
   to be called `finish` stays.
2. A root without parts could never be finished. Whatever has no parent is put under the root, or under the parent of its
   ALTERNATIVE group. What the plan only waits for stays outside where being a part would change the plan: as one more part
   of an OR root it could finish the plan by itself, and as a part of the root it waits for it could never begin.

No node is lost but the marks, and no relation that means something. Completing a completed plan changes nothing.
docs/decisions/0014 has the reasons.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from accordance.contracts.context import Context
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.violation import Notice, Repair, excerpt

_STARTS: Final = frozenset(("START", "BEGIN"))
_ENDS: Final = frozenset(("END", "FINISH", "STOP"))
MARKS: Final = _STARTS | _ENDS
_LONGEST_MARK: Final = 20  # with white space around; real ids are mostly longer
_FIELDS_OF_EVERY_NODE: Final = frozenset(
    ("task_id", "plan_id", "node_type", "title", "owner_agent_id", "priority", "tags")
)
_EDGE_IDS: Final = uuid.UUID("6ba7b811-9dad-41d1-80b4-00c04fd430c8")


def complete_under_the_root(
    message: JsonObject, _: Context
) -> tuple[JsonObject, list[Repair | Notice]]:
    """Take out START and END, and put every node without a parent under the root."""
    root, nodes, edges = (
        root_of(message),
        objects_in(message, "nodes"),
        objects_in(message, "edges"),
    )
    if root is None or not nodes or edges is None:
        return message, []
    if not any(node.get("task_id") == root for node in nodes):
        return message, []
    marks = _marks(message, root, nodes, edges)
    outline = _outline(root, [edge for edge in edges if not _touches(edge, marks)])
    found: list[Repair | Notice] = []
    kept_nodes = _without_marks(nodes, marks, found)
    kept_edges = _with_belonging(edges, marks, outline, found)
    added = [*_adoptions(message, kept_nodes, outline)]
    found += [
        Repair("under_the_root", f"$.edges[{len(kept_edges) + at}]", None, edge)
        for at, edge in enumerate(added)
    ]
    if not found:
        return message, []
    return {**message, "nodes": kept_nodes, "edges": [*kept_edges, *added]}, found


# Marks


def _marks(
    message: JsonObject, root: str, nodes: list[JsonObject], edges: list[JsonObject]
) -> frozenset[object]:
    """The ids that only mark where the plan begins or ends.

    A mark stands where it says: nothing but the root, or another mark, leads to a START or away from an END.
    """
    named = {hashable(node.get("task_id")) for node in nodes}
    named |= {
        hashable(edge.get(end))
        for edge in edges
        for end in ("from_task_id", "to_task_id")
    }
    marks = {task for task in named if task != root and word_of(task)}
    if not marks:
        return frozenset()
    declared: set[object] = set()
    for node in nodes:
        task = hashable(node.get("task_id"))
        if task in marks and (task in declared or not _is_mere_mark(node)):
            marks.discard(task)
        declared.add(task)
    marks -= {
        hashable(need.get("task_id"))
        for need in objects_in(message, "requirements") or ()
    }
    return frozenset(_standing_at_the_ends(marks, declared, root, edges))


def _is_mere_mark(node: JsonObject) -> bool:
    """Nothing but the fields every node has, and a title that is the word itself, or none."""
    title = node.get("title")
    words = _STARTS if word_of(node.get("task_id")) == "START" else _ENDS
    says_no_more = title is None or (
        isinstance(title, str) and (not title.strip() or title.strip().upper() in words)
    )
    further = (value for key, value in node.items() if key not in _FIELDS_OF_EVERY_NODE)
    return says_no_more and all(_is_nothing(value) for value in further)


def _is_nothing(value: object) -> bool:
    return not (value.strip() if isinstance(value, str) else value)


def _standing_at_the_ends(
    marks: set[object], declared: set[object], root: str, edges: list[JsonObject]
) -> set[object]:
    """Without those that have parts, are candidates, or are a step in the middle: what a real task leads to is no START."""
    not_marks: list[object] = []
    stands_with: dict[
        object, list[object]
    ] = {}  # where the key is no mark, these are none either
    for edge in edges:
        kind = edge.get("edge_type")
        source, target = _ends(edge)
        if kind == "ALTERNATIVE":
            not_marks += (source, target)
        if kind == "DECOMPOSE" and source in declared:
            not_marks.append(source)
        if source != root and (kind == "DECOMPOSE" or word_of(target) == "START"):
            stands_with.setdefault(source, []).append(target)
        if target != root and word_of(source) == "END":
            stands_with.setdefault(target, []).append(source)
    not_marks += [task for task in stands_with if task not in marks]
    kept = marks.difference(not_marks)
    while not_marks:
        for other in stands_with.get(not_marks.pop(), ()):
            if other in kept:
                kept.discard(other)
                not_marks.append(other)
    return kept


def _without_marks(
    nodes: list[JsonObject], marks: frozenset[object], found: list[Repair | Notice]
) -> list[JsonObject]:
    kept: list[JsonObject] = []
    for at, node in enumerate(nodes):
        task = hashable(node.get("task_id"))
        if task not in marks:
            kept.append(node)
            continue
        end = "begins" if word_of(task) == "START" else "ends"
        text = (
            f"{excerpt(task)} only marks where the plan {end}: taken out, it is no task"
        )
        found.append(Repair("start_end", f"$.nodes[{at}]", node, None))
        found.append(Notice("mark_taken_out", f"$.nodes[{at}]", text))
    return kept


# The outline of a plan, and what it says of a node without a parent


@dataclass(frozen=True, slots=True)
class _Outline:
    """What the edges say, without those of marks."""

    root: str
    combined: dict[object, str] = field(
        default_factory=dict
    )  # parent -> AND or OR, as it says first
    parents: set[object] = field(default_factory=set)  # nodes that have parts
    parts: set[object] = field(default_factory=set)  # nodes that have a parent
    group_parent: dict[object, object] = field(default_factory=dict)
    waited_for: set[object] = field(default_factory=set)
    before_the_root: set[object] = field(
        default_factory=set
    )  # what must be done before the root may begin

    def is_only_waited_for(self, task: object) -> bool:
        """Whether a node without a parent must not become a part of the root."""
        is_one_of_several_ways = (
            self.combined.get(self.root) == "OR" and task in self.waited_for
        )
        return is_one_of_several_ways or task in self.before_the_root

    def belongs_to_the_root(self, edge: JsonObject) -> object:
        """The node that a DEPENDS_ON edge at the root puts under it: it can mean nothing else. None for other edges.

        A root without parts is finished when all others are, so waiting for it, or making it wait, only says that
        a node belongs to it. So does a root that is the START or the END of its chain.
        """
        source, target = _ends(edge)
        if (
            edge.get("edge_type") != "DEPENDS_ON"
            or source == target
            or self.root not in (source, target)
        ):
            return None
        end = "START" if source == self.root else "END"
        if self.root in self.parents and word_of(self.root) != end:
            return None
        return target if source == self.root else source


def _outline(root: str, edges: list[JsonObject]) -> _Outline:
    outline = _Outline(root)
    needs: dict[object, list[object]] = {}  # node -> what must be done before it is
    gates: dict[
        object, list[object]
    ] = {}  # node -> what must be done before it may begin
    above: dict[object, list[object]] = {}
    for edge in edges:
        source, target = _ends(edge)
        kind = edge.get("edge_type")
        if kind == "DEPENDS_ON":
            gates.setdefault(target, []).append(source)
            outline.waited_for.add(source)
            continue
        needs.setdefault(source, []).append(target)
        above.setdefault(target, []).append(source)
        if kind == "ALTERNATIVE":
            outline.group_parent[target] = source
        elif kind == "DECOMPOSE":
            outline.parents.add(source)
            outline.parts.add(target)
            metadata = edge.get("metadata")
            said = metadata.get("and_or") if isinstance(metadata, dict) else None
            if said in ("AND", "OR"):
                outline.combined.setdefault(source, str(said))
    if root in outline.parents and word_of(root) != "END":
        outline.before_the_root.update(_done_before(root, needs, gates, above))
    return outline


def _done_before(
    task: object,
    needs: dict[object, list[object]],
    gates: dict[object, list[object]],
    above: dict[object, list[object]],
) -> set[object]:
    """Everything that must be done before a node may begin: prerequisites, their parts, and what the goals above wait for."""
    before: set[object] = set()
    opened: set[object] = {task}
    to_open = [task]
    while to_open:
        opening = to_open.pop()
        following = [*above.get(opening, ())]
        to_finish = [*gates.get(opening, ())]
        while to_finish:
            finishing = to_finish.pop()
            if finishing not in before:
                before.add(finishing)
                following.append(finishing)
                to_finish += needs.get(finishing, ())
        to_open += [other for other in following if other not in opened]
        opened.update(following)
    return before


def _with_belonging(
    edges: list[JsonObject],
    marks: frozenset[object],
    outline: _Outline,
    found: list[Repair | Notice],
) -> list[JsonObject]:
    """The edges of START, and of a root that stands for it, become DECOMPOSE edges of the root. Those of marks go."""
    if not marks and not any(map(outline.belongs_to_the_root, edges)):
        return edges
    combined = outline.combined.get(outline.root, "AND")
    kept_edges: list[JsonObject] = []
    for at, edge in enumerate(edges):
        source, target = _ends(edge)
        if source in marks or target in marks:
            follows = (
                target if word_of(source) == "START" and target not in marks else None
            )
        else:
            follows = outline.belongs_to_the_root(edge)
            if follows is None:
                kept_edges.append(edge)
                continue
        kept: JsonObject | None = None
        if follows not in (None, outline.root) and not _has_its_place(follows, outline):
            said = edge.get("metadata")
            metadata = {**(said if isinstance(said, dict) else {}), "and_or": combined}
            ends = {"from_task_id": outline.root, "to_task_id": follows}
            kept = {**edge, **ends, "edge_type": "DECOMPOSE", "metadata": metadata}
            kept_edges.append(kept)
            outline.parts.add(follows)
        found.append(Repair("start_end", f"$.edges[{at}]", edge, kept))
    return kept_edges


def _has_its_place(task: object, outline: _Outline) -> bool:
    return (
        task in outline.parts
        or task in outline.group_parent
        or outline.is_only_waited_for(task)
    )


def _adoptions(
    message: JsonObject, nodes: list[JsonObject], outline: _Outline
) -> Iterable[JsonObject]:
    """A DECOMPOSE edge for each node without a parent, whose id follows from what it joins: the same for the same plan."""
    head = message.get("plan")
    plan_id = head.get("plan_id") if isinstance(head, dict) else None
    for node in nodes:
        task = node.get("task_id")
        if not isinstance(task, str) or task == outline.root or task in outline.parts:
            continue
        parent = outline.group_parent.get(task)
        if parent is None and outline.is_only_waited_for(task):
            continue
        parent = outline.root if parent is None else parent
        outline.parts.add(task)  # two nodes of one name have one parent
        yield {
            "edge_id": str(uuid.uuid5(_EDGE_IDS, f"{plan_id}\n{parent}\n{task}")),
            "plan_id": plan_id,
            "from_task_id": parent,
            "to_task_id": task,
            "edge_type": "DECOMPOSE",
            "metadata": {"and_or": outline.combined.get(parent, "AND")},
        }


# Reading a message that may be wrong in any field


def word_of(task: object) -> str | None:
    """START or END, if that is what an id says."""
    if not isinstance(task, str) or len(task) > _LONGEST_MARK or not task.isascii():
        return None
    word = task.strip().upper()
    return "START" if word in _STARTS else "END" if word in _ENDS else None


def root_of(message: JsonObject) -> str | None:
    """The id of the root, if the plan names one."""
    head = message.get("plan")
    root = head.get("root_task_id") if isinstance(head, dict) else None
    return root if isinstance(root, str) else None


def objects_in(message: JsonObject, key: str) -> list[JsonObject] | None:
    """A list of objects, or None if it is not one."""
    items = message.get(key)
    return (
        items
        if isinstance(items, list) and all(type(item) is dict for item in items)
        else None
    )


def hashable(value: object) -> object:
    """Ids should be texts; whatever else comes must not break a set."""
    return value if isinstance(value, str) else None


def _ends(edge: JsonObject) -> tuple[object, object]:
    return hashable(edge.get("from_task_id")), hashable(edge.get("to_task_id"))


def _touches(edge: JsonObject, marks: frozenset[object]) -> bool:
    source, target = _ends(edge)
    return source in marks or target in marks

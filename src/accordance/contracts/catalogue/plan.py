"""`plan_json_v1`: a plan as a graph of goals, actions and checks. Seed 001 s3.

Edges: DECOMPOSE points from a parent to its part, DEPENDS_ON from the prerequisite to
the dependent, ALTERNATIVE from a parent to the candidates of a group. The rewrites
(START and END, completion under the root) are in `plan_rewrites`, the rules of the
graph in `plan_graph`.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from accordance.contracts.catalogue.plan_containers import (
    CONTAINERS,
    containers_are_named_once,
)
from accordance.contracts.catalogue.plan_graph import GRAPH_RULES
from accordance.contracts.catalogue.plan_rewrites import complete_under_the_root
from accordance.contracts.catalogue.plan_sound import is_plainly_sound
from accordance.contracts.context import Context
from accordance.contracts.contract import Contract, Scope
from accordance.contracts.fields import (
    Count,
    Flag,
    Long,
    Object,
    Open,
    Repeated,
    Text,
    Time,
)
from accordance.contracts.jsonpath import JsonObject, without
from accordance.contracts.normalising import Shape, Spelling, normalise
from accordance.contracts.violation import Repair

NODE_TYPES: Final = ("GOAL", "ACTION", "CHECK")
EDGE_TYPES: Final = ("DECOMPOSE", "DEPENDS_ON", "ALTERNATIVE")


class PlanHead(Open):
    """The plan itself."""

    plan_id: Text
    title: Text
    root_task_id: Text
    created_at: Time
    owner_agent_id: Text
    constraints: Object | None


class Node(Repeated):
    """A goal, an action or a check."""

    task_id: Text
    plan_id: Text
    node_type: Literal["GOAL", "ACTION", "CHECK"]
    title: Text
    owner_agent_id: Text
    priority: Long
    tags: list[str]
    goal_statement: str | None = None
    rationale: str | None = None


_SHARED_METADATA: Final[dict[tuple[object, ...], EdgeMetadata]] = {}
_MOST_SHARED: Final = 256


class EdgeMetadata(Repeated):
    """How the edges of a parent, or of a group, belong together."""

    and_or: Literal["AND", "OR"] | None = None
    group_id: Text | None = None

    def shared(self) -> EdgeMetadata:
        """Return a value that is equal to this, the same for all that are equal."""
        if self.__pydantic_extra__:
            return self
        given = tuple(self.__pydantic_fields_set__)
        key = (self.and_or, self.group_id, given)
        shared = _SHARED_METADATA.get(key)
        if shared is not None:
            return shared
        if len(_SHARED_METADATA) < _MOST_SHARED:
            _SHARED_METADATA[key] = self
        return self


class Edge(Repeated):
    """A relation between two nodes."""

    edge_id: Text
    plan_id: Text
    from_task_id: Text
    to_task_id: Text
    edge_type: Literal["DECOMPOSE", "DEPENDS_ON", "ALTERNATIVE"]
    metadata: EdgeMetadata | None

    def model_post_init(self, context: object, /) -> None:
        """Share equal metadata: of most edges it is the same, or empty."""
        super().model_post_init(context)
        if self.metadata is not None:
            self.__dict__["metadata"] = self.metadata.shared()


class RequirementValidation(Open):
    """How a file is recognised."""

    filename_keywords: list[str] | None = None


class Requirement(Open):
    """Something a task needs from outside before it can begin.

    A field that is left out restricts nothing (decision 0014).
    """

    requirement_id: Text
    task_id: Text
    name: Text
    kind: Literal["FILE", "CONFIRMATION", "SKILL_OUTPUT"]
    required: Flag = True
    min_count: Count = 1
    allowed_types: list[str] = Field(default_factory=list)
    source: Literal["USER", "AGENT", "ANY"] = "ANY"
    validation: RequirementValidation | None = None


class Plan(Open):
    """A whole plan. It is written with its version even if it was read without."""

    schema_version: Literal["plan_json_v1"] = "plan_json_v1"
    plan: PlanHead
    nodes: Annotated[list[Node], Field(min_length=1)]
    edges: list[Edge]
    requirements: list[Requirement] = Field(default_factory=list)


_HEAD: Final = Shape(
    renames={
        "plan_id": ("id",),
        "title": ("name",),
        "owner_agent_id": ("owner", "agent"),
        "root_task_id": ("root", "root_id"),
        "created_at": ("created", "createdAt", "ts"),
        "constraints": ("constraint", "constraints_json"),
    }
)

_NODE: Final = Shape(
    renames={
        "task_id": ("id", "taskId", "node_id", "nodeId"),
        "title": ("name", "label"),
        "node_type": ("type", "kind"),
        "owner_agent_id": ("owner", "agent"),
        "priority": ("prio",),
        "tags": ("labels",),
        "goal_statement": ("goal", "objective"),
        "rationale": ("reason", "why"),
    },
    spellings={"node_type": Spelling(NODE_TYPES)},
)

_EDGE_TYPE_ALIASES: Final = {
    "DEPEND": "DEPENDS_ON",
    "DEPENDS": "DEPENDS_ON",
    "DEPEND_ON": "DEPENDS_ON",
    "DEPENDS-ON": "DEPENDS_ON",
    "DEPENDS ON": "DEPENDS_ON",
    "PREREQ": "DEPENDS_ON",
    "PREREQUISITE": "DEPENDS_ON",
    "DECOMPOSITION": "DECOMPOSE",
    "BREAKDOWN": "DECOMPOSE",
    "ALT": "ALTERNATIVE",
    "ALTERNATE": "ALTERNATIVE",
}

_EDGE: Final = Shape(
    renames={
        "edge_id": ("id",),
        "from_task_id": ("from", "from_id", "source", "src", "parent_id"),
        "to_task_id": ("to", "to_id", "target", "tgt", "child_id"),
        "edge_type": ("type", "relation", "relation_type", "kind"),
        "metadata": ("meta",),
    },
    spellings={"edge_type": Spelling(EDGE_TYPES, _EDGE_TYPE_ALIASES)},
    objects={"metadata": Shape(spellings={"and_or": Spelling(("AND", "OR"))})},
)

_REQUIREMENT_KIND_ALIASES: Final = {
    "FILES": "FILE",
    "DOC": "FILE",
    "DOCS": "FILE",
    "DOCUMENT": "FILE",
    "DOCUMENTS": "FILE",
    "CONFIRM": "CONFIRMATION",
    "SKILL": "SKILL_OUTPUT",
    "SKILL_RESULT": "SKILL_OUTPUT",
    "SKILL_ARTIFACT": "SKILL_OUTPUT",
}

_REQUIREMENT: Final = Shape(
    renames={"requirement_id": ("id",)},
    spellings={
        "kind": Spelling(
            ("FILE", "CONFIRMATION", "SKILL_OUTPUT"), _REQUIREMENT_KIND_ALIASES
        ),
        "source": Spelling(("USER", "AGENT", "ANY")),
    },
)

SHAPE: Final = Shape(
    renames=CONTAINERS,
    objects={"plan": _HEAD},
    lists={
        "nodes": _NODE,
        "edges": _EDGE,
        "requirements": _REQUIREMENT,
    },
)


def repeated_containers_are_one(
    message: JsonObject, _: Context
) -> tuple[JsonObject, list[Repair]]:
    """A list that comes twice, under two names with the same content, is kept once."""
    repeated: dict[str, str] = {}
    for key, aliases in CONTAINERS.items():
        for alias in aliases:
            if key in message and alias in message:
                content, _ignored = normalise({key: message[alias]}, SHAPE)
                if content[key] == message[key]:
                    repeated[alias] = key

    if not repeated:
        return message, []
    repairs = [
        Repair(
            "same_twice",
            path=f"$.{alias}",
            before=alias,
            after=key,
        )
        for alias, key in repeated.items()
    ]
    kept = without(message, repeated)
    return kept, repairs


PLAN: Final = Contract(
    version="plan_json_v1",
    name="plan",
    about=(
        "A plan: nodes (GOAL, ACTION, CHECK), edges (DECOMPOSE, DEPENDS_ON, "
        "ALTERNATIVE) and required inputs."
    ),
    model=Plan,
    scopes=(
        Scope(name="PLAN_GEN", enums=("nodes[*].node_type", "edges[*].edge_type")),
    ),
    shape=SHAPE,
    mends=(repeated_containers_are_one,),
    rewrites=(complete_under_the_root,),
    rules=(containers_are_named_once, *GRAPH_RULES),
    settled=is_plainly_sound,
)

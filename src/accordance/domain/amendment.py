"""The difference that an amendment makes to a plan, as values.

Two plans differ in their tasks, in the edges between them, in what tasks need from
outside, and in their fuses. Ids of edges and the order of nodes say nothing.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from accordance.contracts.jsonpath import without_nulls

if TYPE_CHECKING:  # every command that opens a ledger would load the contract
    from pydantic import BaseModel

    from accordance.contracts.catalogue.plan import Edge, Plan
    from accordance.domain.fuses import Fuses

T = TypeVar("T")
_NAMES_ITS_PLAN: Final = "plan_id"


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A value that changed; None where there is no value.

    `name` is the path of the field, such as `task.pins.allowed_paths`.
    """

    name: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class ItemChange:
    """A task, or something that a task needs, of which some fields have changed."""

    id: str
    fields: tuple[FieldChange, ...]


class Link(NamedTuple):
    """What an edge says, whatever its id."""

    edge_type: str
    from_task_id: str
    to_task_id: str
    and_or: str | None
    group_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """All that differs between two versions of a plan."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[ItemChange, ...] = ()
    links_added: tuple[Link, ...] = ()
    links_removed: tuple[Link, ...] = ()
    needs_added: tuple[str, ...] = ()
    needs_removed: tuple[str, ...] = ()
    needs_changed: tuple[ItemChange, ...] = ()
    fuses: tuple[FieldChange, ...] = ()

    def __bool__(self) -> bool:
        """Whether anything differs."""
        return self != _NONE

    def to_json(self) -> dict[str, Any]:
        """The difference as plain JSON, without what is empty."""
        document = {}
        for name, value in asdict(self).items():
            if value:
                document[name] = _plain(value)
        return document


_NONE: Final = Difference()


def _plain(value: Any) -> Any:
    """A value with lists for tuples, as JSON reads it back."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def difference(old: Plan, new: Plan, old_fuses: Fuses, new_fuses: Fuses) -> Difference:
    """Return what differs between two versions of a plan."""
    old_nodes = {node.task_id: _fields(node) for node in old.nodes}
    new_nodes = {node.task_id: _fields(node) for node in new.nodes}
    old_needs = {need.requirement_id: _fields(need) for need in old.requirements}
    new_needs = {need.requirement_id: _fields(need) for need in new.requirements}
    old_links = dict.fromkeys(map(_link, old.edges))
    new_links = dict.fromkeys(map(_link, new.edges))

    return Difference(
        added=_missing(new_nodes, old_nodes),
        removed=_missing(old_nodes, new_nodes),
        changed=tuple(_changes(old_nodes, new_nodes)),
        links_added=_missing(new_links, old_links),
        links_removed=_missing(old_links, new_links),
        needs_added=_missing(new_needs, old_needs),
        needs_removed=_missing(old_needs, new_needs),
        needs_changed=tuple(_changes(old_needs, new_needs)),
        fuses=tuple(_field_changes(old_fuses.model_dump(), new_fuses.model_dump())),
    )


def _missing(items: Iterable[T], others: Container[T]) -> tuple[T, ...]:
    """Return the items that are not among the others."""
    return tuple(item for item in items if item not in others)


def _fields(item: BaseModel) -> dict[str, Any]:
    """What a node or a requirement says; a field without a value is left out."""
    dumped = item.model_dump(mode="json", by_alias=True)
    dumped.pop(_NAMES_ITS_PLAN, None)
    return without_nulls(dumped)


def _link(edge: Edge) -> Link:
    metadata = edge.metadata
    return Link(
        edge_type=edge.edge_type,
        from_task_id=edge.from_task_id,
        to_task_id=edge.to_task_id,
        and_or=metadata.and_or if metadata else None,
        group_id=metadata.group_id if metadata else None,
    )


def _changes(
    old: Mapping[str, Mapping[str, Any]], new: Mapping[str, Mapping[str, Any]]
) -> Iterator[ItemChange]:
    """Yield the items of both versions that say something else now."""
    for name, after in new.items():
        before = old.get(name)
        if before is not None and before != after:
            yield ItemChange(name, tuple(_field_changes(before, after)))


def _field_changes(
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    prefix: str = "",
) -> Iterator[FieldChange]:
    """Yield the fields that differ; of an object, those inside it."""
    for name in dict.fromkeys((*before, *after)):
        old = before.get(name)
        new = after.get(name)
        if old == new:
            continue
        path = f"{prefix}{name}"
        if isinstance(old, dict) and isinstance(new, dict):
            yield from _field_changes(old, new, f"{path}.")
        else:
            yield FieldChange(path, old, new)

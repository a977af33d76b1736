"""Amendments of plans."""

from __future__ import annotations

from typing import Any

from accordance.domain.amendment import FieldChange, ItemChange, Link
from accordance.domain.lifecycle import State
from accordance.service.views.base import View
from accordance.work.amendment_checks import PreparedAmendment


class FieldChangeView(View):
    """A value that has changed; null where there is none."""

    name: str
    before: Any
    after: Any


class TaskRefView(View):
    """A task that is new, or gone."""

    task_id: str
    title: str


class TaskChangeView(TaskRefView):
    """A task of which some fields have changed, and where it stands."""

    state: State
    fields: tuple[FieldChangeView, ...]


class LinkView(View):
    """An edge of a plan, whatever its id."""

    edge_type: str
    from_task_id: str
    to_task_id: str
    and_or: str | None
    group_id: str | None


class NeedChangeView(View):
    """Something that a task needs from outside, of which some fields have changed."""

    requirement_id: str
    fields: tuple[FieldChangeView, ...]


class TaskMoveView(View):
    """Where a task goes because of an amendment."""

    task_id: str
    before: State
    after: State


class AmendmentView(View):
    """What an amendment changes in a plan, and what follows from it."""

    plan_id: str
    title: str
    base: int  # the revision that it was made for
    revision: int
    added: tuple[TaskRefView, ...]
    removed: tuple[TaskRefView, ...]
    changed: tuple[TaskChangeView, ...]
    links_added: tuple[LinkView, ...]
    links_removed: tuple[LinkView, ...]
    needs_added: tuple[str, ...]
    needs_removed: tuple[str, ...]
    needs_changed: tuple[NeedChangeView, ...]
    fuses: tuple[FieldChangeView, ...]
    handed_back: tuple[str, ...]  # tasks whose attempt has to begin anew
    moves: tuple[TaskMoveView, ...]
    is_done: bool  # or only looked at


def amendment_view(
    prepared: PreparedAmendment,
    titles: dict[str, str],
    *,
    is_done: bool,
) -> AmendmentView:
    """Show an amendment; `titles` are those of the plan before it."""
    changes = prepared.amendment.difference
    record = prepared.record
    names = titles | {node.task_id: node.title for node in prepared.plan.nodes}
    before = prepared.amendment.plan.at

    def refs(task_ids: tuple[str, ...]) -> tuple[TaskRefView, ...]:
        return tuple(TaskRefView(task_id=task, title=names[task]) for task in task_ids)

    def change(item: ItemChange) -> TaskChangeView:
        return TaskChangeView(
            task_id=item.id,
            title=names[item.id],
            state=before[item.id].state,
            fields=_field_views(item.fields),
        )

    return AmendmentView(
        plan_id=record.plan_id,
        title=record.title,
        base=record.revision,
        revision=record.revision + 1,
        added=refs(changes.added),
        removed=refs(changes.removed),
        changed=tuple(change(item) for item in changes.changed),
        links_added=_link_views(changes.links_added),
        links_removed=_link_views(changes.links_removed),
        needs_added=changes.needs_added,
        needs_removed=changes.needs_removed,
        needs_changed=tuple(
            NeedChangeView(requirement_id=item.id, fields=_field_views(item.fields))
            for item in changes.needs_changed
        ),
        fuses=_field_views(changes.fuses),
        handed_back=prepared.handed_back,
        moves=_move_views(prepared),
        is_done=is_done,
    )


def _field_views(changes: tuple[FieldChange, ...]) -> tuple[FieldChangeView, ...]:
    return tuple(
        FieldChangeView(
            name=change.name,
            before=change.before,
            after=change.after,
        )
        for change in changes
    )


def _link_views(links: tuple[Link, ...]) -> tuple[LinkView, ...]:
    return tuple(LinkView(**link._asdict()) for link in links)


def _move_views(prepared: PreparedAmendment) -> tuple[TaskMoveView, ...]:
    """Where each old task was, and where it is after all that follows."""
    before = prepared.amendment.plan.at
    moved = dict.fromkeys(move.task_id for move in prepared.moves if move.event)
    views = []
    for task in moved:
        after = prepared.after.at[task].state
        if task in before and before[task].state is not after:
            view = TaskMoveView(
                task_id=task,
                before=before[task].state,
                after=after,
            )
            views.append(view)
    return tuple(views)

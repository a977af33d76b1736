"""Putting a hook in, and taking it out again."""

from __future__ import annotations

import contextlib
import datetime as dt
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from accordance.domain.hooks.kinds import HookKind
from accordance.domain.hooks.stopping import ROUNDS
from accordance.errors import AccordanceError, NotFound
from accordance.judging.starting_point import top_of
from accordance.judging.task_input import TaskRequest, read_task
from accordance.project.base_settings import settings_at
from accordance.project.policy import gateway_of
from accordance.service.hooks.places import (
    FileChange,
    changes_to_put_in,
    changes_to_take_out,
)
from accordance.service.hooks.state import HookRecord, HookState
from accordance.service.views.hooks import HookView
from accordance.workspace.baseline import read_baseline, record_baseline
from accordance.workspace.errors import WorkspaceError
from accordance.workspace.git import git_directory, resolve
from accordance.workspace.judges_python import refuse_judge_in_reach
from accordance.workspace.tree_commit import commit_of_tree, forget_tree

_NOTES: Final = {
    HookKind.CLAUDE: "Claude Code reads it when it starts: begin a new session.",
    HookKind.CODEX: (
        "codex runs it once you trust it: start codex here and enter /hooks. "
        "codex exec takes --dangerously-bypass-hook-trust instead."
    ),
    HookKind.OPENCODE: "opencode reads it when it starts: begin a new session.",
    HookKind.GIT: "git commit --no-verify goes past it: judge again in CI.",
    HookKind.PRE_COMMIT: (
        "`pre-commit install` makes git run it. git commit --no-verify goes past it: "
        "judge again in CI."
    ),
}


class HookWithoutTask(AccordanceError):
    """There is no task yet to judge by."""

    code = "hook-without-task"


@dataclass(frozen=True, slots=True)
class HookRequest:
    """A hook that is to be put in."""

    kind: HookKind
    repo: Path
    task: Path | bytes | None = None  # None: the task that the last hook was given
    rounds: int | None = None


def put_in(request: HookRequest, *, dry_run: bool = False) -> HookView:
    """Put a hook into a working tree; the agent begins with the tree as it is then.

    All hooks of a tree share its task and its beginning. Raises HookWithoutTask,
    HookSettingsUnreadable, PreflightFailed, WorkspaceError.
    """
    root = _root_of(request.repo)
    refuse_judge_in_reach(root)
    state = HookState.of(root)
    record = state.record()
    task = _task_of(request, root, state if record is not None else None)
    changes = changes_to_put_in(request.kind, root)
    files = tuple(change.view(root) for change in changes)
    if dry_run:
        return HookView(
            kind=request.kind,
            repository=str(root),
            carried_out=False,
            files=files,
            task_id=task.task.task_id,
        )

    for change in changes:
        change.carry_out()
    _forget_beginning(state, root)
    begun = commit_of_tree(root, dt.datetime.now(dt.UTC).isoformat())
    baseline = record_baseline(root, begun.commit)
    new_record = _record_with(record, request, root, task, changes)
    state.keep(new_record, task.raw, baseline)
    return HookView(
        kind=request.kind,
        repository=str(root),
        carried_out=True,
        files=files,
        task_id=task.task.task_id,
        begins_at=begun.commit,
        already_changed=begun.changed,
        rounds=new_record.rounds if request.kind.is_agent else None,
        notes=(_NOTES[request.kind],),
    )


def take_out(kind: HookKind, repo: Path, *, dry_run: bool = False) -> HookView:
    """Take a hook out of a working tree, and nothing that it did not bring.

    The task goes with the last hook. Raises HookSettingsUnreadable, WorkspaceError.
    """
    root = _root_of(repo)
    state = HookState.of(root)
    record = state.record()
    made = () if record is None else record.made
    changes = changes_to_take_out(kind, root, made)
    files = tuple(change.view(root) for change in changes)
    if not dry_run:
        for change in changes:
            change.carry_out()
        if record is not None:
            _forget(kind, state, record, root)
    return HookView(
        kind=kind,
        repository=str(root),
        carried_out=not dry_run,
        files=files,
    )


def _root_of(repo: Path) -> Path:
    root = top_of(repo)
    if git_directory(root) is None:
        raise WorkspaceError(
            f"{root} is not a git repository", way_out="make it one with `git init`"
        )
    return root


def _task_of(request: HookRequest, root: Path, state: HookState | None) -> TaskRequest:
    """Return the task, if its contract accepts it."""
    source = request.task
    if source is None:
        if state is None:
            raise HookWithoutTask(
                f"no task is set for {root}",
                way_out="name the file of the task that the agent is to work on",
            )
        source = state.task
    head = resolve(root, "HEAD")
    gateway = gateway_of(settings_at(root, head), root)
    try:
        return read_task(source, gateway)
    except NotFound:
        if request.task is not None:
            raise
        raise HookWithoutTask(
            f"the task of {root} is gone", way_out="name its file again"
        ) from None


def _record_with(
    record: HookRecord | None,
    request: HookRequest,
    root: Path,
    task: TaskRequest,
    changes: tuple[FileChange, ...],
) -> HookRecord:
    """Return the record of all hooks, with this hook."""
    kinds = () if record is None else record.kinds
    made = () if record is None else record.made
    new = []
    for change in changes:
        if change.before is None and change.place.is_relative_to(root):
            place = change.place.relative_to(root)
            new.append(place.as_posix())
    earlier_rounds = ROUNDS if record is None else record.rounds
    return HookRecord(
        repository=str(root),
        task_id=task.task.task_id,
        kinds=tuple(sorted({*kinds, request.kind})),
        made=tuple(sorted({*made, *new})),
        rounds=request.rounds or earlier_rounds,
    )


def _forget(kind: HookKind, state: HookState, record: HookRecord, root: Path) -> None:
    """Drop a hook from the record; with the last of them goes everything."""
    kinds = tuple(other for other in record.kinds if other is not kind)
    if kinds:
        state.keep_record(record.model_copy(update={"kinds": kinds}))
        return
    _forget_beginning(state, root)
    state.forget()


def _forget_beginning(state: HookState, root: Path) -> None:
    """Let git throw away the commit that the last task began with."""
    with contextlib.suppress(AccordanceError):  # it is gone, or was never kept
        forget_tree(root, read_baseline(state.baseline, root).commit)

"""A task as it was asked: read, checked against its contract, and looked at before anything is judged by it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from accordance.api import check
from accordance.contracts.catalogue.task import TASK, TaskInput
from accordance.contracts.context import Context
from accordance.contracts.limits import LIMITS
from accordance.contracts.violation import Accepted, Rejected
from accordance.domain.case import tests_of
from accordance.domain.facts import Snapshot
from accordance.domain.preflight import CODE, Preflight, Start, preflight
from accordance.errors import AccordanceError, NotFound
from accordance.project.policy import Gateway
from accordance.workspace.errors import WorkspaceError
from accordance.workspace.evidence import evidence_folder
from accordance.workspace.git import show
from accordance.workspace.isolation import Room
from accordance.workspace.runnable import why_not

Paper: TypeAlias = Path | bytes | str | Mapping[str, object]
"""A message: the file it is in, its text, or its value."""


class PreflightFailed(AccordanceError):
    """The task itself is wrong, so nothing can be judged by it. Names every reason."""

    code = "preflight-failed"

    def __init__(self, found: Preflight) -> None:
        super().__init__(found)
        self.preflight = found

    @property
    def text(self) -> str:
        """Every reason."""
        return f"{CODE}: " + "; ".join(map(str, self.preflight.reasons))


class TaskInReach(AccordanceError):
    """The task file lies in the tree that is judged, and is not the base's: the agent may have written it."""

    code = "task-in-reach"


@dataclass(frozen=True, slots=True)
class TaskRequest:
    """A task that was accepted, with its bytes."""

    raw: bytes
    task: TaskInput


def read_task(task: Paper, gateway: Gateway | None = None) -> TaskRequest:
    """The task, if its contract accepts it. Raises PreflightFailed and NotFound."""
    raw = read_paper(task)
    roles = (gateway or Gateway()).roles
    result = check(raw, TASK, Context(roles=frozenset(roles)))
    if isinstance(result, Rejected):
        raise PreflightFailed(preflight(result, Start(runnable={}), roles))
    return TaskRequest(raw, result.value)


def read_paper(paper: Paper) -> bytes:
    """The bytes of a message. Raises NotFound and WorkspaceError."""
    if isinstance(paper, bytes):
        return paper
    if isinstance(paper, str):
        return paper.encode("utf-8", "surrogatepass")
    if isinstance(paper, Mapping):
        return json.dumps(paper, ensure_ascii=False).encode("utf-8", "surrogatepass")
    try:
        with paper.open("rb") as file:
            return file.read(LIMITS.max_bytes + 1)
    except FileNotFoundError:
        raise NotFound("file", str(paper)) from None
    except OSError as error:
        raise WorkspaceError(
            f"{paper}: cannot be read: {error.strerror or error}"
        ) from None


def read_submission(submit: Paper, root: Path) -> bytes:
    """The submission. A file of the judged tree that leads out of it is not read: it would be kept with the evidence."""
    if isinstance(submit, Path):
        named = Path(os.path.abspath(submit))  # noqa: PTH100 - as it is written, links and all
        in_tree = any(folder.resolve() == root for folder in named.parents)
        if in_tree and not submit.resolve().is_relative_to(root):
            raise WorkspaceError(
                f"{submit} is a link that leads out of the tree that is judged; it is not read"
            )
    return read_paper(submit)


def left_behind(work: Path, task_id: str) -> bytes | None:
    """The submit.json an agent left in its evidence folder, or None. No link is followed to it."""
    place = work.resolve() / evidence_folder(task_id) / "submit.json"
    return read_paper(place) if place.is_file() and place.resolve() == place else None


def out_of_reach(task: Paper, asked: TaskRequest, root: Path, base: str) -> None:
    """A task that lies in the judged tree is the base's, or it proves nothing. Raises TaskInReach."""
    if not isinstance(task, Path) or not task.resolve().is_relative_to(root):
        return
    path = task.resolve().relative_to(root)
    if show(root, base, path.as_posix()) != asked.raw:
        raise TaskInReach(
            f"{path} lies in the tree that is judged and is not the base's, so the agent may have written it; "
            "commit it before the agent begins, or keep it outside the repository"
        )


def look_at(task: TaskInput, before: Snapshot, gateway: Gateway, room: Room) -> None:
    """Preflight against the tree before. Whether there are tests at all is a question for the gate. Raises PreflightFailed."""
    tests = tests_of(task, gateway.tests)
    runnable = {command: why_not(command, before, room) for command in tests}
    role = replace(gateway.roles[task.role], tests_required=False)
    start = Start(runnable=runnable, own_tests=gateway.tests)
    found = preflight(Accepted(task), start, {task.role: role})
    if not found:
        raise PreflightFailed(found)

"""A task: read, checked against its contract, and examined before it is used."""

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
from accordance.judging.hidden_tests import why_not_hidden
from accordance.project.policy import JudgingPolicy
from accordance.workspace.errors import WorkspaceError
from accordance.workspace.evidence import evidence_folder
from accordance.workspace.git import show
from accordance.workspace.isolation import Room
from accordance.workspace.runnable import why_not_runnable

Paper: TypeAlias = Path | bytes | str | Mapping[str, object]
"""A message: the file it is in, its text, or its value."""


class PreflightFailed(AccordanceError):
    """The task itself is wrong, so nothing can be judged by it. Names every reason."""

    code = "preflight-failed"

    def __init__(self, result: Preflight) -> None:
        super().__init__(result)
        self.preflight = result

    @property
    def text(self) -> str:
        """Every reason."""
        reasons = "; ".join(str(reason) for reason in self.preflight.reasons)
        return f"{CODE}: {reasons}"


class TaskInReach(AccordanceError):
    """The task file lies in the judged tree and is not the base's.

    The agent may have written it.
    """

    code = "task-in-reach"


@dataclass(frozen=True, slots=True)
class TaskRequest:
    """An accepted task, with its bytes."""

    raw: bytes
    task: TaskInput


def read_task(task: Paper, gateway: JudgingPolicy | None = None) -> TaskRequest:
    """Return the task if its contract accepts it. Raises PreflightFailed, NotFound."""
    raw = read_paper(task)
    gateway = gateway or JudgingPolicy()
    result = check(raw, TASK, Context(roles=frozenset(gateway.roles)))
    if isinstance(result, Rejected):
        raise PreflightFailed(preflight(result, Start(runnable={}), gateway.roles))
    return TaskRequest(raw, result.value)


def read_paper(paper: Paper) -> bytes:
    """Return the bytes of a message. Raises NotFound and WorkspaceError."""
    if isinstance(paper, bytes):
        return paper
    if isinstance(paper, Mapping):
        paper = json.dumps(paper, ensure_ascii=False)
    if isinstance(paper, str):
        return paper.encode("utf-8", "surrogatepass")

    try:
        with paper.open("rb") as file:
            return file.read(LIMITS.max_bytes + 1)
    except FileNotFoundError:
        raise NotFound("file", str(paper)) from None
    except OSError as error:
        reason = error.strerror or error
        raise WorkspaceError(f"{paper}: cannot be read: {reason}") from None


def read_submission(submit: Paper, root: Path) -> bytes:
    """Return the bytes of a submission. Raises as `read_paper` does.

    A file of the judged tree that leads out of it is not read, because its content
    would be kept with the evidence.
    """
    if isinstance(submit, Path) and _leads_out(submit, root):
        raise WorkspaceError(
            f"{submit} is not read: it is a link that leads out of the tree that is "
            "judged"
        )
    return read_paper(submit)


def _leads_out(file: Path, root: Path) -> bool:
    """Whether a file is named in a tree and really lies elsewhere."""
    if file.resolve().is_relative_to(root):
        return False
    named = Path(os.path.abspath(file))  # noqa: PTH100 - as it is written, links and all
    return any(folder.resolve() == root for folder in named.parents)


def submission_left_in(work: Path, task_id: str) -> bytes | None:
    """Return the submit.json that an agent left in its evidence folder, or None.

    No link is followed to it.
    """
    place = work.resolve() / evidence_folder(task_id) / "submit.json"
    if not place.is_file() or place.resolve() != place:
        return None
    return read_paper(place)


def out_of_reach(task: Paper, request: TaskRequest, root: Path, base: str) -> None:
    """Refuse a task that lies in the judged tree, unless it is the base's.

    Raises TaskInReach.
    """
    if not isinstance(task, Path):
        return
    place = task.resolve()
    if not place.is_relative_to(root):
        return

    path = place.relative_to(root)
    if show(root, base, path.as_posix()) != request.raw:
        raise TaskInReach(
            f"{path} lies in the tree that is judged and differs from the base, so the "
            "agent may have written it; commit it before the agent begins, or keep it "
            "outside the repository"
        )


def check_task(
    task: TaskInput,
    before: Snapshot,
    gateway: JudgingPolicy,
    room: Room,
    repository: Path,
    *,
    tests_can_run: bool = True,
) -> None:
    """Check the task against the tree before the attempt. Raises PreflightFailed.

    Whether there must be tests at all is left to the gate, and so is a broken
    environment, in which no test can run.
    """
    tests = tests_of(task, gateway.tests)
    carry = gateway.carry
    runnable = dict.fromkeys(tests, "")
    if tests_can_run:
        for command in tests:
            runnable[command] = why_not_runnable(command, before, room, carry)
    role = replace(gateway.roles[task.role], tests_required=False)
    start = Start(
        runnable=runnable,
        own_tests=gateway.tests,
        hidden_tests_missing=why_not_hidden(task, gateway, repository, room),
    )

    result = preflight(Accepted(task), start, {task.role: role})
    if not result:
        raise PreflightFailed(result)

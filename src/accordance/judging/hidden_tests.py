"""Where the hidden tests of a task are, and whether they are hidden."""

from __future__ import annotations

import os
from pathlib import Path

from accordance.contracts.catalogue.task import TaskInput
from accordance.domain.case import tests_of
from accordance.project.policy import JudgingPolicy
from accordance.workspace.attempt_setting import HiddenTestsRequest
from accordance.workspace.errors import WorkspaceError
from accordance.workspace.isolation import Room, visible
from accordance.workspace.laid_in import hidden_files


def hidden_request(
    task: TaskInput, gateway: JudgingPolicy
) -> HiddenTestsRequest | None:
    """Return which hidden tests are run, and how; None where the task names none."""
    hidden = task.hidden_tests
    if hidden is None or gateway.hidden_tests is None:
        return None
    commands = tuple(hidden.tests or ()) or tests_of(task, gateway.tests)
    return HiddenTestsRequest(gateway.hidden_tests / hidden.folder, commands)


def why_not_hidden(
    task: TaskInput,
    gateway: JudgingPolicy,
    repository: Path,
    room: Room,
) -> str:
    """Return why the hidden tests of a task cannot be run unseen, or nothing."""
    if task.hidden_tests is None:
        return ""
    request = hidden_request(task, gateway)
    if request is None:
        return "the task names hidden tests, but [judge] hidden_tests names no folder"

    root = os.path.realpath(request.folder)
    seen_by_tests = (*visible(room), os.fspath(repository.resolve()))
    for place in seen_by_tests:
        if f"{root}/".startswith(f"{place}/"):
            return f"the hidden tests are not hidden: agents and tests can read {place}"
    try:
        hidden_files(request.folder)
    except (WorkspaceError, OSError) as error:
        return str(error)
    return ""

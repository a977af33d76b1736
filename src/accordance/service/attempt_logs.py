"""The logs of an attempt: what its executor printed, and what its tests printed."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from accordance.errors import EvidenceGone, NoEvidence
from accordance.executors.left_files import read_tail_inside, without_colours
from accordance.service.attempt_evidence import Bundle, TestCommand, run_logs
from accordance.service.attempt_files import FiledAttempt, filed_attempt
from accordance.service.project import Project, find_task
from accordance.service.views.stories import (
    AttemptLogView,
)

LARGEST_LOG: Final = 1 << 20
"""Bytes at the end of a log that are shown."""


def attempt_log(
    project: Project,
    name: str,
    number: int | None = None,
    *,
    test: str | None = None,
) -> AttemptLogView:
    """Return the end of an executor's log, or of a test's output.

    `test` is a part of the name of a test, or of the command that ran it. Raises
    NoEvidence.
    """
    with project.ledger.read() as tx:
        attempt = filed_attempt(tx, project.home, name, number)
    if test is not None:
        return _test_log(attempt, test)

    logs = run_logs(project.home, attempt.task.task_id, attempt.number, attempt.kind)
    if not logs:
        raise NoEvidence(
            f"the executor of {attempt.name} has printed nothing that was kept"
        )
    return _log_view(attempt, logs)


def _log_view(attempt: FiledAttempt, logs: tuple[Path, ...]) -> AttemptLogView:
    """Return the end of an executor's logs; errors come last."""
    parts = []
    is_cut = False
    for log in logs:
        raw = read_tail_inside(log.parent, log.name, LARGEST_LOG) or b""
        text = without_colours(raw.decode("utf-8", "replace"))
        parts.append(_with_line_end(text))
        if log.stat().st_size > LARGEST_LOG:
            is_cut = True
    last_file = logs[-1].relative_to(attempt.home.root)
    return AttemptLogView(
        task_id=attempt.task.task_id,
        attempt=attempt.number,
        file=str(last_file),
        about=", ".join(log.name for log in logs),
        text="".join(parts),
        is_cut=is_cut,
    )


def _with_line_end(text: str) -> str:
    return text if text.endswith("\n") else f"{text}\n"


def _test_log(attempt: FiledAttempt, test: str) -> AttemptLogView:
    bundle = attempt.evidence()
    commands = bundle.test_runs()
    for command in commands:
        for failed, text in command.failed_tests():
            if test in failed and text:
                return _test_view(attempt, None, failed, text, is_cut=False)

    matching = [command for command in commands if test in command.command]
    if not matching:
        known = ", ".join(command.command for command in commands) or "none"
        raise NoEvidence(
            f"no test of {attempt.name} failed or was run under the name {test!r}",
            way_out=f"its test commands: {known}",
        )
    return _command_log(attempt, bundle, matching[0])


def _command_log(
    attempt: FiledAttempt,
    bundle: Bundle,
    command: TestCommand,
) -> AttemptLogView:
    raw = bundle.test_log(command, LARGEST_LOG)
    if raw is None:
        raise EvidenceGone(
            f"the output of {command.command!r} is not in the evidence any more"
        )
    text = without_colours(raw.decode("utf-8", "replace"))
    file = f"{attempt.evidence_path()}/runs/{command.log_name}"
    is_cut = len(raw) == LARGEST_LOG
    return _test_view(attempt, file, command.command, text, is_cut=is_cut)


def _test_view(
    attempt: FiledAttempt,
    file: str | None,
    about: str,
    text: str,
    *,
    is_cut: bool,
) -> AttemptLogView:
    return AttemptLogView(
        task_id=attempt.task.task_id,
        attempt=attempt.number,
        file=file,
        about=about,
        text=_with_line_end(text),
        is_cut=is_cut,
    )


def log_files(
    project: Project,
    name: str,
    number: int | None = None,
) -> tuple[Path, ...]:
    """Return the logs of an attempt as files, for a face that follows them."""
    with project.ledger.read() as tx:
        attempt = filed_attempt(tx, project.home, name, number)
    return run_logs(project.home, attempt.task.task_id, attempt.number, attempt.kind)


def is_running(project: Project, name: str, number: int | None = None) -> bool:
    """Whether an attempt is still being worked on."""
    with project.ledger.read() as tx:
        task = find_task(tx, name)
    made = task.progress.standing.counters.attempts
    return task.lease is not None and number in (None, made)

"""The answer to a message, for people and as an exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accordance.cli.exits import Exit, print_error
from accordance.cli.showing import print_line

if TYPE_CHECKING:
    from accordance.service.views.answers import AnswerView


def exit_of(answer: AnswerView) -> int:
    """The exit code of an answer."""
    if answer.status == "refused":
        return Exit.CONFLICT
    if answer.outcome == "ESCALATE":
        return Exit.WAITING
    if answer.status == "rejected":
        return Exit.REJECTED

    is_change = answer.bundle is not None
    if is_change and answer.outcome != "DONE":
        return Exit.REJECTED
    return Exit.OK


def print_answer(answer: AnswerView) -> None:
    """Print the answer to a message."""
    if answer.status == "refused":
        print_error(answer.why or "")
        return

    print_line(_state_line(answer))
    for line in answer.messages:
        print_line(f"  {line}")
    if answer.artifact is not None:
        print_line(f"  {answer.artifact['path']}  {answer.artifact['sha256'][:12]}")
    if answer.bundle is not None:
        print_line(f"  {answer.bundle}")
    if answer.not_published is not None:
        print_line(f"  the change is in the ledger, but {answer.not_published}")
    if answer.question is not None:
        print_line(f"  asked as {answer.question} (accordance inbox list)")


def _state_line(answer: AnswerView) -> str:
    """The subject of a message, and the state that the message led to."""
    subject = answer.task_id or answer.plan_id
    line = f"{answer.status}  {subject} is {answer.state}"
    if answer.waiting:
        line += f", {answer.waiting}"
    if answer.outcome:
        line += f"  {answer.outcome}"
    line += f"  {answer.reason_code}"
    if answer.repeated:
        line += "  (as before)"
    return line

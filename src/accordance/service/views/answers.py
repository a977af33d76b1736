"""What came of a message."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ConfigDict

from accordance.service.views.base import View
from accordance.work.receipts import Receipt


class AnswerView(View):
    """The answer to a message.

    It is kept in the ledger and given again to the same message, so keys that an older
    accordance wrote are shown as they are.
    """

    model_config = ConfigDict(extra="allow")

    status: str  # accepted, rejected, refused; of a run also handed_back
    task_id: str | None = None
    plan_id: str | None = None
    attempt: int | None = None
    state: str | None = None
    waiting: str | None = None
    outcome: str | None = None
    reason_code: str | None = None
    messages: tuple[str, ...] = ()
    violations: tuple[dict[str, Any], ...] = ()
    artifact: dict[str, Any] | None = None
    bundle: str | None = None  # the evidence of a change that was judged
    not_published: str | None = None  # why the branch of the plan could not be moved
    question: str | None = None
    why: str | None = None  # it was refused
    repeated: bool = False


def answer_view(answer: Receipt | Mapping[str, Any]) -> AnswerView:
    """Show an answer."""
    content = answer.to_json() if isinstance(answer, Receipt) else answer
    return AnswerView.model_validate(dict(content))

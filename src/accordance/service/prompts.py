"""The prompts of executors, rebuilt word for word from what is kept."""

from __future__ import annotations

from typing import Any

from accordance.errors import NotFound
from accordance.service.project import Project, find_plan, find_task
from accordance.service.views.runs import PromptMessageView, PromptView, run_fields
from accordance.store.ledger import Transaction
from accordance.work.rebuilding import calls_in, messages_of
from accordance.work.run_log import RunRecord, rebuilt, run_about, run_of


class NoSuchCall(NotFound):
    """The run made fewer calls."""

    code = "no-such-call"

    def __init__(self, number: int, made: int) -> None:
        super().__init__("call", str(number))
        self.made = made

    def __str__(self) -> str:
        made = self.made or "none that is known"
        return f"no call {self.name} in this run, which made {made}"


def task_prompt(
    project: Project,
    name: str,
    *,
    attempt: int | None = None,
    kind: str | None = None,
    call: int | None = None,
) -> PromptView:
    """Return the prompt of a task's executor or reviewer. Raises NotFound.

    With a call, it is returned message by message.
    """
    with project.ledger.read() as tx:
        task_id = find_task(tx, name).task_id
        run = run_of(tx, task_id, attempt=attempt, kind=kind)
        return _prompt_view(tx, run, {"task_id": task_id}, call)


def plan_prompt(
    project: Project,
    name: str | None,
    *,
    attempt: int | None = None,
    kind: str | None = None,
    call: int | None = None,
) -> PromptView:
    """Return the prompt of the writer or the reviewer of a whole plan."""
    with project.ledger.read() as tx:
        plan_id = find_plan(tx, name).plan_id
        run = run_about(tx, plan_id, attempt=attempt, kind=kind)
        return _prompt_view(tx, run, {"plan_id": plan_id}, call)


def _prompt_view(
    tx: Transaction,
    run: RunRecord,
    about: dict[str, str],
    call: int | None,
) -> PromptView:
    prompt = rebuilt(tx, run.recipe or "")
    calls = calls_in(tx, run)
    asked: dict[str, Any] = {}
    if call is not None:
        if call > max(1, len(calls)):
            raise NoSuchCall(call, len(calls))
        messages = messages_of(prompt, calls, call)
        asked["messages"] = tuple(PromptMessageView(**message) for message in messages)
    return PromptView(
        **about,
        **run_fields(run),
        recipe=prompt.recipe(),
        system=prompt.system,
        user=prompt.user,
        calls=len(calls),
        **asked,
    )

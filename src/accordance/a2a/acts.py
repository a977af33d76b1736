"""What a message does: a plan begins, a task is taken up or handed in, a question answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from a2a.utils.errors import InvalidParamsError, UnsupportedOperationError

from accordance.a2a.skills import Skill, Wish
from accordance.domain.access import Right
from accordance.domain.client_tasks import WAITS, ClientArtifact, ClientTask
from accordance.errors import Conflict, NotFound
from accordance.service import client_plans, contracts, inbox, tasks
from accordance.service.client_tasks import (
    SeenTask,
    client_task,
    current_name,
    root_of,
    seen_task,
)
from accordance.service.hosting import Host
from accordance.service.inbox import PersonAnswer
from accordance.service.project import plan_id_of
from accordance.service.tasks import Assigned, MessageRefused, Taken, WorkRequest
from accordance.service.views.answers import AnswerView
from accordance.service.views.contracts import CheckView


@dataclass(frozen=True, slots=True, kw_only=True)
class ActOutcome:
    """What came of a message: a task to be shown, or words alone."""

    text: str = ""
    data: dict[str, Any] | None = None
    task: str | None = None
    artifact: ClientArtifact | None = None
    goes_on: bool = False  # accordance works on it now, and the client may wait


def carry_out(host: Host, wish: Wish) -> ActOutcome:
    """Do what a message asks for. Raises as the service does, and A2AError."""
    if wish.task:
        return _on_task(host, wish)
    match wish.skill:
        case Skill.CHECK:
            return _check(host, wish)
        case Skill.WORK:
            return _take(host, wish, None)
    return _begin_plan(host, wish)


# -- without a task


def _check(host: Host, wish: Wish) -> ActOutcome:
    host.identity.must(Right.CHECK)
    raw = wish.one_content().raw
    tolerant = wish.flag("tolerant", default=False)
    view = contracts.check_message(raw, wish.word("contract"), tolerant=tolerant)
    return ActOutcome(text=_checked(view), data=view.to_json())


def _checked(view: CheckView) -> str:
    name = view.contract or "no contract"
    if view.accepted:
        return f"The message is accepted by {name}."
    return f"The message is rejected by {name}; violations: {view.total}."


def _begin_plan(host: Host, wish: Wish) -> ActOutcome:
    identity = host.identity
    identity.must(Right.PLAN)
    runs = wish.flag("run", default=False)
    if runs:
        identity.must(Right.RUN)

    if all(content.is_words for content in wish.contents):
        view = client_plans.bring_goal(
            host.project,
            wish.words(),
            by=identity.name,
            request=wish.message_id,
            review=wish.flag("review", default=False),
        )
    else:
        content = wish.one_content()
        view = client_plans.bring_plan(
            host.project,
            content.raw,
            content.plan_format,
            by=identity.name,
            review=wish.flag("review", default=True),
        )
    if runs:
        _run(host, view.plan_id)
    root = root_of(host.project, view.plan_id)
    return ActOutcome(task=current_name(host.project, root), goes_on=True)


def _run(host: Host, plan_id: str) -> None:
    try:
        host.runs.ask(host.project, plan_id, by=host.identity.name)
    except Conflict:
        return  # it is carried out already


def _take(host: Host, wish: Wish, only: SeenTask | None) -> ActOutcome:
    """Take up a task: the named one, or the next."""
    identity = host.identity
    identity.must(Right.WORK)
    known = {}
    if only is not None:
        _must_not_be_bound_elsewhere(host, only)
        held = tasks.held_tasks(host.project, identity.name)
        known = {
            taken.task.task_id: taken.attempt
            for taken in held
            if taken.task.task_id != only.task.task_id
        }
    plan = wish.plan or None
    request = WorkRequest(
        holder=identity.name,
        plan_id=plan_id_of(host.project, plan) if plan else None,
        any_task=wish.flag("anyTask", default=False),
        known=known,
        only=identity.tasks if only is None else (only.task.task_id,),
    )
    assigned = tasks.take_task(host.project, request)
    if not isinstance(assigned, Assigned):
        if only is not None:
            raise UnsupportedOperationError(
                f"{only.name} cannot be taken up now: {assigned.text}"
            )
        return ActOutcome(text=assigned.text, data=assigned.to_json())
    task_id = assigned.taken.task.task_id
    until = assigned.taken.lease.until
    return ActOutcome(
        text=f"The task is yours until {until}: hand in its message.",
        task=current_name(host.project, task_id),
        artifact=_assignment(assigned),
    )


def _assignment(assigned: Assigned) -> ClientArtifact:
    return ClientArtifact(
        name=f"assignment/{assigned.taken.attempt}",
        title="assignment.json",
        about="The goal, the contract and the context of the task.",
        data=assigned.view.to_json(),
    )


def _must_not_be_bound_elsewhere(host: Host, seen: SeenTask) -> None:
    """Raises NotFound for what the key is not made for."""
    if host.identity.is_bound_elsewhere(seen.task.task_id, seen.task.plan_id):
        raise NotFound("task", seen.name)


# -- on a task


def _on_task(host: Host, wish: Wish) -> ActOutcome:
    seen = seen_task(host.project, host.identity, wish.task)
    if wish.plan and wish.plan != seen.task.plan_id:
        raise InvalidParamsError(
            f"task {seen.name} belongs to the context {seen.task.plan_id}"
        )
    view = client_task(host.project, seen.name, host.identity.name, known=None)
    if view.has_ended:
        raise UnsupportedOperationError(
            f"task {seen.name} has ended, and takes no message: {view.status.text}"
        )
    taken = _held(host, seen)
    skill = wish.skill or _meant(host, view, taken)
    match skill:
        case Skill.WORK:
            return _take(host, wish, seen)
        case Skill.ANSWER:
            return _answer(host, wish, view)
        case Skill.PLAN:
            return _bring_better_plan(host, wish, view)
        case Skill.CHECK:
            raise InvalidParamsError("check is about no task: leave taskId out")
    if taken is None:
        raise UnsupportedOperationError(
            f"task {seen.name} is not yours; take it up with the skill work"
        )
    return _with_own(host, wish, seen, taken, skill)


def _held(host: Host, seen: SeenTask) -> Taken | None:
    """Return the task if the client has it."""
    if not host.identity.may(Right.WORK):
        return None
    for taken in tasks.held_tasks(host.project, host.identity.name):
        if taken.task.task_id == seen.task.task_id:
            return taken
    return None


def _meant(host: Host, view: ClientTask, taken: Taken | None) -> Skill:
    """Return what a message is for that does not say so."""
    if taken is not None:
        return Skill.SUBMIT
    if _question_of(view) is not None:
        return Skill.ANSWER
    if view.stage in WAITS and view.details.get("planState") == "RETURNED":
        return Skill.PLAN
    raise UnsupportedOperationError(
        f"task {view.name} waits for no message of {host.identity.name}:"
        f" {view.status.text}"
    )


def _question_of(view: ClientTask) -> str | None:
    name = (view.status.data or {}).get("question")
    return str(name) if name else None


def _answer(host: Host, wish: Wish, view: ClientTask) -> ActOutcome:
    """Answer the question that is open, or the named one."""
    identity = host.identity
    identity.must(Right.DECIDE)
    name = wish.word("question") or _question_of(view)
    if name is None:
        raise UnsupportedOperationError(f"task {view.name} asks nothing")
    asked = inbox.show_question(host.project, name)
    is_of_task = asked.plan_id == view.plan_id
    if not is_of_task:
        raise NotFound("question", name)
    runs = wish.flag("run", default=False)
    if runs:
        identity.must(Right.RUN)
    answer = _read_answer(host, wish, asked.question_id)
    answered = inbox.answer_question(host.project, asked.question_id, answer)
    if runs:
        _run(host, asked.plan_id)
    return ActOutcome(
        text=f"The question is answered; state: {answered.state}.",
        task=view.name,
        goes_on=True,
    )


def _read_answer(host: Host, wish: Wish, question: str) -> PersonAnswer:
    by = host.identity.name
    files = []
    words = []
    for content in wish.contents:
        if content.is_file:
            files.append(content)
        else:
            words.append(content.text)
    text = "\n\n".join(words)
    if not files:
        return inbox.read_line(host.project, question, text, by=by)
    uploads = tuple(
        inbox.upload_from(content.file_name or "upload", content.raw)
        for content in files
    )
    return PersonAnswer(
        by=by,
        files=uploads,
        text=text or None,
        choose=wish.word("choose"),
    )


def _bring_better_plan(host: Host, wish: Wish, view: ClientTask) -> ActOutcome:
    host.identity.must(Right.PLAN)
    content = wish.one_content()
    client_plans.bring_plan(
        host.project,
        content.raw,
        content.plan_format,
        by=host.identity.name,
        review=wish.flag("review", default=True),
        only=view.plan_id,
    )
    return ActOutcome(task=view.name, goes_on=True)


# -- with a task that the client holds


def _with_own(
    host: Host,
    wish: Wish,
    seen: SeenTask,
    taken: Taken,
    skill: Skill,
) -> ActOutcome:
    _must_not_be_bound_elsewhere(host, seen)
    holder = host.identity.name
    task_id = seen.task.task_id
    match skill:
        case Skill.ASK:
            question = wish.words()
            asked = tasks.ask_person(host.project, taken, question, holder=holder)
            return _answered(seen, asked)
        case Skill.EXTEND:
            lease = tasks.extend(
                host.project,
                task_id,
                attempt=taken.attempt,
                holder=holder,
            )
            return ActOutcome(
                text=f"The task is yours until {lease.until}.", task=seen.name
            )
        case Skill.RELEASE:
            tasks.release(
                host.project,
                task_id,
                by=holder,
                attempt=taken.attempt,
                holder=holder,
            )
            return ActOutcome(text="The task was given back.", task=seen.name)
    return _hand_in(host, wish, seen, taken)


def _hand_in(host: Host, wish: Wish, seen: SeenTask, taken: Taken) -> ActOutcome:
    identity = host.identity
    raw = wish.one_content().raw
    message = raw if raw.strip() else None
    identity.must_hand_in(tasks.contract_of_message(message))
    if taken.kind == "review":
        answer = tasks.review(
            host.project,
            raw,
            task_id=seen.task.task_id,
            artifact=taken.lease.product,
            reviewer=identity.name,
            attempt=taken.attempt,
            holder=identity.name,
        )
    else:
        answer = tasks.submit(
            host.project,
            message,
            task_id=seen.task.task_id,
            attempt=taken.attempt,
            holder=identity.name,
        )
    return _answered(seen, answer)


def _answered(seen: SeenTask, answer: AnswerView) -> ActOutcome:
    """Return what came of a message. Raises MessageRefused."""
    if answer.status == "refused":
        raise MessageRefused(answer.why or "the message was refused")
    words = [f"The message was {answer.status}."]
    if answer.outcome:
        words.append(f"The verdict: {answer.outcome}.")
    words += answer.messages[:3]
    return ActOutcome(
        text=" ".join(words),
        data=answer.to_json(),
        task=seen.name,
    )

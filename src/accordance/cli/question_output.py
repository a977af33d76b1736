"""How questions are printed: who asks, since when, why, and what can be answered."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from accordance.cli.clock import now
from accordance.cli.showing import print_line
from accordance.domain.answering import QuestionReason
from accordance.rendering.durations import ago

if TYPE_CHECKING:
    from accordance.service.views.questions import AskedView, ChoiceView


def print_question(question: AskedView) -> None:
    """Print a question, its possible answers, and the command that answers it."""
    number = "" if question.number is None else f"#{question.number}  "
    title = question.task_title or "the plan as a whole"
    print_line(f"{number}{title}  {question.kind}, {ago(question.since, now())}")
    print_line(f"    plan      {question.plan_title}")
    print_line(f"    why       {QuestionReason(question.reason_code, question.reason)}")
    _print_documents(question)
    if question.alike:
        print_line(f"    tasks     {question.alike} more wait for the same")
    if question.is_open:
        _print_choices(question)
    else:
        _print_answer(question)


def print_ids(question: AskedView) -> None:
    """Print the ids of a question, its task and its plan."""
    print_line(f"    question  {question.question_id}")
    if question.task_id:
        print_line(f"    task      {question.task_id}")
    print_line(f"    plan id   {question.plan_id}")
    print_line(f"    asked     {question.asked_at[:19]}Z")


def _print_documents(question: AskedView) -> None:
    docs = question.details.get("required_docs")
    for doc in docs if isinstance(docs, list) else ():
        kinds = ", ".join(doc["accepted_types"]) or "any type"
        place = doc["suggested_path"]
        print_line(
            f"    needs     {doc['name']} ({kinds}): {doc['description']};"
            f" put it in {place}"
        )


def _print_choices(question: AskedView) -> None:
    if question.mend:
        print_line(
            f"    mend      {question.mend}; the next `accordance run` goes on by itself"
        )
    if question.is_about_pins:
        words = ["plan", "amend", question.plan_id, "--task", question.task_id or ""]
        command = shlex.join(["accordance", *words])
        print_line(f"    widen     {command} --allow PATH; then retry")
    for choice in question.choices:
        print_line(f"    {_written(choice):<9} {choice.leads_to}")
    print_line(f"    type      accordance inbox answer {question.name} ANSWER")


def _written(choice: ChoiceView) -> str:
    """A choice as it is typed."""
    if choice.options:
        return " | ".join(choice.options)
    return {"text": '"TEXT"', "file": "--file F"}.get(choice.answer, choice.answer)


def _print_answer(question: AskedView) -> None:
    answer = dict(question.answer or {})
    by = answer.pop("by", None)
    answered = ", ".join(f"{name}: {value}" for name, value in answer.items())
    who = f"by {by}  " if by else ""
    print_line(f"    answered  {who}{answered}")

"""How questions are printed: who asks, since when, why, and what can be answered."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from accordance.cli.clock import now
from accordance.cli.labelled import labelled, labelled_lines
from accordance.cli.showing import print_line
from accordance.domain.answering import QuestionReason
from accordance.rendering.durations import ago

if TYPE_CHECKING:
    from accordance.service.views.questions import AskedView, ChoiceView

_TYPED: Final = {"text": '"TEXT"', "file": "--file F"}
"""How an answer that is no word is typed."""


def print_question(question: AskedView) -> None:
    """Print a question, its possible answers, and the command that answers it."""
    title = question.task_title or "the plan as a whole"
    if question.number is not None:
        title = f"#{question.number}  {title}"
    print_line(f"{title}  {question.kind}, {ago(question.since, now())}")
    _print_indented(_reason_lines(question))
    if question.is_open:
        _print_indented(_choice_lines(question))
    else:
        _print_indented([_answer_line(question)])


def print_ids(question: AskedView) -> None:
    """Print the ids of a question, its task and its plan."""
    rows = (
        ("question", question.question_id),
        ("task", question.task_id),
        ("plan id", question.plan_id),
        ("asked", f"{question.asked_at[:19]}Z"),
    )
    _print_indented(labelled_lines(rows))


def _print_indented(lines: Iterable[str]) -> None:
    for line in lines:
        print_line(f"    {line}")


def _reason_lines(question: AskedView) -> Iterator[str]:
    """The plan, why it is asked, and what is needed."""
    yield labelled("plan", question.plan_title)
    yield labelled("why", QuestionReason(question.reason_code, question.reason))
    docs = question.details.get("required_docs")
    if isinstance(docs, list):
        for doc in docs:
            yield labelled("needs", _document_text(doc))
    if question.alike:
        yield labelled("tasks", f"{question.alike} more wait for the same")


def _document_text(doc: Mapping[str, Any]) -> str:
    kinds = ", ".join(doc["accepted_types"]) or "any type"
    name = doc["name"]
    description = doc["description"]
    what = f"{name} ({kinds}): {description}"
    return f"{what}; put it in {doc['suggested_path']}"


def _choice_lines(question: AskedView) -> Iterator[str]:
    if question.mend:
        yield labelled(
            "mend", f"{question.mend}; the next `accordance run` goes on by itself"
        )
    if question.is_about_pins:
        words = ["plan", "amend", question.plan_id, "--task", question.task_id or ""]
        command = shlex.join(["accordance", *words])
        yield labelled("widen", f"{command} --allow PATH; then retry")
    for choice in question.choices:
        yield labelled(_written(choice), choice.leads_to)
    yield labelled("type", f"accordance inbox answer {question.name} ANSWER")


def _written(choice: ChoiceView) -> str:
    """A choice as it is typed."""
    if choice.options:
        return " | ".join(choice.options)
    return _TYPED.get(choice.answer, choice.answer)


def _answer_line(question: AskedView) -> str:
    answer = dict(question.answer or {})
    by = answer.pop("by", None)
    words = ", ".join(f"{name}: {value}" for name, value in answer.items())
    if by:
        words = f"by {by}  {words}"
    return labelled("answered", words)

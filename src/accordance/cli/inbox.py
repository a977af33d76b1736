"""`accordance inbox`: the questions that only a person can answer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from accordance.cli.exits import Exit, Failure
from accordance.cli.ledger_commands import (
    Where,
    by_option,
    json_option,
    ledger_options,
    opened,
    print_json,
)
from accordance.cli.list_options import (
    and_words,
    list_options,
    tell_of_more,
    word,
)
from accordance.cli.showing import print_line

if TYPE_CHECKING:
    from accordance.service.listing import ListQuery
    from accordance.service.views.questions import QuestionPageView, QuestionView


@click.group(name="inbox")
def command() -> None:
    """List and answer the questions to people."""


@command.command(name="list")
@click.option("--plan", help="Only of this plan.")
@click.option("--all", "everything", is_flag=True, help="Answered ones too.")
@list_options
@ledger_options
@json_option
def list_questions(
    plan: str | None, everything: bool, query: ListQuery, where: Where, as_json: bool
) -> int:
    """List the open questions, the oldest first. Exit code 3 if there are any.

    With --json: the `items`, and the `next` cursor.
    """
    from accordance.service import inbox

    if plan:
        query = and_words(query, word("plan", plan))
    with opened(where) as project:
        page = inbox.list_questions(project, query, with_answered=everything)
    if as_json:
        print_json(page.to_json())
    else:
        _print_questions(page)
    some_are_open = any(question.is_open for question in page.items)
    return Exit.WAITING if some_are_open else Exit.OK


def _print_questions(page: QuestionPageView) -> None:
    for question in page.items:
        _print_question(question)
    if not page.items:
        print_line("no question waits for an answer")
    tell_of_more(page)


def _print_question(question: QuestionView) -> None:
    print_line(f"{question.question_id}  {question.kind}  {question.text}")
    docs = question.details.get("required_docs")
    for doc in docs if isinstance(docs, list) else ():
        kinds = ", ".join(doc["accepted_types"]) or "any type"
        print_line(
            f"    {doc['name']} ({kinds}): {doc['description']}; put it in {doc['suggested_path']}"
        )


@command.command()
@click.argument("question")
@click.argument("text", required=False)
@click.option(
    "--file",
    "files",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A requested file; may be given more than once.",
)
@click.option(
    "--yes/--no", "yes", default=None, help="Answer a request for confirmation."
)
@click.option(
    "--choose",
    metavar="REQUIREMENT",
    help="The requirement that a file is for, if it fits several.",
)
@click.option(
    "--approve", is_flag=True, help="Accept the product, or the plan, as it is."
)
@click.option(
    "--give-up", is_flag=True, help="Give up: move the task to the dead letters."
)
@by_option
@ledger_options
@json_option
def answer(
    question: str,
    text: str | None,
    files: tuple[Path, ...],
    yes: bool | None,
    choose: str | None,
    approve: bool,
    give_up: bool,
    by: str | None,
    where: Where,
    as_json: bool,
) -> int:
    """Answer a QUESTION of `inbox list`.

    With TEXT for the next attempt, with files, yes or no, a choice, an approval, or by
    giving up.
    """
    from accordance.service import inbox
    from accordance.service.project import asking_as

    uploads = [inbox.Upload(file.name, _content(file)) for file in files]
    reply = inbox.PersonAnswer(
        by=asking_as(by),
        text=text,
        files=tuple(uploads),
        yes=yes,
        choose=choose,
        approve=approve,
        give_up=give_up,
    )
    with opened(where) as project:
        answered = inbox.answer_question(project, question, reply)

    if as_json:
        print_json(answered.to_json())
    else:
        subject = answered.task_id or answered.plan_id
        print_line(f"answered; {subject} is {answered.state}")
    return Exit.OK


def _content(file: Path) -> bytes:
    """The content of a file that answers a question."""
    try:
        if file.exists() and not file.is_file():
            text = f"{file}: is not a regular file; name the document itself"
            raise Failure(text, Exit.USAGE)
        return file.read_bytes()
    except OSError as error:
        text = f"{file}: cannot be read: {error.strerror or error}"
        raise Failure(text, Exit.USAGE) from None

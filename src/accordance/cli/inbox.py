"""`accordance inbox`: what only a person can say."""

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
    say,
)
from accordance.cli.list_options import (
    and_words,
    list_options,
    tell_of_more,
    word,
)
from accordance.cli.showing import tell

if TYPE_CHECKING:
    from accordance.service.listing import ListQuery
    from accordance.service.views.questions import QuestionPageView, QuestionView


@click.group(name="inbox")
def command() -> None:
    """See and answer what only a person can say."""


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
        say(page.to_json())
    else:
        _print_questions(page)
    some_are_open = any(question.is_open for question in page.items)
    return Exit.WAITING if some_are_open else Exit.OK


def _print_questions(page: QuestionPageView) -> None:
    for question in page.items:
        _print_question(question)
    if not page.items:
        tell("no question waits for an answer")
    tell_of_more(page)


def _print_question(question: QuestionView) -> None:
    tell(f"{question.question_id}  {question.kind}  {question.text}")
    docs = question.details.get("required_docs")
    for doc in docs if isinstance(docs, list) else ():
        kinds = ", ".join(doc["accepted_types"]) or "any type"
        tell(
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
    help="A file that was asked for; may be given more than once.",
)
@click.option("--yes/--no", "yes", default=None, help="For a confirmation.")
@click.option(
    "--choose", metavar="REQUIREMENT", help="For a file that fits several requirements."
)
@click.option(
    "--approve", is_flag=True, help="Take the product, or the plan, as it is."
)
@click.option("--give-up", is_flag=True, help="To the dead letters with it.")
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
    """Answer a question: with TEXT for the next attempt, with files, yes or no, a choice, an approval, or by giving up."""
    from accordance.service import inbox
    from accordance.service.project import asking_as

    said = inbox.PersonAnswer(
        by=asking_as(by),
        text=text,
        files=tuple(inbox.Upload(file.name, _content(file)) for file in files),
        yes=yes,
        choose=choose,
        approve=approve,
        give_up=give_up,
    )
    with opened(where) as project:
        answered = inbox.answer_question(project, question, said)
    if as_json:
        say(answered.to_json())
    else:
        tell(f"answered; {answered.task_id or answered.plan_id} is {answered.state}")
    return Exit.OK


def _content(file: Path) -> bytes:
    """What is in a file that was asked for."""
    try:
        if file.exists() and not file.is_file():
            raise Failure(
                f"{file}: is no regular file; name the document itself", Exit.USAGE
            )
        return file.read_bytes()
    except OSError as error:
        raise Failure(
            f"{file}: cannot be read: {error.strerror or error}", Exit.USAGE
        ) from None

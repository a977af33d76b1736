"""`accordance inbox`: the questions that only a person can answer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from accordance.cli.answering import WrittenAnswer, answer_all, answer_question
from accordance.cli.bulk import Many, dry_run_option
from accordance.cli.completing import complete_plan, complete_question
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
    filter_option,
    list_options,
    tell_of_more,
    word,
)
from accordance.cli.question_output import print_ids, print_question
from accordance.cli.showing import print_line

if TYPE_CHECKING:
    from accordance.service.listing import ListQuery
    from accordance.service.views.questions import QuestionPageView


@click.group(name="inbox")
def command() -> None:
    """List and answer the questions to people."""


@command.command(name="list")
@click.option("--plan", shell_complete=complete_plan, help="Only of this plan.")
@click.option("--all", "everything", is_flag=True, help="Also answered questions.")
@click.option(
    "--each", is_flag=True, help="List questions with the same cause separately."
)
@list_options
@ledger_options
@json_option
def list_questions(
    plan: str | None,
    everything: bool,
    each: bool,
    query: ListQuery,
    where: Where,
    as_json: bool,
) -> int:
    """List the open questions, the oldest first. Exit code 3 if there are any.

    Tasks that wait for the same cause share a question, unless --each is given.

    With --json: the `items`, and the `next` cursor.
    """
    from accordance.service import inbox

    if plan:
        query = and_words(query, word("plan", plan))
    with opened(where) as project:
        page = inbox.list_questions(
            project,
            query,
            with_answered=everything,
            by_cause=not each,
        )
    if as_json:
        print_json(page.to_json())
    else:
        _print_questions(page)
    some_are_open = any(question.is_open for question in page.items)
    return Exit.WAITING if some_are_open else Exit.OK


def _print_questions(page: QuestionPageView) -> None:
    for question in page.items:
        print_question(question)
    if not page.items:
        print_line("no question waits for an answer")
    tell_of_more(page)


@command.command()
@click.argument("question", shell_complete=complete_question)
@ledger_options
@json_option
def show(question: str, where: Where, as_json: bool) -> int:
    """Show a QUESTION: its number, its id, or the title of the task that asks."""
    from accordance.service import inbox

    with opened(where) as project:
        asked = inbox.show_question(project, question)
    if as_json:
        print_json(asked.to_json())
    else:
        print_question(asked)
        print_ids(asked)
    return Exit.OK


@command.command()
@click.argument("question", shell_complete=complete_question, required=False)
@click.argument("answer", required=False)
@click.option("--text", help="Answer with this text, even if it is also a word.")
@click.option(
    "--file",
    "files",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A requested file; may be given more than once.",
)
@click.option(
    "--yes/--no",
    "yes",
    default=None,
    help="Answer a request for confirmation. For several questions, --yes does it"
    " without asking.",
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
@click.option(
    "--all", "everything", is_flag=True, help="Answer all open questions that fit."
)
@click.option(
    "--only", is_flag=True, help="Do not answer the others with the same cause."
)
@filter_option
@dry_run_option
@by_option
@ledger_options
@json_option
def answer(
    question: str | None,
    answer: str | None,
    everything: bool,
    only: bool,
    wanted: str,
    dry_run: bool,
    by: str | None,
    where: Where,
    as_json: bool,
    **given: Any,
) -> int:
    """Answer a QUESTION of `inbox list`: its number, its id, or the title of its task.

    ANSWER is a word that `inbox list` shows (retry, approve, give-up ...), or
    a text for the next attempt. Without it, a menu is shown on a terminal. Questions
    that wait for the same cause are answered together, after a preview.

    With --all, the first word is the ANSWER for every open question that matches --filter.
    """
    from accordance.service.project import asking_as

    if everything and answer is not None:
        raise Failure("with --all, give an answer and no question", Exit.USAGE)
    line = question if everything else answer
    written = WrittenAnswer(by=asking_as(by), line=line, **given)
    many = Many(wanted, dry_run, yes=written.yes is True)
    with opened(where) as project:
        if everything:
            return answer_all(project, written, many, as_json)
        if question is None or wanted:
            text = "name a question, or give --all with or without --filter"
            raise Failure(text, Exit.USAGE)
        return answer_question(
            project,
            question,
            written,
            many,
            only=only,
            as_json=as_json,
        )

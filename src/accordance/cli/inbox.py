"""`accordance inbox`: what only a person can say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from accordance.cli.desk import (
    Where,
    at_desk,
    by_option,
    find_plan,
    json_option,
    ledger_options,
    say,
    whoever,
)
from accordance.cli.exits import Exit
from accordance.cli.showing import tell


@click.group(name="inbox")
def command() -> None:
    """See and answer what only a person can say."""


@command.command(name="list")
@click.option("--plan", help="Only of this plan.")
@click.option("--all", "everything", is_flag=True, help="Answered ones too.")
@ledger_options
@json_option
def list_questions(plan: str | None, everything: bool, where: Where, as_json: bool) -> int:
    """List the open questions. Exit code 3 if there are any."""
    from accordance.domain.records import QuestionRecord

    with at_desk(where) as desk, desk.ledger.read() as tx:
        only: dict[str, Any] = {"plan_id": find_plan(tx, plan).plan_id} if plan else {}
        found = tx.find(QuestionRecord, **only) if everything else tx.open_questions(**only)
    if as_json:
        say(
            [
                {
                    "question_id": one.question_id,
                    "plan_id": one.plan_id,
                    "task_id": one.task_id,
                    "kind": one.kind,
                    "text": one.text,
                    "details": one.details,
                    "asked_at": one.asked_at,
                    "answered_at": one.answered_at,
                    "answer": one.answer,
                }
                for one in found
            ]
        )
    else:
        for one in found:
            tell(f"{one.question_id}  {one.kind}  {one.text}")
            docs = one.details.get("required_docs")
            for doc in docs if isinstance(docs, list) else ():
                kinds = ", ".join(doc["accepted_types"]) or "any type"
                tell(f"    {doc['name']} ({kinds}): {doc['description']}; put it in {doc['suggested_path']}")
        if not found:
            tell("nobody waits for an answer")
    return Exit.WAITING if any(one.answered_at is None for one in found) else Exit.OK


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
@click.option("--choose", metavar="REQUIREMENT", help="For a file that fits several requirements.")
@click.option("--approve", is_flag=True, help="Take the product, or the plan, as it is.")
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
    from accordance.work.inbox import Said
    from accordance.work.inbox import answer as say_it

    said = Said(
        by=whoever(by), text=text, files=files, yes=yes, choose=choose, approve=approve, give_up=give_up
    )
    with at_desk(where) as desk:
        record = say_it(desk.ledger, desk.home, question, said)
        with desk.ledger.read() as tx:
            state = tx.progress(record.task_id).state if record.task_id else tx.plan(record.plan_id).state
    if as_json:
        say(
            {
                "question_id": record.question_id,
                "answer": record.answer,
                "task_id": record.task_id,
                "state": state,
            }
        )
    else:
        tell(f"answered; {record.task_id or record.plan_id} is {state}")
    return Exit.OK

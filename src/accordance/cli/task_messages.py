"""`accordance task submit | review`: hand in messages and reviews."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import click

from accordance.cli.ledger_commands import (
    Where,
    json_option,
    ledger_options,
    opened,
    print_json,
)
from accordance.cli.reading import read_bounded
from accordance.cli.receipts import exit_of, print_answer

if TYPE_CHECKING:
    from accordance.project.home import Home
    from accordance.service.views.answers import AnswerView


@click.command()
@click.argument(
    "file", metavar="[FILE|-]", required=False, type=click.Path(allow_dash=True)
)
@click.option(
    "--task", "task", help="The task it is for.  [default: the task the message names]"
)
@click.option(
    "--attempt",
    type=click.IntRange(1),
    help="The attempt it belongs to; a later attempt refuses it.",
)
@ledger_options
@json_option
def submit(
    file: str | None,
    task: str | None,
    attempt: int | None,
    where: Where,
    as_json: bool,
) -> int:
    """Hand in an executor's message for a task (xiaobo_action_v1, or what its route names).

    For a task that changes a repository (scc.submit.v1), the clone of `task next` is
    judged as it is now. Without FILE, the submit.json in its evidence folder counts;
    if there is none, accordance writes the message from the facts.

    The same message again gets the same answer and changes nothing; once the task was
    returned or retried, it is refused as unchanged. Without --attempt it counts for the
    current attempt of any holder, or begins an attempt.

    Exit code 1: the message breaks its contract, or the change did not pass; 3: a
    person must answer; 6: it comes too late or belongs to something else.
    """
    from accordance.service import tasks
    from accordance.service.project import task_id_of

    if file is None and task is None:
        raise click.UsageError(
            "name a FILE, or with --task the task whose clone is handed in"
        )

    raw = None if file is None else read_bounded(file)
    with opened(where) as project, _rescued(project.home, file, raw):
        task_id = task_id_of(project, task) if task else None
        answer = tasks.submit(project, raw, task_id=task_id, attempt=attempt)
    return _print_receipt(answer, as_json)


@click.command()
@click.argument("file", metavar="FILE|-", type=click.Path(allow_dash=True))
@click.option(
    "--task",
    "task",
    help="The reviewed task, or the CHECK that reviews it.  [default: the task the message names]",
)
@click.option(
    "--artifact",
    metavar="SHA256",
    help="The reviewed product: at least 8 digits of its hash.",
)
@click.option(
    "--worker",
    default=None,
    help="Who reviews.  [default: the holder of the review's lease, else the user's name]",
)
@ledger_options
@json_option
def review(
    file: str,
    task: str | None,
    artifact: str | None,
    worker: str | None,
    where: Where,
    as_json: bool,
) -> int:
    """Hand in a review of a task's product (xiaojing_review_v1).

    It counts for the product that was reviewed: named with --artifact, in the message
    as artifact_sha256, or known from the lease of `task next`. A review of an older
    product is refused with exit code 6; so is a review by the worker who made the
    product, unless accordance.toml allows it ([review] own_work = true).
    """
    from accordance.service import tasks
    from accordance.service.project import task_id_of

    raw = read_bounded(file)
    with opened(where) as project, _rescued(project.home, file, raw):
        task_id = task_id_of(project, task) if task else None
        answer = tasks.review(
            project,
            raw,
            task_id=task_id,
            artifact=artifact,
            reviewer=worker,
        )
    return _print_receipt(answer, as_json)


def _rescued(
    home: Home,
    file: str | None,
    raw: bytes | None,
) -> contextlib.AbstractContextManager[None]:
    """Keep a message that came through a pipe if the ledger cannot store it.

    It cannot be read a second time; a file can.
    """
    from accordance.service.unsent_messages import rescued

    is_from_pipe = file == "-"
    if is_from_pipe and raw is not None:
        return rescued(home, raw)
    return contextlib.nullcontext()


def _print_receipt(answer: AnswerView, as_json: bool) -> int:
    if as_json:
        print_json(answer.to_json())
    else:
        print_answer(answer)
    return exit_of(answer)

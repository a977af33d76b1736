"""Answering questions: what a person has written, a menu, a single answer or many."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from accordance.cli.bulk import Many, act_on
from accordance.cli.confirming import is_on_terminal
from accordance.cli.exits import Exit, Failure
from accordance.cli.ledger_commands import print_json
from accordance.cli.question_output import print_question
from accordance.cli.showing import print_line

if TYPE_CHECKING:
    from accordance.service.inbox import PersonAnswer
    from accordance.service.project import Project
    from accordance.service.views.questions import AnsweredView, AskedView


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenAnswer:
    """What a person has written on the command line."""

    by: str
    line: str | None  # a word of the question's choices, or a text
    text: str | None
    files: tuple[Path, ...]
    yes: bool | None
    choose: str | None
    approve: bool
    give_up: bool

    @property
    def one_line(self) -> str | None:
        """All of it in a line, where that is possible."""
        if self.approve:
            return "approve"
        if self.give_up:
            return "give-up"
        return self.line

    @property
    def is_missing(self) -> bool:
        """Whether nothing was written."""
        given = (self.text, self.choose, self.yes, self.one_line)
        return not self.files and all(each is None for each in given)

    def reply(self, project: Project, asked: AskedView) -> PersonAnswer:
        """Read it as the answer to a question."""
        from accordance.service import inbox

        if self.line is None:
            answer = inbox.PersonAnswer(by=self.by, text=self.text)
        else:
            name = asked.question_id
            answer = inbox.read_line(project, name, self.line, by=self.by)

        uploads = [inbox.Upload(file.name, _content(file)) for file in self.files]
        yes = self.yes if asked.kind == "CONFIRMATION" else None
        return replace(
            answer,
            text=self.text or answer.text,
            files=tuple(uploads),
            yes=answer.yes if yes is None else yes,
            choose=self.choose or answer.choose,
            approve=self.approve or answer.approve,
            give_up=self.give_up or answer.give_up,
        )


def answer_question(
    project: Project,
    name: str,
    written: WrittenAnswer,
    many: Many,
    *,
    only: bool,
    as_json: bool,
) -> int:
    """Answer a question, and those that wait for the same cause with it."""
    from accordance.service import inbox

    asked = inbox.show_question(project, name)
    if written.is_missing and asked.is_open and _can_ask(as_json):
        written = replace(written, line=_menu(asked))

    line = written.one_line
    if asked.alike and not only and line is not None:
        preview = inbox.preview_alike(project, asked.question_id)
        return act_on(
            preview,
            lambda: inbox.answer_all(project, preview, line, by=written.by),
            verb="answer",
            many=many,
            as_json=as_json,
        )
    if many.dry_run:
        print_question(asked)
        return Exit.OK

    reply = written.reply(project, asked)
    answered = inbox.answer_question(project, asked.question_id, reply)
    _print_answered(answered, asked, as_json)
    return Exit.OK


def answer_all(
    project: Project,
    written: WrittenAnswer,
    many: Many,
    as_json: bool,
) -> int:
    """Answer every open question that matches."""
    from accordance.service import inbox

    line = written.one_line
    if line is None or written.files or written.choose is not None:
        raise Failure("with --all, the answer is a word or a text", Exit.USAGE)
    preview = inbox.preview_answers(project, many.query)
    return act_on(
        preview,
        lambda: inbox.answer_all(project, preview, line, by=written.by),
        verb="answer",
        many=many,
        as_json=as_json,
    )


def _print_answered(answered: AnsweredView, asked: AskedView, as_json: bool) -> None:
    if as_json:
        print_json(answered.to_json())
        return
    subject = answered.task_id or answered.plan_id
    if asked.task_title:
        subject += f" ({asked.task_title})"
    print_line(f"answered; {subject} is {answered.state}")


def _can_ask(as_json: bool) -> bool:
    return is_on_terminal() and not as_json


def _menu(asked: AskedView) -> str:
    """Let a person choose from the possible answers."""
    print_question(asked)
    line: str = click.prompt("Your answer (a word from above, or a text)")
    return line


def _content(file: Path) -> bytes:
    """The content of a file that answers a question."""
    try:
        if file.exists() and not file.is_file():
            text = f"{file}: is not a regular file; name the document itself"
            raise Failure(text, Exit.USAGE)
        return file.read_bytes()
    except OSError as error:
        problem = error.strerror or error
        text = f"{file}: cannot be read: {problem}"
        raise Failure(text, Exit.USAGE) from None

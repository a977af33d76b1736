"""The inbox: questions that only a person can answer."""

from __future__ import annotations

from typing import Annotated

from fastapi import File, Form, Request, UploadFile
from starlette.responses import Response

from accordance.server.authentication import Decider, Reader
from accordance.server.problems import InvalidRequest
from accordance.server.requests import AnswerBody
from accordance.server.routing import ACT
from accordance.server.routing import router as new_router
from accordance.server.showing import (
    ListedBy,
    as_json,
    must_match,
    paged,
    shown,
    tag_of,
)
from accordance.server.tenants import Caller
from accordance.service import inbox, question_forms
from accordance.service.inbox import PersonAnswer
from accordance.service.views.questions import (
    AnsweredView,
    AskedView,
    QuestionFormView,
    QuestionPageView,
)

router = new_router("inbox")


@router.get("/inbox", response_model=QuestionPageView)
def list_questions(
    request: Request,
    caller: Reader,
    query: ListedBy,
    answered: bool = False,
    each: bool = False,
) -> Response:
    """List the open questions, the oldest first; with `answered`, all.

    Tasks that wait for the same cause are one question, unless `each` is wanted.
    """
    page = inbox.list_questions(
        caller.project,
        query,
        with_answered=answered,
        by_cause=not each,
    )
    return paged(request, page)


@router.get("/inbox/{question}", response_model=AskedView)
def show_question(request: Request, caller: Reader, question: str) -> Response:
    """Show a question: by its number, its id, or the title of its task."""
    return shown(request, inbox.show_question(caller.project, question))


@router.get("/inbox/{question}/form", response_model=QuestionFormView)
def question_form(request: Request, caller: Reader, question: str) -> Response:
    """Show which fields a form for an answer has, and what each choice leads to."""
    most = caller.tenant.settings.largest_upload_mb
    form = question_forms.form_of(caller.project, question, most)
    return shown(request, form)


def _still(request: Request, caller: Caller, name: str) -> AskedView:
    """Return the question as it is; refuse an answer to what it was before."""
    asked = inbox.show_question(caller.project, name)
    must_match(request, tag_of(as_json(asked)))
    return asked


@router.post("/inbox/{question}/answer", response_model=AnsweredView, responses=ACT)
def answer(
    request: Request,
    caller: Decider,
    question: str,
    body: AnswerBody,
) -> Response:
    """Answer a question with a word of its choices, or with a text."""
    asked = _still(request, caller, question)
    if body.line is not None:
        reply = inbox.read_line(
            caller.project, asked.question_id, body.line, by=caller.name
        )
    else:
        reply = PersonAnswer(
            by=caller.name,
            text=body.text,
            yes=body.yes,
            choose=body.choose,
            approve=body.approve,
            give_up=body.give_up,
        )
    view = inbox.answer_question(caller.project, asked.question_id, reply)
    return shown(request, view)


@router.post("/inbox/{question}/upload", response_model=AnsweredView, responses=ACT)
def upload(
    request: Request,
    caller: Decider,
    question: str,
    files: Annotated[list[UploadFile], File(max_length=50)],
    documents: Annotated[list[str] | None, Form(max_length=50)] = None,
    choose: Annotated[str | None, Form(max_length=500)] = None,
) -> Response:
    """Answer a question with files. Their names are taken, never their paths.

    `documents` says which document of the question each file is, in the same order; an
    empty name leaves that to the types.
    """
    asked = _still(request, caller, question)
    named = documents or [""] * len(files)
    if len(named) != len(files):
        raise InvalidRequest(
            f"{len(files)} files came with the names of {len(named)} documents"
        )
    uploads = tuple(
        inbox.upload_from(file.filename or "upload", file.file.read(), document)
        for file, document in zip(files, named, strict=True)
    )
    reply = PersonAnswer(
        by=caller.name,
        files=uploads,
        choose=choose,
    )
    view = inbox.answer_question(caller.project, asked.question_id, reply)
    return shown(request, view)

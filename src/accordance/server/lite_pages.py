"""What the pages of `/lite` show: plans, tasks, questions with forms, dead letters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple
from urllib.parse import quote, urlencode

from accordance.domain.filters import Term, Word
from accordance.errors import AccordanceError
from accordance.rendering.pages import parts
from accordance.rendering.pages.markup import Content, Markup, isolated, tag
from accordance.rendering.pages.page import page
from accordance.server.tenants import Caller
from accordance.service import dead_letters, inbox, plans, question_forms, task_records
from accordance.service.listing import ListQuery
from accordance.service.pages.task_body import task_body
from accordance.service.project import plan_id_of
from accordance.service.views.questions import AskedView, QuestionFormView

_STYLE: Final = "/lite/style.css"
_SCREENS: Final = {
    "Plans": "/lite/plans",
    "Inbox": "/lite/inbox",
    "Dead letters": "/lite/dead-letters",
    "Dashboard": "/",
}
_LONGEST_ANSWER: Final = "20000"


class LitePage(NamedTuple):
    """What a request for a page says."""

    name: str
    cursor: str | None
    csrf: str
    largest_upload_mb: int
    may_decide: bool

    @property
    def query(self) -> ListQuery:
        """Which part of a list is wanted."""
        return ListQuery(cursor=self.cursor)


def _page(title: str, body: Content, csrf: str | None = None) -> str:
    links = [parts.link(href, name) for name, href in _SCREENS.items()]
    if csrf is not None:
        log_out = parts.form("/lite/logout", csrf, parts.button("Log out"))
        body = [body, tag("footer", log_out)]
    return page(title, body, navigation=links, stylesheet=_STYLE)


def _to(kind: str, name: str, text: str) -> Markup:
    return parts.link(f"/lite/{kind}/{quote(name, safe='')}", isolated(text))


def _next(path: str, cursor: str | None) -> Markup | None:
    if cursor is None:
        return None
    query = urlencode({"cursor": cursor})
    return parts.paragraph(parts.link(f"{path}?{query}", "Next page"))


def login_page(*, has_provider: bool) -> str:
    """Return the form that a session begins with."""
    control = tag(
        "input",
        type="password",
        name="key",
        required=True,
        autocomplete="off",
    )
    form = tag(
        "form",
        parts.field("Key", control, "`accordance serve` prints one."),
        parts.button("Log in"),
        method="post",
        action="/lite/login",
    )
    provider = (
        parts.paragraph(parts.link("/auth/login?then=/lite/plans", "Log in elsewhere"))
        if has_provider
        else None
    )
    return _page("Log in", [form, provider])


def problem_page(error: AccordanceError, back: str) -> str:
    """Return what went wrong, and the way out."""
    body = [
        parts.paragraph(error.text, class_="notice"),
        parts.paragraph(error.way_out) if error.way_out else None,
        parts.paragraph(parts.link(back, "Back"), ". ", tag("small", error.code)),
    ]
    return _page("This did not work", body)


# -- plans and tasks


def plans_page(caller: Caller, wanted: LitePage) -> str:
    """Return the list of plans."""
    listed = plans.list_plans(caller.project, wanted.query, with_counts=True)
    rows: list[list[Content]] = []
    for plan in listed.items:
        states = plan.states or {}
        counts = []
        for state, count in states.items():
            words = state.replace("_", " ").lower()
            counts.append(f"{count} {words}")
        rows.append(
            [
                _to("plans", plan.plan_id, plan.title),
                parts.state(plan.state),
                ", ".join(counts),
                str(plan.open_questions or ""),
            ]
        )
    heads = ("Plan", "State", "Tasks", "Questions")
    empty = parts.paragraph(
        "There is no plan yet. Type ", tag("code", "accordance plan import FILE"), "."
    )
    body = parts.table(heads, rows) if rows else empty
    return _page("Plans", [body, _next("/lite/plans", listed.next)], wanted.csrf)


def plan_page(caller: Caller, wanted: LitePage) -> str:
    """Return a plan with its picture and its tasks."""
    project = caller.project
    plan_id = plan_id_of(project, wanted.name)
    status = plans.plan_status(project.ledger, plan_id, project.home)
    path = f"/v1/plans/{quote(plan_id, safe='')}"
    body = [
        parts.facts(
            [
                ("State", parts.state(status.state)),
                ("Tasks", str(status.nodes)),
                ("Tokens", f"{status.tokens:,}" if status.tokens else None),
                ("Base", status.base_moved),
                ("Id", plan_id),
            ]
        ),
        parts.bullets(
            _to("inbox", asked.question_id, asked.text) for asked in status.questions
        ),
        tag("img", src=f"{path}/graph.svg", alt=f"The tasks of {status.title}"),
        parts.paragraph(parts.link(f"{path}/export.html", "Download this run")),
        *_tasks_of(caller, plan_id, wanted),
    ]
    return _page(status.title, body, wanted.csrf)


def _tasks_of(caller: Caller, plan_id: str, wanted: LitePage) -> Iterator[Content]:
    query = ListQuery(filter=str(Term(Word.PLAN, plan_id)), cursor=wanted.cursor)
    listed = task_records.list_tasks(caller.project, query)
    rows: list[list[Content]] = [
        [
            _to("tasks", task.task_id, task.title),
            parts.state(task.state),
            task.node_type.lower(),
            str(task.attempt_count),
            isolated(task.last_error or ""),
        ]
        for task in listed.items
    ]
    yield parts.heading("Tasks")
    yield parts.table(("Task", "State", "Kind", "Attempts", "Last error"), rows)
    yield _next(f"/lite/plans/{quote(plan_id, safe='')}", listed.next)


def task_page(caller: Caller, wanted: LitePage) -> str:
    """Return a task."""
    task = task_records.show_task(caller.project, wanted.name)
    above = parts.paragraph(_to("plans", task.plan_id, task.plan_title))
    body = [above, *task_body(caller.project, task.task_id)]
    return _page(task.title, body, wanted.csrf)


# -- questions


def inbox_page(caller: Caller, wanted: LitePage) -> str:
    """Return the open questions."""
    listed = inbox.list_questions(caller.project, wanted.query)
    rows: list[list[Content]] = [
        [
            _to("inbox", asked.question_id, asked.text),
            isolated(asked.task_title or asked.plan_title),
            asked.since[:16].replace("T", " "),
        ]
        for asked in listed.items
    ]
    nothing = parts.paragraph("Nothing waits for you.")
    body = parts.table(("Question", "About", "Since"), rows) if rows else nothing
    return _page("Inbox", [body, _next("/lite/inbox", listed.next)], wanted.csrf)


def question_page(caller: Caller, wanted: LitePage) -> str:
    """Return a question, with the form of its answer."""
    asked = inbox.show_question(caller.project, wanted.name)
    form = question_forms.form_of(
        caller.project, asked.question_id, wanted.largest_upload_mb
    )
    body = [
        parts.facts(
            [
                ("Question", isolated(asked.text)),
                ("Task", asked.task_title),
                ("Plan", _to("plans", asked.plan_id, asked.plan_title)),
                ("Reason", asked.reason_code),
                ("Mend", asked.mend),
                ("Since", asked.since[:16].replace("T", " ")),
                ("Answered", asked.answered_at),
            ]
        ),
        parts.heading("What an answer leads to"),
        parts.facts((choice.answer, choice.leads_to) for choice in form.choices),
        _answer_form(asked, form, wanted) if _can_answer(asked, wanted) else None,
    ]
    return _page(f"Question {asked.name}", body, wanted.csrf)


def _can_answer(asked: AskedView, wanted: LitePage) -> bool:
    return asked.is_open and wanted.may_decide


def _answer_form(asked: AskedView, form: QuestionFormView, wanted: LitePage) -> Content:
    address = f"/lite/inbox/{quote(asked.question_id, safe='')}"
    fields = [*_file_fields(form), *_choice_fields(form)]
    words = ", ".join(choice.answer for choice in form.choices)
    control = tag(
        "textarea",
        name="line",
        rows="4",
        maxlength=_LONGEST_ANSWER,
    )
    fields.append(parts.field("Answer", control, f"A word ({words}), or a text."))
    send = parts.button("Answer")
    return parts.form(address, wanted.csrf, *fields, send, files=form.takes_files)


def _file_fields(form: QuestionFormView) -> Iterator[Markup]:
    megabytes = form.largest_upload >> 20
    for document in form.documents:
        kinds = ", ".join(document.accepted_types) or "any type"
        control = tag("input", type="file", name=f"file:{document.name}")
        about = f"{document.help} ({kinds}; {megabytes} MB for all files)"
        yield parts.field(document.name, control, about)
    if form.takes_files and not form.documents:
        control = tag("input", type="file", name="file", multiple=True)
        yield parts.field("Files", control, f"At most {megabytes} MB together.")


def _choice_fields(form: QuestionFormView) -> Iterator[Markup]:
    for choice in form.choices:
        if choice.options:
            options = [tag("option", each, value=each) for each in choice.options]
            control = tag("select", tag("option", "", value=""), options, name="choose")
            yield parts.field("Choice", control)


# -- dead letters


def dead_letters_page(caller: Caller, wanted: LitePage) -> str:
    """Return what was given up, each with a form that takes it back."""
    listed = dead_letters.list_dead_letters(caller.project, wanted.query)
    rows: list[list[Content]] = []
    for letter in listed.items:
        address = f"/lite/dead-letters/{quote(letter.task_id, safe='')}"
        reason = tag(
            "input",
            name="reason",
            required=True,
            aria_label="Reason",
        )
        form = parts.form(address, wanted.csrf, reason, parts.button("Requeue"))
        rows.append(
            [
                _to("tasks", letter.task_id, letter.title),
                letter.reason_code or "",
                isolated(letter.messages[0] if letter.messages else ""),
                form if wanted.may_decide else None,
            ]
        )
    nothing = parts.paragraph("Nothing was given up.")
    heads = ("Task", "Reason", "Why", "Take it back")
    body = parts.table(heads, rows) if rows else nothing
    next_page = _next("/lite/dead-letters", listed.next)
    return _page("Dead letters", [body, next_page], wanted.csrf)

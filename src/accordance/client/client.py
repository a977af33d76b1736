"""A client of `accordance serve`.

    with Client("http://127.0.0.1:8420", key) as client:
        for plan in client.all_plans(filter="state:active"):
            print(plan.plan_id, plan.title)

Answers are the views of the service. What the server does not carry out raises
ServerProblem. Acts carry an Idempotency-Key and are sent again when the connection
breaks or the server is busy: they are carried out once.

The module is long because the client has a method for each route of the API.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

import httpx

from accordance.client.calls import (
    TRIES,
    Call,
    EventLines,
    ServerUnreachable,
    V,
    may_try_again,
    message_bytes,
    pause_after,
    problem_in,
    segment,
    without_nulls,
)
from accordance.service.views.amendments import AmendmentView
from accordance.service.views.answers import AnswerView
from accordance.service.views.bulk import BulkPreviewView, BulkResultView
from accordance.service.views.contracts import CheckView, ContractListView, SchemaView
from accordance.service.views.dead_letters import (
    CancelledTaskView,
    DeadLetterPageView,
    MovedTaskView,
)
from accordance.service.views.downloads import EvidenceView
from accordance.service.views.events import EventPageView, EventView
from accordance.service.views.hosted_runs import HostedRunListView, HostedRunView
from accordance.service.views.keys import (
    CallerView,
    KeyListView,
    KeyView,
    NewKeyView,
)
from accordance.service.views.leases import LeaseView
from accordance.service.views.plans import (
    GraphView,
    ImportedPlanView,
    PlanDetailView,
    PlanEntryView,
    PlanPageView,
    PlanPreviewView,
    PlanStatusView,
    PlanView,
)
from accordance.service.views.questions import (
    AnsweredView,
    AskedView,
    QuestionPageView,
)
from accordance.service.views.statistics import StatisticsView
from accordance.service.views.stories import AttemptLogView, AttemptPatchView
from accordance.service.views.tasks import (
    AssignmentView,
    NothingView,
    StandingView,
    TaskDetailView,
    TaskEntryView,
    TaskPageView,
    TaskView,
)
from accordance.service.views.verdicts import VerdictListView

Message = bytes | str | Mapping[str, Any]


class Client:
    """A server, as a caller with a key sees it."""

    def __init__(
        self,
        url: str,
        key: str,
        *,
        project: str | None = None,
        timeout: float = 60.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        headers = {"Authorization": f"Bearer {key}"}
        if project is not None:
            headers["Accordance-Project"] = project
        self._http = httpx.Client(
            base_url=url, headers=headers, timeout=timeout, transport=transport
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the connection."""
        self._http.close()

    # -- sending

    def send(self, call: Call) -> httpx.Response:
        """Send a request, again if need be. Raises ServerProblem, ServerUnreachable."""
        arguments = call.arguments()
        tried = 0
        while True:
            tried += 1
            try:
                response = self._http.request(**arguments)
            except httpx.TransportError as error:
                if tried >= TRIES:
                    raise ServerUnreachable(
                        f"{self._http.base_url} does not answer ({error})"
                    ) from error
                time.sleep(pause_after(tried, None))
                continue
            if not may_try_again(response.status_code, tried):
                break
            time.sleep(pause_after(tried, response.headers.get("retry-after")))
        if response.is_success:
            return response
        raise problem_in(response.status_code, response.content)

    def _get(self, view: type[V], path: str, **params: Any) -> V:
        response = self.send(Call("GET", path, params))
        return view.model_validate_json(response.content)

    def _post(self, view: type[V], path: str, **values: Any) -> V:
        response = self.send(Call("POST", path, json=without_nulls(**values)))
        return view.model_validate_json(response.content)

    def _hand_in(
        self,
        view: type[V],
        path: str,
        content: bytes,
        params: Mapping[str, Any] | None = None,
        **headers: str,
    ) -> V:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        call = Call("POST", path, params or {}, content=content, headers=sent)
        response = self.send(call)
        return view.model_validate_json(response.content)

    # -- the caller, contracts, keys

    def me(self) -> CallerView:
        """Who you are to the server, and what you may do."""
        return self._get(CallerView, "/v1/me")

    def contracts(self) -> ContractListView:
        """Every contract that the server knows."""
        return self._get(ContractListView, "/v1/contracts")

    def schema(self, name: str, dialect: str = "json-schema") -> SchemaView:
        """The schema of a contract, for people or for a provider."""
        path = f"/v1/schemas/{segment(name)}"
        return self._get(SchemaView, path, dialect=dialect)

    def check(
        self, message: Message, contract: str | None = None, *, tolerant: bool = False
    ) -> CheckView:
        """Check a message against its contract."""
        params = {"contract": contract, "tolerant": tolerant}
        return self._hand_in(CheckView, "/v1/check", message_bytes(message), params)

    def keys(self) -> KeyListView:
        """The keys of the project."""
        return self._get(KeyListView, "/v1/keys")

    def make_key(self, name: str, role: str, **more: Any) -> NewKeyView:
        """Make a key: `scopes`, `tasks`, `contracts` and `days` narrow it."""
        return self._post(NewKeyView, "/v1/keys", name=name, role=role, **more)

    def revoke_key(self, key_id: str) -> KeyView:
        """Revoke a key."""
        return self._post(KeyView, f"/v1/keys/{segment(key_id)}/revoke")

    # -- plans

    def plans(
        self, filter: str = "", *, cursor: str | None = None, limit: int = 100
    ) -> PlanPageView:
        """A page of the plans, the newest first."""
        return self._get(
            PlanPageView, "/v1/plans", filter=filter, cursor=cursor, limit=limit
        )

    def all_plans(self, filter: str = "") -> Iterator[PlanEntryView]:
        """Yield every plan that fits, page by page."""
        cursor = None
        while True:
            page = self.plans(filter, cursor=cursor)
            for item in page.items:
                yield item
            if page.next is None:
                return
            cursor = page.next

    def plan(self, plan: str) -> PlanDetailView:
        """A plan with all that is known about it as a whole."""
        return self._get(PlanDetailView, f"/v1/plans/{segment(plan)}")

    def plan_status(self, plan: str) -> PlanStatusView:
        """Where a plan stands."""
        return self._get(PlanStatusView, f"/v1/plans/{segment(plan)}/status")

    def plan_graph(self, plan: str) -> GraphView:
        """A plan as nodes, and what ties them together."""
        return self._get(GraphView, f"/v1/plans/{segment(plan)}/graph")

    def plan_verdicts(self, plan: str) -> VerdictListView:
        """Every verdict in a plan, the newest last."""
        return self._get(VerdictListView, f"/v1/plans/{segment(plan)}/verdicts")

    def plan_document(self, plan: str) -> tuple[bytes, str]:
        """The plan itself, and the ETag with which it is amended."""
        call = Call("GET", f"/v1/plans/{segment(plan)}/document")
        response = self.send(call)
        return response.content, response.headers["etag"]

    def export_plan(self, plan: str, *, candidates: bool = False) -> bytes:
        """The approved products of a plan, as a ZIP archive."""
        path = f"/v1/plans/{segment(plan)}/export"
        response = self.send(Call("GET", path, {"candidates": candidates}))
        return response.content

    def preview_plan(self, plan: Message, format: str = "json") -> PlanPreviewView:
        """Check a plan, and see what could begin. Nothing is kept."""
        params = {"format": format}
        return self._hand_in(
            PlanPreviewView, "/v1/plans/preview", message_bytes(plan), params
        )

    def import_plan(
        self, plan: Message, format: str = "json", *, review: bool = True
    ) -> ImportedPlanView:
        """Import a plan; the same plan again changes nothing."""
        params = {"format": format, "review": review}
        return self._hand_in(ImportedPlanView, "/v1/plans", message_bytes(plan), params)

    def review_plan(self, plan: str, review: Message) -> AnswerView:
        """Hand in an agent's review of a plan."""
        path = f"/v1/plans/{segment(plan)}/review"
        return self._hand_in(AnswerView, path, message_bytes(review))

    def approve_plan(self, plan: str, note: str | None = None) -> PlanView:
        """Let a plan begin that waits for its review."""
        return self._post(PlanView, f"/v1/plans/{segment(plan)}/approve", note=note)

    def return_plan(self, plan: str, reasons: Sequence[str]) -> PlanView:
        """Return a plan, so that a better plan is imported."""
        path = f"/v1/plans/{segment(plan)}/return"
        return self._post(PlanView, path, reasons=list(reasons))

    def pause_plan(self, plan: str, reason: str | None = None) -> PlanView:
        """Let nothing new begin in a plan."""
        return self._post(PlanView, f"/v1/plans/{segment(plan)}/pause", reason=reason)

    def resume_plan(self, plan: str) -> PlanView:
        """Let a plan go on."""
        return self._post(PlanView, f"/v1/plans/{segment(plan)}/resume")

    def cancel_plan(self, plan: str, reason: str | None = None) -> PlanView:
        """Abandon everything in a plan that is not done."""
        return self._post(PlanView, f"/v1/plans/{segment(plan)}/cancel", reason=reason)

    def archive_plan(self, plan: str) -> PlanView:
        """Put a plan that is over out of sight."""
        return self._post(PlanView, f"/v1/plans/{segment(plan)}/archive")

    def unarchive_plan(self, plan: str) -> PlanView:
        """Take a plan out of the archive."""
        return self._post(PlanView, f"/v1/plans/{segment(plan)}/unarchive")

    def amend_plan(
        self,
        plan: str,
        document: Message,
        *,
        etag: str | None = None,
        note: str | None = None,
        dry_run: bool = False,
    ) -> AmendmentView:
        """Amend a plan; with the ETag of its document only if it has not changed since."""
        params = {"note": note, "dry_run": dry_run}
        headers = {"If_Match": etag} if etag is not None else {}
        path = f"/v1/plans/{segment(plan)}/amend"
        content = message_bytes(document)
        return self._hand_in(AmendmentView, path, content, params, **headers)

    # -- tasks

    def tasks(
        self, filter: str = "", *, cursor: str | None = None, limit: int = 100
    ) -> TaskPageView:
        """A page of tasks, by plan, in the plan's order."""
        return self._get(
            TaskPageView, "/v1/tasks", filter=filter, cursor=cursor, limit=limit
        )

    def all_tasks(self, filter: str = "") -> Iterator[TaskEntryView]:
        """Yield every task that fits, page by page."""
        cursor = None
        while True:
            page = self.tasks(filter, cursor=cursor)
            for item in page.items:
                yield item
            if page.next is None:
                return
            cursor = page.next

    def task(self, task: str) -> TaskDetailView:
        """A task with all that is known about it."""
        return self._get(TaskDetailView, f"/v1/tasks/{segment(task)}")

    def verdicts(self, task: str) -> StandingView:
        """Every verdict on a task, and where it stands."""
        return self._get(StandingView, f"/v1/tasks/{segment(task)}/verdicts")

    def diff(self, task: str, attempt: int | None = None) -> AttemptPatchView:
        """The change that an attempt made."""
        path = f"/v1/tasks/{segment(task)}/diff"
        return self._get(AttemptPatchView, path, attempt=attempt)

    def log(self, task: str, attempt: int | None = None) -> AttemptLogView:
        """The end of what an executor printed."""
        path = f"/v1/tasks/{segment(task)}/log"
        return self._get(AttemptLogView, path, attempt=attempt)

    def evidence(self, task: str, attempt: int | None = None) -> EvidenceView:
        """The files that an attempt has left."""
        path = f"/v1/tasks/{segment(task)}/evidence"
        return self._get(EvidenceView, path, attempt=attempt)

    def evidence_archive(self, task: str, attempt: int | None = None) -> bytes:
        """Everything that an attempt has left, as a ZIP archive."""
        path = f"/v1/tasks/{segment(task)}/evidence.zip"
        response = self.send(Call("GET", path, {"attempt": attempt}))
        return response.content

    def next_task(
        self, plan: str | None = None, **wanted: Any
    ) -> AssignmentView | NothingView:
        """Take up a task, or learn why there is none.

        `kinds`, `seconds`, `any_task`, `resume` and `known` say which.
        """
        values = without_nulls(plan=plan, **wanted)
        response = self.send(Call("POST", "/v1/tasks/next", json=values))
        if response.json().get("task") is None:
            return NothingView.model_validate_json(response.content)
        return AssignmentView.model_validate_json(response.content)

    def heartbeat(
        self, task: str, attempt: int, seconds: int | None = None
    ) -> LeaseView:
        """Keep a task for longer."""
        path = f"/v1/tasks/{segment(task)}/heartbeat"
        return self._post(LeaseView, path, attempt=attempt, seconds=seconds)

    def release(self, task: str, attempt: int | None = None) -> TaskView:
        """Put a task down again."""
        path = f"/v1/tasks/{segment(task)}/release"
        return self._post(TaskView, path, attempt=attempt)

    def submit(
        self,
        task: str,
        message: Message | None = None,
        *,
        attempt: int | None = None,
        any_holder: bool | None = None,
    ) -> AnswerView:
        """Hand in the message for a task; without a message, the change in its clone."""
        params = {"attempt": attempt, "any_holder": any_holder}
        content = b"" if message is None else message_bytes(message)
        path = f"/v1/tasks/{segment(task)}/submit"
        return self._hand_in(AnswerView, path, content, params)

    def review(
        self,
        task: str,
        message: Message,
        *,
        artifact: str | None = None,
        attempt: int | None = None,
    ) -> AnswerView:
        """Hand in a review of a task's product."""
        params = {"artifact": artifact, "attempt": attempt}
        path = f"/v1/tasks/{segment(task)}/review"
        return self._hand_in(AnswerView, path, message_bytes(message), params)

    def ask_person(self, task: str, attempt: int, question: str) -> AnswerView:
        """Ask a person about a task that you hold."""
        path = f"/v1/tasks/{segment(task)}/ask"
        return self._post(AnswerView, path, attempt=attempt, question=question)

    def retry(self, task: str, reason: str | None = None) -> TaskView:
        """Give a failed or blocked task another chance."""
        return self._post(TaskView, f"/v1/tasks/{segment(task)}/retry", reason=reason)

    def cancel(
        self, task: str, reason: str | None = None, **how: bool
    ) -> CancelledTaskView:
        """Cancel a task; `cascade` or `excuse` what waits for it."""
        path = f"/v1/tasks/{segment(task)}/cancel"
        return self._post(CancelledTaskView, path, reason=reason, **how)

    # -- people

    def inbox(
        self, filter: str = "", *, cursor: str | None = None, limit: int = 100
    ) -> QuestionPageView:
        """A page of the open questions, the oldest first."""
        return self._get(
            QuestionPageView, "/v1/inbox", filter=filter, cursor=cursor, limit=limit
        )

    def question(self, question: str) -> AskedView:
        """A question with everything that is needed to answer it."""
        return self._get(AskedView, f"/v1/inbox/{segment(question)}")

    def answer(
        self, question: str, line: str | None = None, **parts: Any
    ) -> AnsweredView:
        """Answer a question: a word of its choices or a text, or its parts."""
        path = f"/v1/inbox/{segment(question)}/answer"
        return self._post(AnsweredView, path, line=line, **parts)

    def upload(
        self, question: str, files: Mapping[str, bytes], choose: str | None = None
    ) -> AnsweredView:
        """Answer a question with files, by their names."""
        parts: list[tuple[str, Any]] = [
            ("files", (name, content)) for name, content in files.items()
        ]
        if choose is not None:
            parts.append(("choose", (None, choose)))
        path = f"/v1/inbox/{segment(question)}/upload"
        response = self.send(Call("POST", path, files=parts))
        return AnsweredView.model_validate_json(response.content)

    def dead_letters(
        self, filter: str = "", *, cursor: str | None = None, limit: int = 100
    ) -> DeadLetterPageView:
        """A page of what was given up."""
        path = "/v1/dead-letters"
        return self._get(
            DeadLetterPageView, path, filter=filter, cursor=cursor, limit=limit
        )

    def preview_dead_letters(self, filter: str = "") -> BulkPreviewView:
        """All dead letters of a filter, to be requeued together."""
        return self._get(BulkPreviewView, "/v1/dead-letters/preview", filter=filter)

    def requeue(
        self, seen: BulkPreviewView, reason: str, per_second: float | None = None
    ) -> BulkResultView:
        """Take the dead letters of a preview back, at a rate."""
        items = [item.to_json() for item in seen.items]
        path = "/v1/dead-letters/requeue"
        return self._post(
            BulkResultView, path, items=items, reason=reason, per_second=per_second
        )

    def requeue_task(self, task: str, reason: str | None = None) -> MovedTaskView:
        """Take a task out of the dead letters."""
        path = f"/v1/dead-letters/{segment(task)}/requeue"
        return self._post(MovedTaskView, path, reason=reason)

    # -- runs, events, statistics

    def start_run(self, plan: str | None = None) -> HostedRunView:
        """Have the server carry a plan out in its own process."""
        return self._post(HostedRunView, "/v1/runs", plan=plan)

    def run(self, run_id: str) -> HostedRunView:
        """A run of the server."""
        return self._get(HostedRunView, f"/v1/runs/{segment(run_id)}")

    def runs(self) -> HostedRunListView:
        """The runs of the server process, the newest first."""
        return self._get(HostedRunListView, "/v1/runs")

    def stop_run(self, run_id: str) -> HostedRunView:
        """Stop a run."""
        return self._post(HostedRunView, f"/v1/runs/{segment(run_id)}/stop")

    def statistics(self, plan: str | None = None) -> StatisticsView:
        """Failures by agent, model and field; verdicts; cost; times."""
        return self._get(StatisticsView, "/v1/statistics", plan=plan)

    def events(
        self,
        filter: str = "",
        *,
        after: int = 0,
        cursor: str | None = None,
        limit: int = 100,
    ) -> EventPageView:
        """A page of what happened behind a number."""
        return self._get(
            EventPageView,
            "/v1/events",
            filter=filter,
            after=after,
            cursor=cursor,
            limit=limit,
        )

    def follow(
        self, filter: str = "", *, after: int | None = None
    ) -> Iterator[EventView]:
        """Yield events as they happen; a stream that breaks is resumed.

        Ends when the server cannot be reached any more. Raises ServerProblem.
        """
        lines = EventLines(last=after)
        tried = 0
        while tried < TRIES:
            tried += 1
            params = without_nulls(filter=filter, after=lines.last)
            try:
                with self._http.stream(
                    "GET", "/v1/events/stream", params=params
                ) as response:
                    if not response.is_success:
                        body = response.read()
                        raise problem_in(response.status_code, body)
                    for line in response.iter_lines():
                        content = lines.feed(line)
                        if content is not None:
                            tried = 0
                            yield EventView.model_validate(content)
            except httpx.TransportError:
                time.sleep(pause_after(tried, None))

"""The client for asyncio. Written from client.py by tools/async_client.py (make docs)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
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


class AsyncClient:
    """A server, as a caller with a key sees it."""

    def __init__(
        self,
        url: str,
        key: str,
        *,
        project: str | None = None,
        timeout: float = 60.0,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        headers = {"Authorization": f"Bearer {key}"}
        if project is not None:
            headers["Accordance-Project"] = project
        self._http = httpx.AsyncClient(
            base_url=url, headers=headers, timeout=timeout, transport=transport
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Let go of the connection."""
        await self._http.aclose()

    # -- sending

    async def send(self, call: Call) -> httpx.Response:
        """Send a request, again if need be. Raises ServerProblem, ServerUnreachable."""
        arguments = call.arguments()
        tried = 0
        while True:
            tried += 1
            try:
                response = await self._http.request(**arguments)
            except httpx.TransportError as error:
                if tried >= TRIES:
                    raise ServerUnreachable(
                        f"{self._http.base_url} does not answer ({error})"
                    ) from error
                await asyncio.sleep(pause_after(tried, None))
                continue
            if not may_try_again(response.status_code, tried):
                break
            await asyncio.sleep(pause_after(tried, response.headers.get("retry-after")))
        if response.is_success:
            return response
        raise problem_in(response.status_code, response.content)

    async def _get(self, view: type[V], path: str, **params: Any) -> V:
        response = await self.send(Call("GET", path, params))
        return view.model_validate_json(response.content)

    async def _post(self, view: type[V], path: str, **values: Any) -> V:
        response = await self.send(Call("POST", path, json=without_nulls(**values)))
        return view.model_validate_json(response.content)

    async def _hand_in(
        self,
        view: type[V],
        path: str,
        content: bytes,
        params: Mapping[str, Any] | None = None,
        **headers: str,
    ) -> V:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        call = Call("POST", path, params or {}, content=content, headers=sent)
        response = await self.send(call)
        return view.model_validate_json(response.content)

    # -- the caller, contracts, keys

    async def me(self) -> CallerView:
        """Who you are to the server, and what you may do."""
        return await self._get(CallerView, "/v1/me")

    async def contracts(self) -> ContractListView:
        """Every contract that the server knows."""
        return await self._get(ContractListView, "/v1/contracts")

    async def schema(self, name: str, dialect: str = "json-schema") -> SchemaView:
        """The schema of a contract, for people or for a provider."""
        path = f"/v1/schemas/{segment(name)}"
        return await self._get(SchemaView, path, dialect=dialect)

    async def check(
        self, message: Message, contract: str | None = None, *, tolerant: bool = False
    ) -> CheckView:
        """Check a message against its contract."""
        params = {"contract": contract, "tolerant": tolerant}
        return await self._hand_in(
            CheckView, "/v1/check", message_bytes(message), params
        )

    async def keys(self) -> KeyListView:
        """The keys of the project."""
        return await self._get(KeyListView, "/v1/keys")

    async def make_key(self, name: str, role: str, **more: Any) -> NewKeyView:
        """Make a key: `scopes`, `tasks`, `contracts` and `days` narrow it."""
        return await self._post(NewKeyView, "/v1/keys", name=name, role=role, **more)

    async def revoke_key(self, key_id: str) -> KeyView:
        """Revoke a key."""
        return await self._post(KeyView, f"/v1/keys/{segment(key_id)}/revoke")

    # -- plans

    async def plans(
        self, filter: str = "", *, cursor: str | None = None, limit: int = 100
    ) -> PlanPageView:
        """A page of the plans, the newest first."""
        return await self._get(
            PlanPageView, "/v1/plans", filter=filter, cursor=cursor, limit=limit
        )

    async def all_plans(self, filter: str = "") -> AsyncIterator[PlanEntryView]:
        """Yield every plan that fits, page by page."""
        cursor = None
        while True:
            page = await self.plans(filter, cursor=cursor)
            for item in page.items:
                yield item
            if page.next is None:
                return
            cursor = page.next

    async def plan(self, plan: str) -> PlanDetailView:
        """A plan with all that is known about it as a whole."""
        return await self._get(PlanDetailView, f"/v1/plans/{segment(plan)}")

    async def plan_status(self, plan: str) -> PlanStatusView:
        """Where a plan stands."""
        return await self._get(PlanStatusView, f"/v1/plans/{segment(plan)}/status")

    async def plan_graph(self, plan: str) -> GraphView:
        """A plan as nodes, and what ties them together."""
        return await self._get(GraphView, f"/v1/plans/{segment(plan)}/graph")

    async def plan_verdicts(self, plan: str) -> VerdictListView:
        """Every verdict in a plan, the newest last."""
        return await self._get(VerdictListView, f"/v1/plans/{segment(plan)}/verdicts")

    async def plan_document(self, plan: str) -> tuple[bytes, str]:
        """The plan itself, and the ETag with which it is amended."""
        call = Call("GET", f"/v1/plans/{segment(plan)}/document")
        response = await self.send(call)
        return response.content, response.headers["etag"]

    async def export_plan(self, plan: str, *, candidates: bool = False) -> bytes:
        """The approved products of a plan, as a ZIP archive."""
        path = f"/v1/plans/{segment(plan)}/export"
        response = await self.send(Call("GET", path, {"candidates": candidates}))
        return response.content

    async def preview_plan(
        self, plan: Message, format: str = "json"
    ) -> PlanPreviewView:
        """Check a plan, and see what could begin. Nothing is kept."""
        params = {"format": format}
        return await self._hand_in(
            PlanPreviewView, "/v1/plans/preview", message_bytes(plan), params
        )

    async def import_plan(
        self, plan: Message, format: str = "json", *, review: bool = True
    ) -> ImportedPlanView:
        """Import a plan; the same plan again changes nothing."""
        params = {"format": format, "review": review}
        return await self._hand_in(
            ImportedPlanView, "/v1/plans", message_bytes(plan), params
        )

    async def review_plan(self, plan: str, review: Message) -> AnswerView:
        """Hand in an agent's review of a plan."""
        path = f"/v1/plans/{segment(plan)}/review"
        return await self._hand_in(AnswerView, path, message_bytes(review))

    async def approve_plan(self, plan: str, note: str | None = None) -> PlanView:
        """Let a plan begin that waits for its review."""
        return await self._post(
            PlanView, f"/v1/plans/{segment(plan)}/approve", note=note
        )

    async def return_plan(self, plan: str, reasons: Sequence[str]) -> PlanView:
        """Return a plan, so that a better plan is imported."""
        path = f"/v1/plans/{segment(plan)}/return"
        return await self._post(PlanView, path, reasons=list(reasons))

    async def pause_plan(self, plan: str, reason: str | None = None) -> PlanView:
        """Let nothing new begin in a plan."""
        return await self._post(
            PlanView, f"/v1/plans/{segment(plan)}/pause", reason=reason
        )

    async def resume_plan(self, plan: str) -> PlanView:
        """Let a plan go on."""
        return await self._post(PlanView, f"/v1/plans/{segment(plan)}/resume")

    async def cancel_plan(self, plan: str, reason: str | None = None) -> PlanView:
        """Abandon everything in a plan that is not done."""
        return await self._post(
            PlanView, f"/v1/plans/{segment(plan)}/cancel", reason=reason
        )

    async def archive_plan(self, plan: str) -> PlanView:
        """Put a plan that is over out of sight."""
        return await self._post(PlanView, f"/v1/plans/{segment(plan)}/archive")

    async def unarchive_plan(self, plan: str) -> PlanView:
        """Take a plan out of the archive."""
        return await self._post(PlanView, f"/v1/plans/{segment(plan)}/unarchive")

    async def amend_plan(
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
        return await self._hand_in(AmendmentView, path, content, params, **headers)

    # -- tasks

    async def tasks(
        self, filter: str = "", *, cursor: str | None = None, limit: int = 100
    ) -> TaskPageView:
        """A page of tasks, by plan, in the plan's order."""
        return await self._get(
            TaskPageView, "/v1/tasks", filter=filter, cursor=cursor, limit=limit
        )

    async def all_tasks(self, filter: str = "") -> AsyncIterator[TaskEntryView]:
        """Yield every task that fits, page by page."""
        cursor = None
        while True:
            page = await self.tasks(filter, cursor=cursor)
            for item in page.items:
                yield item
            if page.next is None:
                return
            cursor = page.next

    async def task(self, task: str) -> TaskDetailView:
        """A task with all that is known about it."""
        return await self._get(TaskDetailView, f"/v1/tasks/{segment(task)}")

    async def verdicts(self, task: str) -> StandingView:
        """Every verdict on a task, and where it stands."""
        return await self._get(StandingView, f"/v1/tasks/{segment(task)}/verdicts")

    async def diff(self, task: str, attempt: int | None = None) -> AttemptPatchView:
        """The change that an attempt made."""
        path = f"/v1/tasks/{segment(task)}/diff"
        return await self._get(AttemptPatchView, path, attempt=attempt)

    async def log(self, task: str, attempt: int | None = None) -> AttemptLogView:
        """The end of what an executor printed."""
        path = f"/v1/tasks/{segment(task)}/log"
        return await self._get(AttemptLogView, path, attempt=attempt)

    async def evidence(self, task: str, attempt: int | None = None) -> EvidenceView:
        """The files that an attempt has left."""
        path = f"/v1/tasks/{segment(task)}/evidence"
        return await self._get(EvidenceView, path, attempt=attempt)

    async def evidence_archive(self, task: str, attempt: int | None = None) -> bytes:
        """Everything that an attempt has left, as a ZIP archive."""
        path = f"/v1/tasks/{segment(task)}/evidence.zip"
        response = await self.send(Call("GET", path, {"attempt": attempt}))
        return response.content

    async def next_task(
        self, plan: str | None = None, **wanted: Any
    ) -> AssignmentView | NothingView:
        """Take up a task, or learn why there is none.

        `kinds`, `seconds`, `any_task`, `resume` and `known` say which.
        """
        values = without_nulls(plan=plan, **wanted)
        response = await self.send(Call("POST", "/v1/tasks/next", json=values))
        if response.json().get("task") is None:
            return NothingView.model_validate_json(response.content)
        return AssignmentView.model_validate_json(response.content)

    async def heartbeat(
        self, task: str, attempt: int, seconds: int | None = None
    ) -> LeaseView:
        """Keep a task for longer."""
        path = f"/v1/tasks/{segment(task)}/heartbeat"
        return await self._post(LeaseView, path, attempt=attempt, seconds=seconds)

    async def release(self, task: str, attempt: int | None = None) -> TaskView:
        """Put a task down again."""
        path = f"/v1/tasks/{segment(task)}/release"
        return await self._post(TaskView, path, attempt=attempt)

    async def submit(
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
        return await self._hand_in(AnswerView, path, content, params)

    async def review(
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
        return await self._hand_in(AnswerView, path, message_bytes(message), params)

    async def ask_person(self, task: str, attempt: int, question: str) -> AnswerView:
        """Ask a person about a task that you hold."""
        path = f"/v1/tasks/{segment(task)}/ask"
        return await self._post(AnswerView, path, attempt=attempt, question=question)

    async def retry(self, task: str, reason: str | None = None) -> TaskView:
        """Give a failed or blocked task another chance."""
        return await self._post(
            TaskView, f"/v1/tasks/{segment(task)}/retry", reason=reason
        )

    async def cancel(
        self, task: str, reason: str | None = None, **how: bool
    ) -> CancelledTaskView:
        """Cancel a task; `cascade` or `excuse` what waits for it."""
        path = f"/v1/tasks/{segment(task)}/cancel"
        return await self._post(CancelledTaskView, path, reason=reason, **how)

    # -- people

    async def inbox(
        self, filter: str = "", *, cursor: str | None = None, limit: int = 100
    ) -> QuestionPageView:
        """A page of the open questions, the oldest first."""
        return await self._get(
            QuestionPageView, "/v1/inbox", filter=filter, cursor=cursor, limit=limit
        )

    async def question(self, question: str) -> AskedView:
        """A question with everything that is needed to answer it."""
        return await self._get(AskedView, f"/v1/inbox/{segment(question)}")

    async def answer(
        self, question: str, line: str | None = None, **parts: Any
    ) -> AnsweredView:
        """Answer a question: a word of its choices or a text, or its parts."""
        path = f"/v1/inbox/{segment(question)}/answer"
        return await self._post(AnsweredView, path, line=line, **parts)

    async def upload(
        self, question: str, files: Mapping[str, bytes], choose: str | None = None
    ) -> AnsweredView:
        """Answer a question with files, by their names."""
        parts: list[tuple[str, Any]] = [
            ("files", (name, content)) for name, content in files.items()
        ]
        if choose is not None:
            parts.append(("choose", (None, choose)))
        path = f"/v1/inbox/{segment(question)}/upload"
        response = await self.send(Call("POST", path, files=parts))
        return AnsweredView.model_validate_json(response.content)

    async def dead_letters(
        self, filter: str = "", *, cursor: str | None = None, limit: int = 100
    ) -> DeadLetterPageView:
        """A page of what was given up."""
        path = "/v1/dead-letters"
        return await self._get(
            DeadLetterPageView, path, filter=filter, cursor=cursor, limit=limit
        )

    async def preview_dead_letters(self, filter: str = "") -> BulkPreviewView:
        """All dead letters of a filter, to be requeued together."""
        return await self._get(
            BulkPreviewView, "/v1/dead-letters/preview", filter=filter
        )

    async def requeue(
        self, seen: BulkPreviewView, reason: str, per_second: float | None = None
    ) -> BulkResultView:
        """Take the dead letters of a preview back, at a rate."""
        items = [item.to_json() for item in seen.items]
        path = "/v1/dead-letters/requeue"
        return await self._post(
            BulkResultView, path, items=items, reason=reason, per_second=per_second
        )

    async def requeue_task(self, task: str, reason: str | None = None) -> MovedTaskView:
        """Take a task out of the dead letters."""
        path = f"/v1/dead-letters/{segment(task)}/requeue"
        return await self._post(MovedTaskView, path, reason=reason)

    # -- runs, events, statistics

    async def start_run(self, plan: str | None = None) -> HostedRunView:
        """Have the server carry a plan out in its own process."""
        return await self._post(HostedRunView, "/v1/runs", plan=plan)

    async def run(self, run_id: str) -> HostedRunView:
        """A run of the server."""
        return await self._get(HostedRunView, f"/v1/runs/{segment(run_id)}")

    async def runs(self) -> HostedRunListView:
        """The runs of the server process, the newest first."""
        return await self._get(HostedRunListView, "/v1/runs")

    async def stop_run(self, run_id: str) -> HostedRunView:
        """Stop a run."""
        return await self._post(HostedRunView, f"/v1/runs/{segment(run_id)}/stop")

    async def statistics(self, plan: str | None = None) -> StatisticsView:
        """Failures by agent, model and field; verdicts; cost; times."""
        return await self._get(StatisticsView, "/v1/statistics", plan=plan)

    async def events(
        self,
        filter: str = "",
        *,
        after: int = 0,
        cursor: str | None = None,
        limit: int = 100,
    ) -> EventPageView:
        """A page of what happened behind a number."""
        return await self._get(
            EventPageView,
            "/v1/events",
            filter=filter,
            after=after,
            cursor=cursor,
            limit=limit,
        )

    async def follow(
        self, filter: str = "", *, after: int | None = None
    ) -> AsyncIterator[EventView]:
        """Yield events as they happen; a stream that breaks is resumed.

        Ends when the server cannot be reached any more. Raises ServerProblem.
        """
        lines = EventLines(last=after)
        tried = 0
        while tried < TRIES:
            tried += 1
            params = without_nulls(filter=filter, after=lines.last)
            try:
                async with self._http.stream(
                    "GET", "/v1/events/stream", params=params
                ) as response:
                    if not response.is_success:
                        body = await response.aread()
                        raise problem_in(response.status_code, body)
                    async for line in response.aiter_lines():
                        content = lines.feed(line)
                        if content is not None:
                            tried = 0
                            yield EventView.model_validate(content)
            except httpx.TransportError:
                await asyncio.sleep(pause_after(tried, None))

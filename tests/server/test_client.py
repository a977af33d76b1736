"""accordance.Client carries the example of twelve nodes out, from import to export."""

from __future__ import annotations

import asyncio
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import httpx
import pytest
from tools.async_client import TARGET, async_client, formatted

from accordance import AsyncClient, Client, ServerProblem
from accordance.service.project import Project
from accordance.service.verification import verify
from accordance.service.views.tasks import AssignmentView, NothingView
from tests.server.stage import Served, serving

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "plan" / "plan.json"
PLAN_SCORES = {
    "Completeness": (38, 40),
    "Dependency Soundness": (24, 25),
    "Executability": (18, 20),
    "Clarity": (12, 15),
}
GOOD = {
    "Correctness": (40, 40),
    "Coverage": (30, 30),
    "Traceability": (15, 20),
    "Actionability": (10, 10),
}
POOR = {**GOOD, "Correctness": (30, 40), "Coverage": (15, 30)}


def review(target: str, subject: str, scores: dict[str, tuple[int, int]]) -> Any:
    """A review as a reviewer writes it."""
    total = sum(score for score, _ in scores.values())
    change = {
        "priority": "HIGH",
        "change": "Add the rye loaf",
        "steps": ["add it"],
        "acceptance_criteria": "rye is in the list",
    }
    is_good = total >= 90
    return {
        "schema_version": "xiaojing_review_v1",
        "task_id": subject,
        "review_target": target,
        "total_score": total,
        "action_required": "APPROVE" if is_good else "MODIFY",
        "summary": f"{total} of 100",
        "breakdown": [
            {"dimension": name, "score": score, "max_score": most, "issues": []}
            for name, (score, most) in scores.items()
        ],
        "suggestions": [] if is_good else [change],
    }


def action(task: str, attempt: int) -> Any:
    """A product as an executor writes it; it cannot print."""
    if task == "print":
        error = {"code": "NO_PRINTER", "message": "there is no printer"}
        content = {"result_type": "ERROR", "error": error}
    else:
        text = f"Attempt {attempt} at {task}"
        artifact = {"name": task, "format": "md", "content": text}
        content = {"result_type": "ARTIFACT", "artifact": artifact}
    return {"schema_version": "xiaobo_action_v1", "task_id": task, **content}


def carry_out(writer: Client, reviewer: Client, owner: Client) -> None:
    """Do everything that comes; the price list is returned once, a person confirms."""
    is_confirmed = False
    returned: set[str] = set()
    while True:
        work = writer.next_task()
        worker = writer
        if isinstance(work, NothingView):
            work = reviewer.next_task()
            worker = reviewer
        if isinstance(work, NothingView):
            if is_confirmed or not work.waits_for_person:
                return
            for question in owner.inbox("kind:confirmation").items:
                owner.answer(question.question_id, "yes")
            is_confirmed = True
            continue
        hand_in(worker, work, returned)


def hand_in(worker: Client, work: AssignmentView, returned: set[str]) -> None:
    """Hand in an action or a review."""
    task = work.task.task_id
    if work.kind == "action":
        answer = worker.submit(task, action(task, work.attempt), attempt=work.attempt)
    else:
        subject = work.contract.task_id
        is_poor = subject == "price-list" and subject not in returned
        returned.add(subject)
        answer = worker.review(task, review("NODE", subject, POOR if is_poor else GOOD))
    assert answer.status == "accepted", answer


def test_the_example_of_twelve_nodes(empty: Project) -> None:
    """It ends with the root DONE; the export holds the products, the ledger verifies."""
    with serving(empty) as served:
        keys = {name: served.key("agent", name=name) for name in ("writer", "reviewer")}
        owner = Client(served.url, served.key("operator", name="owner"))
        writer = Client(served.url, keys["writer"])
        reviewer = Client(served.url, keys["reviewer"])
        with owner, writer, reviewer:
            plan = owner.import_plan(EXAMPLE.read_bytes())
            assert (plan.nodes, plan.state) == (12, "IN_REVIEW")
            judged = owner.review_plan(
                plan.plan_id, review("PLAN", plan.plan_id, PLAN_SCORES)
            )
            assert judged.outcome == "DONE"
            sheet = empty.home.inputs / "supplier_sheet" / "flour-prices.csv"
            sheet.parent.mkdir(parents=True)
            sheet.write_text("flour,price\nrye,1.20\nwheat,0.90\n")

            carry_out(writer, reviewer, owner)

            assert owner.plan(plan.plan_id).state == "FINISHED"
            assert next(owner.all_plans()).root == "DONE"
            archive = zipfile.ZipFile(io.BytesIO(owner.export_plan(plan.plan_id)))
            manifest = json.loads(archive.read("manifest.json"))
            assert manifest["is_complete"]
            holders = {
                event.payload.get("holder")
                for event in owner.events("kind:claimed", limit=1000).items
            }
            assert {"writer"} <= holders
            counted = owner.statistics(plan.plan_id)
            assert counted.messages > 10
            assert counted.times
    assert verify(empty).holds


def test_the_asynchronous_client_is_the_same() -> None:
    """It is written from the other; `make docs` writes it anew."""
    assert TARGET.read_text(encoding="utf-8") == formatted(async_client())


def test_the_asynchronous_client(served: Served) -> None:
    """It takes a task up and hands it in; events come meanwhile; pages are walked."""

    async def work() -> tuple[str, list[str], list[str]]:
        async with AsyncClient(
            served.url, served.key("operator", name="ada")
        ) as client:
            taken = await client.next_task()
            assert isinstance(taken, AssignmentView)
            task = taken.task.task_id
            answer = await client.submit(task, action(task, 1), attempt=1)
            kinds = []
            async for event in client.follow("task:a", after=0):
                kinds.append(event.kind)
                if event.kind == "PRODUCED":
                    break
            tasks = [task.task_id async for task in client.all_tasks()]
            return answer.status, kinds, tasks

    status, kinds, tasks = asyncio.run(work())
    assert status == "accepted"
    assert "CLAIMED" in kinds
    assert {"a", "b"} <= set(tasks)


def test_problems_are_errors(served: Served) -> None:
    """With status, code and way out."""
    with Client(served.url, served.key("viewer")) as client:
        with pytest.raises(ServerProblem) as caught:
            client.plan("none")
        assert (caught.value.status, caught.value.code) == (404, "not-found")
        with pytest.raises(ServerProblem, match="takes the right 'plan'"):
            client.pause_plan("none")


def test_a_busy_server_is_asked_again() -> None:
    """With the same key, so that nothing is done twice."""
    keys = []

    def answer(request: httpx.Request) -> httpx.Response:
        keys.append(request.headers["idempotency-key"])
        if len(keys) == 1:
            raise httpx.ConnectError("gone", request=request)
        if len(keys) == 2:
            return httpx.Response(503, headers={"Retry-After": "0"})
        return httpx.Response(
            200, json={"task": None, "why": "NO_PLAN", "text": "none"}
        )

    with Client(
        "http://server", "key", transport=httpx.MockTransport(answer)
    ) as client:
        work = client.next_task()
    assert isinstance(work, NothingView)
    assert len(keys) == 3
    assert len(set(keys)) == 1

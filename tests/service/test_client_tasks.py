"""Tasks as clients outside see them: after their end, and with large products."""

from __future__ import annotations

import json

from accordance.domain.client_tasks import Stage
from accordance.service import dead_letters, tasks
from accordance.service.client_tasks import client_task, current_name
from accordance.service.inbox import PersonAnswer, answer_question, list_questions
from accordance.service.project import Project
from accordance.service.tasks import Assigned, WorkRequest
from tests.messages import ACTION


def buried(project: Project) -> None:
    """Have task a ask, and a person give it up."""
    taken = tasks.take_task(project, WorkRequest(holder="ada"))
    assert isinstance(taken, Assigned)
    tasks.ask_person(project, taken.taken, "Which?", holder="ada")
    (question,) = list_questions(project).items
    give_up = PersonAnswer(by="eve", give_up=True)
    answer_question(project, question.question_id, give_up)


def test_a_dead_letter_that_is_taken_back_is_a_new_task(project: Project) -> None:
    """The old one stays as it ended, and both refer to each other."""
    buried(project)
    assert client_task(project, "a", "x").stage is Stage.FAILED
    assert current_name(project, "a") == "a"

    dead_letters.requeue(project, "a", by="eve", reason="again")

    assert current_name(project, "a") == "a~2"
    old = client_task(project, "a", "x")
    new = client_task(project, "a~2", "x")
    assert (old.stage, old.details["goesOnAs"]) == (Stage.FAILED, "a~2")
    assert (new.stage, new.refers_to) == (Stage.WORKING, "a")


def test_a_large_product_is_named_and_not_shown(project: Project) -> None:
    """Its hash and its size are; the export has the rest."""
    taken = tasks.take_task(project, WorkRequest(holder="ada"))
    assert isinstance(taken, Assigned)
    message = json.loads(json.dumps(ACTION))
    message["task_id"] = "a"
    message["artifact"]["content"] = "x" * (1 << 19)
    message["artifact"].pop("path_hint")
    raw = json.dumps(message).encode()
    tasks.submit(project, raw, task_id="a", attempt=1, holder="ada")

    (product, *_) = client_task(project, "a", "x").artifacts
    assert product.text is None
    assert product.data is not None
    assert product.data["bytes"] == 1 << 19
    assert client_task(project, "a", "x", known={product.name}).artifacts == ()

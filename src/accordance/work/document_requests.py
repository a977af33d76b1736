"""Documents that an attempt asks for: requirements that input files can answer."""

from __future__ import annotations

from accordance.contracts.catalogue.action import INPUTS, Action
from accordance.contracts.pins import normal_path
from accordance.domain.records import RequirementRecord, TaskRecord
from accordance.domain.ruling import QuestionKind
from accordance.store.ledger import Transaction


def require_documents(tx: Transaction, task: TaskRecord, action: Action) -> str:
    """Store what an action asks for as requirements; return the id of the question."""
    questions = tx.open_questions(task_id=task.task_id, kind=QuestionKind.DOCUMENTS)
    question_id = questions[-1].question_id

    documents = action.needs_input.required_docs if action.needs_input else ()
    for number, document in enumerate(documents, start=1):
        requirement = RequirementRecord(
            plan_id=task.plan_id,
            requirement_id=f"{question_id}.{number}",
            task_id=task.task_id,
            name=document.name,
            kind="FILE",
            required=True,
            min_count=1,
            allowed_types=tuple(document.accepted_types),
            keywords=(document.name,),
            source="USER",
            key=document.name.casefold(),
            suggested_path=_below_inputs(document.suggested_path),
            question_id=question_id,
        )
        tx.add(requirement)

    # files that are there already may answer them
    tx.save_plan(task.plan_id, inputs_seen=None)
    return question_id


def _below_inputs(path: str) -> str:
    """A path as seen from workspace/inputs/; a folder keeps its slash."""
    below = f"{normal_path(path)}/".removeprefix(INPUTS)
    return below if path.endswith("/") else below.rstrip("/")

"""Inputs: files that people supplied, bound to the requirements they answer.

Evidence goes stale when its file changes or disappears.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from accordance.domain.input_binding import FileNeed, InputFile, bind, stale
from accordance.domain.lifecycle import Event, State
from accordance.domain.records import (
    EvidenceRecord,
    QuestionRecord,
    RequirementRecord,
    TaskRecord,
)
from accordance.domain.task_ruling import Ask, QuestionKind
from accordance.store.ledger import Transaction

# -- binding


def bind_inputs(tx: Transaction, plan_id: str, files: list[InputFile]) -> None:
    """Bind files to the requirements of a plan; take back evidence that went stale."""
    if has_seen(tx, plan_id, files):
        return

    tx.save_plan(plan_id, inputs_seen=_signature(files))
    _Binding(tx, plan_id).run(files)


def has_seen(tx: Transaction, plan_id: str, files: list[InputFile]) -> bool:
    """Whether these files were bound in a plan already."""
    return tx.plan(plan_id).inputs_seen == _signature(files)


def _signature(files: list[InputFile]) -> str:
    lines = [f"{file.path}\0{file.sha256}" for file in files]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


class _Binding:
    """One pass over the files and the requirements of a plan."""

    def __init__(self, tx: Transaction, plan_id: str) -> None:
        needs = tx.find(RequirementRecord, plan_id=plan_id, kind="FILE")
        evidence = tx.find(EvidenceRecord, plan_id=plan_id, stale_at=None)

        self._tx = tx
        self._plan_id = plan_id
        self._needs = {need.requirement_id: need for need in needs}
        self._evidence = [
            item for item in evidence if item.requirement_id in self._needs
        ]
        self._bound = {
            (item.requirement_id, item.reference, item.sha256)
            for item in self._evidence
        }
        self._touched: set[str] = set()

    def run(self, files: list[InputFile]) -> None:
        self._take_back_stale(files)
        choices = _choices(self._tx, self._plan_id)
        settled = _settled_questions(self._tx, self._plan_id)

        file_needs = [_file_need(need) for need in self._needs.values()]
        result = bind(files, file_needs)
        for file, need in result.bound:
            self._bind(file, (need,), choices, settled)
        for file, leading in result.ties:
            self._bind(file, leading, choices, settled)

        task_ids = {self._needs[name].task_id for name in self._touched}
        for task_id in sorted(task_ids):
            recount_inputs(self._tx, task_id)

    def _take_back_stale(self, files: list[InputFile]) -> None:
        bound_files = (
            InputFile(item.reference, item.sha256) for item in self._evidence
        )
        gone = set(stale(bound_files, files))

        for item in self._evidence:
            if InputFile(item.reference, item.sha256) not in gone:
                continue
            self._tx.replace(replace(item, stale_at=self._tx.now))
            payload = {
                "requirement_id": item.requirement_id,
                "path": item.reference,
                "sha256": item.sha256,
            }
            self._tx.record(item.plan_id, "EVIDENCE_STALE", None, payload)
            self._touched.add(item.requirement_id)

    def _bind(
        self,
        file: InputFile,
        leading: Sequence[FileNeed],
        choices: dict[tuple[str, str], str],
        settled: set[str | None],
    ) -> None:
        """Bind a file to the requirement it answers; ask a person if it fits several.

        Requirements of a settled question keep the files they have and get no new ones.
        """
        candidates = [
            need.requirement_id
            for need in leading
            if self._needs[need.requirement_id].question_id not in settled
            or self._is_bound(need.requirement_id, file)
        ]
        if not candidates:
            return

        chosen: str | None = candidates[0]
        if len(candidates) > 1:
            chosen = choices.get((file.path, file.sha256))

        if chosen is None:
            needs = [self._needs[name] for name in candidates]
            _ask_which(self._tx, self._plan_id, file, needs)
        elif not self._is_bound(chosen, file):
            _add_evidence(self._tx, self._needs[chosen], file.path, file.sha256)
            self._touched.add(chosen)

    def _is_bound(self, requirement_id: str, file: InputFile) -> bool:
        return (requirement_id, file.path, file.sha256) in self._bound


def _file_need(need: RequirementRecord) -> FileNeed:
    return FileNeed(
        requirement_id=need.requirement_id,
        name=need.name,
        allowed_types=need.allowed_types,
        keywords=need.keywords,
        source=need.source,
        path=need.suggested_path,
    )


def _settled_questions(tx: Transaction, plan_id: str) -> set[str | None]:
    """The questions for documents that are answered."""
    questions = tx.find(QuestionRecord, plan_id=plan_id, kind=QuestionKind.DOCUMENTS)
    return {
        question.question_id
        for question in questions
        if question.answered_at is not None
    }


def _choices(tx: Transaction, plan_id: str) -> dict[tuple[str, str], str]:
    """The requirement that a person has chosen for a file, by its path and hash."""
    choices = {}
    for question in tx.find(QuestionRecord, plan_id=plan_id, kind=QuestionKind.BINDING):
        choice = (question.answer or {}).get("choose")
        if isinstance(choice, str):
            path = str(question.details["path"])
            sha256 = str(question.details["sha256"])
            choices[path, sha256] = choice
    return choices


def _ask_which(
    tx: Transaction, plan_id: str, file: InputFile, needs: list[RequirementRecord]
) -> None:
    """Ask a person, once, which of several requirements a file is meant for."""
    options = [need.requirement_id for need in needs]
    details = {"path": file.path, "sha256": file.sha256, "options": options}
    for question in tx.open_questions(plan_id=plan_id, kind=QuestionKind.BINDING):
        if question.details == details:
            return

    names = [f"{need.name} ({need.requirement_id})" for need in needs]
    text = f"Is {file.path} meant for {' or '.join(names)}?"
    tx.ask(plan_id, None, Ask(kind=QuestionKind.BINDING, text=text, details=details))


def _add_evidence(
    tx: Transaction, need: RequirementRecord, reference: str, sha256: str
) -> None:
    evidence = EvidenceRecord(
        plan_id=need.plan_id,
        requirement_id=need.requirement_id,
        reference=reference,
        sha256=sha256,
        added_at=tx.now,
    )
    tx.replace(evidence)

    payload = {
        "requirement_id": need.requirement_id,
        "reference": reference,
        "sha256": sha256,
    }
    tx.record(need.plan_id, "EVIDENCE_ADDED", need.task_id, payload)


# -- what a task misses


def is_met(tx: Transaction, need: RequirementRecord) -> bool:
    """Whether there is enough evidence for a requirement."""
    evidence = tx.find(
        EvidenceRecord,
        plan_id=need.plan_id,
        requirement_id=need.requirement_id,
        stale_at=None,
    )
    return len(evidence) >= need.min_count


def recount_inputs(tx: Transaction, task_id: str) -> None:
    """Count the inputs that a task misses now.

    A task that was blocked for documents goes on when all of them are there.
    """
    needs = tx.find(RequirementRecord, task_id=task_id)
    missing = 0
    for need in needs:
        is_of_plan = need.required and need.question_id is None
        if is_of_plan and not is_met(tx, need):
            missing += 1
    tx.inputs_missing(task_id, missing)

    if tx.progress(task_id).state is State.BLOCKED:
        _answer_met_questions(tx, task_id, needs)


def _answer_met_questions(
    tx: Transaction, task_id: str, needs: list[RequirementRecord]
) -> None:
    questions = tx.open_questions(task_id=task_id, kind=QuestionKind.DOCUMENTS)
    for question in questions:
        question_id = question.question_id
        wanted = [need for need in needs if need.question_id == question_id]
        if wanted and all(is_met(tx, need) for need in wanted):
            why = {"question": question_id, "by": "inputs"}
            tx.happen(task_id, Event.ANSWERED, why=why)


# -- evidence that is no file


def supply(
    tx: Transaction, need: RequirementRecord, reference: str, sha256: str
) -> None:
    """Answer a requirement with something that is no file."""
    _add_evidence(tx, need, reference, sha256)
    recount_inputs(tx, need.task_id)


def supply_from_artifact(tx: Transaction, task: TaskRecord) -> None:
    """Answer SKILL_OUTPUT requirements with the approved product of a task.

    A requirement is answered if it has the name of the product, or of the task.
    """
    if task.product is None:
        return

    product = tx.products(task.task_id)[-1]
    name = product.name.casefold()
    stem = name.removesuffix(f".{product.format}")
    for key in {name, stem, task.title.casefold()}:
        needs = tx.find(
            RequirementRecord, plan_id=task.plan_id, kind="SKILL_OUTPUT", key=key
        )
        for need in needs:
            if need.task_id != task.task_id and takes_kind(need, product.format):
                supply(tx, need, task.task_id, product.sha256)


def takes_kind(need: RequirementRecord, kind: str) -> bool:
    """Whether a file or product of that kind (its suffix) can answer a requirement."""
    allowed = {name.lstrip(".").casefold() for name in need.allowed_types}
    return not allowed or kind in allowed

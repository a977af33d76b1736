"""Inputs: files under workspace/inputs/ are bound to what asks for them; evidence goes stale when its file changes or goes."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from accordance.domain.input_binding import FileNeed, InputFile, bind, stale
from accordance.domain.lifecycle import Event, State
from accordance.domain.records import (
    EvidenceRecord,
    FileRecord,
    QuestionRecord,
    RequirementRecord,
    TaskRecord,
)
from accordance.domain.ruling import Ask, QuestionKind
from accordance.project.home import Home
from accordance.store.ledger import Ledger, Transaction


def look_at_inputs(ledger: Ledger, home: Home) -> list[InputFile]:
    """The files that lie there now. A file is read again only if its size or time has changed."""
    with ledger.read() as tx:
        known = {record.path: record for record in tx.find(FileRecord)}
    found, fresh = [], []
    for path in sorted(_walk(home.inputs)):
        record = _hashed(path, path.relative_to(home.inputs).as_posix(), known)
        if record is not None:
            found.append(InputFile(record.path, record.sha256))
            if known.get(record.path) != record:
                fresh.append(record)
    if fresh:
        with ledger.write() as tx:
            for record in fresh:
                tx.replace(record)
    return found


def _walk(folder: Path) -> Iterator[Path]:
    for here, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (Path(here, name) for name in names if not name.startswith("."))


def _hashed(path: Path, name: str, known: dict[str, FileRecord]) -> FileRecord | None:
    try:
        name.encode()
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return None  # whoever opened a pipe would wait for ever
        old = known.get(name)
        if old is not None and (old.size, old.mtime_ns) == (
            status.st_size,
            status.st_mtime_ns,
        ):
            return old
        with path.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
    except (OSError, UnicodeEncodeError):
        return None  # gone again, unreadable, or of a name nobody can write down: it answers nothing
    return FileRecord(
        path=name, sha256=digest, size=status.st_size, mtime_ns=status.st_mtime_ns
    )


def bind_inputs(tx: Transaction, plan_id: str, files: list[InputFile]) -> None:
    """Bind the files that are there to what a plan asks for; take back what no longer holds."""
    seen = _signature(files)
    if tx.plan(plan_id).inputs_seen == seen:
        return
    tx.save_plan(plan_id, inputs_seen=seen)
    needs = tx.find(RequirementRecord, plan_id=plan_id, kind="FILE")
    by_id = {one.requirement_id: one for one in needs}
    bound = [
        one
        for one in tx.find(EvidenceRecord, plan_id=plan_id, stale_at=None)
        if one.requirement_id in by_id
    ]
    touched = _take_back(tx, bound, files)
    held = {(one.requirement_id, one.reference, one.sha256) for one in bound}
    decided = _decided(tx, plan_id)
    closed = _closed(tx, plan_id)
    result = bind(files, [_need(one) for one in needs])
    for file, leading in [
        *((file, (need,)) for file, need in result.bound),
        *result.ties,
    ]:
        meant = [
            name
            for name in (need.requirement_id for need in leading)
            if by_id[name].question_id not in closed
            or (name, file.path, file.sha256) in held
        ]
        chosen = (
            decided.get((file.path, file.sha256))
            if len(meant) > 1
            else next(iter(meant), None)
        )
        if chosen is not None and (chosen, file.path, file.sha256) not in held:
            _add(tx, by_id[chosen], file.path, file.sha256)
            touched.add(chosen)
        elif chosen is None and meant:
            _ask_which(tx, plan_id, file, [by_id[one] for one in meant])
    for task in sorted({by_id[one].task_id for one in touched}):
        recount_inputs(tx, task)


def _closed(tx: Transaction, plan_id: str) -> set[str | None]:
    """Questions for documents that are settled: they keep the files they have and take no new ones."""
    asked = tx.find(QuestionRecord, plan_id=plan_id, kind=QuestionKind.DOCUMENTS)
    return {one.question_id for one in asked if one.answered_at is not None}


def _signature(files: list[InputFile]) -> str:
    listed = "\n".join(f"{file.path}\0{file.sha256}" for file in files)
    return hashlib.sha256(listed.encode()).hexdigest()


def _take_back(
    tx: Transaction, bound: list[EvidenceRecord], files: list[InputFile]
) -> set[str]:
    gone = set(stale((InputFile(one.reference, one.sha256) for one in bound), files))
    touched = set()
    for one in bound:
        if InputFile(one.reference, one.sha256) in gone:
            tx.replace(replace(one, stale_at=tx.now))
            said = {
                "requirement_id": one.requirement_id,
                "path": one.reference,
                "sha256": one.sha256,
            }
            tx.record(one.plan_id, "EVIDENCE_STALE", None, said)
            touched.add(one.requirement_id)
    return touched


def _add(tx: Transaction, need: RequirementRecord, reference: str, sha256: str) -> None:
    tx.replace(
        EvidenceRecord(
            plan_id=need.plan_id,
            requirement_id=need.requirement_id,
            reference=reference,
            sha256=sha256,
            added_at=tx.now,
        )
    )
    said = {
        "requirement_id": need.requirement_id,
        "reference": reference,
        "sha256": sha256,
    }
    tx.record(need.plan_id, "EVIDENCE_ADDED", need.task_id, said)


def _need(one: RequirementRecord) -> FileNeed:
    return FileNeed(
        requirement_id=one.requirement_id,
        name=one.name,
        allowed_types=one.allowed_types,
        keywords=one.keywords,
        source=one.source,
        path=one.suggested_path,
    )


def _ask_which(
    tx: Transaction, plan_id: str, file: InputFile, leading: list[RequirementRecord]
) -> None:
    """Two requirements could mean this file: a person says which, once."""
    options = [need.requirement_id for need in leading]
    details = {"path": file.path, "sha256": file.sha256, "options": options}
    asked = tx.open_questions(plan_id=plan_id, kind=QuestionKind.BINDING)
    if any(question.details == details for question in asked):
        return
    names = " or ".join(f"{need.name} ({need.requirement_id})" for need in leading)
    tx.ask(
        plan_id,
        None,
        Ask(
            kind=QuestionKind.BINDING,
            text=f"Is {file.path} meant for {names}?",
            details=details,
        ),
    )


def _decided(tx: Transaction, plan_id: str) -> dict[tuple[str, str], str]:
    """Which requirement a person has said a file is for."""
    said = {}
    for question in tx.find(QuestionRecord, plan_id=plan_id, kind=QuestionKind.BINDING):
        chosen = (question.answer or {}).get("choose")
        if isinstance(chosen, str):
            said[str(question.details["path"]), str(question.details["sha256"])] = (
                chosen
            )
    return said


def is_met(tx: Transaction, need: RequirementRecord) -> bool:
    """Whether enough evidence holds."""
    live = tx.find(
        EvidenceRecord,
        plan_id=need.plan_id,
        requirement_id=need.requirement_id,
        stale_at=None,
    )
    return len(live) >= need.min_count


def recount_inputs(tx: Transaction, task: str) -> None:
    """How many inputs a task misses now; one that was blocked for documents goes on when they are all there."""
    needs = tx.find(RequirementRecord, task_id=task)
    missing = sum(
        one.required and one.question_id is None and not is_met(tx, one)
        for one in needs
    )
    tx.inputs_missing(task, missing)
    if tx.progress(task).state is not State.BLOCKED:
        return
    for question in tx.open_questions(task_id=task, kind=QuestionKind.DOCUMENTS):
        asked = [one for one in needs if one.question_id == question.question_id]
        if asked and all(is_met(tx, one) for one in asked):
            tx.happen(
                task,
                Event.ANSWERED,
                why={"question": question.question_id, "by": "inputs"},
            )


def supply(
    tx: Transaction, need: RequirementRecord, reference: str, sha256: str
) -> None:
    """Something that is no file answers a requirement."""
    _add(tx, need, reference, sha256)
    recount_inputs(tx, need.task_id)


def supply_from_artifact(tx: Transaction, task: TaskRecord) -> None:
    """An approved product answers the SKILL_OUTPUT requirements that are named like it, or like its task."""
    if task.product is None:
        return
    current = tx.products(task.task_id)[-1]
    for key in {
        current.name.casefold(),
        current.name.casefold().removesuffix(f".{current.format}"),
        task.title.casefold(),
    }:
        for need in tx.find(
            RequirementRecord, plan_id=task.plan_id, kind="SKILL_OUTPUT", key=key
        ):
            fits = not need.allowed_types or current.format in {
                kind.lstrip(".").casefold() for kind in need.allowed_types
            }
            if fits and need.task_id != task.task_id:
                supply(tx, need, task.task_id, current.sha256)

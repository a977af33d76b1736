"""Amending a plan that runs: look at the difference first, then take it up."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from accordance.contracts.catalogue.plan import Plan
from accordance.contracts.violation import Accepted, Rejected
from accordance.domain.task_edits import TaskEdit, edited
from accordance.project.home import write_file
from accordance.service.plan_files import PlanFile, plan_text
from accordance.service.plan_intake import PlanRejected, check_plan, roles_of
from accordance.service.project import Project, find_plan
from accordance.service.views.amendments import AmendmentView, amendment_view
from accordance.store.ledger import Transaction
from accordance.work import amending
from accordance.work.amendment_checks import (
    AmendmentRequest,
    PreparedAmendment,
    prepare,
)
from accordance.work.importing import Source, document_of
from accordance.work.stored_plans import read_plan

__all__ = [
    "AmendedText",
    "PlanAmendment",
    "TaskEdit",
    "amend_plan",
    "amended_text",
    "preview_amendment",
]


@dataclass(frozen=True, slots=True)
class AmendedText:
    """A plan as it should become, and the plan and revision that it was made from."""

    plan_id: str
    base: int
    raw: bytes
    source: bytes  # what a person wrote, in any format


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanAmendment:
    """An amendment whose plan keeps its contract."""

    plan_id: str
    base: int
    raw: bytes
    accepted: Accepted[Plan]
    fuses: Mapping[str, object] = field(default_factory=dict)


def amended_text(
    project: Project,
    name: str | None,
    file: PlanFile | None = None,
    edits: Mapping[str, TaskEdit] | None = None,
) -> AmendedText:
    """Return the text of an amended plan: that of a file, or the old text edited.

    Raises NotFound, and UnfitEdit for an edit that its task has no place for.
    """
    with project.ledger.read() as tx:
        plan = find_plan(tx, name)
        text = tx.blob(plan.document) if file is None else plan_text(file)
    source = text if file is None else file.raw
    if edits:
        text = source = _edited_text(text, edits)
    return AmendedText(plan.plan_id, plan.revision, text, source)


def _edited_text(text: bytes, edits: Mapping[str, TaskEdit]) -> bytes:
    """The text of a plan with its tasks edited; as it is, if it holds no plan."""
    result = check_plan(text)
    if isinstance(result, Rejected):
        return text
    document = json.loads(document_of(result.value))
    for task_id, edit in edits.items():
        document = edited(document, task_id, edit)
    return json.dumps(document, ensure_ascii=False).encode()


def check_amendment(
    project: Project,
    text: AmendedText,
    fuses: Mapping[str, object],
) -> PlanAmendment | Rejected:
    """Return the amendment in a text, or everything that is wrong with its plan."""
    result = check_plan(text.raw, project.home)
    if isinstance(result, Rejected):
        return result
    return PlanAmendment(
        plan_id=text.plan_id,
        base=text.base,
        raw=text.source,
        accepted=result,
        fuses=fuses,
    )


def accepted_amendment(checked: PlanAmendment | Rejected) -> PlanAmendment:
    """Return an amendment whose plan keeps its contract. Raises PlanRejected."""
    if isinstance(checked, Rejected):
        raise PlanRejected(checked)
    return checked


def preview_amendment(project: Project, amendment: PlanAmendment) -> AmendmentView:
    """What an amendment would change. Nothing is changed.

    Raises as `amend_plan` does.
    """
    with project.ledger.read() as tx:
        request = _request(project, amendment)
        prepared = prepare(tx, amendment.plan_id, request)
        titles = _titles(tx, prepared)
    return amendment_view(prepared, titles, is_done=False)


def amend_plan(
    project: Project,
    amendment: PlanAmendment,
    *,
    by: str,
    note: str | None = None,
) -> AmendmentView:
    """Amend a plan, and write it, normalised, into the project.

    Raises AmendmentRefused, NothingToAmend, UnfitPlanState, PlanChanged and Conflict.
    """
    accepted = amendment.accepted
    prepared, _, document = amending.amend_plan(
        project.ledger,
        amendment.plan_id,
        _request(project, amendment),
        by=by,
        note=note,
        source=Source(amendment.raw, accepted.repairs, accepted.warnings),
    )
    write_file(project.home.plan_file, document)
    with project.ledger.read() as tx:
        titles = _titles(tx, prepared)
    return amendment_view(prepared, titles, is_done=True)


def _request(project: Project, amendment: PlanAmendment) -> AmendmentRequest:
    return AmendmentRequest(
        plan=amendment.accepted.value,
        base=amendment.base,
        fuses=amendment.fuses,
        roles=roles_of(project.home),
    )


def _titles(tx: Transaction, prepared: PreparedAmendment) -> dict[str, str]:
    """The titles that tasks had before an amendment."""
    if not prepared.amendment.difference.removed:
        return {}
    old = read_plan(tx.blob(prepared.record.document))
    return {node.task_id: node.title for node in old.nodes}

"""Checking where changes have landed: each on the head that its plan had then.

A rebased change must have been good before, an approval that stands must be of the same
patch, and a new base must be taken in with all changes of the plan.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from accordance.audit.findings import UNREADABLE, AuditFindings
from accordance.domain.chain import Payload
from accordance.domain.patch_content import has_same_content
from accordance.domain.records import ArtifactRecord, MessageRecord, PlanRecord
from accordance.errors import NotFound
from accordance.store.ledger import Transaction
from accordance.work.landing import APPROVAL
from accordance.work.plan_head import REBASE, landed_changes

_ID_LENGTH: Final = 40
"""Characters of a message id that findings show."""
_WITH_HEADS: Final = "maker"
"""The key of a case from versions that let no change land anywhere but on the head."""


def verify_landings(
    tx: Transaction,
    plan: PlanRecord,
    announced: Mapping[str, Payload],
    findings: AuditFindings,
) -> None:
    """Check every change that has landed, was rebased, or put on a new base."""
    rebases = tx.find(MessageRecord, plan_id=plan.plan_id, kind=REBASE)
    for fault in _wrong_heads(tx, plan, rebases):
        findings.broken(fault)

    for message in tx.find(MessageRecord, plan_id=plan.plan_id, kind="SUBMISSION"):
        try:
            faults = list(_wrong_rebase(tx, message))
        except (*UNREADABLE, NotFound):
            faults = ["what it was rebased from cannot be read"]
        for fault in faults:
            findings.broken(f"{_label(message)}: {fault}")

    for rebase in rebases:
        _verify_new_base(tx, rebase, announced.get(rebase.message_id), findings)
    known = {rebase.message_id for rebase in rebases}
    for message_id in announced.keys() - known:
        findings.missing(f"message {message_id[:_ID_LENGTH]}, a new base, is missing")


def _label(message: MessageRecord) -> str:
    return f"message {message.message_id[:_ID_LENGTH]}"


def _wrong_heads(
    tx: Transaction,
    plan: PlanRecord,
    rebases: list[MessageRecord],
) -> Iterator[str]:
    """The changes and new bases that were put on something else than the head."""
    messages = [*landed_changes(tx, plan.plan_id), *rebases]
    head: str | None = None
    for message in sorted(messages, key=lambda message: message.seq):
        move = _head_move(message)
        if move.must_fit and head not in (None, move.before):
            yield f"{_label(message)}: it did not land on the head of the plan"
        head = move.after


class _HeadMove(NamedTuple):
    """How a change or a new base moved the head of its plan."""

    before: str
    after: str
    must_fit: bool
    """Whether it had to begin at the head."""


def _head_move(message: MessageRecord) -> _HeadMove:
    case: Mapping[str, Any] = message.case
    if message.kind == REBASE:
        return _HeadMove(case["old_head"], case["head"], must_fit=True)
    return _HeadMove(case["base"], case["commit"], must_fit=_WITH_HEADS in case)


def _wrong_rebase(tx: Transaction, message: MessageRecord) -> Iterator[str]:
    """What is wrong about a change that was applied to a new head."""
    case: Mapping[str, Any] = message.case
    rebased = case.get("rebased")
    if rebased is None:
        return

    earlier = tx.find(
        MessageRecord,
        subject=message.subject,
        kind="SUBMISSION",
        attempt=rebased["attempt"],
    )
    origins = [change.case.get("commit") for change in earlier]
    if rebased["commit"] not in origins:
        yield "the change that it was rebased from was never good"

    approval = case.get(APPROVAL)
    if approval is None:
        return
    if not _is_same_product(tx, message, approval["product"]):
        yield "its approval is of another change"


def _is_same_product(tx: Transaction, message: MessageRecord, approved: str) -> bool:
    """Whether a rebased change has the content that was approved.

    A change that was overtaken again has no product; its own rebase is compared then.
    """
    products = tx.find(ArtifactRecord, task_id=message.subject, attempt=message.attempt)
    if not products:
        return True
    patch = tx.blob(products[-1].sha256)
    return has_same_content(tx.blob(approved), patch)


def _verify_new_base(
    tx: Transaction,
    rebase: MessageRecord,
    event: Payload | None,
    findings: AuditFindings,
) -> None:
    """Check that the row, the event and the report of a new base agree."""
    label = _label(rebase)
    if event is None:
        findings.missing(f"{label}: the event that names the new base is missing")
        return

    case: Mapping[str, Any] = rebase.case
    try:
        report = json.loads(tx.blob(rebase.sha256))
        replay = _replay(case, report)
    except (*UNREADABLE, NotFound):
        findings.broken(f"{label}: its report cannot be read")
        return

    if not _agrees(event, case):
        findings.broken(f"{label}: its event names another base")
    if not _agrees(report, case):
        findings.broken(f"{label}: its report names another base")

    leads_to_head = case["head"] in replay.heads
    if not replay.is_good or not leads_to_head:
        findings.broken(f"{label}: the new head does not follow from its report")
    if case["old_head"] not in replay.old_heads:
        findings.broken(f"{label}: it does not replay what the plan had come to")


class _Replay(NamedTuple):
    """What putting the changes of a plan on a new base has come to."""

    heads: tuple[str, ...]
    old_heads: tuple[str, ...]
    is_good: bool
    """Whether every change was taken along, and no test failed."""


def _replay(case: Mapping[str, Any], report: Mapping[str, Any]) -> _Replay:
    commits = [row[2] for row in case["changes"]]
    replayed = [row[2] for row in report["replayed"]]
    foreign = case.get("foreign", ())
    replayed_foreign = report.get("replayed_foreign", ())
    has_passed = all(run["exit_code"] == 0 for run in report["tests"])
    is_complete = len(replayed) == len(commits)
    return _Replay(
        heads=(*commits[-1:], *foreign),
        old_heads=(*replayed[-1:], *replayed_foreign),
        is_good=is_complete and has_passed,
    )


def _agrees(document: Mapping[str, Any], case: Mapping[str, Any]) -> bool:
    """Whether a document says the same as a case, in every key of the case."""
    return all(document.get(key) == value for key, value in case.items())

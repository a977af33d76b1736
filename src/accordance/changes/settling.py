"""Settling a judged change: the verdict, the patch as a product, the plan's new head.

The verdict was reached while no transaction was open; here it only takes effect. All
that it rests on lies in a bundle, whose manifest the chain of events names. So `verify`
can reach the verdict again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter

from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.violation import Accepted
from accordance.domain.lifecycle import Event, State
from accordance.domain.records import MessageRecord
from accordance.domain.retrying import feedback_for
from accordance.domain.verdict import Outcome, Verdict
from accordance.judging.rejudging import rejudge
from accordance.project.home import Home
from accordance.store.ledger import Transaction
from accordance.work.arrivals import (
    ArrivedMessage,
    arrive,
)
from accordance.work.inputs import supply_from_artifact
from accordance.work.intake import (
    history_of,
    judge_arrived,
    refuse,
    settle,
)
from accordance.work.landing import lands_on_head
from accordance.work.message_kinds import JudgedMessage
from accordance.work.products import Product, store_product
from accordance.work.receipts import Receipt
from accordance.work.reviewing import approve_product
from accordance.workspace.bundle import MANIFEST
from accordance.workspace.errors import BundleBroken

JUDGED: Final = "JUDGED"
"""The event that names the evidence of a change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedChange:
    """The judgement of an attempt to change a repository."""

    verdict: Verdict
    bundle: str  # its evidence, below the project folder
    manifest: str  # the hash of its manifest
    base: str  # the commit it began from
    commit: str | None = None  # the change on top of it, if it passed
    written: str | None = None  # where its evidence lies until it counts
    printed: str = ""  # by failed tests, as far as the next attempt may see it

    def to_json(self) -> JsonObject:
        """The judgement as plain JSON."""
        document: JsonObject = _adapter().dump_python(self, mode="json")
        return document

    def where(self) -> JsonObject:
        """Where its evidence and its commit are, once it counts."""
        return {
            "bundle": self.bundle,
            "manifest": self.manifest,
            "base": self.base,
            "commit": self.commit,
        }


@cache
def _adapter() -> TypeAdapter[JudgedChange]:
    return TypeAdapter(JudgedChange)


def change_in(
    tx: Transaction,
    home: Home,
    raw: bytes,
    task_id: str,
    attempt: int,
    judged: JsonObject,
) -> Receipt:
    """Let the verdict on a change take effect, in a transaction of the caller's."""
    arrived = arrive(tx, task_id, "SUBMISSION", raw)
    is_in_progress = arrived.task.progress.state is State.IN_PROGRESS
    if not is_in_progress or arrived.attempt != attempt:
        return refuse(tx, arrived, f"attempt {attempt} of task {task_id} is over")

    change = _adapter().validate_python(judged)
    lands = lands_on_head(tx, arrived.plan.plan_id, change.base)
    history = history_of(tx, arrived.task, _open_checks(tx, task_id))
    history = replace(history, is_behind=not lands)
    case = {"task": asdict(history), **change.where()}
    message = judge_arrived(arrived, case, verdict=change.verdict)

    def act() -> dict[str, Any]:
        return _take_effect(tx, home, arrived, change, message)

    return settle(tx, arrived, message, case, act)


def _take_effect(
    tx: Transaction,
    home: Home,
    arrived: ArrivedMessage,
    change: JudgedChange,
    message: JudgedMessage,
) -> dict[str, Any]:
    """Name the evidence, keep the patch, and move the task."""
    task_id, ruling = arrived.task.task_id, message.ruling
    where = change.where()
    _name_evidence(home.root, change)
    payload = {"message": arrived.message_id, **where}
    tx.record(arrived.plan.plan_id, JUDGED, task_id, payload)

    extra: dict[str, Any] = {**where, "next_action": change.verdict.next_action}
    if ruling.outcome is Outcome.DONE:
        extra["artifact"] = _keep_patch(tx, home, arrived, change, message)
    elif change.verdict.outcome is not Outcome.DONE:
        extra["tell"] = feedback_for(change.verdict) + change.printed

    first_event, _ = ruling.steps[0]
    if first_event is Event.APPROVED:
        approve_product(tx, tx.task(task_id))
    tx.rule(task_id, ruling, {"message": arrived.message_id})
    if tx.progress(task_id).state is State.DONE:
        supply_from_artifact(tx, tx.task(task_id))
    return extra


def _name_evidence(root: Path, change: JudgedChange) -> None:
    """Give the evidence of a change that counts its name.

    Several runs of an attempt may have been judged: by a worker that was thought dead,
    or in a run that was cut off. Which of them counts is known here, where the plan is
    locked. Evidence that has the name already was left by another run, and is kept.

    Raises BundleBroken if the evidence is gone.
    """
    if change.written is None:
        return

    bundle, written = root / change.bundle, root / change.written
    if _has_evidence(bundle, change):
        return  # it was named before a kill, or in a transaction that was rolled back
    if not _has_evidence(written, change):
        raise BundleBroken(
            f"the evidence of the change is not in {change.written}:"
            " it cannot be settled here"
        )
    if bundle.exists():
        bundle.rename(_place_aside(bundle))
    written.rename(bundle)


def _place_aside(bundle: Path) -> Path:
    """The first free name for the evidence of a run that does not count."""
    places = (bundle.with_name(f"{bundle.name}-cut-{number}") for number in count(1))
    return next(place for place in places if not place.exists())


def _has_evidence(folder: Path, change: JudgedChange) -> bool:
    return (folder / MANIFEST).is_file() and manifest_of(folder) == change.manifest


def _open_checks(tx: Transaction, task_id: str) -> int:
    """The number of checks that have to approve the change beside the gateway."""
    checks = [tx.progress(check_id) for check_id in tx.node(task_id).checked_by]
    return sum(check.active and check.state is not State.DONE for check in checks)


def _keep_patch(
    tx: Transaction,
    home: Home,
    arrived: ArrivedMessage,
    change: JudgedChange,
    message: JudgedMessage,
) -> dict[str, Any]:
    summary = None
    if isinstance(message.result, Accepted):
        summary = message.result.value.summary
    patch = (home.root / change.bundle / "patch.diff").read_bytes()
    product = Product("change", "diff", patch, summary)
    return store_product(tx, home, arrived.task, product)


# -- reaching a verdict again


def verdict_again(
    root: Path, message: MessageRecord, raw: bytes, task: bytes | None
) -> tuple[Verdict | None, list[str]]:
    """Return the verdict that follows from a bundle, and what does not hold about it.

    `task` is the scc.task.v1 that the plan has.
    """
    folder = root / str(message.case["bundle"])
    try:
        again = rejudge(folder)
    except BundleBroken as error:
        return None, [str(error)]

    faults = [*_differences(folder, message, raw, task), *again.faults]
    verdict = again.judgement.verdict if again.judgement else None
    return verdict, faults


def _differences(
    folder: Path, message: MessageRecord, raw: bytes, task: bytes | None
) -> Iterator[str]:
    """Where a bundle differs from what the ledger knows."""
    bundle = message.case["bundle"]
    if manifest_of(folder) != message.case["manifest"]:
        yield f"the manifest of {bundle} is not the one that was judged"

    for name, content in (("submit.json", raw), ("task.json", task)):
        file = folder / name
        if not file.is_file() or file.read_bytes() != content:
            yield f"{name} in {bundle} differs from the ledger's"


def manifest_of(folder: Path) -> str:
    """Return the hash of the manifest, which holds the hashes of all other files."""
    return hashlib.sha256((folder / MANIFEST).read_bytes()).hexdigest()

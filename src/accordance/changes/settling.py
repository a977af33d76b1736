"""A change that was judged by facts, and what becomes of it: the verdict, the patch as a product, the plan's new head.

The verdict was reached while no transaction was open; here it only takes effect. Everything it rests on lies in its bundle,
whose manifest the chain of events names, so that `verify` can reach it again.
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
from accordance.domain.retrying import what_to_tell
from accordance.domain.verdict import Outcome, Verdict
from accordance.judging.rejudging import rejudge
from accordance.project.home import Home
from accordance.store.ledger import Transaction
from accordance.work.inputs import supply_from_artifact
from accordance.work.intake import (
    ArrivedMessage,
    Product,
    arrive,
    case_of,
    judge_arrived,
    refuse,
    settle,
    store_product,
)
from accordance.work.landing import lands_on_head
from accordance.work.receipts import Receipt
from accordance.work.reviewing import approve_product
from accordance.workspace.bundle import MANIFEST
from accordance.workspace.errors import BundleBroken

JUDGED: Final = "JUDGED"  # the event that names the evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedChange:
    """What was found out about one attempt to change a repository."""

    verdict: Verdict
    bundle: str  # its evidence, below the project folder
    manifest: str  # the hash of its manifest
    base: str  # the commit it began from
    commit: str | None = None  # the change on top of it, if it passed
    written: str | None = None  # where its evidence lies until it counts

    def to_json(self) -> JsonObject:
        """As plain JSON."""
        told: JsonObject = _adapter().dump_python(self, mode="json")
        return told

    def where(self) -> JsonObject:
        """Where everything lies, once it counts."""
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
    if (
        arrived.task.progress.state is not State.IN_PROGRESS
        or arrived.attempt != attempt
    ):
        return refuse(tx, arrived, f"attempt {attempt} of task {task_id} is over")
    change = _adapter().validate_python(judged)
    lands = lands_on_head(tx, arrived.plan.plan_id, change.base)
    of_task = replace(
        case_of(tx, arrived.task, _reviewers(tx, task_id)), is_behind=not lands
    )
    case = {"task": asdict(of_task), **change.where()}
    settled = judge_arrived(arrived, case, verdict=change.verdict)
    result, ruling = settled.result, settled.ruling

    def act() -> dict[str, Any]:
        _name_evidence(home.root, change)
        tx.record(
            arrived.plan.plan_id,
            JUDGED,
            task_id,
            {"message": arrived.message_id, **change.where()},
        )
        extra: dict[str, Any] = {
            **change.where(),
            "next_action": change.verdict.next_action,
        }
        if ruling.outcome is Outcome.DONE:
            summary = result.value.summary if isinstance(result, Accepted) else None
            extra["artifact"] = _keep_patch(tx, home, arrived, change, summary)
        elif change.verdict.outcome is not Outcome.DONE:
            extra["tell"] = what_to_tell(change.verdict)
        if ruling.steps[0][0] is Event.APPROVED:
            approve_product(tx, tx.task(task_id))
        tx.rule(task_id, ruling, {"message": arrived.message_id})
        if tx.progress(task_id).state is State.DONE:
            supply_from_artifact(tx, tx.task(task_id))
        return extra

    return settle(tx, arrived, settled, case, act)


def _name_evidence(root: Path, change: JudgedChange) -> None:
    """Let the evidence of a change that counts have its name. Raises BundleBroken if it is gone.

    Several runs of one attempt may have been judged: a worker that was thought dead, a run that was cut off. The one that
    counts is known here, where the plan is held; what has the name already was left by one that does not, and is kept.
    """
    if change.written is None:
        return
    bundle, written = root / change.bundle, root / change.written
    if _is_there(bundle, change):
        return  # it got it before a kill, or before a transaction that did not hold
    if not _is_there(written, change):
        raise BundleBroken(
            f"the evidence of the change is not in {change.written}: it cannot be settled here"
        )
    if bundle.exists():
        aside = (bundle.with_name(f"{bundle.name}-cut-{number}") for number in count(1))
        bundle.rename(next(place for place in aside if not place.exists()))
    written.rename(bundle)


def _is_there(folder: Path, change: JudgedChange) -> bool:
    return (folder / MANIFEST).is_file() and manifest_of(folder) == change.manifest


def _reviewers(tx: Transaction, task_id: str) -> int:
    """How many checks have to approve the change beside the gateway."""
    checks = [tx.progress(one) for one in tx.node(task_id).checked_by]
    return sum(at.active and at.state is not State.DONE for at in checks)


def _keep_patch(
    tx: Transaction,
    home: Home,
    arrived: ArrivedMessage,
    change: JudgedChange,
    summary: str | None,
) -> dict[str, Any]:
    patch = (home.root / change.bundle / "patch.diff").read_bytes()
    return store_product(tx, home, arrived, Product("change", "diff", patch, summary))


def verdict_again(
    root: Path, message: MessageRecord, raw: bytes, asked: bytes | None
) -> tuple[Verdict | None, list[str]]:
    """The verdict on a change as it follows from its bundle, and what does not hold about it. `asked` is the plan's task."""
    folder = root / str(message.case["bundle"])
    try:
        again = rejudge(folder)
    except BundleBroken as error:
        return None, [str(error)]
    faults = [*_not_the_same(folder, message, raw, asked), *again.faults]
    return (again.judgement.verdict if again.judgement else None), faults


def _not_the_same(
    folder: Path, message: MessageRecord, raw: bytes, asked: bytes | None
) -> Iterator[str]:
    if manifest_of(folder) != message.case["manifest"]:
        yield f"the manifest of {message.case['bundle']} is not the one that was judged by"
    for name, content in (("submit.json", raw), ("task.json", asked)):
        if not (folder / name).is_file() or (folder / name).read_bytes() != content:
            yield f"{name} in {message.case['bundle']} is not the ledger's"


def manifest_of(folder: Path) -> str:
    """The hash of a bundle's manifest, which names the hash of everything else in it."""
    return hashlib.sha256((folder / MANIFEST).read_bytes()).hexdigest()

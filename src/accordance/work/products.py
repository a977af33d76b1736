"""Products: what messages bring for their tasks, kept version by version."""

from __future__ import annotations

import contextlib
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from accordance.contracts.catalogue.answer import AgentAnswer
from accordance.contracts.violation import Accepted, Rejected
from accordance.domain.naming import versioned
from accordance.domain.records import ArtifactRecord, TaskRecord
from accordance.domain.research.answers import awaits_a_person
from accordance.errors import LedgerUnavailable
from accordance.project.home import Home, write_file
from accordance.store.ledger import Transaction


class Product(NamedTuple):
    """What an attempt at a task has produced."""

    name: str
    format: str
    content: bytes
    summary: str | None = None
    file: str | None = None
    """The name of its file, without a version; by default, the name of the product."""


def product_in(result: Accepted[Any] | Rejected, raw: bytes) -> Product | None:
    """Return the product that a message brings, if any.

    An answer is a product itself, also if a person has to approve it first.
    """
    if isinstance(result, Rejected):
        return Product("answer", "json", raw) if awaits_a_person(result) else None

    message = result.value
    if isinstance(message, AgentAnswer):
        return Product("answer", "json", raw, message.content.summary)

    artifact = message.artifact
    if artifact is None or message.result_type != "ARTIFACT":
        return None

    # the folder is the task's, by the contract; only the name is a hint
    _, _, hint = (artifact.path_hint or "").rpartition("/")
    return Product(
        name=artifact.name,
        format=artifact.format,
        content=artifact.content.encode(),
        summary=artifact.summary,
        file=hint.strip() or None,
    )


def store_product(
    tx: Transaction, home: Home, task: TaskRecord, product: Product
) -> dict[str, Any]:
    """Store a new version of a task's product, in the ledger and as a file.

    Earlier versions stay. The file is a copy of what the ledger has. It is written when
    the product is stored for good; where there is no room for it, or the process is
    killed before, the product is fetched when it is needed. Returns what the answer to
    the message says of it.
    """
    version = len(tx.products(task.task_id)) + 1
    record = ArtifactRecord(
        plan_id=task.plan_id,
        task_id=task.task_id,
        version=version,
        attempt=task.progress.standing.counters.attempts,
        name=product.name,
        file_name=versioned(product.file or product.name, product.format, version),
        format=product.format,
        sha256=tx.keep(product.content),
        summary=product.summary,
        created_at=tx.now,
    )
    tx.add(record)
    tx.save_task(task.task_id, product=record.sha256)

    path = home.artifacts(task.task_id) / record.file_name
    tx.afterwards(partial(_copy_to_file, path, product.content))
    return {
        "sha256": record.sha256,
        "version": version,
        "path": str(path.relative_to(home.root)),
    }


def _copy_to_file(path: Path, content: bytes) -> None:
    with contextlib.suppress(LedgerUnavailable):
        write_file(path, content)

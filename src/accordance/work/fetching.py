"""What an attempt reads as files, brought to the machine that it runs on."""

from __future__ import annotations

from accordance.domain.records import TaskRecord
from accordance.project.home import Home
from accordance.store.ledger import Transaction
from accordance.work.fetched_files import fetch_file
from accordance.work.input_files import fetch_inputs


def fetch_for_attempt(tx: Transaction, home: Home, task: TaskRecord) -> None:
    """Fetch the inputs of a task, and the products it builds on or reviews.

    Raises BlobError, CannotWrite.
    """
    subject = tx.task(task.checks) if task.checks else task
    fetch_inputs(tx, home, subject)
    for task_id in (subject.task_id, *tx.node(subject.task_id).prerequisites):
        fetch_product(tx, home, task_id)


def fetch_product(tx: Transaction, home: Home, task_id: str) -> None:
    """Fetch the newest product of a task, unless it is there."""
    products = tx.products(task_id)
    if not products:
        return
    product = products[-1]
    path = home.artifacts(task_id) / product.file_name
    if not path.exists():
        fetch_file(tx, product.sha256, path)

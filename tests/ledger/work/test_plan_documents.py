"""What is read from the documents of plans is remembered, for a bounded number of plans."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from accordance.work.plan_documents import DocumentReader


class Ledger:
    """A ledger that counts how often each document is read."""

    def __init__(self) -> None:
        self.reads: list[str] = []

    def blob(self, sha256: str) -> bytes:
        self.reads.append(sha256)
        return sha256.encode()


def read(reader: DocumentReader[str], ledger: Ledger, document: str) -> str:
    plan: Any = SimpleNamespace(document=document)
    return reader.value(cast("Any", ledger), plan)


def test_a_document_is_read_once() -> None:
    reader, ledger = DocumentReader(bytes.decode), Ledger()

    assert [read(reader, ledger, "a") for _ in range(3)] == ["a", "a", "a"]
    assert ledger.reads == ["a"]


def test_an_empty_value_is_remembered_too() -> None:
    reader, ledger = DocumentReader(lambda _: ""), Ledger()

    assert [read(reader, ledger, "a") for _ in range(2)] == ["", ""]
    assert ledger.reads == ["a"]


def test_the_oldest_plan_makes_way_for_a_new_one() -> None:
    reader, ledger = DocumentReader(bytes.decode, size=2), Ledger()

    for document in ("a", "b", "c", "b", "a"):
        assert read(reader, ledger, document) == document

    assert len(reader) == 2
    assert ledger.reads == ["a", "b", "c", "a"]

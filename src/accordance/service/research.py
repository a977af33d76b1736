"""Research: the answers of agents that a ledger keeps."""

from __future__ import annotations

from accordance.domain.research.runs import AnswerStore
from accordance.errors import LedgerUnavailable
from accordance.service.project import Project
from accordance.store.answers import AnswersInLedger
from accordance.store.sql import SqlLedger


def kept_answers(project: Project) -> AnswerStore:
    """The answers in the ledger of a project, as long as it is open."""
    ledger = project.ledger
    if not isinstance(ledger, SqlLedger):
        raise LedgerUnavailable(
            "answers are kept in a database, and this ledger has none"
        )
    return AnswersInLedger(ledger.engine)

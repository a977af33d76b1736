"""Research: the answers of agents that a ledger keeps."""

from __future__ import annotations

from accordance.domain.research.runs import AnswerStore
from accordance.service.project import Project
from accordance.store.answers import AnswersInLedger


def kept_answers(project: Project) -> AnswerStore:
    """The answers in the ledger of a project, as long as it is open."""
    return AnswersInLedger(project.ledger.engine)

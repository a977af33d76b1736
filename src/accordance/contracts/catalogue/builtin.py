"""The list of all built-in contracts."""

from __future__ import annotations

from accordance.contracts.catalogue.action import ACTION
from accordance.contracts.catalogue.answer import ANSWER
from accordance.contracts.catalogue.edits import EDITS
from accordance.contracts.catalogue.handoff import HANDOFF
from accordance.contracts.catalogue.plan import PLAN
from accordance.contracts.catalogue.request import REQUEST
from accordance.contracts.catalogue.review import REVIEW
from accordance.contracts.catalogue.submit import SUBMIT
from accordance.contracts.catalogue.task import TASK
from accordance.contracts.catalogue.verdict import OUTCOME, VERDICT

CATALOGUE = (
    ACTION,
    REVIEW,
    PLAN,
    REQUEST,
    ANSWER,
    HANDOFF,
    TASK,
    SUBMIT,
    EDITS,
    VERDICT,
    OUTCOME,
)
"""Every built-in contract, in the order people read about them."""

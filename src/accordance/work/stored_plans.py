"""The plan that a stored document holds.

It is apart from `plan_documents`, because commands that only show a ledger need none of
what checks a plan.
"""

from __future__ import annotations

from accordance.api import check_value
from accordance.contracts.catalogue.plan import Plan
from accordance.contracts.reading import parse_object
from accordance.contracts.violation import Rejected
from accordance.errors import LedgerDamaged
from accordance.work.plan_documents import DOCUMENT_LIMITS


def read_plan(document: bytes) -> Plan:
    """Return the plan of a stored document. Raises LedgerDamaged."""
    result = check_value(parse_object(document, DOCUMENT_LIMITS), "PLAN_GEN")
    if isinstance(result, Rejected):
        raise LedgerDamaged("the document of a plan is not a plan")
    plan: Plan = result.value
    return plan

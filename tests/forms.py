"""What a fix may do, as a predicate: the same value in another form. Written down again here, apart from the code under test."""

from __future__ import annotations

import json
import re
from typing import Any

from accordance import Rejected, Violation
from accordance.contracts.catalogue.plan_graph import REVERSED
from accordance.contracts.jsonpath import lookup, parse
from accordance.errors import InvalidPath

NOTHING = object()
PLACES_OF_FILES = (
    "path_hint",
    "suggested_path",
)  # where a file is to lie, within folders that accordance prescribes


def changes_more_than_form(result: Rejected) -> list[Violation]:
    """The violations whose fix would change a decision, an identity or a meaning."""
    return [
        one
        for one in result.violations
        if one.fix and not repairs_form(result.message, one)
    ]


def repairs_form(message: Any, violation: Violation) -> bool:
    """Whether a fix says the same in another form."""
    fix = violation.fix
    assert fix is not None
    path = parse(fix.path)
    try:
        before = lookup(message, path)
    except InvalidPath:
        before = NOTHING
    if fix.op == "remove":
        return before is None or violation.code == "unknown_key"
    if isinstance(fix.value, dict):
        return is_turned_round(before, fix.value)
    return path[-1] in PLACES_OF_FILES or is_same(before, fix.value)


def is_same(before: Any, after: Any) -> bool:
    """Another type or another spelling of one value."""
    if before is NOTHING:
        return False
    if isinstance(before, str) and isinstance(after, str):
        return spelling_of(before) == spelling_of(after)
    if isinstance(before, str) and isinstance(after, bool | int | float):
        return bool(json.loads(before.strip().lower()) == after)
    if isinstance(before, float) and isinstance(after, int):
        return before == after
    if isinstance(after, list):
        return after == [before] or (before is None and after == [])
    return bool(before == [after])


def spelling_of(text: str) -> str:
    """Without letter case (of ASCII), blanks around, and the choice of separator."""
    upper = re.sub("[a-z]", lambda letter: letter[0].upper(), text.strip())
    return re.sub("[- ]", "_", upper)


def is_turned_round(before: Any, after: Any) -> bool:
    """REQUIRES and CHILD_OF name the same relation seen from its other end: the one rewriting of an edge that is offered."""
    if not isinstance(before, dict) or before.get("edge_type") not in REVERSED:
        return False
    turned = {
        "edge_type": REVERSED[before["edge_type"]],
        "from_task_id": before["to_task_id"],
        "to_task_id": before["from_task_id"],
    }
    return bool(after == {**before, **turned})

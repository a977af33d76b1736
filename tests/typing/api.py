"""How users write it. Checked by mypy --strict, not run."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, assert_type

from pydantic import BaseModel

from accordance import (
    Accepted,
    Contract,
    Judgement,
    Rejected,
    StreamGuard,
    Violation,
    apply_fixes,
    check,
    check_value,
    contract,
    feedback,
    judge,
    read_tolerant,
    registry,
    schema,
)
from accordance.contracts.catalogue.action import ACTION, Action


class Greeting(BaseModel):
    schema_version: Literal["greeting_v1"]
    text: str


result = check(b"{}", ACTION)
assert_type(result, Accepted[Action] | Rejected)
if isinstance(result, Accepted):
    assert_type(result.value, Action)
    assert_type(result.value.task_id, str)
else:
    assert_type(feedback(result), str)
    if result.message is not None:
        apply_fixes(result.message, result.violations)

if result:  # the outcome is its own test
    assert_type(result.value, Action)
else:
    assert_type(result, Rejected)
    assert_type(feedback(result), str)

if not (answer := check("{}", Greeting)):
    raise ValueError(feedback(answer))
assert_type(answer.value, Greeting)


@contract("parting_v1")
class Parting(BaseModel):
    text: str


assert_type(check("{}", Parting), Accepted[Parting] | Rejected)
assert_type(check_value({}, Parting), Accepted[Parting] | Rejected)
assert_type(registry.find(Parting).version, str)
for like in ("greeting_v1", Greeting, ACTION):
    schema(like)
    StreamGuard(like)

own = Contract(version="greeting_v1", model=Greeting)
match check("{}", own, reader=read_tolerant):
    case Accepted(value=greeting):
        assert_type(greeting, Greeting)
    case Rejected(violations=violations):
        assert_type(violations, tuple[Violation, ...])

by_model = check("{}", Greeting)
assert_type(by_model, Accepted[Greeting] | Rejected)

guard = StreamGuard(ACTION)
if doom := guard.feed("{"):
    assert_type(doom, Violation)

judgement = judge(
    Path("task.json"),
    {"schema_version": "scc.submit.v1"},
    repo="checkout",
    base="f" * 40,
)
assert_type(judgement, Judgement)
if not judgement:
    assert_type(judgement.verdict.reason, str)
    assert_type(judgement.verdict.reason_code, str | None)
    assert_type(judgement.retry.tell if judgement.retry else None, str | None)

"""`agent_handoff_v1`: what a research agent passes to the next (seed 002)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, Final, Literal

from pydantic import JsonValue

from accordance.contracts.context import Context
from accordance.contracts.contract import Contract
from accordance.contracts.fields import Items, NotNull, Open, Text
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.printable import is_blank
from accordance.contracts.sentences import count_words
from accordance.contracts.violation import Notice, Violation, excerpt

MOST_WORDS: Final = 100
CHECKS: Final = ("required_fields_check", "schema_compliance", "vs_phase_completion")


class ContextTransfer(Open):
    """What the receiver must know."""

    summary: Text
    key_decisions: Items
    open_questions: Items
    constraints_inherited: Items


class HandoffValidation(Open):
    """What the sender claims about its own answer. Recomputed before it counts."""

    required_fields_check: bool
    schema_compliance: bool
    vs_phase_completion: bool


class Condition(Open):
    """The value at a path of the sender's answer for which a handoff is taken."""

    path: Text
    expect: JsonValue


class Handoff(Open):
    """The work, passed from agent to agent."""

    schema_version: Annotated[Literal["agent_handoff_v1"] | None, NotNull] = None
    from_agent: Text
    to_agent: Text
    handoff_type: Literal["sequential", "parallel", "conditional"]
    context_transfer: ContextTransfer
    validation: HandoffValidation
    condition: Annotated[Condition | None, NotNull] = None
    """The seed has conditional handoffs, but no field for their condition."""

    @property
    def blocked_by(self) -> tuple[str, ...]:
        """The sender's own checks that failed.

        A well-formed handoff that is blocked must not be accepted.
        """
        return tuple(check for check in CHECKS if not getattr(self.validation, check))


def passes_the_work_on(message: JsonObject, _: Context) -> Iterator[Violation]:
    """Sender and receiver are two agents."""
    sender = message.get("from_agent")
    receiver = message.get("to_agent")
    if not isinstance(sender, str) or is_blank(sender):
        return
    if sender == receiver:
        yield Violation(
            "self_handoff",
            path="$.to_agent",
            expected="another agent than from_agent",
            actual=excerpt(receiver),
        )


def summary_is_short(message: JsonObject, _: Context) -> Iterator[Violation]:
    """context_transfer.summary has at most 100 words."""
    transfer = message.get("context_transfer")
    summary = transfer.get("summary") if isinstance(transfer, dict) else None
    if not isinstance(summary, str):
        return

    count = count_words(summary)
    if count > MOST_WORDS:
        yield Violation(
            "too_long",
            path="$.context_transfer.summary",
            expected=f"at most {MOST_WORDS} words",
            actual=f"{count} words",
        )


def own_checks_pass(message: JsonObject, _: Context) -> Iterator[Notice]:
    """A check that is false is well-formed and means: do not accept this handoff."""
    validation = message.get("validation")
    if not isinstance(validation, dict):
        return

    for check in CHECKS:
        if validation.get(check) is False:
            yield Notice(
                "handoff_blocked",
                path=f"$.validation.{check}",
                message="the sender's own check says no",
            )


def conditional_means_a_condition(message: JsonObject, _: Context) -> Iterator[Notice]:
    """A conditional handoff has a condition; without it, a person decides."""
    if message.get("handoff_type") == "conditional" and "condition" not in message:
        yield Notice(
            "no_condition",
            path="$.condition",
            message="a person will have to decide whether this handoff is taken",
        )


_STRICT: Final = Contract(
    version="agent_handoff_v1",
    name="handoff",
    about=(
        "What one research agent passes to the next: summary, decisions, open "
        "questions, constraints."
    ),
    model=Handoff,
    rules=(
        passes_the_work_on,
        summary_is_short,
        own_checks_pass,
        conditional_means_a_condition,
    ),
)
HANDOFF: Final = replace(_STRICT, profiles={"seed": _STRICT})
"""Both profiles are the same: the seed has no validator of its own for handoffs."""

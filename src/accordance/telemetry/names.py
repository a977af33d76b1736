"""The names of spans and their attributes, and what they mean in our own words.

Agents and models go by the GenAI conventions of OpenTelemetry, whose names are still
being developed: they stand here and nowhere else. `SCHEMA_URL` records the version.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

Value: TypeAlias = str | bool | int | float | Sequence[str]
Attributes: TypeAlias = Mapping[str, Value | None]

SCHEMA_URL: Final = "https://opentelemetry.io/schemas/1.44.0"
SCOPE: Final = "accordance"

# -- spans

RUN: Final = "accordance.run"
TASK: Final = "accordance.task"
ATTEMPT: Final = "accordance.attempt"
CHECK: Final = "accordance.check"
JUDGE: Final = "accordance.judge"
WEBHOOK: Final = "accordance.webhook"
VERDICT: Final = "accordance.verdict"
"""The event of a span in which something was decided."""


def gate_span(gate: str) -> str:
    """Return the name of the span of a gate."""
    return f"gate {gate}"


def agent_span(executor: str) -> str:
    """Return the name of the span of an executor's run."""
    return f"invoke_agent {executor}"


# -- their attributes


def of_plan(plan_id: str, title: str, state: str) -> Attributes:
    """Return the attributes of a plan's run."""
    return {
        "accordance.plan.id": plan_id,
        "accordance.plan.title": title,
        "accordance.plan.state": state,
    }


def of_task(plan_id: str, task_id: str, title: str, state: str) -> Attributes:
    """Return the attributes of a task."""
    return {
        "accordance.plan.id": plan_id,
        "accordance.task.id": task_id,
        "accordance.task.title": title,
        "accordance.task.state": state,
    }


def of_attempt(
    plan_id: str,
    task_id: str,
    kind: str,
    number: int,
    queue: str,
) -> Attributes:
    """Return the attributes of an attempt before it runs."""
    return {
        "accordance.plan.id": plan_id,
        "accordance.task.id": task_id,
        "accordance.kind": kind,
        "accordance.attempt": number,
        "accordance.queue": queue or None,
    }


def of_contract(version: str) -> Attributes:
    """Return which contract a message is held to."""
    name, _, number = version.replace(".", "_").rpartition("_")
    return {
        "accordance.contract.name": name or version,
        "accordance.contract.version": number or None,
    }


def of_check(*, accepted: bool, repairs: int, violations: int) -> Attributes:
    """Return what came of a check."""
    return {
        "accordance.accepted": accepted,
        "accordance.repairs": repairs,
        "accordance.violations": violations,
    }


def of_verdict(
    outcome: str | None,
    reason_code: str | None,
    next_action: str | None = None,
) -> Attributes:
    """Return a decision."""
    return {
        "accordance.verdict": outcome,
        "accordance.reason_code": reason_code,
        "accordance.next_action": next_action,
    }


def of_gate(gate: str, findings: Sequence[str]) -> Attributes:
    """Return the findings of a gate: the fail codes, and no text of theirs."""
    return {
        "accordance.gate": gate,
        "accordance.gate.passed": not findings,
        "accordance.gate.codes": tuple(findings) or None,
    }


def of_webhook(kind: str, webhook_id: str, delivery_id: str) -> Attributes:
    """Return the attributes of a notification that is sent."""
    return {
        "accordance.notification": kind,
        "accordance.webhook.id": webhook_id,
        "accordance.delivery.id": delivery_id,
    }


# -- OpenTelemetry's own names


def of_agent(executor: str, kind: str, model: str | None) -> Attributes:
    """Return the attributes of the run of an executor before it begins."""
    return {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": kind,
        "gen_ai.agent.name": executor,
        "gen_ai.request.model": model,
    }


def of_spending(read: int, written: int, cached: int, cost: float | None) -> Attributes:
    """Return what a run has used; nothing where nothing was reported."""
    if not (read or written):
        return {"accordance.cost": cost}
    return {
        "gen_ai.usage.input_tokens": read,
        "gen_ai.usage.output_tokens": written,
        "gen_ai.usage.cache_read.input_tokens": cached or None,
        "accordance.cost": cost,
    }


def of_question(system: str, user: str) -> Attributes:
    """Return the prompt of an agent: contents, which are recorded only if wanted."""
    return {
        "gen_ai.system_instructions": _text_parts(system),
        "gen_ai.input.messages": _message("user", user),
    }


def of_reply(text: str) -> Attributes:
    """Return what an agent has answered: contents, too."""
    return {"gen_ai.output.messages": _message("assistant", text)}


def of_error(kind: str) -> Attributes:
    """Return the kind of an error; its text may hold anything, and is left out."""
    return {"error.type": kind}


def of_request(method: str, path: str) -> Attributes:
    """Return the attributes of a request before it is answered.

    A query may hold what people look for, and is left out.
    """
    return {"http.request.method": method, "url.path": path}


def of_response(status: int, route: str | None) -> Attributes:
    """Return the attributes of its answer."""
    return {"http.response.status_code": status, "http.route": route}


def _text_parts(text: str) -> str:
    return json.dumps([_part(text)], ensure_ascii=False)


def _message(role: str, text: str) -> str:
    message = {"role": role, "parts": [_part(text)]}
    return json.dumps([message], ensure_ascii=False)


def _part(text: str) -> dict[str, Any]:
    return {"type": "text", "content": text}

"""The list of all built-in contracts.

Each is imported when it is needed: the models of all of them take a command longer
than the check of a message.
"""

from __future__ import annotations

from typing import Final

from accordance.contracts.registry import AnyContract, Deferred


def _action() -> AnyContract:
    from accordance.contracts.catalogue.action import ACTION

    return ACTION


def _review() -> AnyContract:
    from accordance.contracts.catalogue.review import REVIEW

    return REVIEW


def _plan() -> AnyContract:
    from accordance.contracts.catalogue.plan import PLAN

    return PLAN


def _request() -> AnyContract:
    from accordance.contracts.catalogue.request import REQUEST

    return REQUEST


def _answer() -> AnyContract:
    from accordance.contracts.catalogue.answer import ANSWER

    return ANSWER


def _handoff() -> AnyContract:
    from accordance.contracts.catalogue.handoff import HANDOFF

    return HANDOFF


def _task() -> AnyContract:
    from accordance.contracts.catalogue.task import TASK

    return TASK


def _submit() -> AnyContract:
    from accordance.contracts.catalogue.submit import SUBMIT

    return SUBMIT


def _edits() -> AnyContract:
    from accordance.contracts.catalogue.edits import EDITS

    return EDITS


def _verdict() -> AnyContract:
    from accordance.contracts.catalogue.verdict import VERDICT

    return VERDICT


def _outcome() -> AnyContract:
    from accordance.contracts.catalogue.verdict import OUTCOME

    return OUTCOME


CATALOGUE: Final = (
    Deferred(("xiaobo_action_v1", "action", "TASK_ACTION"), _action),
    Deferred(
        (
            *("xiaojing_review_v1", "review", "PLAN_REVIEW"),
            *("TASK_CHECK", "TASK_REVIEW", "CHECK_NODE_REVIEW"),
        ),
        _review,
    ),
    Deferred(("plan_json_v1", "plan", "PLAN_GEN"), _plan),
    Deferred(("agent_request_v1", "request"), _request),
    Deferred(("agent_answer_v1", "answer"), _answer),
    Deferred(("agent_handoff_v1", "handoff"), _handoff),
    Deferred(("scc.task.v1", "task"), _task),
    Deferred(("scc.submit.v1", "submit"), _submit),
    Deferred(("file_edits_v1", "edits"), _edits),
    Deferred(("scc.verdict.v1", "verdict"), _verdict),
    Deferred(("scc.outcome.v1", "outcome"), _outcome),
)
"""Every built-in contract, in the order people read about them."""

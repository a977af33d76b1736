"""Golden sets: judged with answers from files, a program or a ledger, and compared."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from accordance.contracts.serialising import dump_json
from accordance.domain.research.agents import AgentRegistry
from accordance.domain.research.golden import (
    GivenAnswer,
    GoldenCase,
    GoldenReport,
    GoldenSet,
    NoAnswer,
    chosen,
    read_golden,
    run_golden,
)
from accordance.domain.research.prompts import build_prompt
from accordance.domain.research.regression import Regression, regression
from accordance.domain.research.runs import AnswerStore, request_digest
from accordance.errors import ContextTooLarge
from accordance.rendering.golden_reports import (
    as_json,
    as_junit,
    as_text,
    read_report,
    regression_text,
)
from accordance.shipped import GOLDEN, shipped

__all__ = [
    "AnswerSource",
    "GivenAnswer",
    "GoldenCase",
    "GoldenReport",
    "GoldenSet",
    "NoAnswer",
    "ProgramQuestion",
    "answers_in_store",
    "answers_of_program",
    "as_json",
    "as_junit",
    "as_text",
    "compare_reports",
    "judge_golden",
    "load_golden",
    "read_report",
    "regression_text",
]

AnswerSource: TypeAlias = Callable[[GoldenCase], GivenAnswer]
"""Gives the answer to a case, or the reason why there is none."""


def load_golden(
    text: str | None,
    case_ids: Iterable[str],
    registry: AgentRegistry,
) -> GoldenSet:
    """Return a golden set, or the set that comes with accordance, or some of its cases.

    Raises InvalidGolden.
    """
    golden = read_golden(shipped(GOLDEN) if text is None else text, registry)
    return chosen(golden, case_ids)


def judge_golden(
    golden: GoldenSet,
    source: AnswerSource,
    registry: AgentRegistry,
) -> GoldenReport:
    """Hold the answers from a source against a golden set."""
    return run_golden(golden, source, registry)


def compare_reports(before: GoldenReport, after: GoldenReport) -> Regression:
    """Return the difference between two reports."""
    return regression(before, after)


# -- where answers come from


@dataclass(frozen=True, slots=True)
class ProgramQuestion:
    """What a program is asked: a prompt, variables of its environment, its time."""

    prompt: str
    variables: dict[str, str]
    seconds: float


def answers_of_program(
    ask: Callable[[ProgramQuestion], GivenAnswer],
    timeout: float,
    registry: AgentRegistry,
) -> AnswerSource:
    """Return a source that asks a program, each time for at most so many seconds."""

    def answer(case: GoldenCase) -> GivenAnswer:
        try:
            prompt = build_prompt(case.agent, case.request, registry)
        except ContextTooLarge as error:
            return NoAnswer(str(error))

        variables = {
            "ACCORDANCE_AGENT": case.agent.id,
            "ACCORDANCE_REQUEST": dump_json(case.request),
        }
        return ask(ProgramQuestion(prompt, variables, _seconds(case, timeout)))

    return answer


def _seconds(case: GoldenCase, timeout: float) -> float:
    """Return how long a program may take: at most the request's time_budget."""
    constraints = case.request.constraints
    budget = constraints.time_budget if constraints else None
    return timeout if budget is None else min(timeout, budget)


def answers_in_store(store: AnswerStore) -> AnswerSource:
    """Return a source of kept answers: the latest of the agent to the request."""

    def answer(case: GoldenCase) -> GivenAnswer:
        digest = request_digest(case.request)
        latest = deque(store.answers(case.agent.id, digest), maxlen=1)
        if not latest:
            return NoAnswer("no answer is kept")

        message = dict(latest[0].answer)
        message.pop("task_id", None)  # any run of the question counts
        return json.dumps(message, ensure_ascii=False)

    return answer

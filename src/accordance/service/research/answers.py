"""Answers of agents: checked, acknowledged, reported on, drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Final

from accordance.contracts.catalogue.answer import AgentAnswer
from accordance.contracts.catalogue.request import AgentRequest
from accordance.contracts.checking import Checker
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.reading import read
from accordance.contracts.registry import Registry
from accordance.contracts.violation import Accepted, Rejected
from accordance.domain.research.agents import AgentRegistry
from accordance.domain.research.answers import (
    AnswerExpectations,
    awaits_a_person,
    check_answer,
)
from accordance.domain.research.floors import ACKNOWLEDGEMENT, Acknowledgement
from accordance.domain.research.quality import Profile, part
from accordance.errors import AccordanceError, Category, Unparseable
from accordance.rendering.documents import WRITERS, Block
from accordance.rendering.plots import t_score_svg, t_score_text
from accordance.rendering.reports import (
    run_report,
    self_critique_blocks,
    t_score_table,
    validation_report,
)
from accordance.rendering.words import Language
from accordance.service.research.inputs import report_language

__all__ = [
    "PLOTS",
    "REPORTS",
    "AnswerExpectations",
    "AnswerReport",
    "CheckedAnswers",
    "NoSelfCritique",
    "Profile",
    "TScorePlot",
    "acknowledge_selection",
    "check_answers",
    "expected_answers",
    "plot_t_scores",
    "report_on_answer",
    "report_on_check",
]

_checker: Final = Checker(Registry())


class NoSelfCritique(AccordanceError):
    """A report on the self-critique of an answer that has none."""

    code = "no-self-critique"
    category = Category.NOT_FOUND

    def __init__(self) -> None:
        super().__init__("the answer has no self_critique to report")


# -- checking


@dataclass(frozen=True, slots=True)
class CheckedAnswers:
    """The results of checking answers, in their order."""

    results: tuple[Accepted[AgentAnswer] | Rejected, ...]

    @property
    def refused(self) -> tuple[Rejected, ...]:
        """The results of the answers that were not accepted."""
        return tuple(result for result in self.results if isinstance(result, Rejected))

    @property
    def accepted(self) -> tuple[AgentAnswer, ...]:
        """The answers that were accepted."""
        return tuple(
            result.value for result in self.results if isinstance(result, Accepted)
        )

    @property
    def awaits_a_person(self) -> bool:
        """Whether nothing is missing but a person's acknowledgement."""
        refused = self.refused
        return bool(refused) and all(awaits_a_person(result) for result in refused)


def expected_answers(
    registry: AgentRegistry,
    request: AgentRequest | None = None,
    agent: str | None = None,
    acknowledgement: Acknowledgement | None = None,
) -> AnswerExpectations:
    """Return what answers are held against. Raises UnknownAgent."""
    agent_id = None if agent is None else registry.get(agent).id
    return AnswerExpectations(
        registry=registry,
        request=request,
        agent=agent_id,
        acknowledgement=acknowledgement,
    )


def check_answers(
    answers: Sequence[bytes],
    expectations: AnswerExpectations,
    profile: Profile = "strict",
) -> CheckedAnswers:
    """Check answers: contract, agent, level, request, quality and T-score floor."""
    results = [check_answer(raw, expectations, profile) for raw in answers]
    return CheckedAnswers(tuple(results))


# -- acknowledging


def acknowledge_selection(
    answer: AgentAnswer,
    by: str,
    reason: str,
    at: str | None = None,
) -> Accepted[Acknowledgement] | Rejected:
    """Write down that a person wants the selection of an answer, now or at a time.

    It is rejected if the name, the reason or the time violates its contract.
    """
    selection = answer.vs_metadata.final_selection
    message: JsonObject = {
        "schema_version": ACKNOWLEDGEMENT.version,
        "agent_id": answer.agent_id,
    }
    if answer.task_id is not None:
        message["task_id"] = answer.task_id
    message |= {
        "option": selection.option,
        "t_score": selection.t_score,
        "acknowledged_by": by,
        "acknowledged_at": at or datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "reason": reason,
    }
    return _checker.check_value(message, ACKNOWLEDGEMENT)


# -- reports


@dataclass(frozen=True, slots=True)
class AnswerReport:
    """A report on an answer, written in a language."""

    text: str
    language: Language
    accepted: bool = True


def _t_scores(answer: AgentAnswer, language: Language) -> Iterable[Block]:
    return [t_score_table(answer.vs_metadata.t_scores, language)]


def _self_critique(answer: AgentAnswer, language: Language) -> Iterable[Block]:
    if answer.self_critique is None:
        raise NoSelfCritique
    return self_critique_blocks(answer.self_critique, language)


REPORTS: Final[Mapping[str, Callable[[AgentAnswer, Language], Iterable[Block]]]] = (
    MappingProxyType(
        {
            "run": run_report,
            "t-scores": _t_scores,
            "self-critique": _self_critique,
        }
    )
)
"""The kinds of reports on an accepted answer."""


def report_on_answer(
    answer: AgentAnswer,
    kind: str,
    form: str,
    request: AgentRequest | None = None,
    language: Language | None = None,
) -> AnswerReport:
    """Write a report on an accepted answer. Raises NoSelfCritique."""
    spoken = report_language(language, request, answer.content.summary)
    blocks = REPORTS[kind](answer, spoken)
    return AnswerReport(WRITERS[form](list(blocks), spoken), spoken)


def report_on_check(
    raw: bytes,
    name: str,
    form: str,
    expectations: AnswerExpectations,
    language: Language | None = None,
) -> AnswerReport:
    """Check an answer, and write a report on that, whatever the result."""
    spoken = report_language(language, expectations.request, _summary_in(raw))
    result: Any = check_answer(raw, expectations)
    blocks = validation_report(result, name, spoken)
    return AnswerReport(WRITERS[form](list(blocks), spoken), spoken, bool(result))


def _summary_in(raw: bytes) -> str:
    """Return the summary of an answer that may be anything."""
    try:
        message = read(raw)
    except Unparseable:
        return ""
    summary = part(message, "content").get("summary")
    return summary if isinstance(summary, str) else ""


# -- plots

PLOTS: Final[Mapping[str, Callable[[AgentAnswer, Language], str]]] = MappingProxyType(
    {"text": t_score_text, "svg": t_score_svg}
)
"""The forms in which T-scores are drawn."""


@dataclass(frozen=True, slots=True)
class TScorePlot:
    """The T-scores of an answer, drawn."""

    answer: AgentAnswer
    form: str
    text: str

    def to_json(self) -> JsonObject:
        """Return the numbers and the picture as plain JSON."""
        scores = []
        for entry in self.answer.vs_metadata.t_scores:
            row = {
                "option": entry.option,
                "score": entry.score,
                "probability": entry.probability,
            }
            scores.append(row)
        return {
            "selected": self.answer.vs_metadata.final_selection.option,
            "t_scores": scores,
            "format": self.form,
            "text": self.text,
        }


def plot_t_scores(
    answer: AgentAnswer,
    form: str,
    request: AgentRequest | None = None,
    language: Language | None = None,
) -> TScorePlot:
    """Draw the T-scores of an answer."""
    spoken = report_language(language, request, answer.content.summary)
    return TScorePlot(answer, form, PLOTS[form](answer, spoken))

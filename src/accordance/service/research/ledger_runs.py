"""Runs in a ledger: answers that are kept, and whether they have collapsed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from accordance.contracts.catalogue.request import AgentRequest
from accordance.contracts.jsonpath import JsonObject
from accordance.domain.research.agents import AgentRegistry
from accordance.domain.research.collapse import CollapseReport
from accordance.domain.research.floors import Acknowledgement
from accordance.domain.research.golden import GoldenReport, GoldenSet
from accordance.domain.research.runs import (
    AnswerStore,
    Group,
    StoredAnswer,
    StoredRun,
    collapse_by_group,
    request_digest,
    stored_answer,
)
from accordance.errors import LedgerUnavailable
from accordance.rendering.documents import WRITERS
from accordance.rendering.reports import collapse_blocks
from accordance.rendering.words import Language
from accordance.service.project import Project
from accordance.service.research.answers import (
    CheckedAnswers,
    check_answers,
    expected_answers,
)
from accordance.service.research.golden import answers_in_store, judge_golden
from accordance.service.research.inputs import report_language
from accordance.service.views.research import (
    CollapseListView,
    ResearchRunListView,
    ResearchRunView,
)
from accordance.store.answers import AnswersInLedger
from accordance.store.sql import SqlLedger


def kept_answers(project: Project) -> AnswerStore:
    """Return the answers in the ledger of a project, as long as it is open."""
    ledger = project.ledger
    if not isinstance(ledger, SqlLedger):
        raise LedgerUnavailable(
            "answers are kept in a database, and this ledger has none"
        )
    return AnswersInLedger(ledger.engine)


@dataclass(frozen=True, slots=True)
class PreparedAnswers:
    """Answers that were checked, and the form in which they are kept.

    If one of them is refused, none is kept.
    """

    checked: CheckedAnswers
    stored: tuple[StoredAnswer, ...] = ()


def prepare_answers(
    answers: Sequence[bytes],
    request: AgentRequest,
    registry: AgentRegistry,
    acknowledgement: Acknowledgement | None = None,
) -> PreparedAnswers:
    """Check answers to a request before they are kept. Raises InvalidRun.

    This needs no ledger yet, so that refused answers do not create one.
    """
    expectations = expected_answers(registry, request, acknowledgement=acknowledgement)
    checked = check_answers(answers, expectations)
    if checked.refused:
        return PreparedAnswers(checked)

    stored = []
    for answer in checked.accepted:
        agent = registry.get(answer.agent_id)
        stored.append(stored_answer(answer, agent, request))
    return PreparedAnswers(checked, tuple(stored))


def keep_answers(project: Project, answers: Sequence[StoredAnswer]) -> None:
    """Keep answers in the ledger of a project, all or none."""
    kept_answers(project).add(answers)


def judge_kept_answers(
    project: Project,
    golden: GoldenSet,
    registry: AgentRegistry,
) -> GoldenReport:
    """Hold the answers in a ledger against a golden set."""
    source = answers_in_store(kept_answers(project))
    return judge_golden(golden, source, registry)


@dataclass(frozen=True, slots=True)
class CollapseSummary:
    """The report of every group of runs, and the language to write them in."""

    reports: Mapping[Group, CollapseReport]
    language: Language

    @property
    def has_collapsed(self) -> bool:
        """Whether at least one group has collapsed."""
        return any(report.status == "collapsed" for report in self.reports.values())

    def text(self, form: str) -> str:
        """Return the reports in a form, the collapsed groups first."""
        blocks = collapse_blocks(self.reports, self.language)
        return WRITERS[form](list(blocks), self.language)

    def to_json(self) -> list[JsonObject]:
        """Return the reports as plain JSON, ordered by group."""
        rows = []
        for group, report in sorted(self.reports.items()):
            rows.append({**group._asdict(), **report.to_json()})
        return rows


def collapse_in_ledger(
    project: Project,
    agent_id: str | None = None,
    request: AgentRequest | None = None,
    language: Language | None = None,
) -> CollapseSummary:
    """Report whether agents that are asked the same again always say the same.

    The report is in the language wanted, or else the request's, or else that of the
    options that were selected.
    """
    digest = request_digest(request) if request else None
    selected: set[str] = set()
    runs = kept_answers(project).runs(agent_id, digest)
    reports = collapse_by_group(_collecting(runs, selected))
    spoken = report_language(language, request, " ".join(selected))
    return CollapseSummary(reports, spoken)


def _collecting(runs: Iterable[StoredRun], selected: set[str]) -> Iterator[StoredRun]:
    """Pass runs on, and collect the names they have selected."""
    for run in runs:
        selected.add(run.selected)
        yield run


def list_runs(
    project: Project,
    agent_id: str | None = None,
    limit: int = 100,
) -> ResearchRunListView:
    """Return the answers of an agent, or of all, by agent and request."""
    runs = kept_answers(project).runs(agent_id)
    shown = list(islice(runs, limit + 1))
    items = tuple(
        ResearchRunView(
            **run.group._asdict(),
            at=run.at,
            selected=run.selected,
            offered=run.offered,
        )
        for run in shown[:limit]
    )
    return ResearchRunListView(items=items, is_cut=len(shown) > limit)


def collapse_view(project: Project, agent_id: str | None = None) -> CollapseListView:
    """Show whether agents that are asked the same again always say the same."""
    summary = collapse_in_ledger(project, agent_id)
    return CollapseListView(
        items=tuple(summary.to_json()), has_collapsed=summary.has_collapsed
    )

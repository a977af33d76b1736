"""Research as data for pictures: T-scores, how varied answers are, handoffs."""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby, islice
from typing import Any, Final

from accordance.domain.research.briefs import Brief, read_briefs
from accordance.domain.research.collapse import diversity
from accordance.domain.research.runs import StoredAnswer, StoredRun
from accordance.domain.t_scores import t_class
from accordance.rendering.plots import BANDS
from accordance.service.damage import blaming_the_ledger
from accordance.service.drawings import draw_plan
from accordance.service.project import Project, plan_id_of
from accordance.service.research.ledger_runs import kept_answers
from accordance.service.views.research import (
    HandoffChainView,
    HandoffNodeView,
    OptionView,
    TrendListView,
    TrendPointView,
    TrendView,
    TScorePlotListView,
    TScorePlotView,
)

WINDOW: Final = 10
_MOST_POINTS: Final = 500
_PLACES: Final = 4


def t_score_plots(
    project: Project,
    agent_id: str | None = None,
    limit: int = 100,
) -> TScorePlotListView:
    """Return the T-scores of kept answers, of an agent or of all."""
    answers = list(islice(kept_answers(project).answers(agent_id), limit + 1))
    with blaming_the_ledger("a kept answer"):
        items = tuple(map(_plot, answers[:limit]))
    return TScorePlotListView(
        bands=BANDS,
        items=items,
        is_cut=len(answers) > limit,
    )


def _plot(answer: StoredAnswer) -> TScorePlotView:
    metadata: Any = answer.answer["vs_metadata"]
    scored: Iterable[Mapping[str, Any]] = metadata["t_scores"]
    options = [_option(each, answer.run.selected) for each in scored]
    return TScorePlotView(
        agent_id=answer.run.group.agent_id,
        request=answer.run.group.request,
        at=answer.run.at,
        options=tuple(sorted(options, key=lambda option: option.t_score)),
    )


def _option(scored: Mapping[str, Any], selected: str) -> OptionView:
    score = float(scored["score"])
    return OptionView(
        option=str(scored["option"]),
        t_score=score,
        t_class=t_class(score),
        rationale=str(scored["rationale"]),
        is_selected=scored["option"] == selected,
    )


def collapse_trends(project: Project, agent_id: str | None = None) -> TrendListView:
    """Return how varied the answers of every group of runs are, run by run."""
    runs = kept_answers(project).runs(agent_id)
    by_group = groupby(runs, key=lambda run: run.group)
    items = []
    for group, of_group in by_group:
        points = list(_points(of_group))
        items.append(
            TrendView(
                **group._asdict(),
                runs=len(points),
                points=tuple(points[-_MOST_POINTS:]),
            )
        )
    return TrendListView(window=WINDOW, items=tuple(items))


def _points(runs: Iterable[StoredRun]) -> Iterator[TrendPointView]:
    last: deque[str] = deque(maxlen=WINDOW)
    for run in runs:
        last.append(run.selected.casefold())
        varied = diversity(Counter(last).values())
        yield TrendPointView(
            at=run.at,
            selected=run.selected,
            entropy_bits=round(varied.entropy_bits, _PLACES),
            top_share=round(varied.top_share, _PLACES),
        )


def handoff_chain(project: Project, name: str | None) -> HandoffChainView:
    """Return the handoffs of a plan; a plan of other work has none."""
    plan_id = plan_id_of(project, name)
    drawing = draw_plan(project, plan_id)
    briefs = _briefs(project, plan_id)
    owners = {node.task_id: node for node in drawing.plan.nodes}
    nodes = tuple(
        HandoffNodeView(
            task_id=task,
            title=owners[task].title,
            agent_id=owners[task].owner_agent_id,
            state=drawing.states[task],
            received_from=tuple(sorted(brief.answers)),
        )
        for task, brief in briefs.items()
        if task in owners
    )
    edges = tuple(
        (before, task)
        for task in briefs
        if task in owners
        for before in drawing.graph[task].prerequisites
        if before in briefs
    )
    return HandoffChainView(
        plan_id=plan_id,
        nodes=nodes,
        edges=edges,
    )


def _briefs(project: Project, plan_id: str) -> Mapping[str, Brief]:
    with project.ledger.read() as tx:
        document = json.loads(tx.blob(tx.plan(plan_id).document))
    briefs = read_briefs(document["plan"].get("constraints"))
    return {} if isinstance(briefs, tuple) else briefs

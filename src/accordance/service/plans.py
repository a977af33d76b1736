"""Plans: check, import, list, show, watch, draw, export and review them, and let them go on."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from accordance.api import check_value
from accordance.contracts.catalogue.plan import Plan
from accordance.contracts.limits import Limits
from accordance.contracts.reading import parse_object
from accordance.contracts.violation import Accepted, Rejected, Violation
from accordance.domain.lifecycle import State
from accordance.domain.naming import safe_name
from accordance.domain.plan import PlanGraph, plan_graph
from accordance.domain.progress import begin
from accordance.domain.records import PlanRecord, Rules
from accordance.domain.spending import total
from accordance.errors import LedgerDamaged, Unparseable
from accordance.project.home import Home, write_file
from accordance.project.policy import gateway_of
from accordance.service.project import Project, find_plan, plan_id_of
from accordance.service.views.answers import AnswerView, answer_view
from accordance.service.views.plans import (
    ExportedFileView,
    ExportView,
    GraphView,
    ImportedPlanView,
    NodeView,
    PlanDetailView,
    PlanEntryView,
    PlanPreviewView,
    PlanStatusView,
    PlanView,
    moving_task_view,
    plan_fields,
    plan_view,
)
from accordance.service.views.questions import question_view
from accordance.service.views.spending import spending_view
from accordance.service.views.verdicts import verdicts_on
from accordance.store.ledger import Ledger, Transaction
from accordance.work import importing, reviewing, tasks
from accordance.work.coding_tasks import check_tasks
from accordance.work.exporting import deliverables, export_plan
from accordance.work.run_log import spent_by_task

LARGEST_PLAN: Final = 1 << 30
"""Bytes: a person's own file may be larger than what a model may send."""
_SCOPE: Final = "PLAN_GEN"
_MOST_MOVING: Final = 20
_MOVING: Final = (
    State.IN_PROGRESS,
    State.READY_TO_CHECK,
    State.TO_BE_MODIFY,
    State.BLOCKED,
    State.FAILED,
    State.DEAD_LETTER,
)


# -- before it is in the ledger


def check_plan(raw: bytes, home: Home | None = None) -> Accepted[Plan] | Rejected:
    """The plan in a text, or all that is wrong with it; with a project also of its tasks that change a repository."""
    roles = None if home is None else _roles(home)
    with _collector_paused():
        try:
            message = parse_object(raw, Limits(max_bytes=LARGEST_PLAN))
        except Unparseable as flaw:
            fault = Violation(flaw.code, flaw.path, flaw.expected, flaw.actual, offset=flaw.offset)
            return Rejected((fault,), 1, _SCOPE)
        result: Accepted[Plan] | Rejected = check_value(message, _SCOPE)
    if isinstance(result, Rejected) or roles is None:
        return result
    faults = check_tasks(result.value, roles)
    return Rejected(faults, len(faults), _SCOPE) if faults else result


@contextmanager
def _collector_paused() -> Iterator[None]:
    """A large plan is millions of objects that all stay: looking through them again and again takes longer than the check."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _roles(home: Home) -> tuple[str, ...]:
    return tuple(gateway_of(home.settings(), home.root).roles)


def rules_for(home: Home, fuses: Mapping[str, object]) -> Rules:
    """What a plan is held to: these fuses over those of the settings, and the rubrics there. Raises InvalidFuses."""
    return home.settings().rules(fuses)


def preview_import(accepted: Accepted[Plan]) -> PlanPreviewView:
    """What an import would begin with. Nothing is kept."""
    plan = accepted.value
    standing = begin(plan_graph(plan), importing.missing_inputs(plan)).at
    ready = tuple(task_id for task_id, at in standing.items() if at.state is State.READY)
    return PlanPreviewView(
        plan_id=plan.plan.plan_id,
        nodes=len(plan.nodes),
        edges=len(plan.edges),
        ready=ready,
        repairs=tuple(repair.to_json() for repair in accepted.repairs),
        warnings=tuple(warning.to_json() for warning in accepted.warnings),
    )


def import_plan(
    project: Project,
    raw: bytes,
    accepted: Accepted[Plan],
    rules: Rules,
    *,
    waived_by: str | None = None,
    watch: Callable[[int], None] = lambda _: None,
) -> ImportedPlanView:
    """Bring a plan into the ledger and write it, normalised, into the project. `waived_by` lets it begin unreviewed.

    `watch` is told how many more nodes are kept.
    """
    with _collector_paused():
        imported = importing.import_plan(
            project.ledger,
            accepted.value,
            rules,
            source=importing.Source(raw, accepted.repairs, accepted.warnings),
            waived_by=waived_by,
            roles=_roles(project.home),
            watch=watch,
        )
    write_file(project.home.plan_file, imported.document)
    with project.ledger.read() as tx:
        states = tx.count_states(imported.plan.plan_id)
    return ImportedPlanView(
        **plan_fields(imported.plan),
        is_new=imported.is_new,
        states=states,
        repairs=tuple(repair.to_json() for repair in accepted.repairs),
        warnings=tuple(warning.to_json() for warning in accepted.warnings),
    )


# -- looking at it


def list_plans(project: Project) -> list[PlanEntryView]:
    """The plans, the newest first."""
    with project.ledger.read() as tx:
        return [
            PlanEntryView(**plan_fields(plan), root=tx.progress(plan.root_task_id).state)
            for plan in tx.plans()
        ]


def show_plan(project: Project, name: str | None = None) -> PlanDetailView:
    """A plan with all that is known about it as a whole."""
    with project.ledger.read() as tx:
        plan = find_plan(tx, name)
        spent = spent_by_task(tx, plan.plan_id)
        questions = tx.open_questions(plan_id=plan.plan_id)
        return PlanDetailView(
            **plan_fields(plan),
            states=tx.count_states(plan.plan_id),
            fuses=plan.rules.fuses.model_dump(),
            rubric=dict(plan.rules.node_rubric.maxima),
            verdicts=verdicts_on(tx, plan.plan_id),
            open_questions=tuple(question.question_id for question in questions),
            spent=spending_view(total(spent.values())),
            spent_by_task={task_id or "": spending_view(of_task) for task_id, of_task in spent.items()},
        )


def plan_status(ledger: Ledger, plan_id: str) -> PlanStatusView:
    """Where a plan stands now."""
    with ledger.read() as tx:
        plan = tx.plan(plan_id)
        moving = islice(tx.tasks(plan_id, *_MOVING), _MOST_MOVING)
        return PlanStatusView(
            plan_id=plan.plan_id,
            title=plan.title,
            state=plan.state,
            root=tx.progress(plan.root_task_id).state,
            nodes=plan.nodes,
            states=tx.count_states(plan_id),
            moving=tuple(moving_task_view(task) for task in moving),
            questions=tuple(question_view(asked) for asked in tx.open_questions(plan_id=plan_id)),
        )


def title_of(ledger: Ledger, task_id: str) -> str:
    """What a task is called."""
    with ledger.read() as tx:
        return tx.task(task_id).title


class Drawing(NamedTuple):
    """A plan and the states of its tasks, to be drawn."""

    plan: Plan
    graph: PlanGraph
    states: Mapping[str, State]

    def view(self) -> GraphView:
        """Show nodes and edges of each kind."""
        return GraphView(root=self.graph.root, nodes=tuple(self._nodes()))

    def _nodes(self) -> Iterator[NodeView]:
        for node in self.plan.nodes:
            drawn = self.graph[node.task_id]
            yield NodeView(
                task_id=node.task_id,
                title=node.title,
                node_type=drawn.kind,
                state=self.states[node.task_id],
                combine=drawn.combine if drawn.parts else None,
                parts=drawn.parts,
                prerequisites=drawn.prerequisites,
                checks=drawn.checks,
                alternatives=drawn.rivals,
            )


def draw_new_plan(plan: Plan) -> Drawing:
    """A plan that is in no ledger, with what could begin."""
    graph = plan_graph(plan)
    states = {task_id: at.state for task_id, at in begin(graph).at.items()}
    return Drawing(plan, graph, states)


def draw_plan(project: Project, name: str | None = None) -> Drawing:
    """A plan in the ledger, as it stands."""
    with project.ledger.read() as tx:
        record = find_plan(tx, name)
        plan = _stored_plan(tx, record)
        states = {task.task_id: task.progress.state for task in tx.tasks(record.plan_id)}
    return Drawing(plan, plan_graph(plan), states)


def _stored_plan(tx: Transaction, record: PlanRecord) -> Plan:
    result = check_plan(tx.blob(record.document))
    if isinstance(result, Rejected):
        raise LedgerDamaged(f"the document of plan {record.plan_id} is no plan")
    return result.value


def export(
    project: Project,
    name: str | None,
    folder: Path | None,
    *,
    candidates: bool = False,
    dry_run: bool = False,
) -> ExportView:
    """Write the approved products of a plan, a manifest and the plan itself into a folder; candidates, too, if wanted."""
    with project.ledger.read() as tx:
        plan = find_plan(tx, name)
        to = folder or project.home.root / "deliverables" / safe_name(plan.plan_id)
        if not dry_run:
            manifest = export_plan(tx, plan, to, candidates=candidates)
            return ExportView.model_validate({"folder": str(to), **manifest})
        products = deliverables(tx, plan, candidates=candidates)
    files = tuple(ExportedFileView(task_id=made.task_id, path=made.file_name) for made in products)
    return ExportView(folder=str(to), files=files)


# -- moving it


def review_plan(project: Project, raw: bytes, name: str | None = None) -> AnswerView:
    """Hand in a review of a plan."""
    plan_id = plan_id_of(project, name)
    return answer_view(reviewing.review_plan(project.ledger, raw, plan_id))


def resume_plan(project: Project, name: str | None, *, by: str) -> PlanView:
    """Let a plan whose fuse has blown go on; its fuses begin anew."""
    plan_id = plan_id_of(project, name)
    return plan_view(tasks.resume(project.ledger, plan_id, by=by))

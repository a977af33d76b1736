"""Plans that come in: check, preview, import, review."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from accordance.api import check_value
from accordance.contracts.catalogue.plan import Plan
from accordance.contracts.limits import Limits
from accordance.contracts.reading import parse_object
from accordance.contracts.violation import Accepted, Rejected, Violation
from accordance.domain.lifecycle import State
from accordance.domain.plan import plan_graph
from accordance.domain.progress import begin
from accordance.domain.records import Rules
from accordance.errors import AccordanceError, Category, Unparseable
from accordance.project.home import Home
from accordance.project.policy import gateway_of
from accordance.service.project import Project, plan_id_of
from accordance.service.views.answers import AnswerView, answer_view
from accordance.service.views.plans import (
    ImportedPlanView,
    PlanPreviewView,
    plan_fields,
)
from accordance.work import importing, reviewing
from accordance.work.coding_keys import KEY, TAG
from accordance.work.coding_tasks import check_tasks
from accordance.work.fetched_files import fetch_file

LARGEST_PLAN: Final = 1 << 30
"""Bytes: a person's own file may be larger than what a model may send."""
_SCOPE: Final = "PLAN_GEN"


class PlanRejected(AccordanceError):
    """The plan breaks its contract."""

    code = "plan-rejected"
    category = Category.REJECTED

    def __init__(self, rejected: Rejected) -> None:
        first = rejected.violations[0]
        super().__init__(
            f"the plan breaks its contract in {rejected.total} places; the first: {first}"
        )
        self.violations = tuple(each.to_json() for each in rejected.violations)


def accepted_plan(result: Accepted[Plan] | Rejected) -> Accepted[Plan]:
    """Return a plan that was accepted. Raises PlanRejected."""
    if isinstance(result, Rejected):
        raise PlanRejected(result)
    return result


def check_plan(raw: bytes, home: Home | None = None) -> Accepted[Plan] | Rejected:
    """Return the plan in a text, or everything that is wrong with it.

    With a project, its tasks that change a repository are checked too.
    """
    roles = None if home is None else roles_of(home)
    with _collector_paused():
        try:
            message = parse_object(raw, Limits(max_bytes=LARGEST_PLAN))
        except Unparseable as flaw:
            fault = Violation(
                flaw.code, flaw.path, flaw.expected, flaw.actual, offset=flaw.offset
            )
            return Rejected((fault,), 1, _SCOPE)
        result: Accepted[Plan] | Rejected = check_value(message, _SCOPE)
    if isinstance(result, Rejected):
        return result
    if roles is not None:
        faults = check_tasks(result.value, roles)
        if faults:
            return Rejected(faults, len(faults), _SCOPE)
    return _without_task_keys(result)


def _without_task_keys(result: Accepted[Plan]) -> Accepted[Plan]:
    """Leave out warnings about the key that carries the task of a change.

    The contract of plans does not name it; accordance itself does.
    """
    own_paths = set()
    for number, node in enumerate(result.value.nodes):
        extras = node.model_extra or {}
        if TAG in node.tags and KEY in extras:
            own_paths.add(f"$.nodes[{number}].{KEY}")
    if not own_paths:
        return result

    others = [notice for notice in result.warnings if notice.path not in own_paths]
    total = max(len(others), result.total_warnings - len(own_paths))
    return replace(result, warnings=tuple(others), total_warnings=total)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Pause the garbage collector.

    A large plan is millions of objects that all stay: walking through them again and
    again takes longer than the check.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def roles_of(home: Home) -> tuple[str, ...]:
    """Return the roles that tasks of a project may name."""
    return tuple(gateway_of(home.settings(), home.root).roles)


def rules_for(home: Home, fuses: Mapping[str, object]) -> Rules:
    """Return the rules of a plan. Raises InvalidFuses.

    These fuses replace those of the settings; the rubrics are those of the settings.
    """
    return home.settings().rules(fuses)


def preview_import(accepted: Accepted[Plan]) -> PlanPreviewView:
    """What an import would begin with. Nothing is kept."""
    plan = accepted.value
    standing = begin(plan_graph(plan), importing.missing_inputs(plan)).at
    ready = tuple(
        task_id for task_id, at in standing.items() if at.state is State.READY
    )
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
    """Import a plan, and write it, normalised, into the project.

    `waived_by` lets it begin unreviewed. `watch` is called with the number of nodes
    that were stored since its last call.
    """
    with _collector_paused():
        imported = importing.import_plan(
            project.ledger,
            accepted.value,
            rules,
            source=importing.Source(raw, accepted.repairs, accepted.warnings),
            waived_by=waived_by,
            roles=roles_of(project.home),
            watch=watch,
        )
    with project.ledger.read() as tx:
        fetch_file(tx, imported.plan.document, project.home.plan_file)
        states = tx.count_states(imported.plan.plan_id)
        fields = plan_fields(tx, imported.plan)
    return ImportedPlanView(
        **fields,
        is_new=imported.is_new,
        states=states,
        repairs=tuple(repair.to_json() for repair in accepted.repairs),
        warnings=tuple(warning.to_json() for warning in accepted.warnings),
    )


def review_plan(project: Project, raw: bytes, name: str | None = None) -> AnswerView:
    """Hand in a review of a plan."""
    plan_id = plan_id_of(project, name)
    return answer_view(reviewing.review_plan(project.ledger, raw, plan_id))

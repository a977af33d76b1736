"""Plans that a client outside sends: whole ones, or a goal in words."""

from __future__ import annotations

import hashlib
import json
from typing import Final

from accordance.domain.short_plans.compiling import compile_plan
from accordance.domain.short_plans.file_names import PlanFormat
from accordance.domain.short_plans.model import ShortPlan, ShortTask
from accordance.errors import AccordanceError
from accordance.service import plan_intake
from accordance.service.plan_files import plan_text, read_plan_file
from accordance.service.plan_intake import accepted_plan
from accordance.service.project import Project
from accordance.service.views.plans import ImportedPlanView

_LONGEST_TITLE: Final = 80
_DIGITS: Final = 16


class EmptyGoal(AccordanceError):
    """A goal without a word."""

    code = "empty-goal"


class AnotherPlan(AccordanceError):
    """A plan was sent where a new version of another was expected."""

    code = "another-plan"


def bring_plan(
    project: Project,
    raw: bytes,
    form: PlanFormat,
    *,
    by: str,
    review: bool = True,
    only: str | None = None,
) -> ImportedPlanView:
    """Import a plan that was sent. The same plan again changes nothing.

    Without `review` it begins unreviewed, in the sender's name. `only` is the plan that
    it must be a new version of. Raises PlanRejected, InvalidPlanFile, AnotherPlan.
    """
    file = read_plan_file("the plan", raw, project.home, form)
    accepted = accepted_plan(file.result)
    plan_id = accepted.value.plan.plan_id
    if only is not None and plan_id != only:
        raise AnotherPlan(
            f"this is plan {plan_id[:100]!r}, and a new version of {only!r} was expected"
        )
    rules = plan_intake.rules_for(project.home, {})
    waived_by = None if review else by
    return plan_intake.import_plan(
        project, plan_text(file), accepted, rules, waived_by=waived_by
    )


def bring_goal(
    project: Project,
    goal: str,
    *,
    by: str,
    request: str,
    review: bool = False,
) -> ImportedPlanView:
    """Import a plan of a single task whose goal was sent in words.

    There is nothing in it to review, so it begins at once. The same request again is
    the same plan. Raises EmptyGoal.
    """
    words = goal.strip()
    if not words:
        raise EmptyGoal("the message says nothing", way_out="say what shall be done")
    first_line = words.splitlines()[0]
    title = " ".join(first_line.split())[:_LONGEST_TITLE]
    named = f"{by}\0{request}".encode("utf-8", "replace")
    name = hashlib.sha256(named).hexdigest()
    plan_id = f"request-{name[:_DIGITS]}"
    task = ShortTask(
        title=title,
        goal=words,
        id=f"{plan_id}.work",
    )
    root = ShortTask(
        title=title,
        type="GOAL",
        id=plan_id,
        parts=(task,),
    )
    compiled = compile_plan(ShortPlan(title=title, root=root, id=plan_id))
    raw = json.dumps(compiled.document, ensure_ascii=False).encode("utf-8", "replace")
    return bring_plan(project, raw, "json", by=by, review=review)

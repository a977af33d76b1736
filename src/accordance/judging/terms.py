"""The terms of a verdict: the role, the history and the budget it is reached by."""

from __future__ import annotations

from collections.abc import Iterable

from accordance.contracts.catalogue.task import TaskInput
from accordance.domain.case import Author
from accordance.domain.escalation import LadderPosition, tiers_of
from accordance.domain.judging import History
from accordance.domain.roles import higher_role, max_attempts
from accordance.domain.terms import Terms
from accordance.judging.attempt import JudgeOptions
from accordance.judging.bundles import earlier_failures


def terms_for(task: TaskInput, options: JudgeOptions, submitted_by: Author) -> Terms:
    """Return the terms by which an attempt at a task is judged."""
    gateway = options.gateway
    role = gateway.roles[task.role]
    role_above = higher_role(role, gateway.roles)
    position = LadderPosition(
        attempt=options.attempt,
        max_attempts=max_attempts(role, task.max_attempts, gateway.max_attempts),
        repeat_threshold=gateway.repeat_threshold,
        model_tier=_model_tier(options),
        allowed_tiers=tiers_of(_next_models(task, options), gateway.tiers),
        higher_role=role_above is not None,
        role_above=role_above.name if role_above else None,
        upgrades_at_once=options.upgrades_at_once,
    )
    return Terms(
        role=role,
        history=History(position, _earlier_failures(task, options)),
        usage=options.usage,
        budget=options.budget,
        breaches=options.breaches,
        own_tests=gateway.tests,
        submitted_by=submitted_by,
        test_policy=gateway.test_policy,
        is_rebase=options.is_rebase,
    )


def _earlier_failures(task: TaskInput, options: JudgeOptions) -> tuple[str, ...]:
    if options.earlier is not None:
        return options.earlier
    if options.bundles is None:
        return ()
    return earlier_failures(options.bundles, task.task_id, options.attempt)


def _next_models(task: TaskInput, options: JudgeOptions) -> Iterable[str]:
    """Return the models that could try next.

    These are the models that the task allows; where it names none, those that a run
    with upgrades would use.
    """
    if task.allowedModels is None and options.upgrades_at_once:
        return options.gateway.tiers
    return task.allowedModels or ()


def _model_tier(options: JudgeOptions) -> int | None:
    """Return how strong the model of this attempt is.

    For a run that upgrades, a model in no table counts as weaker than all the others.
    """
    tiers = options.gateway.tiers
    model = options.usage.model or ""
    if model in tiers:
        return tiers[model]
    if tiers and options.upgrades_at_once:
        return max(tiers.values()) + 1
    return None

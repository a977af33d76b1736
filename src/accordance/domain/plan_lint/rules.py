"""The rules of linting a plan. Each says what should hold, and yields what does not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

from accordance.contracts.catalogue.plan import Node
from accordance.domain.executor_specs import AgentSpec, LlmSpec
from accordance.domain.plan_lint.case import LintCase, LintFinding
from accordance.domain.plan_lint.overlapping import pins_do_not_overlap
from accordance.domain.plan_lint.stuck import waiting_for
from accordance.domain.routing import Choice
from accordance.errors import NoExecutor

_SOURCES: Final[Mapping[str, str]] = {
    "USER": "a person",
    "AGENT": "an agent",
    "ANY": "a person or an agent",
}
LintRule: TypeAlias = Callable[[LintCase], Iterator[LintFinding]]


def lint(case: LintCase) -> tuple[LintFinding, ...]:
    """Return all findings, errors first; within that in the order of the rules."""
    findings = [finding for rule in LINT_RULES for finding in rule(case)]
    return tuple(sorted(findings, key=lambda finding: finding.severity != "error"))


def executors_are_configured(case: LintCase) -> Iterator[LintFinding]:
    """The settings name executors; otherwise people take up the tasks."""
    if case.is_by_hand():
        yield case.finding(
            "executors_are_configured",
            "warning",
            "no executor is configured: `accordance run` can do nothing, and tasks are"
            " taken up by hand",
        )


def every_task_has_an_executor(case: LintCase) -> Iterator[LintFinding]:
    """A route leads from every task to an executor that the task allows."""
    if case.is_by_hand():
        return
    for node in case.makers():
        reason = _why_nobody(case, node)
        if reason:
            yield case.finding("every_task_has_an_executor", "error", reason, node)


def _why_nobody(case: LintCase, node: Node) -> str:
    try:
        case.choose(node, "action")
    except NoExecutor as error:
        return error.text
    return ""


def every_product_has_a_reviewer(case: LintCase) -> Iterator[LintFinding]:
    """A route of kind `review` leads from every product to an executor."""
    if case.is_by_hand():
        return
    for node in case.makers():
        for reviewer in case.reviewers(node):
            try:
                case.choose(reviewer, "review")
            except NoExecutor:
                yield case.finding(
                    "every_product_has_a_reviewer",
                    "error",
                    'it has no reviewer: no route of kind "review" fits',
                    reviewer,
                )


def nobody_reviews_their_own_work(case: LintCase) -> Iterator[LintFinding]:
    """A product is reviewed by a model other than its author."""
    if case.own_work:
        return
    for node in case.makers():
        try:
            maker = case.choose(node, "action")
            reviews = [case.choose(check, "review") for check in case.reviewers(node)]
        except NoExecutor:
            continue  # every_task_has_an_executor reports it
        if any(_is_the_same(maker, review) for review in reviews):
            yield case.finding(
                "nobody_reviews_their_own_work",
                "error",
                f"{maker.executor} would review its own product",
                node,
            )


def _is_the_same(maker: Choice, reviewer: Choice) -> bool:
    """Whether a model would review itself; a program has no opinion of its work."""
    if not isinstance(reviewer.spec, AgentSpec | LlmSpec):
        return False
    if (maker.executor, maker.model) != (reviewer.executor, reviewer.model):
        return False
    return not set(reviewer.tiers) - {maker.model}


def every_task_can_begin(case: LintCase) -> Iterator[LintFinding]:
    """No task waits for another that can never be done."""
    blocked = set()
    for finding in (
        *every_task_has_an_executor(case),
        *every_product_has_a_reviewer(case),
    ):
        task = str(finding.task_id)
        blocked.add(case.graph[task].checks or task)

    for task, cause in waiting_for(case.graph, blocked).items():
        title = case.nodes[cause].title
        yield case.finding(
            "every_task_can_begin",
            "error",
            f'never begins: it waits for "{title}", which cannot be done',
            case.nodes[task],
        )


def inputs_are_supplied(case: LintCase) -> Iterator[LintFinding]:
    """No task waits for something from outside."""
    for need in case.plan.requirements:
        if need.required:
            source = _SOURCES[need.source]
            kind = need.kind.lower().replace("_", " ")
            yield case.finding(
                "inputs_are_supplied",
                "warning",
                f'waits until {source} supplies the {kind} "{need.name}"',
                case.nodes[need.task_id],
            )


def code_has_tests(case: LintCase) -> Iterator[LintFinding]:
    """Every task that changes code names a test command, or the settings do."""
    if case.has_own_tests:
        return
    for node in case.makers():
        change = case.change(node)
        if change is None:
            continue
        if not change.get("allowedTests") and not change.get("hidden_tests"):
            yield case.finding(
                "code_has_tests",
                "warning",
                "changes code, and no test command is named in the task or in [judge]",
                node,
            )


def the_repository_can_be_reached(case: LintCase) -> Iterator[LintFinding]:
    """The remote of the repository that tasks change can be read, and takes pushes."""
    if case.repository_problem is not None:
        rule = "the_repository_can_be_reached"
        yield case.finding(rule, "error", case.repository_problem)


LINT_RULES: Final[tuple[LintRule, ...]] = (
    executors_are_configured,
    every_task_has_an_executor,
    every_product_has_a_reviewer,
    nobody_reviews_their_own_work,
    every_task_can_begin,
    pins_do_not_overlap,
    code_has_tests,
    inputs_are_supplied,
    the_repository_can_be_reached,
)

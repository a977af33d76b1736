"""A whole judgement: from a task, a submission and a tree to a verdict with evidence.

    judgement = judge(
        Path("task.json"), Path("submit.json"), repo="checkout", base=COMMIT_ID
    )
    if not judgement:
        print(judgement.verdict.reason)

The steps: read and check the task (preflight), clone the base, walk the tree, compare
the change and the evidence, run every test on an isolated copy; then the gates, the
verdict, the bundle and, where there is a key, its signature.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from pathlib import Path

from accordance.contracts.catalogue.task import TaskInput
from accordance.domain.case import Author, tests_of
from accordance.domain.facts import IsolationLevel
from accordance.domain.terms import case_under
from accordance.domain.usage import Usage
from accordance.domain.verdict import Verdict
from accordance.gates.running import GATES, verdict_on
from accordance.judging.attempt import AttemptTree, JudgeOptions, Tell
from accordance.judging.bundles import free_place, keep, links_to, sign
from accordance.judging.environments import (
    EnvironmentExplanation,
    environment_or_fault,
    explanation_of,
)
from accordance.judging.examining import Examination, examine
from accordance.judging.judgement import Judgement
from accordance.judging.starting_point import (
    settings_breaches,
    starting_commit,
    top_of,
)
from accordance.judging.task_input import (
    Paper,
    TaskRequest,
    check_task,
    out_of_reach,
    read_submission,
    read_task,
    submission_left_in,
)
from accordance.judging.terms import terms_for
from accordance.project.base_settings import settings_at
from accordance.project.policy import JudgingPolicy, gateway_of, with_isolation
from accordance.telemetry import names, tracing
from accordance.workspace.baseline import read_baseline
from accordance.workspace.bundle import Papers
from accordance.workspace.clone import adopt, scratch
from accordance.workspace.collecting import base_snapshot
from accordance.workspace.errors import WorkspaceError
from accordance.workspace.git import git_directory, resolve
from accordance.workspace.git_settings import git_settings, programs
from accordance.workspace.isolation import Room
from accordance.workspace.judges_python import refuse_judge_in_reach

__all__ = [
    "AttemptTree",
    "JudgeOptions",
    "explain_environment",
    "judge",
    "judge_on",
    "top_of",
]


def judge(  # noqa: PLR0913 - all that is known of an attempt, by name
    task: Paper,
    submit: Paper | None = None,
    *,
    repo: Path | str = ".",
    base: str | None = None,
    baseline: Path | str | None = None,
    strict: bool = False,
    attempt: int = 1,
    isolation: str | None = None,
    artifacts: Path | str | None = None,
    attest: Path | str | None = None,
    usage: Usage | None = None,
    tell: Tell = str,
) -> Judgement:
    """Judge the tree in `repo` as an agent left it, committed or not.

    It is judged against `base` or a recorded `baseline`. `base` is the full id of the
    commit the agent began at; without git, an earlier copy of the directory. A name
    such as HEAD or main is refused, because the agent can move it. `strict` refuses a
    tree in which git would run programs that no baseline knows.

    Without `submit`, the submission the agent left in artifacts/{task_id}/ counts;
    where there is none, accordance makes it from facts. The bundle goes to
    artifacts/{task_id}/attempt-{n}/ below `artifacts`, or below the repository.
    `attest` is a private key to sign it with. `tell` is called with what is being done.

    Raises PreflightFailed, TaskInReach, NotFound, Conflict, InvalidSettings,
    InvalidRole and WorkspaceError.
    """
    root = top_of(Path(repo), base)
    refuse_judge_in_reach(root)
    recorded = None if baseline is None else read_baseline(Path(baseline), root)
    commit = starting_commit(root, base, recorded)

    gateway = _gateway(root, commit, isolation)
    request = read_task(task, gateway)
    out_of_reach(task, request, root, commit)
    options = JudgeOptions(
        gateway=gateway,
        attempt=attempt,
        usage=usage or Usage(),
        breaches=settings_breaches(root, recorded, strict=strict),
        bundles=root if artifacts is None else Path(artifacts),
        attest=None if attest is None else Path(attest),
        tell=tell,
    )
    submitted = None if submit is None else read_submission(submit, root)
    _check_that_it_can_be_kept(options, request.task)
    _check_that_it_stays_hidden(options, request.task, root)

    with scratch() as folder:
        tell("cloning the base")
        tree = _tree_of(root, commit, folder)
        return judge_on(tree, request, submitted, options)


def explain_environment(
    task: Paper | None = None,
    *,
    repo: Path | str = ".",
    base: str | None = None,
    baseline: Path | str | None = None,
) -> EnvironmentExplanation:
    """Return what would be prepared for tests, and why, without running anything.

    Without a task, the tests of the settings count; without a base, HEAD does: nothing
    is judged by it. Raises as `judge` does.
    """
    root = top_of(Path(repo), base)
    recorded = None if baseline is None else read_baseline(Path(baseline), root)
    if base is None and recorded is None and git_directory(root) is not None:
        base = resolve(root, "HEAD")
    commit = starting_commit(root, base, recorded)
    gateway = _gateway(root, commit, None)

    tests = gateway.tests
    if task is not None:
        tests = tests_of(read_task(task, gateway).task, gateway.tests)
    with scratch() as folder:
        tree = _tree_of(root, commit, folder)
        return explanation_of(tree, tests, gateway.environment)


def judge_on(
    tree: AttemptTree,
    request: TaskRequest,
    submit: bytes | None,
    options: JudgeOptions,
) -> Judgement:
    """Judge an attempt on a prepared tree. Raises as `judge` does.

    Call it when the agent's processes are gone.
    """
    with tracing.span(
        names.JUDGE, {"accordance.task.id": request.task.task_id}
    ) as span:
        judgement = _judge_on(tree, request, submit, options)
        _describe(span, judgement.verdict)
    return judgement


def _describe(span: tracing.Span, verdict: Verdict) -> None:
    """Say in a span what was decided; each gate has a span of its own.

    Gates look at facts that were collected before, so that their spans take no time.
    """
    if not tracing.is_on():
        return
    for gate in GATES:
        codes = [each.code for each in verdict.findings if each.gate is gate]
        with tracing.span(names.gate_span(gate), names.of_gate(gate, codes)) as of_gate:
            if codes:
                of_gate.fail(codes[0])
    decided = names.of_verdict(
        verdict.outcome.value, verdict.reason_code, verdict.next_action.value
    )
    span.set(decided)
    span.tell(names.VERDICT, decided)


def _judge_on(
    tree: AttemptTree,
    request: TaskRequest,
    submit: bytes | None,
    options: JudgeOptions,
) -> Judgement:
    log = _ProgressLog(options.tell)
    task = request.task
    environment = environment_or_fault(
        tree,
        task,
        options.gateway,
        tell=log,
        stop=options.stop,
    )
    if not tree.has_passed_preflight:
        log("looking at the task")
        empty_room = Room(tree.private, readable=options.gateway.readable)
        check_task(
            task,
            tree.before,
            options.gateway,
            environment.furnished(empty_room, IsolationLevel.BWRAP),
            tree.workspace.work,
            tests_can_run=not environment.broken,
        )

    place = _place_of_bundle(options, task)
    submitted_at = _now()
    if submit is None and options.claim is None:
        submit = submission_left_in(tree.workspace.work, task.task_id)
    examination = examine(tree, task, submit, options, environment, log)

    log("judging")
    submitted_by: Author = "accordance" if submit is None else "agent"
    judgement = _judgement(task, examination, options, submitted_by, submitted_at)
    if place is None:
        return judgement

    log("writing the bundle")
    papers = Papers(
        request.raw,
        b"",
        examination.submit,
        log.text,
        made=examination.made,
        added=examination.added,
    )
    keep(judgement, place, examination.collected, tree.workspace.work, papers)
    if options.attest is not None:
        sign(judgement, place, options.attest)
    return replace(judgement, bundle=place)


def _judgement(
    task: TaskInput,
    examination: Examination,
    options: JudgeOptions,
    submitted_by: Author,
    submitted_at: str,
) -> Judgement:
    collected = examination.collected
    terms = terms_for(task, options, submitted_by)
    case = case_under(
        terms, task, examination.submission, collected.facts, collected.links
    )
    return Judgement(
        verdict=verdict_on(case, terms.history),
        case=case,
        terms=terms,
        submitted_at=submitted_at,
        evaluated_at=_now(),
        links=links_to(collected.facts.evidence, options.bundle_of(task)),
        shown=collected.shown,
    )


def _gateway(root: Path, commit: str, isolation: str | None) -> JudgingPolicy:
    """Return the rules of the base, with the isolation that was asked for."""
    gateway = gateway_of(settings_at(root, commit), root)
    if isolation is None:
        return gateway
    return with_isolation(gateway, isolation)


def _tree_of(root: Path, commit: str, folder: Path) -> AttemptTree:
    """Prepare a tree that was worked on where it lies."""
    workspace = adopt(root, folder / "ours", base=commit)
    would_cover_scratch = folder.resolve().is_relative_to(root)
    return AttemptTree(
        workspace=workspace,
        before=base_snapshot(workspace),
        private=folder / "private",
        appears_at=None if would_cover_scratch else root,
        git_programs=programs(git_settings(root)),
    )


def _place_of_bundle(options: JudgeOptions, task: TaskInput) -> Path | None:
    if options.bundles is None:
        return None
    number = options.bundle_number
    return free_place(options.bundles, task.task_id, number, options.owner)


def _check_that_it_can_be_kept(options: JudgeOptions, task: TaskInput) -> None:
    """Raise at the beginning what would be in the way at the end."""
    if options.bundles is not None:
        free_place(options.bundles, task.task_id, options.attempt)
    if options.attest is not None:
        from accordance.workspace.attestation import check_key

        check_key(options.attest)


def _check_that_it_stays_hidden(
    options: JudgeOptions,
    task: TaskInput,
    root: Path,
) -> None:
    """Refuse to keep what hidden tests print where the next attempt can read it."""
    kept = options.bundles
    if task.hidden_tests is None or kept is None:
        return
    if kept.resolve().is_relative_to(root):
        raise WorkspaceError(
            "the evidence holds what hidden tests print, and would lie in the "
            "repository; keep it in a folder outside"
        )


def _now() -> str:
    return dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class _ProgressLog:
    """Reports what is being done, and keeps it for the bundle."""

    def __init__(self, tell: Tell) -> None:
        self.text = ""
        self._tell = tell

    def __call__(self, step: str) -> None:
        self.text += f"{_now()} {step}\n"
        self._tell(step)

"""Finding out what an attempt did, and handing in where no agent did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final, NamedTuple

from accordance.contracts.catalogue.task import TaskInput
from accordance.contracts.violation import Accepted, Rejected
from accordance.domain.case import Submission, chosen_tests, claim_context, tests_of
from accordance.domain.facts import ArtifactName
from accordance.domain.test_policy import Consequence
from accordance.judging.attempt import AttemptTree, JudgeOptions, Tell
from accordance.judging.claims import read_claim
from accordance.judging.hidden_tests import hidden_request
from accordance.judging.own_submission import Claim, complete, hand_in
from accordance.workspace.attempt_setting import AttemptSetting
from accordance.workspace.collecting import CollectedFacts, collect
from accordance.workspace.evidence import EvidenceRequest
from accordance.workspace.test_environment import TestEnvironment

_MAX_CHOSEN_TESTS: Final = 10
"""Of the agent's own test commands; each may take all the time there is."""


class Examination(NamedTuple):
    """What is known of an attempt."""

    submit: bytes
    submission: Submission
    collected: CollectedFacts
    made: Mapping[str, bytes] | None = None
    """The artifacts, where accordance had to make them all."""
    added: Mapping[str, bytes] = MappingProxyType({})
    """The artifacts that accordance made because the agent left them out."""


def examine(
    tree: AttemptTree,
    task: TaskInput,
    submit: bytes | None,
    options: JudgeOptions,
    environment: TestEnvironment,
    tell: Tell,
) -> Examination:
    """Collect the facts of an attempt.

    Where no agent handed anything in, or could, accordance hands in from the facts. Of
    a submission it makes the artifacts that are not there.
    """
    tree.private.mkdir(parents=True, exist_ok=True)
    submission = None
    if submit is not None:
        submission = read_claim(submit, claim_context(task))

    request = _evidence_request(task, submission, options)
    setting = _setting(tree, task, options, environment, tell)
    collected = _collect(tree, request, setting)
    if submit is not None and submission is not None:
        if isinstance(submission, Rejected):
            return Examination(submit, submission, collected)
        place = tree.private / "ours"
        completed = complete(task, collected, tree.workspace, request, place, submit)
        return Examination(
            submit, submission, completed.collected, added=completed.artifacts
        )

    tell("handing in, because no agent did")
    return _hand_in(tree, task, request, collected, options.claim)


def _collect(
    tree: AttemptTree,
    request: EvidenceRequest,
    setting: AttemptSetting,
) -> CollectedFacts:
    collected = collect(
        tree.workspace,
        tree.before,
        tree.private / "scratch",
        request,
        setting,
        after=tree.after,
    )
    facts = replace(collected.facts, git_programs=tree.git_programs)
    return replace(collected, facts=facts)


def _hand_in(
    tree: AttemptTree,
    task: TaskInput,
    request: EvidenceRequest,
    collected: CollectedFacts,
    claim: Claim | None,
) -> Examination:
    place = tree.private / "ours"
    handed_in = hand_in(task, collected, tree.workspace, request, place, claim)
    submission = read_claim(handed_in.submit, claim_context(task))
    return Examination(
        handed_in.submit, submission, handed_in.collected, handed_in.artifacts
    )


def _evidence_request(
    task: TaskInput,
    submission: Submission | None,
    options: JudgeOptions,
) -> EvidenceRequest:
    """Return what to look for, where the submission says it is."""
    claim = submission.value if isinstance(submission, Accepted) else None
    chosen = chosen_tests(task, claim)
    if options.claim is not None and not task.allowedTests:
        chosen = options.claim.tests
    known = tests_of(task, options.gateway.tests)
    tests = dict.fromkeys((*known, *chosen[:_MAX_CHOSEN_TESTS]))

    request = EvidenceRequest.usually(task.task_id, tuple(tests))
    if claim is None:
        return request
    places = {name: str(getattr(claim.artifacts, name)) for name in ArtifactName}
    return replace(request, places=places)


def _setting(
    tree: AttemptTree,
    task: TaskInput,
    options: JudgeOptions,
    environment: TestEnvironment,
    tell: Tell,
) -> AttemptSetting:
    gateway = options.gateway
    return AttemptSetting(
        isolation=gateway.isolation,
        limits=gateway.limits,
        readable=gateway.readable,
        carry=gateway.carry,
        compares_with_base=gateway.compares_with_base,
        appears_at=tree.appears_at,
        environment=environment,
        test_reports=(*gateway.test_reports, *(task.test_reports or ())),
        reruns=gateway.reruns,
        traces_lines=gateway.test_policy.not_reached is not Consequence.IGNORE,
        mutants=gateway.mutants,
        given_tests=tuple(task.given_tests or ()),
        hidden_tests=hidden_request(task, gateway),
        forbids=options.forbids,
        stop=options.stop,
        tell=tell,
    )

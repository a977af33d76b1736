"""A trial: an executor does an evaluation task once, and the judge says what it did.

    the base ── clone ── the executor works ── its change as a patch
    the base + hidden tests ── clone ── the patch is applied ── the judge

The agent's clone is that of a run: the files of the base, and none of its history.
Hidden tests are laid into the base of the judgement, as SWE-bench does: what the agent
has made of the same files does not count.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event
from typing import Any, Final, NamedTuple

from accordance.changes.attempt import CodingAttempt, Commission, FinishedWork
from accordance.changes.edits import apply_edits
from accordance.changes.workshop import Workshop
from accordance.contracts.catalogue.edits import EDITS
from accordance.contracts.contract import Contract
from accordance.contracts.reading import parse_object
from accordance.contracts.schemas import export_schema
from accordance.domain.case import claim_context
from accordance.domain.evaluation import EvalTask, Trial, says_nothing
from accordance.domain.patch import read_patch
from accordance.domain.routing import PROMPTS, Choice
from accordance.errors import AccordanceError, Unparseable
from accordance.executors.catalogue import limits_for
from accordance.executors.code_map import code_map
from accordance.executors.opinion import Opinion
from accordance.executors.prompt_building import build_prompt
from accordance.executors.prompt_files import SHARED
from accordance.executors.protocol import Assignment, Executor, RunOutcome
from accordance.executors.run_folder import run_tidily
from accordance.executors.shown_files import show
from accordance.judging.judge import AttemptTree, JudgeOptions, judge_on
from accordance.judging.judgement import Judgement
from accordance.judging.task_input import read_task
from accordance.project.home import Home
from accordance.project.policy import JudgingPolicy
from accordance.work.assignment import MERGE_CONFLICT
from accordance.work.contracts_for import contract_of_change
from accordance.workspace.branch import Branch, branch_name
from accordance.workspace.building import (
    apply_without,
    build_repository,
    extend_repository,
)
from accordance.workspace.clone import clone, scratch
from accordance.workspace.collecting import base_snapshot
from accordance.workspace.difference import difference
from accordance.workspace.evidence import evidence_folder
from accordance.workspace.git import resolve
from accordance.workspace.ignoring import BaseRules
from accordance.workspace.overlay import whole_tree
from accordance.workspace.patching import readable_patch

_CODER: Final = "coder.v1"
_EDITOR: Final = "editor.v1"
_DONE: Final = "DONE"


class TrialNotRun(AccordanceError):
    """A trial could not be made, for a reason that says nothing about the agent."""

    code = "trial-not-run"


class StartingPoint(NamedTuple):
    """A repository, and the commit that an agent begins at."""

    repository: Path
    commit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialRunner:
    """Makes trials with an executor of a project."""

    root: Path  # the project folder
    choice: Choice
    executor: Executor
    gateway: JudgingPolicy
    stop: Event

    def run(
        self, task: EvalTask, repository: Path | None, number: int, folder: Path
    ) -> Trial:
        """Make a trial; logs and evidence go to the new folder. Raises TrialNotRun."""
        try:
            with scratch() as place:
                source = _source(task, repository, place / "source")
                work = self._work(task, source, place, folder)
                return self._trial(task, source, work, number, place, folder)
        except TrialNotRun:
            raise
        except (AccordanceError, OSError) as error:
            raise TrialNotRun(str(error)) from error

    @property
    def prompt_names(self) -> tuple[str, str]:
        """The prompt files that the executor is instructed by."""
        is_editor = contract_of_change(self.choice.spec) is EDITS
        return (SHARED, self._prompt_name(is_editor=is_editor))

    # -- the work

    def _work(
        self, task: EvalTask, source: StartingPoint, place: Path, folder: Path
    ) -> _Work:
        attempt = self._attempt(task, source, Home(place))

        def do(work: Path, opinion: Callable[[bytes], Opinion]) -> RunOutcome:
            return self._let_work(task, attempt, work, opinion, folder)

        finished = attempt.new_work(attempt.place, do)
        produced = finished.produced
        if self.stop.is_set():
            raise TrialNotRun("it was stopped")
        if produced.fault is not None and says_nothing(produced.fault):
            raise TrialNotRun(produced.text or produced.fault.value)
        if not attempt.can_be_judged(produced):
            return _Work(produced)

        message = produced.raw
        if attempt.judge.takes_edits and message is not None:
            apply_edits(message, claim_context(attempt.job.asked.task), finished.draft)
        else:
            message = attempt.judge.message_of(finished.tree.workspace.work, message)
        return _Work(
            produced,
            claimed=_claims(message),
            patch=_patch(finished),
            options=attempt.judge.options(produced),
        )

    def _attempt(
        self, task: EvalTask, source: StartingPoint, home: Home
    ) -> CodingAttempt:
        gateway = self._gateway_of_agent(task)
        asked = json.dumps(task.for_agent(), ensure_ascii=False).encode()
        job = Commission(
            asked=read_task(asked, gateway),
            title=task.title,
            number=1,
            attempt=1,
            earlier=(),
            head=None,
            start=b"",
            branch=Branch(source.repository, branch_name(f"eval-{task.task_id}")),
            gateway=gateway,
        )
        shop = Workshop(home, source.repository, source.commit)
        return CodingAttempt(shop, job, self.choice)

    def _gateway_of_agent(self, task: EvalTask) -> JudgingPolicy:
        """Return the rules for opinions on the way.

        Where all tests are hidden there are none that the agent could be held to.
        """
        role = self.gateway.roles.get(task.role)
        if task.tests or role is None:
            return self.gateway
        free = replace(role, tests_required=False)
        return replace(self.gateway, roles={**self.gateway.roles, task.role: free})

    def _let_work(
        self,
        task: EvalTask,
        attempt: CodingAttempt,
        work: Path,
        opinion: Callable[[bytes], Opinion],
        folder: Path,
    ) -> RunOutcome:
        """Run the executor in its clone, as a run of a plan does."""
        contract = contract_of_change(self.choice.spec)
        document = _assignment(task, contract, work)
        takes_edits = contract is EDITS
        shown = show(work, document["change"]) if takes_edits else ()
        prompt = self._prompt_name(is_editor=takes_edits)
        instructions = build_prompt(
            document, prompt, self.root, self.choice.context_bytes, shown
        )

        assignment = Assignment(
            document=document,
            contract=contract,
            context=claim_context(attempt.job.asked.task),
            prompt=instructions.prompt,
            folder=folder,
            model=self.choice.model,
            work=work,
            opinion=opinion,
        )
        limits = replace(limits_for(self.choice.spec), stop=self.stop)
        return run_tidily(self.executor, assignment, limits)

    def _prompt_name(self, *, is_editor: bool) -> str:
        prompt = self.choice.prompt
        if prompt != PROMPTS["action"]:
            return prompt
        return _EDITOR if is_editor else _CODER

    # -- the judgement

    def _trial(
        self,
        task: EvalTask,
        source: StartingPoint,
        work: _Work,
        number: int,
        place: Path,
        folder: Path,
    ) -> Trial:
        produced = work.produced
        trial = Trial(
            task=task.id,
            number=number,
            resolved=False,
            claimed=work.claimed,
            reason_code=produced.code or "",
            reason=produced.text,
            seconds=produced.duration_ms / 1000,
            cost=produced.spending.cost,
            tokens=produced.spending.tokens if produced.spending.calls else None,
        )
        if work.patch is None:
            return trial

        tree = _judged_tree(task, source, work.patch, place)
        if tree is None:
            reason = "the change does not fit beside the hidden tests"
            return replace(trial, reason_code=MERGE_CONFLICT, reason=reason)
        judgement = self._judge(task, tree, work.options, folder)
        verdict = judgement.verdict
        return replace(
            trial,
            resolved=bool(judgement),
            reason_code=verdict.reason_code or "",
            reason="" if judgement else verdict.reason,
            evidence=str(judgement.bundle or ""),
        )

    def _judge(
        self, task: EvalTask, tree: AttemptTree, options: JudgeOptions, folder: Path
    ) -> Judgement:
        """Judge the change from facts alone. Raises TrialNotRun."""
        asked = json.dumps(task.for_judge(), ensure_ascii=False).encode()
        options = replace(options, gateway=self.gateway, bundles=folder, stop=self.stop)
        judgement = judge_on(tree, read_task(asked, self.gateway), None, options)
        if self.stop.is_set():
            raise TrialNotRun("it was stopped")
        facts = judgement.facts
        untested = facts.isolation_missing or facts.environment_broken
        if untested:
            raise TrialNotRun(untested)
        return judgement


@dataclass(frozen=True, slots=True)
class _Work:
    """What an agent produced; no patch where it left nothing that could be judged."""

    produced: RunOutcome
    claimed: bool = False
    patch: bytes | None = None
    options: JudgeOptions = field(default_factory=JudgeOptions)


def _source(task: EvalTask, repository: Path | None, place: Path) -> StartingPoint:
    """Return the repository of a task, built from its files where it has none."""
    if repository is None:
        return StartingPoint(place, build_repository(place, task.files))
    return StartingPoint(repository, resolve(repository, task.base))


def _assignment(task: EvalTask, contract: Contract[Any], work: Path) -> dict[str, Any]:
    """Return the assignment, as the runtime writes it for a task of a plan."""
    change = task.for_agent()
    return {
        "kind": "action",
        "task": {
            "task_id": task.task_id,
            "title": task.title,
            "goal_statement": task.goal,
            "owner_agent_id": task.role,
            "tags": ["code"],
        },
        "change": change,
        "attempt": 1,
        "contract": {
            "scope": contract.scope,
            "schema_version": contract.version,
            "task_id": task.task_id,
            "schema": export_schema(contract).schema,
        },
        "context": {"last_errors": [], "map_summary": code_map(work, change)},
        "hand_in": [],
    }


def _claims(message: bytes | None) -> bool:
    """Whether a message says DONE, be it as its contract wants it or not."""
    if message is None:
        return False
    try:
        return parse_object(message).get("status") == _DONE
    except Unparseable:
        return False


def _patch(work: FinishedWork) -> bytes:
    """Return the change in a clone as a patch."""
    tree = work.tree
    after = tree.after or whole_tree(tree.workspace)
    changes = difference(tree.before, after, ignored=BaseRules(tree.workspace))
    return readable_patch(tree.workspace, changes).text


def _judged_tree(
    task: EvalTask, source: StartingPoint, patch: bytes, place: Path
) -> AttemptTree | None:
    """Lay the change over the base with its hidden tests; None if it does not fit."""
    base = place / "judged-base"
    commit = extend_repository(
        source.repository, source.commit, base, task.hidden_files, task.test_patch
    )
    workspace = clone(base, place / "judged", base=commit)
    before = base_snapshot(workspace)

    hidden = {*task.hidden_files, *read_patch(task.test_patch).touched}
    evidence = f"{evidence_folder(task.task_id)}/"
    if not apply_without(patch, workspace.work, (*sorted(hidden), evidence)):
        return None
    return AttemptTree(
        workspace=workspace, before=before, private=place / "judged" / "private"
    )

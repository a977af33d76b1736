"""Judging an attempt to change a repository, and writing the commit if it passed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from accordance.api import check
from accordance.changes.commission import Commission
from accordance.changes.edits import AppliedEdits, apply_edits
from accordance.changes.failure_output import output_for_next_attempt
from accordance.changes.repository_watch import breaches_in
from accordance.changes.settling import JudgedChange, manifest_of
from accordance.contracts.catalogue.edits import EDITS
from accordance.contracts.catalogue.submit import SUBMIT
from accordance.contracts.violation import Accepted
from accordance.domain.case import Breach, claim_context
from accordance.domain.routing import Choice, names_of
from accordance.domain.usage import Usage
from accordance.domain.verdict import Outcome
from accordance.executors.protocol import RunOutcome
from accordance.judging.judge import AttemptTree, JudgeOptions, judge_on
from accordance.judging.judgement import Judgement
from accordance.judging.task_input import submission_left_in
from accordance.work.contracts_for import contract_of_change
from accordance.workspace.bundle import bundle_folder
from accordance.workspace.editing import Draft
from accordance.workspace.patching import readable_patch


class Conclusion(NamedTuple):
    """The submission that counts, and the change as it takes effect."""

    raw: bytes
    change: JudgedChange


@dataclass(frozen=True, slots=True)
class AttemptJudge:
    """Judges what an executor has left in its clone."""

    root: Path  # the project folder
    job: Commission
    choice: Choice
    owner: str  # names the run: others may run the same attempt

    @property
    def executor(self) -> str:
        """The name of the executor, of those that the task allows if it names any."""
        names = names_of(self.choice.executor, self.choice.spec)
        allowed = self.job.asked.task.allowedExecutors or ()
        for name in names:
            if name in allowed:
                return name
        return names[0]

    @property
    def takes_edits(self) -> bool:
        """Whether the executor hands in edits, because it cannot work in the clone."""
        return contract_of_change(self.choice.spec) is EDITS

    def options(self, produced: RunOutcome | None = None) -> JudgeOptions:
        """Return how the attempt is judged, given what its run produced."""
        usage = Usage(model=self.choice.model, executor=self.executor)
        breaches: tuple[Breach, ...] = ()
        if produced is not None:
            breaches = breaches_in(produced)
            usage = produced.spending.usage(
                model=self.choice.model,
                executor=self.executor,
                duration_ms=produced.duration_ms,
            )
            usage = replace(usage, tools=produced.tools)

        # only the models that the route could really ask
        gateway = replace(self.job.gateway, tiers=self.choice.tiers)
        return JudgeOptions(
            gateway=gateway,
            attempt=self.job.attempt,
            number=self.job.number,
            earlier=self.job.earlier,
            usage=usage,
            budget=self.job.budget,
            breaches=breaches,
            upgrades_at_once=True,
        )

    def judge(
        self,
        draft: Draft,
        tree: AttemptTree,
        raw: bytes | None,
        options: JudgeOptions,
    ) -> tuple[Judgement, AppliedEdits | None]:
        """Judge the clone by what was handed in.

        Edits are applied to it first, and accordance makes the submission for them.
        """
        request = self.job.asked
        edits = None
        if raw is not None and self.takes_edits:
            edits = apply_edits(raw, claim_context(request.task), draft)

        if edits is None:
            return judge_on(tree, request, raw, options), None
        return judge_on(tree, request, None, edits.judged_under(options)), edits

    def conclude(
        self,
        tree: AttemptTree,
        draft: Draft,
        message: bytes | None,
        options: JudgeOptions,
    ) -> Conclusion:
        """Judge what was left, keep the evidence of this run, and write the commit.

        The commit is written only if the change passed.
        """
        root = self.root
        separate = replace(tree, private=tree.private / "judged")
        options = replace(options, bundles=root, owner=self.owner)
        judgement, _ = self.judge(draft, separate, message, options)

        written = judgement.bundle or root
        bundle = bundle_folder(root, self.job.asked.task.task_id, self.job.number)
        change = JudgedChange(
            verdict=judgement.verdict,
            bundle=bundle.relative_to(root).as_posix(),
            written=written.relative_to(root).as_posix(),
            manifest=manifest_of(written),
            base=tree.workspace.commit,
            commit=self._commit(tree, judgement),
            printed=output_for_next_attempt(judgement),
            executor=options.usage.executor,
            model=options.usage.model,
        )
        submission = (written / "submit.json").read_bytes()
        return Conclusion(submission, change)

    def message_of(self, work: Path, raw: bytes | None) -> bytes | None:
        """Return the submission of an agent: its message, or a file it left behind.

        If there are both, the first that honours the contract counts.
        """
        task = self.job.asked.task
        messages = (raw, submission_left_in(work, task.task_id))
        candidates = [message for message in messages if message and message.strip()]
        if not candidates:
            return None
        if len(set(candidates)) == 1:  # nothing to choose: it is checked when judged
            return candidates[0]

        context = claim_context(task)
        for candidate in candidates:
            if isinstance(check(candidate, SUBMIT, context), Accepted):
                return candidate
        return candidates[0]

    def _commit(self, tree: AttemptTree, judgement: Judgement) -> str | None:
        if judgement.outcome is not Outcome.DONE:
            return None

        job, task_id = self.job, judgement.task_id
        change = readable_patch(tree.workspace, judgement.facts.changes)
        text = f"{job.title}\n\nTask: {task_id}\nAttempt: {job.number}"
        return job.branch.write(
            tree.workspace,
            change,
            f"{task_id}-{job.number}",
            text,
            judgement.evaluated_at,
        )

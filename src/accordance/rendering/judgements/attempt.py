"""What every format of a judgement is made from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from accordance.contracts.catalogue.task import TaskInput
from accordance.domain.causes import CAUSES, Cause, cause_of_verdict
from accordance.domain.escalation import LEVELS
from accordance.domain.facts import AttemptFacts, CommandRun
from accordance.domain.failing_tests import FailingTest, failing_tests
from accordance.domain.verdict import Outcome, Verdict

MAX_PRINTED: Final = 10  # lines of a command's output that are shown


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedAttempt:
    """An attempt with its verdict and the facts behind it."""

    verdict: Verdict
    task: TaskInput
    facts: AttemptFacts
    attempt: int
    max_attempts: int
    task_file: str = "task.json"  # as its repository names it
    evidence: str = ""  # the folder of the bundle
    printed: tuple[str, ...] = ()
    """The end of what each test command printed, in the order of the runs."""

    @property
    def is_done(self) -> bool:
        """Whether the work was accepted."""
        return self.verdict.outcome is Outcome.DONE

    @property
    def failing(self) -> tuple[FailingTest, ...]:
        """The failing tests that are held against the change."""
        return failing_tests(self.task, self.facts)

    @property
    def number(self) -> str:
        """The attempt, and how many there may be."""
        return f"attempt {self.attempt} of {self.max_attempts}"

    @property
    def change(self) -> str:
        """How many paths changed, and since when."""
        count = len(self.facts.changes.paths())
        changed = "1 changed path" if count == 1 else f"{count} changed paths"
        base = self.facts.base_commit[:12] or "the earlier copy"
        return f"{changed} since {base}"

    @property
    def cause(self) -> str:
        """What has to change before the work can be accepted; empty if it was.

        Whether an attempt was used up is mentioned where a reader would not expect it.
        """
        cause = cause_of_verdict(self.verdict)
        if cause is None:
            return ""
        words = CAUSES[cause]
        if self.verdict.uses_attempt:
            return words
        return f"{words}; no attempt is used up"

    @property
    def is_environment_fault(self) -> bool:
        """Whether the environment is to blame, and not the agent."""
        return cause_of_verdict(self.verdict) is Cause.ENVIRONMENT

    @property
    def following(self) -> str:
        """What follows, in words; empty where nothing does."""
        step = self.verdict.step
        if step is None:
            return ""
        role = f" ({step.role})" if step.role else ""
        return f"{self.verdict.next_action}{role}. {LEVELS[step.level]}"

    def output_of(self, run: CommandRun) -> tuple[str, ...]:
        """Return the last lines that a command printed."""
        for other, text in zip(self.facts.runs, self.printed, strict=False):
            if other is run:
                lines = [line.rstrip() for line in text.splitlines() if line.strip()]
                return tuple(lines[-MAX_PRINTED:])
        return ()

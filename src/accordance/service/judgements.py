"""Judgements in every format, also again from the bundle that a judgement has left."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from accordance.domain.causes import cause_of_verdict
from accordance.domain.failing_tests import FailingTest
from accordance.executors.left_files import tail
from accordance.judging.judgement import Judgement
from accordance.judging.rejudging import rejudge
from accordance.rendering.judgements.attempt import JudgedAttempt
from accordance.rendering.judgements.github import as_github
from accordance.rendering.judgements.gitlab import as_gitlab
from accordance.rendering.judgements.junit import as_junit
from accordance.rendering.judgements.markdown import as_markdown_summary
from accordance.rendering.judgements.sarif import as_sarif
from accordance.rendering.judgements.text import as_text
from accordance.rendering.showing import as_json_text
from accordance.workspace.errors import BundleBroken


def render(judgement: Judgement, name: str, task_file: str = "task.json") -> str:
    """Return a judgement in a format. The task's file is where homeless findings go."""
    if name in DOCUMENTS:
        return as_json_text(DOCUMENTS[name](judgement))
    return RENDERED[name](judged_attempt(judgement, task_file))


def judged_attempt(judgement: Judgement, task_file: str = "task.json") -> JudgedAttempt:
    """Return what the formats for people and forges are made from."""
    bundle = judgement.bundle
    return JudgedAttempt(
        verdict=judgement.verdict,
        task=judgement.case.task,
        facts=judgement.facts,
        attempt=judgement.attempt,
        max_attempts=judgement.terms.history.standing.max_attempts,
        task_file=task_file,
        evidence="" if bundle is None else str(bundle),
        printed=_printed(judgement),
    )


def _printed(judgement: Judgement) -> tuple[str, ...]:
    """Return the end of what each test command printed, if the evidence was kept."""
    if judgement.bundle is None:
        return ()
    runs = judgement.bundle / "runs"
    numbers = range(1, len(judgement.facts.runs) + 1)
    return tuple(tail(runs, f"{number:02}.log") for number in numbers)


def as_json(judgement: Judgement) -> dict[str, Any]:
    """Return the whole judgement, with its bundle, its cause and the failing tests."""
    bundle = None if judgement.bundle is None else str(judgement.bundle)
    cause = cause_of_verdict(judgement.verdict)
    return {
        **judgement.to_json(),
        "bundle": bundle,
        "cause": cause.value if cause else None,
        "failing_tests": [_failing(test) for test in judgement.failing_tests],
    }


def _failing(test: FailingTest) -> dict[str, Any]:
    return {
        "test": test.test,
        "command": test.command,
        "file": test.file or None,
        "line": test.line,
        "lines": list(test.lines),
    }


def judgement_in(bundle: Path) -> Judgement:
    """Return the judgement of a bundle, reached again from the facts in it.

    Raises BundleBroken if the folder is no bundle, if anything in it was changed, or if
    its verdict does not follow from it.
    """
    again = rejudge(bundle)
    if again.judgement is None or again.faults:
        raise BundleBroken(f"{bundle} does not hold: {'; '.join(again.faults)}")
    return again.judgement


RENDERED: Final[Mapping[str, Callable[[JudgedAttempt], str]]] = MappingProxyType(
    {
        "text": as_text,
        "markdown": as_markdown_summary,
        "github": as_github,
        "gitlab": as_gitlab,
        "junit": as_junit,
        "sarif": as_sarif,
    }
)
DOCUMENTS: Final[Mapping[str, Callable[[Judgement], Any]]] = MappingProxyType(
    {
        "json": as_json,
        "003": Judgement.as_outcome,
        "004": Judgement.as_verdict,
    }
)

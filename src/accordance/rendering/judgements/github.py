"""A judgement as annotations of GitHub Actions, which stand beside the code."""

from __future__ import annotations

from accordance.rendering.annotations import github_annotation
from accordance.rendering.judgements.attempt import JudgedAttempt
from accordance.rendering.judgements.remarks import Remark, remarks_on


def as_github(judged: JudgedAttempt) -> str:
    """Return a line for each remark and notice, and for the outcome."""
    verdict = judged.verdict
    lines = [_error(remark) for remark in remarks_on(judged)]

    summary = f"{verdict.outcome}: {verdict.reason} Next: {verdict.next_action}."
    if judged.cause:
        summary += f" Cause: {judged.cause}."
    notices = [
        github_annotation("notice", "accordance", text, {})
        for text in (*verdict.notices, summary)
    ]
    return "\n".join([*lines, *notices])


def _error(remark: Remark) -> str:
    where: dict[str, object] = {}
    if remark.file:
        where["file"] = remark.file
    if remark.line is not None:
        where["line"] = remark.line
    title = f"accordance {remark.finding.code}"
    if remark.is_environment_fault:
        title += " (not the agent's fault)"
    return github_annotation("error", title, remark.text, where, remark.details)

"""A judgement as a code quality report of GitLab, which stands beside the code."""

from __future__ import annotations

import hashlib
from typing import Any

from accordance.contracts.printable import printable
from accordance.rendering.judgements.attempt import JudgedAttempt
from accordance.rendering.judgements.remarks import Remark, remarks_on
from accordance.rendering.showing import as_json_text


def as_gitlab(judged: JudgedAttempt) -> str:
    """Return a list of issues, an issue for each remark.

    GitLab shows no issue without a file: a remark about none is shown at the task.
    """
    issues: dict[str, dict[str, Any]] = {}
    for remark in remarks_on(judged):
        issue = _issue(remark, judged.task_file)
        issues.setdefault(issue["fingerprint"], issue)  # GitLab refuses a second
    return as_json_text(list(issues.values()))


def _issue(remark: Remark, task_file: str) -> dict[str, Any]:
    file = remark.file or task_file
    text = remark.text
    if remark.is_environment_fault:
        text = f"The environment, not the change: {text}"
    subject = f"{remark.finding.code}\n{file}\n{remark.text}"
    encoded = subject.encode("utf-8", "surrogatepass")
    return {
        "check_name": remark.finding.code,
        "description": printable(text),
        "fingerprint": hashlib.sha256(encoded).hexdigest(),
        "severity": "info" if remark.is_environment_fault else "major",
        "location": {"path": file, "lines": {"begin": remark.line or 1}},
    }

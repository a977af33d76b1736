"""A judgement as SARIF 2.1.0, for code scanning."""

from __future__ import annotations

from typing import Any, Final

from accordance.domain.fail_codes import fail_code
from accordance.errors import UnknownCode
from accordance.rendering.annotations import sarif_document
from accordance.rendering.judgements.attempt import JudgedAttempt
from accordance.rendering.judgements.remarks import Remark, remarks_on

_PLAIN: Final = frozenset(
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/"
)
"""The bytes that a relative URI holds as they are."""


def as_sarif(judged: JudgedAttempt) -> str:
    """Return a document with a result for each remark.

    Code scanning needs a file for every result: a remark about none is shown at the
    task. A fault of the environment is no result: it is a notification of the tool,
    which could not do its work.
    """
    results = []
    notifications = []
    for remark in remarks_on(judged):
        if remark.is_environment_fault:
            notifications.append(_notification(remark))
        else:
            results.append(_result(remark, judged.task_file))

    codes = dict.fromkeys(result["ruleId"] for result in results)
    rules = [_rule(code) for code in codes]
    return sarif_document(rules, results, notifications)


def _rule(code: str) -> dict[str, Any]:
    try:
        page = fail_code(code)
    except UnknownCode:  # an agent may give reasons of its own
        return {"id": code}
    return {
        "id": code,
        "shortDescription": {"text": page.trigger},
        "help": {"text": page.action},
    }


def _result(remark: Remark, task_file: str) -> dict[str, Any]:
    place = {
        "artifactLocation": {"uri": uri_of(remark.file or task_file)},
        "region": {"startLine": remark.line or 1},
    }
    text = "\n".join((remark.text, *remark.details))
    return {
        "ruleId": remark.finding.code,
        "level": "error",
        "message": {"text": text},
        "locations": [{"physicalLocation": place}],
    }


def _notification(remark: Remark) -> dict[str, Any]:
    return {
        "level": "error",
        "descriptor": {"id": remark.finding.code},
        "message": {"text": remark.text},
    }


def uri_of(path: str) -> str:
    """Return a path as a relative URI."""
    pieces = []
    for byte in path.encode("utf-8", "surrogatepass"):
        if byte in _PLAIN:
            pieces.append(chr(byte))
        else:
            pieces.append(f"%{byte:02X}")
    return "".join(pieces)

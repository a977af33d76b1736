"""Workflow commands of GitHub Actions, and SARIF 2.1.0 for code scanning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from accordance._version import __version__
from accordance.contracts.printable import printable
from accordance.rendering.showing import as_json_text

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def github_annotation(
    kind: str,
    title: str,
    text: str,
    where: Mapping[str, object],
    details: Sequence[str] = (),
) -> str:
    """A line that GitHub shows beside the code; details are further lines in it."""
    properties = {**where, "title": title}
    written = []
    for key, value in properties.items():
        shown = printable(str(value))
        written.append(f"{key}={_property(shown)}")
    options = ",".join(written)
    message = "\n".join(map(printable, (text, *details)))
    return f"::{kind} {options}::{_data(message)}"


def _data(text: str) -> str:
    text = text.replace("%", "%25")
    text = text.replace("\r", "%0D")
    return text.replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def sarif_document(
    rules: Sequence[Mapping[str, Any]],
    results: Sequence[Mapping[str, Any]],
    notifications: Sequence[Mapping[str, Any]] = (),
) -> str:
    """A SARIF document with a single run.

    Notifications say why the tool could not do its work.
    """
    driver = {
        "name": "accordance",
        "version": __version__,
        "rules": rules,
    }
    run: dict[str, Any] = {
        "tool": {"driver": driver},
        "results": results,
        "columnKind": "unicodeCodePoints",
    }
    if notifications:
        invocation = {
            "executionSuccessful": False,
            "toolExecutionNotifications": notifications,
        }
        run["invocations"] = [invocation]
    return as_json_text(
        {
            "$schema": _SCHEMA,
            "version": "2.1.0",
            "runs": [run],
        }
    )

"""Workflow commands of GitHub Actions, and SARIF 2.1.0 for code scanning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from accordance._version import __version__
from accordance.cli.showing import as_json_text
from accordance.contracts.printable import printable

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def github_annotation(
    kind: str, title: str, text: str, where: Mapping[str, object]
) -> str:
    """A line that GitHub shows beside the code."""
    properties = {**where, "title": title}
    written = [
        f"{key}={_property(printable(str(value)))}" for key, value in properties.items()
    ]
    return f"::{kind} {','.join(written)}::{_data(printable(text))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def sarif_document(
    rules: Sequence[Mapping[str, Any]], results: Sequence[Mapping[str, Any]]
) -> str:
    """A SARIF document with a single run."""
    driver = {"name": "accordance", "version": __version__, "rules": rules}
    run = {
        "tool": {"driver": driver},
        "results": results,
        "columnKind": "unicodeCodePoints",
    }
    return as_json_text({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]})

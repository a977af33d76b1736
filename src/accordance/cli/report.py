"""Reports of checks: for people, programs, GitHub and code scanning.

Each report takes the results as they come, and says whether all were accepted.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import PurePath
from typing import Any

import click

from accordance.cli.check_output import print_results
from accordance.cli.checked_file import Checked
from accordance.contracts.codes import CODES
from accordance.contracts.printable import printable, printable_lines
from accordance.contracts.serialising import dump
from accordance.contracts.violation import Notice, Rejected, Violation
from accordance.rendering.annotations import github_annotation, sarif_document


def as_text(results: Iterable[Checked]) -> bool:
    """For people."""
    return print_results(results)


def as_json(results: Iterable[Checked]) -> bool:
    """A JSON document."""
    rows = [_row(checked) for checked in results]
    accepted = sum(1 for row in rows if row["accepted"])
    rejected = len(rows) - accepted

    document = {
        "accepted": accepted,
        "rejected": rejected,
        "results": rows,
    }
    click.echo(printable_lines(json.dumps(document, indent=2, ensure_ascii=False)))
    return rejected == 0


def _row(checked: Checked) -> dict[str, Any]:
    result = checked.result
    row: dict[str, Any] = {
        "file": checked.file,
        "contract": result.contract or None,
        "accepted": bool(result),
        "repairs": [repair.to_json() for repair in result.repairs],
    }
    findings = [
        finding.to_json() | checked.places[finding.path]._asdict()
        for finding in checked.findings
    ]
    if isinstance(result, Rejected):
        row["total"] = result.total
        row["violations"] = findings
    else:
        row["warnings"] = findings
        row["total_warnings"] = result.total_warnings
        row["message"] = dump(result.value)
    return row


def as_github(results: Iterable[Checked]) -> bool:
    """Annotations of GitHub Actions, a line each."""
    all_accepted = True
    for checked in results:
        all_accepted = all_accepted and bool(checked.result)
        for finding in checked.findings:
            click.echo(_annotation(checked, finding))
    return all_accepted


def _annotation(checked: Checked, finding: Violation | Notice) -> str:
    place = checked.places[finding.path]
    where = {
        "file": printable(checked.file),
        "line": place.line,
        "col": place.column,
    }
    title = f"accordance {finding.code}"
    return github_annotation(_severity(finding), title, str(finding), where)


def _severity(finding: Violation | Notice) -> str:
    """GitHub and SARIF share these two words."""
    return "error" if isinstance(finding, Violation) else "warning"


def as_sarif(results: Iterable[Checked]) -> bool:
    """SARIF 2.1.0, for code scanning."""
    all_accepted = True
    sarif_results: list[dict[str, Any]] = []
    for checked in results:
        all_accepted = all_accepted and bool(checked.result)
        sarif_results += [
            _sarif_result(checked, finding) for finding in checked.findings
        ]

    codes = dict.fromkeys(result["ruleId"] for result in sarif_results)
    rules = [_sarif_rule(code) for code in codes]
    click.echo(printable_lines(sarif_document(rules, sarif_results)))
    return all_accepted


def _sarif_rule(code: str) -> dict[str, Any]:
    page = CODES.get(code)
    if page is None:
        return {"id": code}
    return {
        "id": code,
        "shortDescription": {"text": page.title},
        "help": {"text": f"{page.why} {page.way_out}"},
    }


def _sarif_result(checked: Checked, finding: Violation | Notice) -> dict[str, Any]:
    place = checked.places[finding.path]
    location = {
        "physicalLocation": {
            "artifactLocation": {"uri": PurePath(checked.file).as_posix()},
            "region": {"startLine": place.line, "startColumn": place.column},
        },
        "logicalLocations": [{"fullyQualifiedName": finding.path}],
    }
    return {
        "ruleId": finding.code,
        "level": _severity(finding),
        "message": {"text": str(finding)},
        "locations": [location],
    }


FORMATS: dict[str, Callable[[Iterable[Checked]], bool]] = {
    "text": as_text,
    "json": as_json,
    "github": as_github,
    "sarif": as_sarif,
}

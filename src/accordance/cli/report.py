"""Reports of checks: for people, for programs, for GitHub, for code scanning. Each takes the results as they come."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePath
from typing import Any

import click

from accordance.cli.annotations import github_annotation, sarif_document
from accordance.cli.checked_file import Checked
from accordance.contracts.codes import CODES
from accordance.contracts.printable import printable, printable_lines
from accordance.contracts.serialising import dump
from accordance.contracts.violation import Notice, Rejected, Violation


def as_text(results: Iterable[Checked]) -> bool:
    """For people. True if all were accepted."""
    from accordance.cli.text import print_results

    return print_results(results)


def as_json(results: Iterable[Checked]) -> bool:
    """One JSON document."""
    rows = [_row(checked) for checked in results]
    accepted = sum(1 for row in rows if row["accepted"])
    whole = {"accepted": accepted, "rejected": len(rows) - accepted, "results": rows}
    click.echo(printable_lines(json.dumps(whole, indent=2, ensure_ascii=False)))
    return accepted == len(rows)


def _row(checked: Checked) -> dict[str, Any]:
    result = checked.result
    row: dict[str, Any] = {
        "file": checked.file,
        "contract": result.contract or None,
        "accepted": bool(result),
    }
    row["repairs"] = [repair.to_json() for repair in result.repairs]
    if isinstance(result, Rejected):
        located = [
            violation.to_json() | _where(checked, violation)
            for violation in result.violations
        ]
        return row | {"total": result.total, "violations": located}
    located = [notice.to_json() | _where(checked, notice) for notice in result.warnings]
    counted = {"warnings": located, "total_warnings": result.total_warnings}
    return row | counted | {"message": dump(result.value)}


def _where(checked: Checked, finding: Violation | Notice) -> dict[str, object]:
    return checked.places[finding.path]._asdict()


def as_github(results: Iterable[Checked]) -> bool:
    """Annotations of GitHub Actions, one line each."""
    accepted = True
    for checked in results:
        accepted = accepted and bool(checked.result)
        for finding in _findings(checked):
            place = checked.places[finding.path]
            kind = "error" if isinstance(finding, Violation) else "warning"
            where = {
                "file": printable(checked.file),
                "line": place.line,
                "col": place.column,
            }
            click.echo(
                github_annotation(
                    kind, f"accordance {finding.code}", str(finding), where
                )
            )
    return accepted


def _findings(checked: Checked) -> Iterator[Violation | Notice]:
    yield from (
        checked.result.violations
        if isinstance(checked.result, Rejected)
        else checked.result.warnings
    )


def as_sarif(results: Iterable[Checked]) -> bool:
    """SARIF 2.1.0, for code scanning."""
    accepted, found = True, []
    for checked in results:
        accepted = accepted and bool(checked.result)
        found += [_sarif_result(checked, finding) for finding in _findings(checked)]
    used = dict.fromkeys(result["ruleId"] for result in found)
    click.echo(
        printable_lines(sarif_document([_sarif_rule(code) for code in used], found))
    )
    return accepted


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
    region = {"startLine": place.line, "startColumn": place.column}
    location = {
        "artifactLocation": {"uri": PurePath(checked.file).as_posix()},
        "region": region,
    }
    return {
        "ruleId": finding.code,
        "level": "error" if isinstance(finding, Violation) else "warning",
        "message": {"text": str(finding)},
        "locations": [
            {
                "physicalLocation": location,
                "logicalLocations": [{"fullyQualifiedName": finding.path}],
            }
        ],
    }


FORMATS: dict[str, Callable[[Iterable[Checked]], bool]] = {
    "text": as_text,
    "json": as_json,
    "github": as_github,
    "sarif": as_sarif,
}

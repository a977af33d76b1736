"""`accordance doctor`: check this machine and this ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from accordance.cli.exits import Exit
from accordance.cli.ledger_commands import (
    Where,
    json_option,
    ledger_options,
    print_json,
)
from accordance.cli.showing import print_line
from accordance.cli.ways_out import with_way_out

if TYPE_CHECKING:
    from accordance.service.views.health import HealthView


@click.command(name="doctor")
@ledger_options
@json_option
def command(where: Where, as_json: bool) -> int:
    """Check this machine and this ledger. Exit code 1: something is missing or broken."""
    from accordance.service.health import look_around

    findings = look_around(where.home, where.place)
    rows = []
    for finding in findings:
        text = with_way_out(finding.found, finding.code)
        rows.append({**finding.to_json(), "found": text})
        if not as_json:
            print_line(f"{_mark(finding)} {finding.name:<12} {text}")
    if as_json:
        print_json(rows)

    is_broken = any(finding.is_broken for finding in findings)
    return Exit.REJECTED if is_broken else Exit.OK


def _mark(finding: HealthView) -> str:
    if finding.ok:
        return "✓"
    return "✗" if finding.needed else "–"

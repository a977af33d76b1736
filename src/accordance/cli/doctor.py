"""`accordance doctor`: what this machine and this ledger can do."""

from __future__ import annotations

import click

from accordance.cli.exits import Exit
from accordance.cli.ledger_commands import Where, json_option, ledger_options, say
from accordance.cli.showing import tell
from accordance.cli.ways_out import with_way_out


@click.command(name="doctor")
@ledger_options
@json_option
def command(where: Where, as_json: bool) -> int:
    """Look at this machine and this ledger. Exit code 1 if something is missing or broken."""
    from accordance.service.health import look_around

    findings = look_around(where.home, where.place)
    texts = [with_way_out(finding.found, finding.code) for finding in findings]
    if as_json:
        say(
            [
                {**finding.to_json(), "found": text}
                for finding, text in zip(findings, texts, strict=True)
            ]
        )
    else:
        for finding, text in zip(findings, texts, strict=True):
            mark = "✓" if finding.ok else "✗" if finding.needed else "–"
            tell(f"{mark} {finding.name:<12} {text}")
    return Exit.REJECTED if any(finding.is_broken for finding in findings) else Exit.OK

"""`accordance explain`."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from accordance.contracts.codes import CODES, PAGES, CodePage, explain


def _complete(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    return [code for code in CODES if code.startswith(incomplete)]


@click.command(name="explain")
@click.argument("code", required=False, shell_complete=_complete)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(code: str | None, as_json: bool) -> None:
    """Explain CODE, a violation or warning code; without it, list them all."""
    pages = PAGES if code is None else (explain(code),)
    if as_json:
        click.echo(json.dumps([asdict(page) for page in pages], indent=2, ensure_ascii=False))
    elif code is None:
        width = max(len(page.code) for page in pages)
        click.echo("\n".join(f"{page.code:<{width}}  {page.title}" for page in pages))
    else:
        click.echo(_page(pages[0]))


def _page(page: CodePage) -> str:
    kind = "warning" if page.kind == "warning" else "violation"
    return f"{page.code} ({kind}): {page.title}\n\n{page.why}\n\nWay out: {page.way_out}"

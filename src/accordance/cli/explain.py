"""`accordance explain`: what a code means, and the way out."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from accordance.contracts.codes import PAGES, CodePage, explain
from accordance.domain.fail_codes import FAIL_CODES, FailCode, fail_code
from accordance.errors import UnknownCode

_ALL: tuple[CodePage | FailCode, ...] = (*PAGES, *FAIL_CODES)


def _complete(
    _ctx: click.Context, _param: click.Parameter, incomplete: str
) -> list[str]:
    return [page.code for page in _ALL if page.code.startswith(incomplete)]


@click.command(name="explain")
@click.argument("code", required=False, shell_complete=_complete)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(code: str | None, as_json: bool) -> None:
    """Explain a violation, warning or fail CODE; without it, list all codes."""
    pages = _ALL if code is None else (_find(code),)
    if as_json:
        rows = [_row(page) for page in pages]
        click.echo(json.dumps(rows, indent=2, ensure_ascii=False))
    elif code is None:
        width = max(len(page.code) for page in pages)
        for page in pages:
            click.echo(f"{page.code:<{width}}  {_title(page)}")
    else:
        click.echo(_page(pages[0]))


def _find(code: str) -> CodePage | FailCode:
    """The page of a code.

    Codes of messages are written in lower case, fail codes in upper case. A few names
    are both, so the case decides which is tried first.
    """
    lookups = (fail_code, explain) if code.isupper() else (explain, fail_code)
    for lookup in lookups:
        try:
            return lookup(code.strip())
        except UnknownCode:
            continue
    raise UnknownCode(code, (page.code for page in _ALL))


def _title(page: CodePage | FailCode) -> str:
    return page.title if isinstance(page, CodePage) else page.trigger


def _row(page: CodePage | FailCode) -> dict[str, str]:
    if isinstance(page, CodePage):
        return asdict(page)
    return {**page._asdict(), "kind": "fail"}


def _page(page: CodePage | FailCode) -> str:
    if isinstance(page, FailCode):
        head = f"{page.code} (fail code, {page.severity}, a matter of the {page.owner})"
        return f"{head}: {page.trigger}\n\nWay out: {page.action}"

    kind = "warning" if page.kind == "warning" else "violation"
    head = f"{page.code} ({kind}): {page.title}"
    return f"{head}\n\n{page.why}\n\nWay out: {page.way_out}"

"""`accordance explain`."""

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
    """Explain CODE, a violation or warning code of a message or a fail code of a verdict; without it, list them all."""
    pages = _ALL if code is None else (_find(code),)
    if as_json:
        click.echo(
            json.dumps([_row(page) for page in pages], indent=2, ensure_ascii=False)
        )
    elif code is None:
        width = max(len(page.code) for page in pages)
        click.echo("\n".join(f"{page.code:<{width}}  {_title(page)}" for page in pages))
    else:
        click.echo(_page(pages[0]))


def _find(code: str) -> CodePage | FailCode:
    """Codes of messages are written small, fail codes large, and a few names are both."""
    for look in (fail_code, explain) if code.isupper() else (explain, fail_code):
        try:
            return look(code.strip())
        except UnknownCode:
            continue
    raise UnknownCode(code, (page.code for page in _ALL))


def _title(page: CodePage | FailCode) -> str:
    return page.title if isinstance(page, CodePage) else page.trigger


def _row(page: CodePage | FailCode) -> dict[str, str]:
    return (
        asdict(page)
        if isinstance(page, CodePage)
        else {**page._asdict(), "kind": "fail"}
    )


def _page(page: CodePage | FailCode) -> str:
    if isinstance(page, FailCode):
        about = f"{page.severity}, a matter of the {page.owner}"
        return f"{page.code} (fail code, {about}): {page.trigger}\n\nWay out: {page.action}"
    kind = "warning" if page.kind == "warning" else "violation"
    return (
        f"{page.code} ({kind}): {page.title}\n\n{page.why}\n\nWay out: {page.way_out}"
    )

"""`accordance explain`: what a code or a word means, and the way out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TypeAlias

import click

from accordance.cli.showing import as_json_text, print_line
from accordance.contracts.codes import PAGES, CodePage, explain
from accordance.domain.fail_codes import FAIL_CODES, FailCode, fail_code
from accordance.domain.vocabulary import WORDS, VocabularyEntry, meanings_of
from accordance.errors import UnknownCode

Page: TypeAlias = CodePage | FailCode | VocabularyEntry

_ALL: tuple[Page, ...] = (*PAGES, *FAIL_CODES, *WORDS)


def _complete(
    _ctx: click.Context,
    _param: click.Parameter,
    incomplete: str,
) -> list[str]:
    names = dict.fromkeys(map(_name, _ALL))
    return [name for name in names if name.startswith(incomplete)]


@click.command(name="explain")
@click.argument("code", required=False, shell_complete=_complete)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(code: str | None, as_json: bool) -> None:
    """Explain any word that accordance prints: a code, a state, an event, an outcome.

    A word with several meanings gets a page for each. Without CODE, all are listed.
    """
    pages = _ALL if code is None else _find(code)
    if as_json:
        rows = [_row(page) for page in pages]
        click.echo(as_json_text(rows))
    elif code is None:
        _print_list(pages)
    else:
        click.echo("\n\n".join(map(_page, pages)))


def _print_list(pages: Sequence[Page]) -> None:
    names = [_name(page) for page in pages]
    width = max(map(len, names))
    for name, page in zip(names, pages, strict=True):
        print_line(f"{name:<{width}}  {_title(page)}")


def _find(code: str) -> tuple[Page, ...]:
    """The pages of a word: that of its code, then its other meanings.

    Codes of messages are written in lower case, fail codes in upper case. A few names
    are both, so the case decides which is tried first.
    """
    pages: list[Page] = []
    lookups = (fail_code, explain) if code.isupper() else (explain, fail_code)
    for lookup in lookups:
        try:
            pages.append(lookup(code.strip()))
        except UnknownCode:
            continue
        break

    pages += meanings_of(code)
    if not pages:
        raise UnknownCode(code, map(_name, _ALL))
    return tuple(pages)


def _name(page: Page) -> str:
    return page.word if isinstance(page, VocabularyEntry) else page.code


def _title(page: Page) -> str:
    if isinstance(page, VocabularyEntry):
        return f"{page.kind}: {page.meaning}"
    if isinstance(page, CodePage):
        return page.title
    return page.trigger


def _row(page: Page) -> dict[str, str]:
    if isinstance(page, CodePage):
        return asdict(page)
    if isinstance(page, VocabularyEntry):
        return {
            "code": page.word,
            "kind": page.kind,
            "meaning": page.meaning,
        }
    return {**page._asdict(), "kind": "fail"}


def _page(page: Page) -> str:
    if isinstance(page, VocabularyEntry):
        return f"{page.word} ({page.kind}): {page.meaning}"
    if isinstance(page, FailCode):
        head = f"{page.code} (fail code, {page.severity}, a matter of the {page.owner})"
        return f"{head}: {page.trigger}\n\nWay out: {page.action}"

    kind = "warning" if page.kind == "warning" else "violation"
    head = f"{page.code} ({kind}): {page.title}"
    return f"{head}\n\n{page.why}\n\nWay out: {page.way_out}"

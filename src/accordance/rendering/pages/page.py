"""A whole page: its head, its style, its way around."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from accordance.rendering.pages.markup import Content, Markup, markup, tag

STYLE: Final = """\
:root{color-scheme:light dark;--page:#fff;--text:#1c2126;--soft:#59636e;--line:#d0d7de;
--box:#f6f8fa;--link:#0b57a8;--good:#136030;--bad:#a3122a;--wait:#744b00;--add:#ddf7e3;
--del:#ffe9e7}
@media (prefers-color-scheme:dark){:root{--page:#0e1217;--text:#e8edf2;--soft:#93a0ad;
--line:#333c47;--box:#151a21;--link:#86c3ff;--good:#84e79a;--bad:#ff8f86;--wait:#e8bd4e;
--add:#12301d;--del:#3c171b}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:72rem;padding:1rem;background:var(--page);color:var(--text);
font:16px/1.5 system-ui,'Segoe UI',Roboto,'Noto Sans','Noto Sans CJK SC',sans-serif;
overflow-wrap:anywhere}
a{color:var(--link)}
nav ul{display:flex;flex-wrap:wrap;gap:1rem;padding:0;list-style:none}
h1{font-size:1.5rem;line-height:1.25}h2{font-size:1.15rem;margin-top:2rem}
h3{font-size:1rem}
small,.soft,caption{color:var(--soft)}
.scrolls{overflow-x:auto}
table{border-collapse:collapse;width:100%}
th,td{text-align:start;vertical-align:top;padding:.35rem .75rem .35rem 0;
border-bottom:1px solid var(--line)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.25rem 1rem}
dt{color:var(--soft)}dd{margin:0}
pre{background:var(--box);border:1px solid var(--line);border-radius:6px;padding:.75rem;
overflow:auto;max-height:40rem;font:13px/1.45 ui-monospace,'DejaVu Sans Mono',monospace;
white-space:pre-wrap}
.patch{white-space:pre}.patch span{display:block}
.added{background:var(--add)}.removed{background:var(--del)}.hunk{color:var(--soft)}
details{margin:.5rem 0}summary{cursor:pointer}
.state{white-space:nowrap}.s-DONE,.s-passed{color:var(--good)}
.s-FAILED,.s-DEAD_LETTER,.s-failed{color:var(--bad)}
.s-BLOCKED,.s-TO_BE_MODIFY{color:var(--wait)}
.notice{border:1px solid var(--line);border-inline-start:4px solid var(--wait);
padding:.5rem .75rem;background:var(--box);border-radius:6px}
form{margin:1rem 0;display:grid;gap:.75rem;max-width:40rem}
label{display:grid;gap:.25rem}
input,textarea,select,button{font:inherit;padding:.45rem .6rem;border:1px solid var(--line);
border-radius:6px;background:var(--box);color:var(--text)}
button{cursor:pointer;justify-self:start}
svg,img{max-width:100%;height:auto}
:focus-visible{outline:2px solid var(--link);outline-offset:2px}
"""
"""The style of all pages; it follows the reader's own setting of light and dark."""


def page(
    title: str,
    body: Content,
    *,
    navigation: Iterable[Markup] = (),
    stylesheet: str | None = None,
    language: str = "en",
) -> str:
    """Return a page; without the address of a style sheet, the style stands in it."""
    style = (
        tag("style", Markup(STYLE))
        if stylesheet is None
        else tag("link", rel="stylesheet", href=stylesheet)
    )
    links = [tag("li", each) for each in navigation]
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", f"{title} · accordance"),
        style,
    )
    content = tag(
        "body",
        tag("nav", tag("ul", links), aria_label="Pages") if links else None,
        tag("main", tag("h1", tag("bdi", title)), markup(body)),
    )
    return f"<!doctype html>\n{tag('html', head, content, lang=language)}\n"

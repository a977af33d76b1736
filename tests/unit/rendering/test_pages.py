"""Pages of HTML: every text is shown, and none is obeyed."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from accordance.domain.patch_lines import files_in
from accordance.rendering.pages import parts
from accordance.rendering.pages.markup import Markup, markup, tag, visible
from accordance.rendering.pages.page import page

HOSTILE = {
    "a script": "<script>alert(1)</script>",
    "an attribute": "\" onload=\"alert(1)' x='",
    "an end of a comment": "--><img src=x onerror=alert(1)>",
    "an entity": "&lt;script&gt;",
    "a terminal": "\x1b[31mred\x07\x00",
    "a direction": "abc\u202egpj.exe\u2066",
    "half a character": "\ud800",
}


class Elements(HTMLParser):
    """The elements, attributes and texts of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.names.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        """Note a text."""
        self.text += data


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_text_is_a_text_everywhere(text: str) -> None:
    """In a title, a cell, an attribute, a patch: no element and no attribute of its own."""
    patch = f"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+{text}\n"
    body = [
        parts.heading(text),
        parts.table((text,), [[text], [tag("b", text)]]),
        parts.facts([(text, text)]),
        parts.field(text, tag("input", name=text, value=text), text),
        parts.patch(files_in(patch), 10),
        parts.preformatted(text),
    ]
    read = Elements(page(text, body))
    allowed = {
        "html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "bdi",
        "div", "table", "thead", "tbody", "tr", "th", "td", "b", "dl", "dt", "dd",
        "label", "span", "input", "small", "details", "summary", "pre",
    }  # fmt: skip
    assert set(read.names) <= allowed
    assert not [name for name, _ in read.attributes if name.startswith("on")]
    assert visible(text) in read.text
    assert not {"\x1b", "\x00", "\u202e", "\ud800"} & set(page(text, body))


def test_hidden_signs_are_named() -> None:
    """Lines stay lines, and joiners of scripts stay; whatever else is hidden is named."""
    assert visible("a\n\tb\u200d") == "a\n\tb\u200d"
    assert visible("\x1b[1m\u202e") == "[U+001B][1m[U+202E]"


def test_elements() -> None:
    """Attributes that are false are left out, empty elements are not closed."""
    assert tag("input", disabled=True, name=None, hidden=False) == "<input disabled>"
    assert tag("p", ["a", None, Markup("<b>")], class_="x") == '<p class="x">a<b></p>'
    assert markup(None) == ""


def test_a_page_needs_nothing_from_elsewhere() -> None:
    """It has its own style, by day and by night, and no script."""
    text = page("T", "x")
    assert "prefers-color-scheme" in text
    assert "//" not in text.partition("</style>")[0].replace("<!doctype html>", "")
    assert "<script" not in text
    assert page("T", "x", stylesheet="/s.css").count("<link") == 1

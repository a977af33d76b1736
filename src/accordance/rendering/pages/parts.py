"""The parts that pages are made of: tables, lists of facts, forms, states, patches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from accordance.domain.lifecycle import State
from accordance.domain.patch_lines import FilePatch
from accordance.rendering.marks import MARKS
from accordance.rendering.pages.markup import Content, Markup, isolated, markup, tag

_LINE_CLASSES = {
    "+": "added",
    "-": "removed",
    "@": "hunk",
}


def link(href: str, text: Content) -> Markup:
    """Return a link within the same site."""
    return tag("a", text, href=href)


def heading(text: str, level: int = 2) -> Markup:
    """Return a heading."""
    return tag(f"h{level}", isolated(text))


def paragraph(*content: Content, class_: str | None = None) -> Markup:
    """Return a paragraph."""
    return tag("p", *content, class_=class_)


def table(
    heads: Sequence[str],
    rows: Iterable[Sequence[Content]],
    caption: str = "",
) -> Markup:
    """Return a table that scrolls by itself where it is too wide."""
    head = tag("tr", [tag("th", each, scope="col") for each in heads])
    body = [_row(cells) for cells in rows]
    whole = tag(
        "table",
        tag("caption", caption) if caption else None,
        tag("thead", head),
        tag("tbody", body),
    )
    return tag("div", whole, class_="scrolls", tabindex="0")


def _row(cells: Sequence[Content]) -> Markup:
    return tag("tr", [tag("td", cell) for cell in cells])


def facts(pairs: Iterable[tuple[str, Content]]) -> Markup:
    """Return names with their values; those without a value are left out."""
    rows = [
        [tag("dt", name), tag("dd", content)]
        for name, content in pairs
        if markup(content)
    ]
    return tag("dl", rows)


def bullets(items: Iterable[Content]) -> Markup:
    """Return a list."""
    return tag("ul", [tag("li", item) for item in items])


def state(name: str) -> Markup:
    """Return a state with its mark; colour says nothing that words do not."""
    mark = MARKS.get(State(name), "") if name in State.__members__ else ""
    words = name.replace("_", " ").lower()
    return tag("span", f"{mark} {words}".strip(), class_=f"state s-{name}")


def preformatted(text: str) -> Markup:
    """Return a text as it is, in its lines."""
    return tag("pre", text, dir="auto", tabindex="0")


def details(summary: Content, *content: Content, is_open: bool = False) -> Markup:
    """Return content that opens by a click."""
    return tag("details", tag("summary", summary), *content, open=is_open)


def patch(files: Sequence[FilePatch], most: int) -> Markup:
    """Return a patch, file by file, of at most so many lines."""
    left = most
    parts = []
    for file in files:
        lines = file.lines[: max(0, left)]
        left -= len(file.lines)
        shown = [
            tag("span", f"{line.kind if line.kind != '@' else ''}{line.text}\n",
                class_=_LINE_CLASSES.get(line.kind))
            for line in lines
        ]  # fmt: skip
        summary = [isolated(file.path), f" +{file.added} −{file.removed}"]
        cut = len(file.lines) - len(lines)
        note = paragraph(f"{cut} further lines are left out.") if cut else None
        code = tag("pre", shown, class_="patch", tabindex="0")
        parts.append(details(summary, code, note, is_open=True))
    return markup(parts)


# -- forms


def form(action: str, csrf: str, *content: Content, files: bool = False) -> Markup:
    """Return a form that is sent by POST, with the token of the session."""
    return tag(
        "form",
        tag("input", type="hidden", name="csrf", value=csrf),
        *content,
        method="post",
        action=action,
        enctype="multipart/form-data" if files else None,
    )


def button(text: str, *, name: str | None = None, value: str | None = None) -> Markup:
    """Return a button that sends its form."""
    return tag(
        "button",
        text,
        type="submit",
        name=name,
        value=value,
    )


def field(label: str, control: Markup, help_: str = "") -> Markup:
    """Return a control with its label, and what helps to fill it in."""
    about = tag("small", help_) if help_ else None
    return tag("label", tag("span", label), control, about)

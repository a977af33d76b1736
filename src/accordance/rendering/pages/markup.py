"""HTML, element by element. A text becomes markup in one way: escaped, made visible.

Texts come from agents: they hold markup, commands of terminals, and signs that turn the
direction of what follows.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from html import escape
from typing import Final, TypeAlias

_PLAIN: Final = ("\n", "\t")
_HIDDEN: Final = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
_JOINERS: Final = ("\u200c", "\u200d")  # many scripts cannot do without them
_EMPTY: Final = frozenset(("br", "hr", "img", "input", "link", "meta"))


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


Content: TypeAlias = "str | Markup | Iterable[Content] | None"


def visible(text: str) -> str:
    """Return a text with the names of its hidden characters in their place."""
    if text.isprintable():
        return text
    return "".join(map(_visible_char, text))


def _visible_char(char: str) -> str:
    is_hidden = unicodedata.category(char) in _HIDDEN
    if not is_hidden or char in _PLAIN or char in _JOINERS:
        return char
    return f"[U+{ord(char):04X}]"


def markup(content: Content) -> Markup:
    """Return content as HTML: markup as it is, texts escaped, lists joined."""
    if content is None:
        return Markup()
    if isinstance(content, Markup):
        return content
    if isinstance(content, str):
        return Markup(escape(visible(content)))
    return Markup("".join(markup(part) for part in content))


def tag(element: str, /, *content: Content, **attributes: str | bool | None) -> Markup:
    """Return an element.

    In the names of attributes a `_` at the end is left out, others stand for hyphens. An
    attribute that is False or None is left out; an attribute that is True has no value.
    """
    start = element
    for attribute, value in attributes.items():
        if value is None or value is False:
            continue
        start += f" {attribute.rstrip('_').replace('_', '-')}"
        if value is not True:
            start += f'="{escape(visible(value))}"'
    if element in _EMPTY:
        return Markup(f"<{start}>")
    return Markup(f"<{start}>{markup(content)}</{element}>")


def isolated(text: str) -> Markup:
    """Return a text whose direction turns nothing around it."""
    return tag("bdi", text)

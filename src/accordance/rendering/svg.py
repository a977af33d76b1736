"""SVG elements as text: pictures need no library and are the same, byte for byte."""

from __future__ import annotations


def element(name: str, *content: str, **attributes: object) -> str:
    """Return an element with its attributes, in their order, and its content.

    In the names of attributes `class_` stands for `class`, and `_` for a hyphen. The
    content is markup: the caller escapes texts.
    """
    start = name
    for attribute, value in attributes.items():
        start += f' {_attribute_name(attribute)}="{value}"'
    if not content:
        return f"<{start}/>"
    return f"<{start}>{''.join(content)}</{name}>"


def document_start(width: int, height: int, more: str = "") -> str:
    """Return the opening tag of a picture of this size."""
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img"{more}>'


def _attribute_name(name: str) -> str:
    return name.rstrip("_").replace("_", "-")

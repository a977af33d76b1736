"""Files from outside: a safe name, and whether the content is what the name says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_UNSAFE: Final = re.compile(r"[^\w .()+,=@-]+")
_LONGEST: Final = 120
_SIGNATURES: Final[Mapping[str, tuple[bytes, ...]]] = MappingProxyType(
    {
        "pdf": (b"%PDF-",),
        "png": (b"\x89PNG\r\n\x1a\n",),
        "jpg": (b"\xff\xd8\xff",),
        "jpeg": (b"\xff\xd8\xff",),
        "gif": (b"GIF87a", b"GIF89a"),
        "zip": (b"PK\x03\x04", b"PK\x05\x06"),
        "docx": (b"PK\x03\x04",),
        "xlsx": (b"PK\x03\x04",),
        "pptx": (b"PK\x03\x04",),
        "gz": (b"\x1f\x8b",),
    }
)
"""How files of a kind begin."""
_PROGRAMS: Final = (b"\x7fELF", b"MZ", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")
_TEXTS: Final = frozenset(
    (
        "txt",
        "md",
        "csv",
        "tsv",
        "json",
        "html",
        "css",
        "js",
        "xml",
        "yaml",
        "yml",
        "toml",
    )
)


def plain_name(name: str) -> str:
    """Return a name that is no path, whatever was sent."""
    last = re.split(r"[/\\]", name)[-1]
    safe = _UNSAFE.sub("_", last).strip(" .")
    safe = safe[-_LONGEST:].lstrip(" .")
    return safe or "upload"


def why_unfit(name: str, content: bytes) -> str | None:
    """Return why a file is not taken, if it is not what its name says."""
    shown = plain_name(name)
    if content.startswith(_PROGRAMS):
        return f"{shown} is a program"
    kind = shown.rpartition(".")[2].lower()
    signatures = _SIGNATURES.get(kind)
    if signatures is not None and not content.startswith(signatures):
        return f"{shown} does not begin like a {kind} file"
    if kind in _TEXTS and b"\0" in content:
        return f"{shown} is not the text that its name says"
    return None

r"""Names on disk as texts, and task ids as folder names."""

from __future__ import annotations

import os
import re
from typing import Final

from accordance.workspace.errors import UnsafeName

_SAFE_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def text_of(name: str) -> str:
    r"""A name from the file system as clean text: odd bytes as `\xNN`, a backslash as two. Reversed by `name_of`."""
    if name.isascii() and "\\" not in name:
        return name
    raw = os.fsencode(name).replace(b"\\", b"\\\\")
    return raw.decode("utf-8", "backslashreplace")


def name_of(text: str) -> str:
    """The name on disk that `text_of` made this text from."""
    if "\\" not in text:
        return text
    raw = re.sub(rb"\\(?:\\|x([0-9a-f]{2}))", _unescape, text.encode("utf-8"))
    return os.fsdecode(raw)


def _unescape(found: re.Match[bytes]) -> bytes:
    return bytes((int(found[1], 16),)) if found[1] else b"\\"


def folder_name(task_id: str) -> str:
    """The task id, if it is safe as the name of a folder. Raises UnsafeName."""
    if not _SAFE_NAME.fullmatch(task_id) or ".." in task_id:
        raise UnsafeName(
            f"task id {task_id[:120]!r} cannot name a folder: use letters, digits, '-', '_' and '.', at most 100"
        )
    return task_id

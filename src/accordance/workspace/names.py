"""Names on disk as text, paths within folders, and task ids as folder names."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Final

from accordance.workspace.errors import UnsafeName

_SAFE_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_ESCAPE: Final = re.compile(rb"\\(?:\\|x([0-9a-f]{2}))")


def text_of(name: str) -> str:
    r"""Return a name from the file system as clean text. Reversed by `name_of`.

    Bytes that are not UTF-8 become `\xNN`, and a backslash becomes two.
    """
    if name.isascii() and "\\" not in name:
        return name

    raw = os.fsencode(name).replace(b"\\", b"\\\\")
    return raw.decode("utf-8", "backslashreplace")


def name_of(text: str) -> str:
    """Return the name on disk that `text_of` made this text from."""
    if "\\" not in text:
        return text

    raw = _ESCAPE.sub(_unescape, text.encode("utf-8"))
    return os.fsdecode(raw)


def _unescape(escape: re.Match[bytes]) -> bytes:
    hex_digits = escape[1]
    if hex_digits:
        return bytes.fromhex(hex_digits.decode("ascii"))
    return b"\\"


def lies_in(path: str, folder: str) -> bool:
    """Whether a path is this folder, or lies in it."""
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")


def lies_in_any(path: str, folders: Iterable[str]) -> bool:
    """Whether a path is any of these folders, or lies in it."""
    return any(lies_in(path, folder) for folder in folders)


def folder_name(task_id: str) -> str:
    """Return the task id if it is safe as the name of a folder. Raises UnsafeName."""
    is_safe = _SAFE_NAME.fullmatch(task_id) is not None
    if not is_safe or ".." in task_id:
        raise UnsafeName(
            f"task id {task_id[:120]!r} cannot name a folder: use up to 100 letters, "
            "digits, '-', '_' and '.'"
        )
    return task_id

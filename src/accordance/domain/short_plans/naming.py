"""Ids made from titles: the same title always gives the same id.

A task's id is its own in the whole ledger, so it begins with the plan's. A task that
changes a repository needs a UUID: it is derived from the same words.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
import uuid
from typing import Final

_NOT_WORDS: Final = re.compile(r"[\W_]+")
_LONGEST: Final = 60
_HASH_DIGITS: Final = 8
_TASK_IDS: Final = uuid.UUID("1c1b6c5e-5d0b-5a52-9f0e-3d1f8a4a7d45")
_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def slug(title: str) -> str:
    """Return a title as an id: its words in lower case, with `-` between them.

    A title that is too long, or has no word, ends in a part of its hash.
    """
    plain = unicodedata.normalize("NFC", title).casefold()
    words = _NOT_WORDS.sub("-", plain).strip("-")
    if words and len(words) <= _LONGEST:
        return words

    digest = hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()
    beginning = words[: _LONGEST - _HASH_DIGITS - 1].strip("-")
    return "-".join(filter(None, (beginning, digest[:_HASH_DIGITS])))


def task_id(plan_id: str, name: str) -> str:
    """Return the id of a task of a plan, by its title."""
    return f"{plan_id}.{slug(name)}"


def code_task_id(plan_id: str, name: str) -> str:
    """Return the UUID of a task that changes a repository, by its title or id."""
    return str(uuid.uuid5(_TASK_IDS, f"{plan_id}\n{slug(name)}"))


def is_uuid(name: str) -> bool:
    """Whether a name has the form of a UUID."""
    return _UUID.fullmatch(name) is not None

"""JSON in the form in which it is kept."""

from __future__ import annotations

import json


def as_bytes(value: object) -> bytes:
    """Return a value as the JSON that is kept."""
    text = json.dumps(value, ensure_ascii=False, indent=1)
    return text.encode("utf-8", "surrogatepass")

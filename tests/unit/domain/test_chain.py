"""The hash chain: nothing can be changed, left out, moved or added without it showing."""

from __future__ import annotations

from typing import Any

import pytest

from accordance.domain.chain import EMPTY, Head, canonical, next_entry

FIELDS: dict[str, Any] = {
    "plan_id": "p",
    "kind": "K",
    "task_id": "a",
    "at": "t",
    "payload": {"n": 1},
}


def test_each_entry_is_linked_to_the_one_before() -> None:
    """Counted from one; the same content after another entry is another entry."""
    first = next_entry(EMPTY, **FIELDS)
    second = next_entry(Head(seq=first.seq, hash=first.hash), **FIELDS)
    assert (first.seq, second.seq) == (1, 2)
    assert first.hash != second.hash
    assert next_entry(EMPTY, **FIELDS) == first


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("plan_id", "q"),
        ("kind", "L"),
        ("task_id", None),
        ("at", "u"),
        ("payload", {"n": 2}),
        ("payload", {}),
    ],
)
def test_everything_in_an_entry_is_in_its_hash(field: str, value: object) -> None:
    """Whatever is changed gives another hash; so does another place in the chain."""
    first = next_entry(EMPTY, **FIELDS)
    assert next_entry(EMPTY, **{**FIELDS, field: value}).hash != first.hash
    assert next_entry(Head(seq=1), **FIELDS).hash != first.hash


def test_one_spelling_for_each_value() -> None:
    """Keys are sorted, nothing is padded, letters stay letters; half a character does not stop it."""
    assert canonical({"b": [1, None], "a": "ü"}) == '{"a":"ü","b":[1,null]}'
    odd = next_entry(
        EMPTY, **{**FIELDS, "task_id": "\ud800", "payload": {"\0": "\ud800"}}
    )
    assert len(odd.hash) == 64

"""Parts of messages share the sets of their keys, up to a bound."""

from __future__ import annotations

import pytest

from accordance.contracts import fields


class Part(fields.Repeated):
    """A part with two keys."""

    first: int = 0
    second: int = 0


@pytest.mark.parametrize(("most", "kept"), [(0, 0), (1, 1), (2, 2)])
def test_no_more_sets_are_kept_than_the_bound(
    monkeypatch: pytest.MonkeyPatch, most: int, kept: int
) -> None:
    monkeypatch.setattr(fields, "_SETS_OF_KEYS", {})
    monkeypatch.setattr(fields, "_MOST_SETS_OF_KEYS", most)
    parts = [Part(first=1), Part(second=2), Part(first=3)]
    assert [part.model_fields_set for part in parts] == [
        {"first"},
        {"second"},
        {"first"},
    ]
    assert len(fields._SETS_OF_KEYS) == kept

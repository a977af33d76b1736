"""What is told to webhooks, and how it is signed."""

from __future__ import annotations

from typing import Any

import pytest

from accordance.domain.chain import ChainEntry
from accordance.domain.webhooks import (
    NotificationKind,
    notification_of,
    pause_after,
    signature,
)


def entry(kind: str, task: str | None = None, **payload: Any) -> ChainEntry:
    """An event of the plan p."""
    return ChainEntry(
        plan_id="p", seq=1, at="", kind=kind, task_id=task, payload=payload, hash=""
    )


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        (entry("ASKED_A_PERSON", "a"), NotificationKind.QUESTION_ASKED),
        (entry("BURIED", "a", to="DEAD_LETTER"), NotificationKind.DEAD_LETTER),
        (entry("COMPLETED", "root", to="DONE"), NotificationKind.PLAN_FINISHED),
        (entry("COMPLETED", "a", to="DONE"), None),
        (entry("PLAN_CANCELLED"), NotificationKind.PLAN_CANCELLED),
        (entry("PLAN_FUSE_BLOWN"), NotificationKind.PLAN_HELD),
        (entry("CLAIMED", "a", to="IN_PROGRESS"), None),
    ],
)
def test_what_is_told(event: ChainEntry, kind: NotificationKind | None) -> None:
    """Questions, dead letters, and plans that end or are held."""
    assert notification_of(event, {"p": "root"}) is kind


def test_the_pauses_grow_and_end() -> None:
    """A target may be away for most of a day."""
    pauses = [pause_after(attempts) for attempts in range(1, 9)]
    assert pauses[0] == 5
    assert pauses[-1] is None
    assert sum(pause for pause in pauses if pause) > 12 * 3600


def test_a_signature_covers_id_time_and_body() -> None:
    """Each of them changes it."""
    secret = "whsec_c2VjcmV0"
    signed = signature(secret, "msg_1", 1, b"{}")
    assert signed.startswith("v1,")
    others = [
        signature("whsec_b3RoZXI=", "msg_1", 1, b"{}"),
        signature(secret, "msg_2", 1, b"{}"),
        signature(secret, "msg_1", 2, b"{}"),
        signature(secret, "msg_1", 1, b"[]"),
    ]
    assert len({signed, *others}) == 5

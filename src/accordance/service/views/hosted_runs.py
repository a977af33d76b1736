"""Runs that a server carries out in its own process."""

from __future__ import annotations

from typing import Literal

from accordance.service.views.base import View
from accordance.service.views.runs import AttemptView


class HostedRunView(View):
    """A plan that this server carries out, or has carried out."""

    run_id: str
    plan_id: str
    state: Literal["waiting", "running", "rests", "stopped", "failed"]
    asked_by: str
    asked_at: str
    started_at: str | None
    ended_at: str | None
    attempts: int  # that have ended
    last: tuple[AttemptView, ...]  # the newest of them
    rests: str | None  # why nothing goes on without a person
    error: str | None
    warnings: tuple[str, ...]


class HostedRunListView(View):
    """The runs of this server process, the newest first."""

    items: tuple[HostedRunView, ...]

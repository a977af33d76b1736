"""The bodies of requests that are JSON."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from accordance.domain.access import Right, Role
from accordance.service.views.bulk import BulkItemView, BulkPreviewView

Name = Annotated[str, Field(min_length=1, max_length=200)]
Words = Annotated[str, Field(min_length=1, max_length=20_000)]
Names = Annotated[list[Name], Field(max_length=200)]


class Body(BaseModel):
    """A closed body: an unknown key is an error."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        allow_inf_nan=False,
    )


class KeyWanted(Body):
    """A key to be made."""

    name: Annotated[str, Field(min_length=1, max_length=100)]
    role: Role
    scopes: Annotated[list[Right], Field(max_length=20)] = []
    tasks: Names = []
    contracts: Names = []
    days: Annotated[float | None, Field(gt=0, le=3650)] = None


class Reason(Body):
    """Why a caller acts."""

    reason: Words | None = None


class Note(Body):
    """A note that is kept with an act."""

    note: Words | None = None


class Reasons(Body):
    """Why a plan is returned."""

    reasons: Annotated[list[Words], Field(min_length=1, max_length=50)]


class Cancel(Reason):
    """A task to be cancelled, and what is done about tasks that wait for it."""

    excuse: bool = False
    cascade: bool = False


class Work(Body):
    """Which work is wanted."""

    plan: Name | None = None
    kinds: Annotated[list[str], Field(max_length=3)] = []
    seconds: Annotated[int | None, Field(ge=1, le=86_400)] = None
    any_task: bool = False
    resume: bool = True
    known: Annotated[dict[Name, int], Field(max_length=1000)] = {}


class Heartbeat(Body):
    """An attempt that goes on."""

    attempt: Annotated[int, Field(ge=1, le=1_000_000)]
    seconds: Annotated[int | None, Field(ge=1, le=86_400)] = None


class Release(Body):
    """An attempt that is put down."""

    attempt: Annotated[int | None, Field(ge=1, le=1_000_000)] = None


class Question(Body):
    """What an agent asks a person about its task."""

    attempt: Annotated[int, Field(ge=1, le=1_000_000)]
    question: Words


class SeenItem(Body):
    """A thing of a preview."""

    id: Name
    title: str = ""
    state: str = ""
    seen_at: Annotated[str, Field(max_length=40)]


class BulkAct(Body):
    """An act on the things of a preview."""

    items: Annotated[list[SeenItem], Field(min_length=1, max_length=10_000)]
    reason: Words | None = None

    @property
    def preview(self) -> BulkPreviewView:
        """The preview that the caller has seen."""
        items = tuple(BulkItemView(**item.model_dump()) for item in self.items)
        return BulkPreviewView(items=items, left_out=0)


class Requeue(BulkAct):
    """Dead letters to be taken back: those of a preview, some each second."""

    reason: Words
    per_second: Annotated[float | None, Field(gt=0, le=1000)] = None


class AnswerBody(Body):
    """An answer to a question: a line as a person writes it, or its parts."""

    line: Words | None = None
    text: Words | None = None
    yes: bool | None = None
    choose: Name | None = None
    approve: bool = False
    give_up: bool = False


class RunWanted(Body):
    """A plan to be carried out by this server."""

    plan: Name | None = None


class WebhookWanted(Body):
    """Where notifications are sent."""

    url: Annotated[str, Field(min_length=8, max_length=2000)]
    kinds: Annotated[list[str], Field(max_length=20)] = []


class SessionWanted(Body):
    """A key, for a session of a browser."""

    key: Annotated[str, Field(min_length=1, max_length=200)]

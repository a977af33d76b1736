"""Contracts, their schemas, and what a check of a message says."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from accordance.service.views.base import View


class ContractEntryView(View):
    """A contract in a list."""

    version: str
    name: str
    scopes: tuple[str, ...]
    names: tuple[str, ...]
    about: str
    schema_version: str
    closed: bool
    profiles: tuple[str, ...]


class ContractListView(View):
    """All contracts."""

    items: tuple[ContractEntryView, ...]


class ContractDetailView(ContractEntryView):
    """What a contract demands: fields, rules, and what is normalised."""

    fields_: tuple[dict[str, Any], ...] = Field(alias="fields")
    rules: tuple[dict[str, Any], ...]
    normalised: tuple[dict[str, Any], ...]


class SchemaView(View):
    """The schema of a contract in a dialect, and what that cannot say."""

    json_schema: dict[str, Any] = Field(alias="schema")
    dropped: tuple[str, ...]


class CheckView(View):
    """What a check of a message says."""

    accepted: bool
    contract: str
    value: dict[str, Any] | None  # normalised; null where it was rejected
    violations: tuple[dict[str, Any], ...]
    total: int  # violations, also those that are not listed
    repairs: tuple[dict[str, Any], ...]
    warnings: tuple[dict[str, Any], ...]


class BrokenFieldView(View):
    """How often a contract was broken at a field."""

    path: str  # without the numbers of items
    code: str
    count: int


class FailureRateView(View):
    """How many messages of an executor broke a contract."""

    agent: str | None  # the executor or worker; null: unknown
    model: str | None
    messages: int
    rejected: int


class FailureExampleView(View):
    """A message that broke a contract, and its first violation."""

    plan_id: str
    subject: str  # the task, or the plan
    message_id: str
    attempt: int
    at: str
    agent: str | None
    model: str | None
    path: str
    code: str
    text: str


class ContractFailuresView(View):
    """How often a contract was broken: by field, by agent and model."""

    version: str
    messages: int
    rejected: int
    by_field: tuple[BrokenFieldView, ...]
    by_agent: tuple[FailureRateView, ...]
    examples: tuple[FailureExampleView, ...]

"""The terms of a verdict: what it rests on beside task, submission and facts.

They are stored with these, so that the verdict can be recomputed:

    terms = terms_from(json)
    verdict_on(case_under(terms, task, submission, facts, links), terms.history)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Final

from pydantic import TypeAdapter, ValidationError

from accordance.contracts.catalogue.task import TaskInput
from accordance.contracts.jsonpath import JsonObject
from accordance.domain.case import Author, Breach, Case, Submission, scope_of
from accordance.domain.escalation import LadderPosition
from accordance.domain.facts import AttemptFacts
from accordance.domain.judging import History
from accordance.domain.roles import AgentRole, role_from
from accordance.domain.test_policy import TestPolicy
from accordance.domain.usage import Budget, Usage
from accordance.errors import InvalidTerms


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The role, budget and history by which an attempt is judged, and what it used.

    `own_tests` are those of the repository's settings, for tasks that name none.
    """

    role: AgentRole
    history: History
    usage: Usage = field(default_factory=Usage)
    budget: Budget = field(default_factory=Budget)
    breaches: tuple[Breach, ...] = ()
    own_tests: tuple[str, ...] = ()
    submitted_by: Author = "agent"
    test_policy: TestPolicy = field(default_factory=TestPolicy)
    is_rebase: bool = False  # a good change, applied to the plan's new head


@dataclass(frozen=True, slots=True, kw_only=True)
class _StoredTerms:
    """The terms in plain values, as they are stored."""

    role: str
    policy: JsonObject
    standing: LadderPosition
    earlier: tuple[str, ...]
    usage: Usage
    budget: Budget
    breaches: tuple[Breach, ...]
    own_tests: tuple[str, ...] = ()
    submitted_by: Author = "agent"
    test_policy: TestPolicy = field(default_factory=TestPolicy)
    is_rebase: bool = False


@cache
def _adapter() -> TypeAdapter[_StoredTerms]:
    return TypeAdapter(_StoredTerms)


_NO_LINKS: Final[Mapping[str, str]] = MappingProxyType({})


def terms_to_json(terms: Terms) -> bytes:
    """Return the terms as JSON."""
    stored = _StoredTerms(
        role=terms.role.name,
        policy=terms.role.policy(),
        standing=terms.history.standing,
        earlier=tuple(terms.history.earlier),
        usage=terms.usage,
        budget=terms.budget,
        breaches=terms.breaches,
        own_tests=terms.own_tests,
        submitted_by=terms.submitted_by,
        test_policy=terms.test_policy,
        is_rebase=terms.is_rebase,
    )
    return _adapter().dump_json(stored, indent=1)


def terms_from(raw: bytes | str) -> Terms:
    """Return the terms of a JSON text. Raises InvalidTerms or InvalidRole."""
    try:
        stored = _adapter().validate_json(raw)
    except ValidationError as error:
        fault = error.errors()[0]["msg"]
        raise InvalidTerms(f"these are no terms of a verdict: {fault}") from None
    return Terms(
        role=role_from(stored.role, stored.policy),
        history=History(stored.standing, stored.earlier),
        usage=stored.usage,
        budget=stored.budget,
        breaches=stored.breaches,
        own_tests=stored.own_tests,
        submitted_by=stored.submitted_by,
        test_policy=stored.test_policy,
        is_rebase=stored.is_rebase,
    )


def case_under(
    terms: Terms,
    task: TaskInput,
    submission: Submission,
    facts: AttemptFacts,
    links: Mapping[str, str] = _NO_LINKS,
) -> Case:
    """Return the case under these terms."""
    return Case(
        task=task,
        role=terms.role,
        scope=scope_of(task, terms.role),
        submission=submission,
        facts=facts,
        usage=terms.usage,
        budget=terms.budget,
        breaches=terms.breaches,
        links=links,
        own_tests=terms.own_tests,
        submitted_by=terms.submitted_by,
        test_policy=terms.test_policy,
        is_rebase=terms.is_rebase,
    )

"""Users' own models: `check` accepts exactly what pydantic's strict JSON mode accepts, and makes the same value of it."""

from __future__ import annotations

import json
import os
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given, settings
from pydantic import TypeAdapter, ValidationError

from accordance import (
    Accepted,
    Rejected,
    StreamGuard,
    apply_fixes,
    check,
    check_value,
    feedback,
    schema,
)
from accordance.contracts.jsonpath import lookup, parse
from accordance.contracts.modes import is_transparent
from tests.own_models import LEAVES, Case, Kind, cases

REFUSED = object()


def pydantic_says(case: Case) -> object:
    """The value, or that there is none."""
    try:
        return TypeAdapter(case.model).validate_json(case.text, strict=True)
    except ValidationError:
        return REFUSED


@settings(
    max_examples=int(os.environ.get("OWN_MODELS", "300")),
    suppress_health_check=list(HealthCheck),
)
@given(cases())
def test_check_and_pydantic_agree(case: Case) -> None:
    """Accepted if and only if accepted, with an equal value; from the text and from what it decodes to."""
    value, result = pydantic_says(case), check(case.text, case.model)
    assert bool(result) == (value is not REFUSED), (result, value)
    assert check_value(json.loads(case.text), case.model) == result
    if isinstance(result, Accepted):
        assert result.value == value
        assert type(result.value) is type(value)
        is_never_doomed(case)
    else:
        makes_sense(result)
    mentions_unknown_keys(case, result)


def is_never_doomed(case: Case) -> None:
    """Whatever the guard has seen of an accepted message."""
    guard = StreamGuard(case.model)
    assert all(guard.feed(char) is None for char in case.text)
    assert guard.finish() is None


def mentions_unknown_keys(case: Case, result: Accepted[Any] | Rejected) -> None:
    """Every notice names a key of the message, and none is forgotten where that can be told from pydantic's own answer."""
    message = json.loads(case.text)
    for notice in result.warnings:
        lookup(message, parse(notice.path))
    if result and is_transparent(case.model):
        assert len(result.warnings) == unknown_keys(case)


def unknown_keys(case: Case) -> int:
    """How many keys pydantic complains of once it is told to."""
    try:
        TypeAdapter(case.model).validate_json(case.text, strict=True, extra="forbid")
    except ValidationError as error:
        return error.error_count()
    return 0


def makes_sense(result: Rejected) -> None:
    """A refusal has a reason in a place that exists or should, never asks for what is there; its fixes fit the message."""
    assert result.message is not None
    assert result.violations
    for violation in result.violations:
        assert violation.expected not in ("", violation.actual), violation
        assert violation.code == "missing" or not violation.expected.startswith(
            "a value"
        ), violation
        *parents, _ = parse(violation.path) or ("",)
        lookup(result.message, tuple(parents))
        if violation.actual != "nothing":
            lookup(result.message, parse(violation.path))
    assert feedback(result)
    apply_fixes(result.message, result.violations)


@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(cases(sayable=True))
def test_schema_and_check_agree(case: Case) -> None:
    """Where JSON Schema has the words for it, both say the same. 95.0 is an integer for JSON Schema only."""
    message = json.loads(case.text)
    if has_whole_float(message):
        return
    says_schema = jsonschema_rs.is_valid(schema(case.model).schema, message)
    assert says_schema == bool(check(case.text, case.model))


def has_whole_float(value: Any) -> bool:
    below = (
        value.values()
        if isinstance(value, dict)
        else value
        if isinstance(value, list)
        else ()
    )
    return (isinstance(value, float) and value.is_integer()) or any(
        map(has_whole_float, below)
    )


@pytest.mark.parametrize("kind", LEAVES, ids=lambda kind: kind.name)
def test_what_fits_a_kind(kind: Kind) -> None:
    """Each type by itself: what is written for it is read as pydantic reads it."""

    @settings(max_examples=8, suppress_health_check=list(HealthCheck))
    @given(kind.values)
    def agree(value: object) -> None:
        from pydantic import create_model

        model = create_model("Holder", held=(kind.annotation, ...))
        case = Case(model, json.dumps({"held": value}), {"held": kind.name})
        says, result = pydantic_says(case), check(case.text, model)
        assert bool(result) == (says is not REFUSED), result
        if isinstance(result, Accepted):
            assert result.value == says

    agree()

"""Properties of `check` over mutated messages: it never crashes, keeps its limits, and what it accepts stays accepted."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accordance import (
    Accepted,
    Context,
    Rejected,
    apply_fixes,
    check,
    check_value,
    dump_json,
    feedback,
    registry,
)
from accordance.contracts.jsonpath import parse
from accordance.contracts.limits import MAX_EXCERPT, MAX_REPORTED
from tests.forms import changes_more_than_form
from tests.messages import PLAN, TASK, VALID

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20)
    | st.sampled_from(
        [
            "APPROVE",
            "approve",
            "DONE",
            "START",
            "END",
            "root",
            "a",
            TASK,
            "../x",
            "x" * 3000,
            "",
            " ",
        ]
    )
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["id", "type", "x"]), inner, max_size=3)
    ),
    max_leaves=5,
)


def places(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Every place in a message."""
    below = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [
        path,
        *(place for step, item in below for place in places(item, (*path, step))),
    ]


def mutate(
    message: Any, path: tuple[str | int, ...], how: str, value: Any, key: str
) -> Any:
    """Change, drop, rename or double what is at a place."""
    changed = copy.deepcopy(message)
    if not path:
        return {**changed, key: value}
    parent = changed
    for step in path[:-1]:
        parent = parent[step]
    last = path[-1]
    if how == "set":
        parent[last] = value
    elif how == "drop":
        del parent[last]
    elif isinstance(parent, dict):
        parent[key] = parent.pop(last) if how == "rename" else parent[last]
    else:
        parent.append(copy.deepcopy(parent[last]))
    return changed


@st.composite
def mutated(draw: st.DrawFn) -> tuple[str, Any]:
    """A valid message with one to three things wrong about it."""
    version = draw(st.sampled_from(sorted(VALID)))
    message: Any = VALID[version]
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from(places(message)))
        how = draw(st.sampled_from(["set", "drop", "rename", "double"]))
        key = draw(
            st.sampled_from(
                ["id", "type", "from", "data", "tasks", "schema_version", "x y", "é"]
            )
        )
        message = mutate(message, path, how, draw(values), key)
    return version, message


CONTEXTS = st.sampled_from(
    [Context(), Context(task_id=TASK), Context(plan_id=PLAN, threshold=70)]
)


@settings(max_examples=600, suppress_health_check=[HealthCheck.too_slow])
@given(mutated(), CONTEXTS)
def test_mutated_messages(case: tuple[str, Any], context: Context) -> None:
    """A value or violations; bounded; accepted once, accepted again without repairs; fixes that are real and change form only."""
    version, message = case
    result = check(json.dumps(message), version, context)
    if isinstance(result, Accepted):
        again = check(dump_json(result.value), version, context)
        assert isinstance(again, Accepted), again
        assert again.repairs == ()
        assert again.value == result.value
        return
    keeps_its_limits(result)
    assert changes_more_than_form(result) == []
    if (
        result.message is not None
        and result.total == len(result.violations)
        and all(v.fix for v in result.violations)
    ):
        assert isinstance(
            check_value(
                apply_fixes(result.message, result.violations), version, context
            ),
            Accepted,
        )


def keeps_its_limits(result: Rejected) -> None:
    assert 0 < len(result.violations) <= MAX_REPORTED
    assert result.total >= len(result.violations)
    for violation in result.violations:
        parse(violation.path)
        assert len(violation.actual) <= MAX_EXCERPT * 6
        json.dumps(violation.to_json())
    assert len(feedback(result).encode()) <= 2000


@settings(max_examples=300)
@given(
    st.binary(max_size=200) | st.text(max_size=200),
    st.sampled_from([None, *registry.versions()]),
)
def test_any_bytes(raw: bytes | str, version: str | None) -> None:
    """Whatever the bytes, never an exception."""
    result = check(raw, version)
    assert isinstance(result, Rejected)
    keeps_its_limits(result)


@settings(max_examples=200)
@given(st.sampled_from(sorted(VALID)), st.data())
def test_cut_messages_are_never_accepted(version: str, data: st.DataObject) -> None:
    """No beginning of a message is a message."""
    text = json.dumps(VALID[version])
    cut = text[: data.draw(st.integers(0, len(text) - 1))]
    assert isinstance(check(cut, version), Rejected)

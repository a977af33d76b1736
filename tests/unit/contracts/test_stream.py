"""The stream guard: as early as possible, and never wrongly."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from accordance import (
    Accepted,
    Context,
    Limits,
    StreamGuard,
    check,
    read_tolerant,
    registry,
)
from accordance.contracts.reading import read
from accordance.errors import Unparseable
from tests.conformance.lines import read_lines
from tests.conformance.test_fixes import question
from tests.conftest import GIVEN_VECTORS
from tests.messages import ACTION, TASK, VALID
from tests.unit.contracts.test_contracts import NOTE_3

ACTION_TEXT = json.dumps(ACTION)

DOOMED = [
    pytest.param("Sure, here", "text_around", 1, id="prose first, at its first letter"),
    pytest.param("```json", "text_around", 1, id="a fence"),
    pytest.param("[{", "not_object", 1, id="a list"),
    pytest.param('{"schema_version": "xiaobo_plan_v1"', "version_mismatch", 28, id="a version that parts from the right one"),
    pytest.param('{"schema_version": "xiaobo_action"', "version_mismatch", 34, id="a version that ends too soon"),
    pytest.param('{"schema_version": "\\u0079', "version_mismatch", None, id="a version spelt by escapes, at the latest when it ends"),
    pytest.param('{"task_id": "5b0c6f0f', "wrong_task", 21, id="another task"),
    pytest.param('{"a": 1, "a"', "duplicate_key", 12, id="a key twice"),
    pytest.param('{"a": 1} {', "second_value", 10, id="a second object"),
    pytest.param('{"a": 1} x', "text_around", 10, id="an afterword"),
    pytest.param('{"a": ' + "[" * 64, "too_deep", 70, id="too deep"),
    pytest.param('{"a": 1e999,', "not_finite", 12, id="a number that overflows"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "code", "at"), DOOMED)
def test_doomed(text: str, code: str, at: int | None) -> None:
    """Fed character by character, the guard speaks at the very character that settles it."""
    guard = StreamGuard(registry.get("xiaobo_action_v1"), Context(task_id=TASK))
    spoke = next(
        (number for number, char in enumerate(text, 1) if guard.feed(char)), None
    )
    if at is None:
        guard.feed('"')
    else:
        assert spoke == at
    assert guard.doom is not None
    assert guard.doom.code == code
    assert guard.finish() is guard.doom is guard.feed("more")
    assert not guard.complete


@pytest.mark.parametrize("size", [1, 5, 1000])
@pytest.mark.parametrize("version", VALID)
def test_good_streams_pass(version: str, size: int) -> None:
    """A message that check accepts is never stopped, however it is cut."""
    data = json.dumps(VALID[version], ensure_ascii=False).encode()
    guard = StreamGuard(registry.get(version))
    assert all(
        guard.feed(data[at : at + size]) is None for at in range(0, len(data), size)
    )
    assert guard.finish() is None
    assert guard.complete
    assert isinstance(check(data, version), Accepted)


def test_ends_too_soon() -> None:
    """The end of the stream is a fact too."""
    guard = StreamGuard()
    guard.feed('{"a": ')
    doom = guard.finish()
    assert doom is not None
    assert doom.code == "cut_short"


def test_characters_may_be_cut() -> None:
    """A chunk of bytes may end inside of a character; a stream may not."""
    guard = StreamGuard()
    for byte in '{"a": "é🥐"}'.encode():
        assert guard.feed(bytes([byte])) is None
    assert guard.finish() is None
    cut = StreamGuard()
    cut.feed('{"a": "é'.encode()[:-1])
    doom = cut.finish()
    assert doom is not None
    assert doom.code == "not_utf8"


def test_bytes_that_are_no_utf8() -> None:
    """Binary output is stopped."""
    doom = StreamGuard().feed(b'{"a": "\xff')
    assert doom is not None
    assert doom.code == "not_utf8"


def test_too_large() -> None:
    """A stream without end is stopped at the limit."""
    guard = StreamGuard(limits=Limits(max_bytes=20))
    assert guard.feed('{"a": "éééé') is None
    doom = guard.feed("ééé")
    assert doom is not None
    assert doom.code == "too_large"


def test_the_right_version_is_named() -> None:
    """What dooms a version also says which one is wanted; which one was meant is not guessed."""
    doom = StreamGuard(registry.get("action")).feed('{"schema_version": "v1"')
    assert doom is not None
    assert doom.fix is None
    assert "xiaobo_action_v1" in doom.expected


def test_only_what_can_no_longer_be_accepted_is_doomed() -> None:
    """A review may carry the plan's id, or none yet; an older version may be raised; a plan has no task_id of its own."""
    asked = Context(task_id=TASK, plan_id="P1")
    for text in (
        '{"task_id": "P1"',
        '{"task_id": ""',
        '{"task_id": "  "',
        f'{{"task_id": "{TASK}"',
    ):
        assert StreamGuard(registry.get("review"), asked).feed(text) is None
    assert StreamGuard(registry.get("plan"), asked).feed('{"task_id": "other"') is None
    assert StreamGuard(registry.get("task"), asked).feed('{"task_id": "other"') is None
    seed = Context(profile="seed")
    assert (
        StreamGuard(registry.get("answer"), seed).feed('{"schema_version": "other"')
        is None
    )
    assert StreamGuard(NOTE_3).feed('{"schema_version": "note_v1"') is None
    assert StreamGuard(NOTE_3).feed('{"schema_version": "note_v4"') is not None


def doom_of(text: str, guard: StreamGuard, size: int) -> str | None:
    """What the guard says about a text that comes in pieces."""
    for at in range(0, len(text), size):
        guard.feed(text[at : at + size])
    doom = guard.finish()
    return doom.code if doom else None


def test_no_prefix_of_an_accepted_vector_is_doomed() -> None:
    """Whatever check accepts, as it is or normalised, comes through character by character."""
    folder = Path(GIVEN_VECTORS)
    lines = [
        line for path in sorted(folder.glob("*.jsonl")) for line in read_lines(path)
    ]
    accepted = 0
    for name, text, context in map(question, lines):
        if name is not None and isinstance(check(text, name, context), Accepted):
            accepted += 1
            assert doom_of(text, StreamGuard(registry.get(name), context), 1) is None, (
                name,
                text,
            )
    assert accepted > 100


BLANKS = ("", " ", "\u3000\t")
IDENTITIES = (None, *BLANKS, TASK, "P1", "other", 7)
contexts = st.builds(
    Context,
    task_id=st.sampled_from([None, TASK, "P1"]),
    plan_id=st.sampled_from([None, "P1"]),
    profile=st.sampled_from(["strict", "seed"]),
)
changes = st.fixed_dictionaries(
    {},
    optional={
        "task_id": st.sampled_from(IDENTITIES),
        "id": st.sampled_from(IDENTITIES),
        "schema_version": st.sampled_from((None, "", "other", *registry.versions())),
        "review_target": st.sampled_from(["PLAN", "NODE", "plan_review"]),
    },
)


@given(
    st.sampled_from(sorted(VALID)),
    changes,
    st.sets(st.sampled_from(["task_id", "schema_version"])),
    contexts,
)
@example(
    "xiaojing_review_v1",
    {"task_id": "  ", "review_target": "PLAN"},
    set(),
    Context(task_id=TASK, plan_id="P1"),
)
@example(
    "xiaojing_review_v1",
    {"task_id": "", "review_target": "PLAN"},
    set(),
    Context(task_id=TASK),
)
@example("scc.task.v1", {}, set(), Context(task_id="another task"))
@example("agent_answer_v1", {"schema_version": "other"}, set(), Context(profile="seed"))
def test_what_check_accepts_is_never_doomed(
    version: str, change: dict[str, object], gone: set[str], context: Context
) -> None:
    """Whatever a message says about its version and its task."""
    contract = registry.get(version)
    if context.profile not in ("strict", *contract.profiles):
        return
    message = {
        key: value
        for key, value in {**VALID[version], **change}.items()
        if key not in gone
    }
    text = json.dumps(message, ensure_ascii=False)
    if isinstance(check(text, version, context), Accepted):
        assert doom_of(text, StreamGuard(contract, context), 1) is None


@pytest.mark.parametrize("sign", ["", "-"])
@pytest.mark.parametrize(
    ("number", "code"),
    [
        pytest.param("1" * 4300, None, id="as many digits as an integer may have"),
        pytest.param("1" * 4301, "number_too_long", id="one digit more"),
        pytest.param(
            "1" * 4300 + "e-4300", None, id="as many digits before an exponent"
        ),
        pytest.param(
            "1" * 4301 + "e-4300",
            "number_too_long",
            id="one digit more before an exponent",
        ),
        pytest.param(
            "1" * 4301 + ".5", "number_too_long", id="one digit more before a point"
        ),
        pytest.param("1" * 4300 + ".5", "not_finite", id="a fraction that overflows"),
        pytest.param(
            "0." + "1" * 5000, None, id="any number of digits after the point"
        ),
        pytest.param("0" * 5000, "not_json", id="zeros at the front"),
    ],
)
def test_reader_and_guard_agree_on_long_numbers(
    sign: str, number: str, code: str | None
) -> None:
    """The reader, the tolerant one, and the guard, in one piece or character by character."""
    text = f'{{"a": {sign}{number}}}'
    assert code_of(read, text) == code
    assert code_of(read_tolerant, text.replace('"', "'")) == code
    assert doom_of(text, StreamGuard(), len(text)) == code
    assert doom_of(text, StreamGuard(), 1) == code


def code_of(reader: Callable[[str], object], text: str) -> str | None:
    try:
        reader(text)
    except Unparseable as flaw:
        return flaw.code
    return None


def test_the_right_id_is_named() -> None:
    """Whole, however long it is; another task's message is not turned into this one's."""
    doom = StreamGuard(registry.get("action"), Context(task_id=TASK)).feed(
        '{"task_id": "zzz"'
    )
    assert doom is not None
    assert doom.fix is None
    assert TASK in doom.expected

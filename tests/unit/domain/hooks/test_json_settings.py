"""The stop hook in the settings of Claude Code and codex: put in, put in again, taken out, and nothing lost."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accordance.domain.hooks.json_settings import (
    HookSettingsUnreadable,
    with_stop_hook,
    without_stop_hook,
)
from accordance.domain.hooks.kinds import HookKind, hook_command, is_our_command

CLAUDE = HookKind.CLAUDE
COMMAND = hook_command(CLAUDE)
OURS = {"type": "command", "command": COMMAND, "timeout": 3600}
THEIRS = {"type": "command", "command": "notify-send done"}


def stop(*groups: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Settings with these groups of stop hooks."""
    return {**more, "hooks": {"Stop": list(groups)}}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param({}, stop({"hooks": [OURS]}), id="no settings yet"),
        pytest.param(
            {"model": "opus"},
            stop({"hooks": [OURS]}, model="opus"),
            id="other settings stay",
        ),
        pytest.param(
            {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [THEIRS]}]}},
            {
                "hooks": {
                    "PreToolUse": [{"matcher": "Bash", "hooks": [THEIRS]}],
                    "Stop": [{"hooks": [OURS]}],
                }
            },
            id="hooks of other events stay",
        ),
        pytest.param(
            stop({"hooks": [THEIRS]}),
            stop({"hooks": [THEIRS]}, {"hooks": [OURS]}),
            id="other stop hooks stay",
        ),
    ],
)
def test_a_hook_is_put_in_and_taken_out(
    before: dict[str, Any], after: dict[str, Any]
) -> None:
    """Putting it in twice changes nothing more; taking it out gives back what was there."""
    put_in = with_stop_hook(json.dumps(before), CLAUDE, COMMAND)
    assert json.loads(put_in) == after
    assert with_stop_hook(put_in, CLAUDE, COMMAND) == put_in
    assert json.loads(without_stop_hook(put_in, CLAUDE)) == before


def test_an_earlier_hook_is_replaced() -> None:
    """Another place of accordance: the hook is there once, and a neighbour in its group stays."""
    earlier = {"type": "command", "command": "/opt/x/bin/accordance hook run claude"}
    text = json.dumps(stop({"hooks": [earlier, THEIRS]}))
    put_in = with_stop_hook(text, CLAUDE, COMMAND)
    assert json.loads(put_in) == stop({"hooks": [THEIRS]}, {"hooks": [OURS]})


def test_settings_without_the_hook_stay_as_they_are_written() -> None:
    """Not a space moves."""
    text = '{ "model":"opus",\n\n"hooks": {"Stop": [] } }'
    assert without_stop_hook(text, CLAUDE) == text


@pytest.mark.parametrize("indent", ["  ", "    ", "\t"])
def test_the_indentation_stays(indent: str) -> None:
    """A file that people indent with tabs stays a file with tabs."""
    text = f'{{\n{indent}"model": "ö"\n}}\n'
    put_in = with_stop_hook(text, CLAUDE, COMMAND)
    assert put_in.startswith(f'{{\n{indent}"model": "ö",\n{indent}"hooks"')
    assert without_stop_hook(put_in, CLAUDE) == text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"model": "opus"} // mine', "it is not plain JSON"),
        ("[]", "it is not a JSON object"),
        ('{"a": 1, "a": 2}', "the key 'a' occurs twice"),
        ('{"hooks": []}', '"hooks" is not an object'),
        ('{"hooks": {"Stop": {}}}', '"hooks.Stop" is not a list'),
        ('{"hooks": {"Stop": ["x"]}}', "something other than groups of hooks"),
        ('{"hooks": {"Stop": [{"hooks": 1}]}}', "something other than groups"),
        ('{"hooks": {"Stop": [{"hooks": ["x"]}]}}', "something other than groups"),
    ],
)
def test_what_is_not_understood_is_not_rewritten(text: str, reason: str) -> None:
    """A comment would be lost, a second key as well."""
    with pytest.raises(HookSettingsUnreadable, match=re.escape(reason)):
        with_stop_hook(text, CLAUDE, COMMAND)


@pytest.mark.parametrize(
    ("command", "ours"),
    [
        (COMMAND, True),
        ("accordance hook run claude", True),
        ("/opt/a b/accordance hook run claude --repo x", True),
        ("'/opt/a b/accordance' hook run claude", True),
        ("accordance hook run codex", False),
        ("accordance hook run claudette", False),
        ("not-accordance hook run claude", False),
        ("accordance judge", False),
        (None, False),
    ],
)
def test_which_command_is_ours(command: object, ours: bool) -> None:
    """Only that is ever taken out."""
    assert is_our_command(command, CLAUDE) == ours


NAMES = st.sampled_from(["model", "hooks", "Stop", "x"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(NAMES, VALUES, max_size=4))
def test_nothing_is_lost_of_any_settings(settings: dict[str, Any]) -> None:
    """Either they are refused, or every value is there before, with and after the hook."""
    try:
        put_in = with_stop_hook(json.dumps(settings), CLAUDE, COMMAND)
    except HookSettingsUnreadable:
        return
    kept = json.loads(without_stop_hook(put_in, CLAUDE))
    empty: dict[str, Any] = {"hooks": {}}
    if "Stop" in settings.get("hooks", {}) and not settings["hooks"]["Stop"]:
        del settings["hooks"]["Stop"]  # an empty list of hooks says nothing
    assert {**empty, **kept} == {**empty, **settings}

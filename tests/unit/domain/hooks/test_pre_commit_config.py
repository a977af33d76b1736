"""The hook in `.pre-commit-config.yaml`: lines put in and taken out of a file that people wrote."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from accordance.domain.hooks.json_settings import HookSettingsUnreadable
from accordance.domain.hooks.pre_commit_config import (
    with_pre_commit_hook,
    without_pre_commit_hook,
)

WRITTEN_BY_HAND = """\
# our hooks
minimum_pre_commit_version: "3.0"  # since May
repos:  # in this order
{indent}# linting first
{indent}- repo: https://example.org/ruff
{indent}  rev: v1
{indent}  hooks: [{{id: ruff}}]
"""


def repos(text: str) -> list[dict[str, Any]]:
    """What pre-commit reads."""
    return list(yaml.safe_load(text)["repos"])


@pytest.mark.parametrize("indent", ["", "  ", "    "])
def test_a_hook_is_put_in_and_taken_out(indent: str) -> None:
    """Comments, order and indentation stay; twice is once; taken out, the text is as before."""
    text = WRITTEN_BY_HAND.format(indent=indent)
    put_in = with_pre_commit_hook(text)
    [ours, *theirs] = repos(put_in)
    assert ours["hooks"][0]["entry"] == "accordance hook run pre-commit"
    assert theirs == repos(text)
    assert with_pre_commit_hook(put_in) == put_in
    assert without_pre_commit_hook(put_in) == text


@pytest.mark.parametrize("text", ["", "\n", "repos:\n", "repos: # none yet\n"])
def test_a_file_without_hooks(text: str) -> None:
    """There may be no file at all."""
    assert len(repos(with_pre_commit_hook(text))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "repos: []\n",
        "repos: [{repo: local}]\n",
        "fail_fast: true\n",
        "repos:\n  a: 1\n",
    ],
)
def test_no_sure_place(text: str) -> None:
    """Then nothing is written."""
    with pytest.raises(HookSettingsUnreadable):
        with_pre_commit_hook(text)

"""The short forms of a plan: how a text of each is read and written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from accordance.domain.short_plans.compiling import Compiled, compile_plan
from accordance.domain.short_plans.entries import Fields
from accordance.domain.short_plans.file_names import ShortFormat
from accordance.domain.short_plans.markdown_text import read_markdown
from accordance.domain.short_plans.markdown_writing import markdown_text
from accordance.domain.short_plans.model import ShortPlan
from accordance.domain.short_plans.reading import read_plan
from accordance.domain.short_plans.toml_text import read_toml_plan
from accordance.domain.short_plans.toml_writing import toml_text
from accordance.domain.short_plans.yaml_text import read_yaml
from accordance.domain.short_plans.yaml_writing import yaml_text
from accordance.errors import InvalidPlanFile, NotExpressible

LARGEST: Final = 1 << 20
"""Bytes of a plan that is written by hand; larger plans are written as JSON."""

_READERS: Final[Mapping[str, Callable[[str], Fields]]] = {
    "yaml": read_yaml,
    "toml": read_toml_plan,
    "md": read_markdown,
}


_WRITERS: Final[Mapping[str, Callable[[ShortPlan], str]]] = {
    "yaml": yaml_text,
    "toml": toml_text,
    "md": markdown_text,
}


def read_short_plan(raw: bytes, form: ShortFormat) -> ShortPlan:
    """Return the plan in a file. Raises InvalidPlanFile."""
    if len(raw) > LARGEST:
        raise InvalidPlanFile(
            f"larger than {LARGEST // 1024} KiB",
            way_out="write a plan of that size as JSON",
        )
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InvalidPlanFile("not UTF-8", line, way_out="save it as UTF-8") from None
    return read_plan(_READERS[form](text))


def compile_file(raw: bytes, form: ShortFormat) -> Compiled:
    """Return the plan of the contract that a file means. Raises InvalidPlanFile."""
    return compile_plan(read_short_plan(raw, form))


def write_short_plan(plan: ShortPlan, form: ShortFormat) -> str:
    """Return a plan as a text of a format. Raises NotExpressible.

    The text is read again: a text that means another plan is never handed out.
    """
    text = _WRITERS[form](plan)
    try:
        written = compile_file(text.encode(), form).document
    except InvalidPlanFile as error:
        raise NotExpressible(
            f"the plan cannot be written as {form}: {error.reason}",
            way_out="keep the plan as JSON",
        ) from None
    if written != compile_plan(plan).document:
        raise NotExpressible(
            f"the plan cannot be written as {form} without changing it",
            way_out="keep the plan as JSON",
        )
    return text

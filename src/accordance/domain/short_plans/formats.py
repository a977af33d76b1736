"""The formats of plan files: which name means which, and how each is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Literal, TypeAlias, cast, get_args

from accordance.domain.short_plans.compiling import Compiled, compile_plan
from accordance.domain.short_plans.entries import Table
from accordance.domain.short_plans.markdown_text import read_markdown
from accordance.domain.short_plans.model import ShortPlan
from accordance.domain.short_plans.reading import read_plan
from accordance.domain.short_plans.toml_text import read_toml_plan
from accordance.domain.short_plans.yaml_text import read_yaml
from accordance.errors import InvalidPlanFile

ShortFormat: TypeAlias = Literal["yaml", "toml", "md"]
PlanFormat: TypeAlias = Literal["json", "yaml", "toml", "md"]

FORMATS: Final[tuple[PlanFormat, ...]] = get_args(PlanFormat)
LARGEST: Final = 1 << 20
"""Bytes of a plan that is written by hand; larger plans are written as JSON."""

_ENDINGS: Final[Mapping[str, PlanFormat]] = {
    "json": "json",
    "yaml": "yaml",
    "yml": "yaml",
    "toml": "toml",
    "md": "md",
    "markdown": "md",
}
_READERS: Final[Mapping[str, Callable[[str], Table]]] = {
    "yaml": read_yaml,
    "toml": read_toml_plan,
    "md": read_markdown,
}


def format_of(name: str) -> PlanFormat | None:
    """Return the format that the name of a file stands for, if it is known."""
    _, dot, ending = name.rpartition(".")
    return _ENDINGS.get(ending.casefold()) if dot else None


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


def as_short(form: PlanFormat) -> ShortFormat:
    """Return a format that is not JSON, as a short one."""
    return cast("ShortFormat", form)

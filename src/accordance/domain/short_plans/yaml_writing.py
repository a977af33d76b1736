"""A short plan as YAML."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from accordance.domain.short_plans.entries import bare_value
from accordance.domain.short_plans.model import ShortPlan
from accordance.domain.short_plans.writing import plain_plan

_WIDTH: Final = 88


def yaml_text(plan: ShortPlan) -> str:
    """Return a plan as YAML. A task that is only a title is written as a text."""
    import yaml

    writer: Any = type("PlanDumper", (yaml.SafeDumper,), {})
    writer.increase_indent = _indented_lists(yaml.SafeDumper)
    writer.ignore_aliases = lambda *_: True
    writer.add_representer(str, _as_text)
    text: str = yaml.dump(
        _with_titles_alone(plain_plan(plan)),
        Dumper=writer,
        sort_keys=False,
        allow_unicode=True,
        width=_WIDTH,
    )
    return text


def _indented_lists(base: Any) -> Callable[..., Any]:
    """Return how the writer indents: lists too, as people write them."""

    def increase_indent(
        writer: Any,
        flow: bool = False,
        indentless: bool = False,  # noqa: ARG001 - what PyYAML would do
    ) -> Any:
        return base.increase_indent(writer, flow, indentless=False)

    return increase_indent


def _as_text(writer: Any, text: str) -> Any:
    """Write a text so that it is read as a text again."""
    style = None
    lines = text.split("\n")
    if not all(line.isprintable() for line in lines):
        style = '"'
    elif len(lines) > 1:
        style = "|"
    elif bare_value(text) != text:
        style = '"'
    return writer.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _with_titles_alone(table: dict[str, Any]) -> dict[str, Any]:
    """Write tasks that have nothing but a title as that title."""
    written = dict(table)
    for key in ("tasks", "parts"):
        if key in written:
            written[key] = [
                task["title"] if list(task) == ["title"] else _with_titles_alone(task)
                for task in written[key]
            ]
    return written

"""Plan files in every format: read, checked, compiled, converted.

`plan_json_v1` is what plans are checked as; the short forms are compiled to it first.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from accordance.contracts.catalogue.plan import Plan
from accordance.contracts.violation import Accepted, Rejected
from accordance.domain.short_plans.compiling import Compiled
from accordance.domain.short_plans.file_names import PlanFormat, format_of
from accordance.domain.short_plans.formats import (
    compile_file,
    read_short_plan,
    write_short_plan,
)
from accordance.domain.short_plans.shortening import shorten
from accordance.errors import InvalidPlanFile
from accordance.project.home import Home
from accordance.service.plan_intake import check_plan

_SHORT_FORM: Final = "write it as plan.yaml, plan.toml or plan.md (docs/plan-files.md)"


_OF_A_MESSAGE: Final = (b'"plan"', b'"nodes"', b'"schema_version"')
"""Keys of JSON that is a plan, or another message: the contract says what is wrong."""


@dataclass(frozen=True, slots=True)
class PlanFile:
    """A plan file that was read: what it says, and whether that is a plan."""

    name: str
    raw: bytes
    result: Accepted[Plan] | Rejected
    compiled: Compiled | None = None
    """What a short form was compiled to; None for JSON."""

    def line_of(self, path: str) -> int:
        """Return the line of a short form that a path of its plan comes from."""
        return self.compiled.line_of(path) if self.compiled else 0


def format_for(name: str, stated: PlanFormat | None = None) -> PlanFormat:
    """Return the format of a file: the stated one, else by its name, else JSON."""
    return stated or format_of(name) or "json"


def read_plan_file(
    name: str,
    raw: bytes,
    home: Home | None = None,
    stated: PlanFormat | None = None,
) -> PlanFile:
    """Return the plan in a file, or everything that is wrong with it as a plan.

    With a project, its tasks that change a repository are checked too. Raises
    InvalidPlanFile for a text that is no plan at all.
    """
    form = format_for(name, stated)
    try:
        if form == "json":
            _refuse_other_json(raw)
            return PlanFile(name, raw, check_plan(raw, home))
        compiled = compile_file(raw, form)
    except InvalidPlanFile as error:
        raise error.in_file(name) from None

    result = check_plan(_json_text(compiled), home)
    return PlanFile(name, raw, _without_own_keys(result), compiled)


def plan_text(file: PlanFile) -> bytes:
    """Return what a file says as the text of a plan_json_v1."""
    return file.raw if file.compiled is None else _json_text(file.compiled)


def _json_text(compiled: Compiled) -> bytes:
    text = json.dumps(compiled.document, ensure_ascii=False)
    return text.encode("utf-8", "surrogatepass")


def _without_own_keys(result: Accepted[Plan] | Rejected) -> Accepted[Plan] | Rejected:
    """Leave out that the contract does not name keys that the short form has."""
    if isinstance(result, Rejected):
        return result
    warnings = [notice for notice in result.warnings if notice.code != "unknown_key"]
    left_out = len(result.warnings) - len(warnings)
    return replace(
        result,
        warnings=tuple(warnings),
        total_warnings=result.total_warnings - left_out,
    )


def _refuse_other_json(raw: bytes) -> None:
    """Refuse JSON that is sound and has nothing of a plan. Raises InvalidPlanFile."""
    if not raw.strip():
        raise InvalidPlanFile("the file is empty", way_out=_SHORT_FORM)
    if any(name in raw for name in _OF_A_MESSAGE):
        return
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return  # the check of the plan says where
    if isinstance(value, dict):
        raise InvalidPlanFile(
            "this is JSON, but no plan: it has neither `plan` nor `nodes`",
            way_out=_SHORT_FORM,
        )


def plan_document(file: PlanFile) -> Mapping[str, Any]:
    """Return the plan of an accepted file as JSON, with every default written out."""
    if file.compiled is not None:
        return file.compiled.document
    return plan_of(file).model_dump(mode="json", by_alias=True)


def converted(file: PlanFile, to: PlanFormat, stated: PlanFormat | None = None) -> str:
    """Return the plan of an accepted file in another format. Raises NotExpressible."""
    if to == "json":
        text = json.dumps(plan_document(file), indent=2, ensure_ascii=False)
        return f"{text}\n"

    form = format_for(file.name, stated)
    if form == "json":
        document = plan_of(file).model_dump(
            mode="json",
            by_alias=True,
            exclude_unset=True,
        )
        short = shorten(document)
    else:
        short = read_short_plan(file.raw, form)
    return write_short_plan(short, to)


def plan_of(file: PlanFile) -> Plan:
    """Return the plan of a file. Raises InvalidPlanFile if it breaks its contract."""
    result = file.result
    if isinstance(result, Rejected):
        raise InvalidPlanFile("the plan breaks its contract", file=file.name)
    return result.value

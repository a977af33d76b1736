"""What accordance.toml says about plans: fuses and rubrics. Unknown names are errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from accordance.domain.fuses import fuses_from
from accordance.domain.records import Rules
from accordance.domain.rubric import NODE_RUBRIC, PLAN_RUBRIC, Rubric
from accordance.engine.home import InvalidSettings
from accordance.errors import InvalidRubric

_RUBRICS: Final = {"plan": PLAN_RUBRIC, "node": NODE_RUBRIC}


def rules_of(settings: Mapping[str, Any], fuses: Mapping[str, object] | None = None) -> Rules:
    """The rules for a plan: `[fuses]` with `fuses` over it, `[rubric.plan]` and `[rubric.node]`."""
    rubrics = _table(settings, "rubric")
    for name in rubrics:
        if name not in _RUBRICS:
            raise InvalidSettings(f"accordance.toml: unknown rubric {name!r}; known: plan, node")
    return Rules(
        fuses=fuses_from({**_table(settings, "fuses"), **(fuses or {})}),
        plan_rubric=_rubric("plan", rubrics),
        node_rubric=_rubric("node", rubrics),
    )


def _rubric(name: str, rubrics: Mapping[str, Any]) -> Rubric:
    if name not in rubrics:
        return _RUBRICS[name]
    said = _table(rubrics, name)
    maxima = _table(said, "maxima")
    unknown = said.keys() - {"maxima", "approve_at"}
    if unknown or not all(type(most) is int for most in maxima.values()):
        raise InvalidRubric(f"{name}: a rubric has maxima (whole numbers) and approve_at, nothing else")
    approve_at = said.get("approve_at", _RUBRICS[name].approve_at)
    if type(approve_at) is not int:
        raise InvalidRubric(f"{name}: approve_at is a whole number")
    return Rubric(name, maxima or _RUBRICS[name].maxima, approve_at)


def _table(settings: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = settings.get(name, {})
    if not isinstance(found, Mapping):
        raise InvalidSettings(f"accordance.toml: [{name}] is a table")
    return found

"""A contract with everything looked up that each check needs.

What pydantic validates is the decoded message where that gives the same answer as the
JSON text, and the text where it does not: a date, a set, a number as a key. Which of
the two applies follows from the model; see `modes`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from inspect import isgeneratorfunction
from typing import Any

from pydantic import BaseModel
from pydantic.config import ExtraValues

from accordance.contracts.context import Context
from accordance.contracts.contract import Contract, Rewrite, Rule, Settled
from accordance.contracts.free_parts import free_parts
from accordance.contracts.jsonpath import JsonObject, Path
from accordance.contracts.modes import is_transparent, reads_alike
from accordance.contracts.violation import Notice, Violation


@dataclass(frozen=True, slots=True)
class PreparedContract:
    """A contract, ready to check messages."""

    contract: Contract[Any]
    label: str
    validate: Callable[..., Any]
    takes_text: bool  # pydantic is given JSON text, not the decoded message
    is_transparent: bool  # refusing unknown keys changes nothing else
    rewrites: tuple[Rewrite, ...]
    rules: tuple[Rule, ...]
    settled: Settled | None
    is_upgradable: bool  # messages of an older version can be upgraded
    free: tuple[Path, ...]  # the places where a message may nest without bound


def prepare(contract: Contract[Any]) -> PreparedContract:
    """Look up what the checks of a contract need."""
    model = contract.model
    takes_text = not reads_alike(model)
    transparent = is_transparent(model)
    validate = _validator(model, takes_text=takes_text, transparent=transparent)
    return PreparedContract(
        contract=contract,
        label=contract.scope or contract.version,
        validate=validate,
        takes_text=takes_text,
        is_transparent=transparent,
        rewrites=contract.rewrites,
        rules=tuple(map(_as_list_rule, contract.rules)),
        settled=contract.settled,
        is_upgradable=bool(contract.upgrades),
        free=() if takes_text else free_parts(model),
    )


def _validator(
    model: type[BaseModel],
    *,
    takes_text: bool,
    transparent: bool,
) -> Callable[..., Any]:
    """The call that validates.

    Where refusing unknown keys could change the value, the value is made by a second
    call that does not refuse them.
    """
    pydantic = model.__pydantic_validator__
    validate = pydantic.validate_json if takes_text else pydantic.validate_python
    if transparent:
        return validate

    def validate_twice(
        subject: Any,
        *,
        strict: bool,
        extra: ExtraValues | None = None,
    ) -> Any:
        if extra is not None:
            validate(subject, strict=strict, extra=extra)
        return validate(subject, strict=strict)

    return validate_twice


def _as_list_rule(rule: Rule) -> Rule:
    """A rule that returns a list, which is false when there is nothing to report."""
    if not isgeneratorfunction(rule):
        return rule

    @wraps(rule)
    def list_rule(message: JsonObject, context: Context) -> list[Violation | Notice]:
        return list(rule(message, context))

    return list_rule

"""Step 4: a normalised message against its contract, every violation at once.

pydantic judges each field, in strict mode. accordance itself runs the rules across
fields, on the same plain message, so that they are reported beside field errors and not
hidden by them. A rule is silent about a place that is already at fault.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from accordance.contracts.context import Context
from accordance.contracts.contract import VERSION_KEY, Contract, Rule
from accordance.contracts.field_violations import field_violation
from accordance.contracts.jsonpath import (
    JsonObject,
    Path,
    lies_within,
    parse,
    render,
)
from accordance.contracts.limits import MAX_REPORTED
from accordance.contracts.places import Place, place_of
from accordance.contracts.violation import Notice, Repair, Violation, excerpt


@dataclass(slots=True)
class ViolationLog:
    """What a check has reported so far. All is counted, the first are listed."""

    violations: list[Violation] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    faulty: set[Path] = field(default_factory=set)
    repairs: tuple[Repair, ...] = ()
    total: int = 0
    total_notices: int = 0

    def add(self, violation: Violation) -> None:
        """Count a violation, and list it while there is room."""
        self.total += 1
        if len(self.violations) < MAX_REPORTED:
            self.violations.append(violation)

    def note(self, notice: Notice) -> None:
        """Count a notice, and list it while there is room."""
        self.total_notices += 1
        if len(self.notices) < MAX_REPORTED:
            self.notices.append(notice)


def judge_fields(
    contract: Contract[Any],
    message: JsonObject,
    faults: Iterable[ErrorDetails],
    log: ViolationLog,
    *,
    has_labels: bool = True,
) -> None:
    """Turn pydantic's errors into violations.

    Without labels, every location is a place and no union is involved. Errors that are
    only counted then need no closer look.
    """
    places: set[Path] = set()
    doubtful: list[tuple[ErrorDetails, Place]] = []
    for details in faults:
        has_room = len(log.violations) < MAX_REPORTED
        if not has_room and not has_labels:
            log.total += 1
            log.faulty.add(details["loc"])
            continue

        place = place_of(contract.model, details, message, in_words=has_room)
        is_of_union = place.path != details["loc"]
        if is_of_union and place.path in places:
            continue  # reported already, for another type of the same union
        if place.has_type and details["type"].endswith("_type"):
            doubtful.append((details, place))
            continue
        places.add(place.path)
        _add_fault(contract, details, place, log)

    for details, place in doubtful[:MAX_REPORTED]:
        if not _has_deeper_fault(place, places):
            places.add(place.path)
            _add_fault(contract, details, place, log)


def _has_deeper_fault(place: Place, places: set[Path]) -> bool:
    """Whether a fault was reported at a place or below it."""
    depth = len(place.path)
    return any(path[:depth] == place.path for path in places)


def _add_fault(
    contract: Contract[Any],
    details: ErrorDetails,
    place: Place,
    log: ViolationLog,
) -> None:
    log.total += 1
    log.faulty.add(place.path)
    if len(log.violations) < MAX_REPORTED:
        log.violations.append(field_violation(contract, details, place))


def judge_unknown_key(
    contract: Contract[Any],
    details: ErrorDetails,
    place: Place,
    message: JsonObject,
    log: ViolationLog,
) -> None:
    """Mention a key that the contract does not name and that breaks nothing."""
    if not contract.mentions_unknown_keys:
        return
    is_version = place.path == (VERSION_KEY,)
    value = details["input"]
    if is_version and value == contract.version:
        return  # the message names the contract it is checked against

    is_kept = _additional_keys_at(contract.model, details, message) is True
    fate = "kept" if is_kept else "ignored"
    text = f"a key the contract does not name; {fate}"
    if is_version:
        version = excerpt(contract.version)
        text = f"names {excerpt(value)}, but this contract is {version}; {fate}"
    log.note(Notice("unknown_key", render(place.path), text))


def is_refused_key(
    contract: Contract[Any],
    details: ErrorDetails,
    message: JsonObject,
) -> bool:
    """Whether the schema is closed where an unknown key stands."""
    return _additional_keys_at(contract.model, details, message) is False


def _additional_keys_at(
    model: type[BaseModel],
    details: ErrorDetails,
    message: JsonObject,
) -> object:
    """The `additionalProperties` of the object around a key, or None."""
    around = ErrorDetails({**details, "loc": details["loc"][:-1]})
    schema = place_of(model, around, message).expected.schema
    return schema.get("additionalProperties")


def judge_rules(
    rules: Iterable[Rule],
    message: JsonObject,
    context: Context,
    log: ViolationLog,
) -> None:
    """Run the rules across fields."""
    for rule in rules:
        hear_rule(rule(message, context), log)


def hear_rule(findings: Iterable[Violation | Notice], log: ViolationLog) -> None:
    """Add what a rule reports, except about places that are already at fault."""
    for finding in findings:
        if isinstance(finding, Notice):
            log.note(finding)
        elif log.faulty and lies_within(parse(finding.path), log.faulty):
            _sharpen(log.violations, finding)
        else:
            log.add(finding)


def _sharpen(violations: list[Violation], sharper: Violation) -> None:
    """Replace a violation without a fix by a rule's report of the same fault."""
    for index, known in enumerate(violations):
        is_same_fault = known.code == sharper.code and known.path == sharper.path
        if is_same_fault and known.fix is None:
            violations[index] = sharper

"""Steps 3 and 4 for a message whose contract is known: normalise, validate, report.

A canonical message, and most messages are canonical, takes the short way: one strict
validation by pydantic with unknown keys refused, then the rules. Only if that fails is
the message normalised, validated again and reported on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from accordance.contracts.context import Context
from accordance.contracts.contract import Rule
from accordance.contracts.field_violations import UNKNOWN_KEY
from accordance.contracts.fixes import apply_fixes
from accordance.contracts.jsonpath import JsonObject, Path, render
from accordance.contracts.limits import LIMITS, MAX_REPORTED
from accordance.contracts.normalising import Rivals, normalise, rival_answers
from accordance.contracts.places import Place, place_of
from accordance.contracts.prepared import PreparedContract
from accordance.contracts.reading import free_parts_are_sound, is_sound
from accordance.contracts.recounting import as_counted_in
from accordance.contracts.serialising import write
from accordance.contracts.unknown_keys import knows
from accordance.contracts.validating import (
    ViolationLog,
    hear_rule,
    is_refused_key,
    judge_fields,
    judge_rules,
    judge_unknown_key,
)
from accordance.contracts.violation import (
    Accepted,
    Notice,
    Rejected,
    Repair,
    Violation,
)
from accordance.errors import InvalidPath, Unparseable

_MENDED_BY_TABLES: Final = UNKNOWN_KEY | {"literal_error", "enum"}
_PLAIN_TYPES: Final = (str, int, bool, type(None))  # these neither nest nor overflow
_REFORMED: Final = ("not_in_enum", "wrong_type")
"""The codes whose fix is the same value in another form."""


class UnsoundMessage(Exception):
    """A number overflowed or something is nested too deep, which the parser allows."""


def conform(
    message: JsonObject,
    prepared: PreparedContract,
    context: Context,
    repairs: tuple[Repair, ...] = (),
    text: bytes | str | None = None,
    notices: tuple[Notice, ...] = (),
) -> Accepted[Any] | Rejected:
    """Normalise and validate a message.

    `repairs` and `notices` are those of the steps before. `text` is the message as it
    was received, if known; it saves writing the message again for pydantic.
    """
    subject: object = message
    if prepared.takes_text:
        subject = _subject(message, prepared, text)
    try:
        value = prepared.validate(subject, strict=True, extra="forbid")
    except ValidationError as error:
        log = _log_of(repairs, notices)
        return _conform_at_length(message, subject, prepared, context, error, log)

    free = prepared.free
    if free and not free_parts_are_sound(message, free, LIMITS.max_depth):
        raise UnsoundMessage
    listed = notices[:MAX_REPORTED]
    if prepared.settled is not None and prepared.settled(message, context):
        return Accepted(value, repairs, listed, prepared.label, len(notices))

    for rewrite in prepared.rewrites:
        rewritten, changes = rewrite(message, context)
        if changes:
            repairs = (*repairs, *_repairs_in(changes))
            notices = (*notices, *_notices_in(changes))
            result = conform(rewritten, prepared, context, repairs, notices=notices)
            if isinstance(result, Rejected):
                return as_counted_in(message, result, changes)
            return result

    for index, rule in enumerate(prepared.rules):
        findings = rule(message, context)
        if findings:
            log = _log_of(repairs, notices)
            hear_rule(findings, log)
            later_rules = prepared.rules[index + 1 :]
            return _report(message, value, prepared, context, log, later_rules)
    return Accepted(value, repairs, listed, prepared.label, len(notices))


def _log_of(repairs: tuple[Repair, ...], notices: tuple[Notice, ...]) -> ViolationLog:
    """A log that begins with what the steps before have reported."""
    log = ViolationLog(repairs=repairs)
    for notice in notices:
        log.note(notice)
    return log


def _repairs_in(changes: Sequence[Repair | Notice]) -> list[Repair]:
    return [change for change in changes if isinstance(change, Repair)]


def _notices_in(changes: Sequence[Repair | Notice]) -> list[Notice]:
    return [change for change in changes if isinstance(change, Notice)]


def _subject(
    message: JsonObject,
    prepared: PreparedContract,
    text: bytes | str | None = None,
) -> object:
    """What pydantic validates of a message: the message itself, or its text."""
    if not prepared.takes_text:
        return message
    if not is_sound(message, LIMITS.max_depth):
        raise UnsoundMessage
    return text if text is not None else write(message)


def _conform_at_length(
    message: JsonObject,
    subject: object,
    prepared: PreparedContract,
    context: Context,
    error: ValidationError,
    log: ViolationLog,
) -> Accepted[Any] | Rejected:
    """Normalise and validate a message that is not canonical; report everything."""
    faults = _faults(error)
    if not prepared.takes_text and not _are_sound(faults, message, prepared.free):
        raise UnsoundMessage
    shape = prepared.contract.shape
    rivals = rival_answers(message, shape)
    if rivals is not None:
        return _two_answers(message, prepared, log.repairs, rivals)

    normal = message
    changes: list[Repair | Notice] = []
    if any(fault["type"] in _MENDED_BY_TABLES for fault in faults):
        normal, repairs = normalise(message, shape)
        changes += repairs
    normal, mended, rules = _rewritten(normal, prepared, context, changes)
    log.repairs = (*log.repairs, *_repairs_in(changes))
    for notice in _notices_in(changes):
        log.note(notice)

    value: BaseModel | None = None
    if normal is not message:
        subject = _subject(normal, prepared)
        try:
            value = prepared.validate(subject, strict=True, extra="forbid")
            faults = []
        except ValidationError as second_error:
            faults = _faults(second_error)
    if faults:
        value = _judge(normal, subject, prepared, faults, log)
    result = _report(normal, value, prepared, context, log, rules)
    if isinstance(result, Rejected):
        return as_counted_in(mended, result, changes)
    return result


def _faults(error: ValidationError) -> list[ErrorDetails]:
    return error.errors(include_url=False, include_context=False)


def _are_sound(
    faults: list[ErrorDetails],
    message: JsonObject,
    free: tuple[Path, ...],
) -> bool:
    """Whether a message that pydantic refused is finite and not too deep.

    What pydantic could judge is as deep as its model; what it could not judge is in its
    errors.
    """
    if not free_parts_are_sound(message, free, LIMITS.max_depth):
        return False
    for fault in faults:
        if fault["type"] == "missing":
            continue
        value = fault["input"]
        levels_left = LIMITS.max_depth + 1 - len(fault["loc"])
        is_plain = type(value) in _PLAIN_TYPES and levels_left > 0
        if not is_plain and not is_sound((value,), levels_left):
            return False
    return True


def _two_answers(
    message: JsonObject,
    prepared: PreparedContract,
    repairs: tuple[Repair, ...],
    rivals: Rivals,
) -> Rejected:
    """The report on two answers. Nothing else is judged: neither of them counts."""
    if rivals.place:
        other = f"that of {render((rivals.place,))}"
    else:
        other = "the object beside it"
    violation = Violation(
        code="two_answers",
        path=render((rivals.other,)),
        expected="a single answer in the whole message",
        actual=f"a second answer, whose {rivals.key} differs from {other}",
    )
    return Rejected(
        violations=(violation,),
        total=1,
        contract=prepared.label,
        repairs=repairs,
        message=message,
    )


class _Rewritten(NamedTuple):
    """A message after the contract's own rewrites, and the rules still to run."""

    message: JsonObject
    mended: JsonObject
    """Before the rewrites that may take items out of lists."""
    rules: tuple[Rule, ...]


def _rewritten(
    message: JsonObject,
    prepared: PreparedContract,
    context: Context,
    changes: list[Repair | Notice],
) -> _Rewritten:
    if _is_settled(message, prepared, context):
        return _Rewritten(message, message, ())

    mended = message
    for mend in prepared.contract.mends:
        mended, further = mend(mended, context)
        changes += further
    rewritten = mended
    for rewrite in prepared.rewrites:
        rewritten, further_changes = rewrite(rewritten, context)
        changes += further_changes

    is_settled = rewritten is not message and _is_settled(rewritten, prepared, context)
    rules = () if is_settled else prepared.rules
    return _Rewritten(rewritten, mended, rules)


def _is_settled(
    message: JsonObject,
    prepared: PreparedContract,
    context: Context,
) -> bool:
    """The quick test, for a message that may be wrong in any field.

    The test may assume sound fields; where it fails for lack of them, nothing is
    settled.
    """
    if prepared.settled is None:
        return False
    try:
        return prepared.settled(message, context)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        return False


def _judge(
    message: JsonObject,
    subject: object,
    prepared: PreparedContract,
    faults: list[ErrorDetails],
    log: ViolationLog,
) -> BaseModel | None:
    """Report what is wrong with the fields; return the value if nothing is."""
    unknown_keys = [fault for fault in faults if fault["type"] in UNKNOWN_KEY]
    value: BaseModel | None = None
    refused: list[ErrorDetails] = []
    if prepared.is_transparent and len(unknown_keys) < len(faults):
        refused = _refused(faults, unknown_keys, message, prepared)
    else:
        try:
            value = prepared.validate(subject, strict=True)
        except ValidationError as error:
            refused = _faults(error)

    contract = prepared.contract
    judge_fields(contract, message, refused, log, has_labels=prepared.takes_text)
    if unknown_keys:
        reported = {fault["loc"] for fault in refused}
        _note_unknown_keys(unknown_keys, reported, message, value, prepared, log)
    return value


def _refused(
    faults: list[ErrorDetails],
    unknown_keys: list[ErrorDetails],
    message: JsonObject,
    prepared: PreparedContract,
) -> list[ErrorDetails]:
    """The faults without the unknown keys that the contract lets pass."""
    contract = prepared.contract
    open_keys: set[Path] = set()
    for fault in unknown_keys:
        if not is_refused_key(contract, fault, message):
            open_keys.add(fault["loc"])
    return [fault for fault in faults if fault["loc"] not in open_keys]


def _note_unknown_keys(
    unknown_keys: list[ErrorDetails],
    reported: set[Path],
    message: JsonObject,
    value: BaseModel | None,
    prepared: PreparedContract,
    log: ViolationLog,
) -> None:
    """Mention the unknown keys that were not reported as violations."""
    contract = prepared.contract
    for fault in unknown_keys:
        place = place_of(contract.model, fault, message)
        if fault["loc"] in reported or place.path in reported:
            continue
        if _is_unknown(place, value, prepared):
            reported.add(place.path)
            judge_unknown_key(contract, fault, place, message, log)


def _is_unknown(
    place: Place,
    value: BaseModel | None,
    prepared: PreparedContract,
) -> bool:
    """Whether the type that was chosen in the end does not know a refused key."""
    if prepared.is_transparent:
        return True
    if value is None:
        return place.is_certain
    return not knows(value, place.path)


def _report(
    message: JsonObject,
    value: BaseModel | None,
    prepared: PreparedContract,
    context: Context,
    log: ViolationLog,
    rules: tuple[Rule, ...],
) -> Accepted[Any] | Rejected:
    """The outcome of a check, after the rules that are still to run."""
    judge_rules(rules, message, context, log)
    notices = tuple(log.notices)
    if not log.total:
        return Accepted(value, log.repairs, notices, prepared.label, log.total_notices)

    violations = tuple(log.violations)
    all_are_listed = log.total == len(violations)
    if all_are_listed and all(violation.fix for violation in violations):
        violations = _without_failed_fixes(violations, message, prepared, context)
    return Rejected(
        violations=violations,
        total=log.total,
        contract=prepared.label,
        repairs=log.repairs,
        message=message,
        warnings=notices,
        total_warnings=log.total_notices,
    )


def _without_failed_fixes(
    violations: tuple[Violation, ...],
    message: JsonObject,
    prepared: PreparedContract,
    context: Context,
) -> tuple[Violation, ...]:
    """The violations with only those fixes that were tried and help.

    If all fixes together do not help, the ones that give a value another form are
    withdrawn; if there are none of those, all are.
    """
    if _fixes_help(violations, message, prepared, context):
        return violations

    has_forms = any(violation.code in _REFORMED for violation in violations)
    kept: list[Violation] = []
    for violation in violations:
        is_withdrawn = violation.code in _REFORMED or not has_forms
        kept.append(violation._replace(fix=None) if is_withdrawn else violation)
    return tuple(kept)


def _fixes_help(
    violations: tuple[Violation, ...],
    message: JsonObject,
    prepared: PreparedContract,
    context: Context,
) -> bool:
    """Whether the message would be accepted with all fixes applied."""
    try:
        fixed = apply_fixes(message, violations)
        prepared.validate(_subject(fixed, prepared), strict=True)
        for rule in prepared.rules:
            findings = rule(fixed, context)
            if any(isinstance(finding, Violation) for finding in findings):
                return False
    except (ValidationError, InvalidPath, Unparseable, UnsoundMessage):
        return False
    return True

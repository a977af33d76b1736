"""The path of a message through its contract: parse, identify, normalise, validate. Never an exception for bad input.

A message that is canonical to the letter, and most are, takes the short road: one parse, one strict validation by pydantic
with unknown keys refused, the rules. Only when that fails is anything normalised, validated again and reported.

What pydantic validates is the decoded message where that gives the same answer as the JSON text, and the text where it
does not: a date, a set, a number as a key. Which of the two follows from the model; see `modes`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from inspect import isgeneratorfunction
from typing import Any, Final, TypeAlias, TypeVar, overload

from pydantic import BaseModel, ValidationError
from pydantic.config import ExtraValues
from pydantic_core import ErrorDetails

from accordance.contracts.context import NO_CONTEXT, Context
from accordance.contracts.contract import (
    VERSION_KEY,
    Contract,
    Rewrite,
    Rule,
    Settled,
    Upgrade,
)
from accordance.contracts.expectations import free_parts
from accordance.contracts.fixes import apply_fixes
from accordance.contracts.jsonpath import JsonObject, Path, render
from accordance.contracts.limits import LIMITS, MAX_REPORTED
from accordance.contracts.modes import is_transparent, reads_alike
from accordance.contracts.normalising import Rivals, normalise, rival_answers
from accordance.contracts.places import Place, place_of
from accordance.contracts.reading import (
    free_parts_are_sound,
    is_sound,
    parse_object,
    unsound,
)
from accordance.contracts.registry import ContractLike, Registry
from accordance.contracts.serialising import dump, write
from accordance.contracts.unknown_keys import knows
from accordance.contracts.validating import (
    UNKNOWN_KEY,
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
    excerpt,
)
from accordance.errors import InvalidPath, UnknownProfile, Unparseable, nearest

M = TypeVar("M", bound=BaseModel)
Reader: TypeAlias = Callable[[bytes | str], tuple[JsonObject, tuple[Repair, ...]]]

_MENDED_BY_TABLES: Final = UNKNOWN_KEY | {
    "literal_error",
    "enum",
}  # an unknown key, an unknown word
_PLAIN: Final = (str, int, bool, type(None))  # what neither nests nor overflows
_ROADS_KEPT: Final = 256
_REFORMED: Final = (
    "not_in_enum",
    "wrong_type",
)  # codes whose fix is the same value in another form


class _Unsound(Exception):
    """A number overflowed, or something nests too deep, where the parser did not mind."""


@dataclass(frozen=True, slots=True)
class _Road:
    """A contract with everything looked up that each check needs."""

    contract: Contract[Any]
    label: str
    validate: Callable[..., Any]
    takes_text: bool  # pydantic is given JSON text, not the decoded message
    is_transparent: bool  # with unknown keys refused, nothing else changes
    rewrites: tuple[Rewrite, ...]
    rules: tuple[Rule, ...]
    settled: Settled | None
    is_upgradable: bool  # an older version may come
    free: tuple[Path, ...]  # the places where a message may nest as deep as it likes


class Checker:
    """Checks messages against the contracts of one registry."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._roads: dict[ContractLike | None, _Road] = registry.lookups

    @overload
    def check(
        self,
        raw: bytes | str,
        contract: Contract[M] | type[M],
        context: Context = ...,
        *,
        reader: Reader | None = ...,
    ) -> Accepted[M] | Rejected: ...
    @overload
    def check(
        self,
        raw: bytes | str,
        contract: ContractLike | None = ...,
        context: Context = ...,
        *,
        reader: Reader | None = ...,
    ) -> Accepted[Any] | Rejected: ...

    def check(
        self,
        raw: bytes | str,
        contract: ContractLike | None = None,
        context: Context = NO_CONTEXT,
        *,
        reader: Reader | None = None,
    ) -> Accepted[Any] | Rejected:
        """Check one message, read strictly unless another reader is given. Raises only for a contract nobody knows."""
        road = self._roads.get(contract) if context.profile == "strict" else None
        if road is None:
            road = self._find_road(contract, context)
        repairs: tuple[Repair, ...] = ()
        try:
            if reader is None:
                message = parse_object(raw)  # 1 parse
            else:
                message, repairs = reader(raw)
        except Unparseable as flaw:
            return _unparseable(flaw, road)
        try:
            if road is None or road.is_upgradable:
                return self._conform(message, road, context, repairs)  # 2 identify
            text = _text(raw) if reader is None and road.takes_text else None
            return conform(
                message, road, context, repairs, text
            )  # 3 normalise, 4 validate
        except _Unsound:
            return _unparseable(unsound(raw, LIMITS), road)

    @overload
    def check_value(
        self,
        message: JsonObject,
        contract: Contract[M] | type[M],
        context: Context = ...,
    ) -> Accepted[M] | Rejected: ...
    @overload
    def check_value(
        self,
        message: JsonObject,
        contract: ContractLike | None = ...,
        context: Context = ...,
    ) -> Accepted[Any] | Rejected: ...

    def check_value(
        self,
        message: JsonObject,
        contract: ContractLike | None = None,
        context: Context = NO_CONTEXT,
    ) -> Accepted[Any] | Rejected:
        """Check a message that was parsed already. It is never changed."""
        if not isinstance(message, dict):
            return Rejected(
                (Violation("not_object", "$", "one JSON object", excerpt(message)),), 1
            )
        road = self._find_road(contract, context)
        try:
            return self._conform(message, road, context, ())
        except Unparseable as flaw:
            return _unparseable(flaw, road)
        except _Unsound:
            limit = f"finite numbers and at most {LIMITS.max_depth} levels"
            return Rejected(
                (
                    Violation(
                        "too_deep", "$", limit, "a message that no reader would give"
                    ),
                ),
                1,
            )

    def _find_road(
        self, contract: ContractLike | None, context: Context
    ) -> _Road | None:
        if contract is None:
            return None
        road = _pave(_in_profile(self._registry.find(contract), context))
        if context.profile == "strict":
            if len(self._roads) >= _ROADS_KEPT:  # somebody makes contracts as they go
                self._roads.clear()
            self._roads[contract] = road
        return road

    def _conform(
        self,
        message: JsonObject,
        road: _Road | None,
        context: Context,
        repairs: tuple[Repair, ...],
    ) -> Accepted[Any] | Rejected:
        if road is None:
            named = self._identify(message)
            if isinstance(named, Rejected):
                return named
            road = _pave(_in_profile(named, context))
        if road.is_upgradable and message.get(VERSION_KEY) != road.contract.version:
            return self._conform_older(message, road, context, repairs)
        return conform(message, road, context, repairs)

    def _identify(self, message: JsonObject) -> Contract[Any] | Rejected:
        named = message.get(VERSION_KEY)
        found = self._registry.by_version(named)
        if found is not None:
            return found
        if not is_sound(message, LIMITS.max_depth):
            raise _Unsound
        known = self._registry.versions()
        near = nearest(named, known) if isinstance(named, str) else ()
        code = "version_unknown" if VERSION_KEY in message else "version_missing"
        actual = excerpt(named) if VERSION_KEY in message else "nothing"
        expected = f"one of {', '.join(near or known)}"
        violation = Violation(code, f"$.{VERSION_KEY}", expected, actual)
        return Rejected((violation,), 1, message=message)

    def _conform_older(
        self,
        message: JsonObject,
        road: _Road,
        context: Context,
        repairs: tuple[Repair, ...],
    ) -> Accepted[Any] | Rejected:
        """A message of an older version: check it as what it is, then raise it step by step."""
        for upgrade in road.contract.upgrades:
            if message.get(VERSION_KEY) not in upgrade.source.read_versions:
                continue
            older = self._conform(message, _pave(upgrade.source), context, repairs)
            if isinstance(older, Rejected):
                return older
            return _raised(older, upgrade, road, context)
        return conform(message, road, context, repairs)


def _raised(
    older: Accepted[Any], upgrade: Upgrade, road: _Road, context: Context
) -> Accepted[Any] | Rejected:
    """A message of an older version as one of this version. What was noticed about the older one is kept."""
    before, after = upgrade.source.version, road.contract.version
    try:
        raised = upgrade.function(dump(older.value))
    except Exception as error:  # noqa: BLE001 - the function belongs to the contract, and check never raises for a message
        reason = (
            f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        )
        return _upgrade_failed(
            upgrade, road, f"an upgrade that failed: {excerpt(reason)}"
        )
    if not isinstance(raised, dict):
        return _upgrade_failed(
            upgrade, road, f"an upgrade that returned {excerpt(raised)}"
        )
    repair = Repair("upgrade", "$", before, after)
    result = conform(raised, road, context, (*older.repairs, repair))
    seen = dict.fromkeys((*older.warnings, *result.warnings))
    unseen_total = (
        older.total_warnings
        + result.total_warnings
        - len(older.warnings)
        - len(result.warnings)
    )
    result.warnings = tuple(seen)[:MAX_REPORTED]
    result.total_warnings = unseen_total + len(seen)
    return result


def _upgrade_failed(upgrade: Upgrade, road: _Road, actual: str) -> Rejected:
    """The message is sound; the contract's own step from one version to the next is not."""
    expected = f"a message of {upgrade.source.version} that can be raised to {road.contract.version}"
    return Rejected(
        (Violation("upgrade_failed", "$", expected, actual),), 1, road.label
    )


def conform(
    message: JsonObject,
    road: _Road,
    context: Context,
    repairs: tuple[Repair, ...] = (),
    text: bytes | str | None = None,
    notices: tuple[Notice, ...] = (),
) -> Accepted[Any] | Rejected:
    """Steps 3 and 4: normalise and validate. The text is the message as it came, where it need not be written anew.

    `repairs` and `notices` are those of the steps before.
    """
    subject = _subject(message, road, text) if road.takes_text else message
    try:
        value = road.validate(subject, strict=True, extra="forbid")
        if road.free and not free_parts_are_sound(message, road.free, LIMITS.max_depth):
            raise _Unsound
        if road.settled is not None and road.settled(message, context):
            return Accepted(
                value, repairs, notices[:MAX_REPORTED], road.label, len(notices)
            )
        for rewrite in road.rewrites:
            rewritten, more = rewrite(message, context)
            if more:
                repairs = (*repairs, *_repairs_in(more))
                notices = (*notices, *_notices_in(more))
                return conform(rewritten, road, context, repairs, notices=notices)
        for rule in road.rules:
            found = rule(message, context)
            if found:
                findings = _findings(repairs, notices)
                hear_rule(found, findings)
                others = road.rules[
                    road.rules.index(rule) + 1 :
                ]  # those before it had nothing to say
                return _report(message, value, road, context, findings, others)
    except ValidationError as error:
        return _conform_at_length(
            message, subject, road, context, error, _findings(repairs, notices)
        )
    return Accepted(value, repairs, notices[:MAX_REPORTED], road.label, len(notices))


def _findings(repairs: tuple[Repair, ...], notices: tuple[Notice, ...]) -> ViolationLog:
    """What the steps before have found."""
    findings = ViolationLog(repairs=repairs)
    for notice in notices:
        findings.note(notice)
    return findings


def _repairs_in(found: Sequence[Repair | Notice]) -> list[Repair]:
    return [finding for finding in found if isinstance(finding, Repair)]


def _notices_in(found: Sequence[Repair | Notice]) -> list[Notice]:
    return [finding for finding in found if isinstance(finding, Notice)]


def _text(raw: bytes | str) -> bytes | str:
    """What was read, in a form that pydantic takes: it knows nothing of memory views."""
    return raw if isinstance(raw, str) else bytes(raw)


def _subject(
    message: JsonObject, road: _Road, text: bytes | str | None = None
) -> object:
    """What pydantic is given of a message: the message itself, or its text."""
    if not road.takes_text:
        return message
    if not is_sound(message, LIMITS.max_depth):
        raise _Unsound
    return text if text is not None else write(message)


def _conform_at_length(
    message: JsonObject,
    subject: object,
    road: _Road,
    context: Context,
    error: ValidationError,
    findings: ViolationLog,
) -> Accepted[Any] | Rejected:
    """Normalise; validate what came of it; report everything."""
    faults = _faults(error)
    if not road.takes_text and not _are_sound(faults, message, road.free):
        raise _Unsound
    rivals = rival_answers(message, road.contract.shape)
    if rivals is not None:
        return _two_answers(message, road, findings.repairs, rivals)
    normal, more = message, list[Repair | Notice]()
    if any(fault["type"] in _MENDED_BY_TABLES for fault in faults):
        normal, renamed = normalise(message, road.contract.shape)
        more += renamed
    normal, rules = _rewritten(normal, road, context, more)
    findings.repairs = (*findings.repairs, *_repairs_in(more))
    for notice in _notices_in(more):
        findings.note(notice)
    if normal is not message:
        subject = _subject(normal, road)
        try:
            value = road.validate(subject, strict=True, extra="forbid")
            return _report(normal, value, road, context, findings, rules)
        except ValidationError as found:
            faults = _faults(found)
    value = _judge(normal, subject, road, faults, findings)
    return _report(normal, value, road, context, findings, rules)


def _rewritten(
    message: JsonObject, road: _Road, context: Context, found: list[Repair | Notice]
) -> tuple[JsonObject, tuple[Rule, ...]]:
    """The message after the contract's own rewrites, and the rules that may have something to say about it."""
    if _is_settled(message, road, context):
        return message, ()
    rewritten = message
    for rewrite in (*road.contract.mends, *road.rewrites):
        rewritten, further = rewrite(rewritten, context)
        found += further
    is_settled_now = rewritten is not message and _is_settled(rewritten, road, context)
    return rewritten, () if is_settled_now else road.rules


def _judge(
    message: JsonObject,
    subject: object,
    road: _Road,
    faults: list[ErrorDetails],
    findings: ViolationLog,
) -> BaseModel | None:
    """Report what is wrong with the fields. Where nothing is, the value, as pydantic makes it of its own accord."""
    contract = road.contract
    unknown = [fault for fault in faults if fault["type"] in UNKNOWN_KEY]
    value: BaseModel | None = None
    refused: list[ErrorDetails] = []
    if road.is_transparent and len(unknown) < len(faults):
        open_keys = {
            fault["loc"]
            for fault in unknown
            if not is_refused_key(contract, fault, message)
        }
        refused = [fault for fault in faults if fault["loc"] not in open_keys]
    else:
        try:
            value = road.validate(subject, strict=True)
        except ValidationError as error:
            refused = _faults(error)
    judge_fields(contract, message, refused, findings, has_labels=road.takes_text)
    told = {fault["loc"] for fault in refused} if unknown else set()
    for fault in unknown:
        place = place_of(contract.model, fault, message)
        if (
            fault["loc"] not in told
            and place.path not in told
            and _is_unknown(place, value, road)
        ):
            told.add(place.path)
            judge_unknown_key(contract, fault, place, message, findings)
    return value


def _is_unknown(place: Place, value: BaseModel | None, road: _Road) -> bool:
    """Whether a key that was complained of is unknown to the type that was chosen in the end."""
    if road.is_transparent:
        return True
    return place.is_certain if value is None else not knows(value, place.path)


def _faults(error: ValidationError) -> list[ErrorDetails]:
    return error.errors(include_url=False, include_context=False)


def _two_answers(
    message: JsonObject, road: _Road, repairs: tuple[Repair, ...], rivals: Rivals
) -> Rejected:
    """Which of two answers counts is not for us to say, so nothing else is judged."""
    beside = (
        f"that of {render((rivals.place,))}" if rivals.place else "the one beside it"
    )
    actual = f"a second answer, whose {rivals.key} differs from {beside}"
    violation = Violation(
        "two_answers",
        render((rivals.other,)),
        "one answer in the whole message",
        actual,
    )
    return Rejected((violation,), 1, road.label, repairs, message)


def _report(
    message: JsonObject,
    value: BaseModel | None,
    road: _Road,
    context: Context,
    findings: ViolationLog,
    rules: tuple[Rule, ...],
) -> Accepted[Any] | Rejected:
    """The outcome, once these rules have spoken too: those of the contract that may have something to say."""
    judge_rules(rules, message, context, findings)
    if not findings.total:
        notices = tuple(findings.notices)
        return Accepted(
            value, findings.repairs, notices, road.label, findings.total_notices
        )
    violations = tuple(findings.violations)
    if findings.total == len(violations) and all(
        violation.fix for violation in violations
    ):
        violations = _without_failed_fixes(violations, message, road, context)
    notices = tuple(findings.notices)
    return Rejected(
        violations,
        findings.total,
        road.label,
        findings.repairs,
        message,
        notices,
        findings.total_notices,
    )


def _are_sound(
    faults: list[ErrorDetails], message: JsonObject, free: tuple[Path, ...]
) -> bool:
    """What pydantic could judge is finite and no deeper than its model; what it could not judge is in its complaints."""
    if not free_parts_are_sound(message, free, LIMITS.max_depth):
        return False
    for fault in faults:
        if fault["type"] == "missing":
            continue
        found, levels_left = fault["input"], LIMITS.max_depth + 1 - len(fault["loc"])
        is_plain = type(found) in _PLAIN and levels_left > 0
        if not is_plain and not is_sound((found,), levels_left):
            return False
    return True


def _is_settled(message: JsonObject, road: _Road, context: Context) -> bool:
    """The quick test, for a message that may be wrong in any field. Where the test stumbles, nothing is settled."""
    try:
        return road.settled is not None and road.settled(message, context)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        return False


def _without_failed_fixes(
    violations: tuple[Violation, ...],
    message: JsonObject,
    road: _Road,
    context: Context,
) -> tuple[Violation, ...]:
    """A fix is real because it was tried: where all fixes together do not help, the other forms are withdrawn, or all."""
    try:
        mended = apply_fixes(message, violations)
        road.validate(_subject(mended, road), strict=True)
        if not any(
            isinstance(found, Violation)
            for rule in road.rules
            for found in rule(mended, context)
        ):
            return violations
    except (ValidationError, InvalidPath, Unparseable, _Unsound):
        pass
    has_forms = any(violation.code in _REFORMED for violation in violations)
    return tuple(
        violation._replace(fix=None)
        if violation.code in _REFORMED or not has_forms
        else violation
        for violation in violations
    )


def _at_once(rule: Rule) -> Rule:
    """A rule written as a generator gives its findings as a list, so that finding nothing is false."""
    if not isgeneratorfunction(rule):
        return rule

    @wraps(rule)
    def findings(message: JsonObject, context: Context) -> list[Violation | Notice]:
        return list(rule(message, context))

    return findings


def _pave(contract: Contract[Any]) -> _Road:
    takes_text, transparent = (
        not reads_alike(contract.model),
        is_transparent(contract.model),
    )
    return _Road(
        contract,
        contract.scope or contract.version,
        _validator(contract.model, takes_text=takes_text, transparent=transparent),
        takes_text,
        transparent,
        contract.rewrites,
        tuple(map(_at_once, contract.rules)),
        contract.settled,
        bool(contract.upgrades),
        () if takes_text else free_parts(contract.model),
    )


def _validator(
    model: type[BaseModel], *, takes_text: bool, transparent: bool
) -> Callable[..., Any]:
    """The call that validates. Where refusing unknown keys could change the value, it is made without that."""
    pydantic = model.__pydantic_validator__
    validate = pydantic.validate_json if takes_text else pydantic.validate_python
    if transparent:
        return validate

    def validate_twice(
        subject: Any, *, strict: bool, extra: ExtraValues | None = None
    ) -> Any:
        if extra is not None:
            validate(subject, strict=strict, extra=extra)
        return validate(subject, strict=strict)

    return validate_twice


def _in_profile(contract: Contract[Any], context: Context) -> Contract[Any]:
    if context.profile == "strict":
        return contract
    try:
        return contract.profiles[context.profile]
    except KeyError:
        raise UnknownProfile(context.profile, ("strict", *contract.profiles)) from None


def _unparseable(flaw: Unparseable, road: _Road | None) -> Rejected:
    violation = Violation(
        flaw.code, flaw.path, flaw.expected, flaw.actual, None, flaw.offset
    )
    return Rejected((violation,), 1, road.label if road else "")

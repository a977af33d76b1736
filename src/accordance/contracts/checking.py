"""The way of a message through its contract: parse, identify, normalise, validate.

Bad input never raises; it is rejected with a report.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias, TypeVar, overload

from pydantic import BaseModel

from accordance.contracts.conforming import UnsoundMessage, conform
from accordance.contracts.context import NO_CONTEXT, Context
from accordance.contracts.contract import VERSION_KEY, Contract, Upgrade
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.limits import LIMITS, MAX_REPORTED
from accordance.contracts.prepared import PreparedContract, prepare
from accordance.contracts.reading import is_sound, parse_object, unsound
from accordance.contracts.registry import ContractLike, Registry
from accordance.contracts.serialising import dump
from accordance.contracts.violation import (
    Accepted,
    Rejected,
    Repair,
    Violation,
    excerpt,
)
from accordance.errors import UnknownProfile, Unparseable, nearest

M = TypeVar("M", bound=BaseModel)
Reader: TypeAlias = Callable[[bytes | str], tuple[JsonObject, tuple[Repair, ...]]]

_PREPARED_KEPT: Final = 256


class Checker:
    """Checks messages against the contracts of a registry."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._prepared: dict[ContractLike | None, PreparedContract] = registry.lookups

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
        """Check a message, read strictly unless another reader is given.

        Raises only for an unknown contract or profile.
        """
        is_strict = context.profile == "strict"
        prepared = self._prepared.get(contract) if is_strict else None
        if prepared is None:
            prepared = self._prepare(contract, context)

        repairs: tuple[Repair, ...] = ()
        try:  # step 1: parse
            if reader is None:
                message = parse_object(raw)
            else:
                message, repairs = reader(raw)
        except Unparseable as flaw:
            return _unparseable(flaw, prepared)

        try:
            if prepared is None or prepared.is_upgradable:  # step 2: identify
                return self._conform(message, prepared, context, repairs)
            text: bytes | str | None = None
            if prepared.takes_text and reader is None:
                text = _text(raw)
            return conform(message, prepared, context, repairs, text)  # steps 3 and 4
        except UnsoundMessage:
            return _unparseable(unsound(raw, LIMITS), prepared)

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
        """Check a message that is already parsed. It is never changed."""
        if not isinstance(message, dict):
            violation = Violation(
                code="not_object",
                path="$",
                expected="one JSON object",
                actual=excerpt(message),
            )
            return Rejected((violation,), 1)

        prepared = self._prepare(contract, context)
        try:
            return self._conform(message, prepared, context, ())
        except Unparseable as flaw:
            return _unparseable(flaw, prepared)
        except UnsoundMessage:
            limit = f"finite numbers and at most {LIMITS.max_depth} levels"
            actual = "a message that no reader would give"
            return Rejected(
                (
                    Violation(
                        code="too_deep",
                        path="$",
                        expected=limit,
                        actual=actual,
                    ),
                ),
                1,
            )

    def _prepare(
        self,
        contract: ContractLike | None,
        context: Context,
    ) -> PreparedContract | None:
        """The contract that was asked for, in the profile of the context.

        Kept for the next message. The cache is emptied when it is full, which happens
        to programs that make contracts as they go.
        """
        if contract is None:
            return None
        prepared = prepare(_in_profile(self._registry.find(contract), context))
        if context.profile == "strict":
            if len(self._prepared) >= _PREPARED_KEPT:
                self._prepared.clear()
            self._prepared[contract] = prepared
        return prepared

    def _conform(
        self,
        message: JsonObject,
        prepared: PreparedContract | None,
        context: Context,
        repairs: tuple[Repair, ...],
    ) -> Accepted[Any] | Rejected:
        """Check a message whose contract or version is still to be identified."""
        if prepared is None:
            identified = self._identify(message)
            if isinstance(identified, Rejected):
                return identified
            prepared = prepare(_in_profile(identified, context))

        is_older = message.get(VERSION_KEY) != prepared.contract.version
        if prepared.is_upgradable and is_older:
            return self._conform_older(message, prepared, context, repairs)
        return conform(message, prepared, context, repairs)

    def _identify(self, message: JsonObject) -> Contract[Any] | Rejected:
        """The contract that a message names as its schema_version."""
        version = message.get(VERSION_KEY)
        contract = self._registry.by_version(version)
        if contract is not None:
            return contract
        if not is_sound(message, LIMITS.max_depth):
            raise UnsoundMessage

        known = self._registry.versions()
        near = nearest(version, known) if isinstance(version, str) else ()
        expected = f"one of {', '.join(near or known)}"
        where = f"$.{VERSION_KEY}"
        if VERSION_KEY in message:
            violation = Violation(
                code="version_unknown",
                path=where,
                expected=expected,
                actual=excerpt(version),
            )
        else:
            violation = Violation(
                code="version_missing",
                path=where,
                expected=expected,
                actual="nothing",
            )
        return Rejected((violation,), 1, message=message)

    def _conform_older(
        self,
        message: JsonObject,
        prepared: PreparedContract,
        context: Context,
        repairs: tuple[Repair, ...],
    ) -> Accepted[Any] | Rejected:
        """Check a message against its own older version, then upgrade it."""
        version = message.get(VERSION_KEY)
        for upgrade in prepared.contract.upgrades:
            if version not in upgrade.source.read_versions:
                continue
            source = prepare(upgrade.source)
            older = self._conform(message, source, context, repairs)
            if isinstance(older, Rejected):
                return older
            return _upgraded(older, upgrade, prepared, context)
        return conform(message, prepared, context, repairs)


def _upgraded(
    older: Accepted[Any],
    upgrade: Upgrade,
    prepared: PreparedContract,
    context: Context,
) -> Accepted[Any] | Rejected:
    """A message of an older version, upgraded, with its former warnings."""
    try:
        upgraded = upgrade.function(dump(older.value))
    except Exception as error:  # noqa: BLE001 - the function is the contract's own, and check never raises for a message
        reason = type(error).__name__
        if str(error):
            reason = f"{reason}: {error}"
        actual = f"an upgrade that failed: {excerpt(reason)}"
        return _upgrade_failed(upgrade, prepared, actual)
    if not isinstance(upgraded, dict):
        actual = f"an upgrade that returned {excerpt(upgraded)}"
        return _upgrade_failed(upgrade, prepared, actual)

    version = prepared.contract.version
    repair = Repair(
        rule="upgrade",
        path="$",
        before=upgrade.source.version,
        after=version,
    )
    result = conform(upgraded, prepared, context, (*older.repairs, repair))
    _add_warnings(result, older)
    return result


def _add_warnings(result: Accepted[Any] | Rejected, older: Accepted[Any]) -> None:
    """Put the warnings of the older message before those of the upgraded message."""
    listed = tuple(dict.fromkeys((*older.warnings, *result.warnings)))
    unlisted_before = older.total_warnings - len(older.warnings)
    unlisted_after = result.total_warnings - len(result.warnings)
    result.warnings = listed[:MAX_REPORTED]
    result.total_warnings = unlisted_before + unlisted_after + len(listed)


def _upgrade_failed(
    upgrade: Upgrade,
    prepared: PreparedContract,
    actual: str,
) -> Rejected:
    """The report on a sound message that the contract's own upgrade cannot handle."""
    before = upgrade.source.version
    after = prepared.contract.version
    expected = f"a message of {before} that can be raised to {after}"
    violation = Violation(
        code="upgrade_failed",
        path="$",
        expected=expected,
        actual=actual,
    )
    return Rejected((violation,), 1, prepared.label)


def _text(raw: bytes | str) -> bytes | str:
    """The raw message in a form that pydantic takes, which knows no memory views."""
    if isinstance(raw, str):
        return raw
    return bytes(raw)


def _in_profile(contract: Contract[Any], context: Context) -> Contract[Any]:
    if context.profile == "strict":
        return contract
    try:
        return contract.profiles[context.profile]
    except KeyError:
        raise UnknownProfile(context.profile, ("strict", *contract.profiles)) from None


def _unparseable(flaw: Unparseable, prepared: PreparedContract | None) -> Rejected:
    violation = Violation(
        code=flaw.code,
        path=flaw.path,
        expected=flaw.expected,
        actual=flaw.actual,
        fix=None,
        offset=flaw.offset,
    )
    return Rejected((violation,), 1, prepared.label if prepared else "")

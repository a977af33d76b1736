"""The path of a message through its contract: parse, identify, normalise, validate. Never an exception for bad input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar, overload

from pydantic import BaseModel, ValidationError

from accordance.contracts.context import NO_CONTEXT, Context
from accordance.contracts.contract import VERSION_KEY, Contract, contract_of
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.normalising import normalise
from accordance.contracts.reading import read
from accordance.contracts.registry import Registry
from accordance.contracts.validating import Findings, judge_fields, judge_rules, validate_closed, validate_open
from accordance.contracts.violation import Accepted, Rejected, Repair, Violation, excerpt
from accordance.errors import UnknownProfile, Unparseable, nearest

M = TypeVar("M", bound=BaseModel)
Reader: TypeAlias = Callable[[bytes | str], JsonObject | tuple[JsonObject, tuple[Repair, ...]]]
ContractLike: TypeAlias = "str | Contract[Any] | type[BaseModel] | None"


class Checker:
    """Checks messages against the contracts of one registry."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    @overload
    def check(
        self, raw: bytes | str, contract: Contract[M] | type[M], context: Context = ..., *, reader: Reader = ...
    ) -> Accepted[M] | Rejected: ...
    @overload
    def check(
        self, raw: bytes | str, contract: str | None = ..., context: Context = ..., *, reader: Reader = ...
    ) -> Accepted[Any] | Rejected: ...

    def check(
        self,
        raw: bytes | str,
        contract: ContractLike = None,
        context: Context = NO_CONTEXT,
        *,
        reader: Reader = read,
    ) -> Accepted[Any] | Rejected:
        """Check one message. Raises only for a contract name nobody registered."""
        resolved = self._resolve(contract, context)
        try:
            found = reader(raw)  # 1 parse
        except Unparseable as flaw:
            return _unparseable(flaw, resolved)
        message, repairs = found if isinstance(found, tuple) else (found, ())
        return self._check_message(message, resolved, context, repairs)

    def check_value(
        self, message: JsonObject, contract: ContractLike = None, context: Context = NO_CONTEXT
    ) -> Accepted[Any] | Rejected:
        """Check a message that was parsed already. It is never changed."""
        return self._check_message(message, self._resolve(contract, context), context, ())

    def _check_message(
        self,
        message: JsonObject,
        contract: Contract[Any] | None,
        context: Context,
        repairs: tuple[Repair, ...],
    ) -> Accepted[Any] | Rejected:
        if contract is None:
            named = self._identify(message)  # 2 identify
            if isinstance(named, Rejected):
                return named
            contract = _in_profile(named, context)
        if contract.upgrades and message.get(VERSION_KEY) != contract.version:
            return self._check_older(message, contract, context, repairs)
        return conform(message, contract, context, repairs)

    def _resolve(self, contract: ContractLike, context: Context) -> Contract[Any] | None:
        if contract is None:
            return None
        if isinstance(contract, str):
            contract = self._registry.get(contract)
        elif not isinstance(contract, Contract):
            contract = contract_of(contract)
        return contract if context.profile == "strict" else _in_profile(contract, context)

    def _identify(self, message: JsonObject) -> Contract[Any] | Rejected:
        named = message.get(VERSION_KEY)
        found = self._registry.by_version(named)
        if found is not None:
            return found
        known = self._registry.versions()
        near = nearest(named, known) if isinstance(named, str) else ()
        code = "version_unknown" if VERSION_KEY in message else "version_missing"
        actual = excerpt(named) if VERSION_KEY in message else "nothing"
        expected = f"one of {', '.join(near or known)}"
        return Rejected((Violation(code, f"$.{VERSION_KEY}", expected, actual),), 1)

    def _check_older(
        self, message: JsonObject, contract: Contract[Any], context: Context, repairs: tuple[Repair, ...]
    ) -> Accepted[Any] | Rejected:
        """A message of an older version: check it as what it is, then raise it step by step."""
        version = message.get(VERSION_KEY)
        for upgrade in contract.upgrades:
            if upgrade.source.version != version and not upgrade.source.upgrades:
                continue
            older = self._check_message(message, upgrade.source, context, repairs)
            if isinstance(older, Rejected):
                return older
            raised = upgrade.function(older.value.model_dump(mode="json"))
            repair = Repair("upgrade", "$", upgrade.source.version, contract.version)
            return conform(raised, contract, context, (*older.repairs, repair))
        return conform(message, contract, context, repairs)


def conform(
    message: JsonObject, contract: Contract[Any], context: Context, repairs: tuple[Repair, ...] = ()
) -> Accepted[Any] | Rejected:
    """Steps 3 and 4. A message that is canonical already needs no normalising, so that is tried first."""
    findings = Findings()
    canonical = message
    try:
        value = validate_closed(contract.model, message)
        canonical, more = _rewrite(message, contract, context)
        if more:
            value = validate_closed(contract.model, canonical)
    except ValidationError as error:
        canonical, more = _normalise(message, contract, context)
        value = _revalidate(canonical, contract, error if canonical is message else None, findings)
    judge_rules(contract, canonical, context, findings)
    if more:
        repairs = (*repairs, *more)
    name = contract.scope or contract.version
    if findings.total:
        return Rejected(tuple(findings.violations), findings.total, name, repairs)
    return Accepted(value, repairs, tuple(findings.notices), name)


def _normalise(
    message: JsonObject, contract: Contract[Any], context: Context
) -> tuple[JsonObject, list[Repair]]:
    renamed, repairs = normalise(message, contract.shape)
    rewritten, more = _rewrite(renamed, contract, context)
    return rewritten, repairs + more


def _rewrite(message: JsonObject, contract: Contract[Any], context: Context) -> tuple[JsonObject, list[Repair]]:
    repairs: list[Repair] = []
    for rewrite in contract.rewrites:
        message, more = rewrite(message, context)
        repairs += more
    return message, repairs


def _revalidate(
    message: JsonObject, contract: Contract[Any], known: ValidationError | None, findings: Findings
) -> BaseModel | None:
    """Validate after normalising; an error that is known still holds, because nothing was changed."""
    error = known
    if error is None:
        try:
            return validate_closed(contract.model, message)
        except ValidationError as found:
            error = found
    judge_fields(contract, error, findings)
    return None if findings.total else validate_open(contract.model, message)


def _in_profile(contract: Contract[Any], context: Context) -> Contract[Any]:
    if context.profile == "strict":
        return contract
    try:
        return contract.profiles[context.profile]
    except KeyError:
        raise UnknownProfile(context.profile, ("strict", *contract.profiles)) from None


def _unparseable(flaw: Unparseable, contract: Contract[Any] | None) -> Rejected:
    violation = Violation(flaw.code, flaw.path, flaw.expected, flaw.actual, None, flaw.offset)
    return Rejected((violation,), 1, (contract.scope or contract.version) if contract else "")

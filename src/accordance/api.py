"""The library face: one registry with everything built in and installed, and the calls on it."""

from __future__ import annotations

from typing import Final

from accordance.contracts import stream
from accordance.contracts.catalogue import CATALOGUE
from accordance.contracts.checking import Checker
from accordance.contracts.codes import explain
from accordance.contracts.context import NO_CONTEXT, Context
from accordance.contracts.describing import summary
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.limits import LIMITS, Limits
from accordance.contracts.registry import ContractLike, Registry
from accordance.contracts.schemas import Export, export_schema
from accordance.plugins import installed_contracts

__all__ = [
    "StreamGuard",
    "check",
    "check_value",
    "contract",
    "contract_summary",
    "explain",
    "registry",
    "schema",
]

registry: Final = Registry(CATALOGUE, discover=installed_contracts)
"""The default registry: the catalogue, what installed packages bring, and every model with `@contract` on it."""

contract = registry.contract
_checker: Final = Checker(registry)
check = _checker.check
check_value = _checker.check_value


def contract_summary() -> JsonObject:
    """What machines need to know of every contract, by scope: its version, its required keys, its enumerations."""
    return summary(registry)


class StreamGuard(stream.MessageGuard):
    """Feed it the chunks of one message. It answers with the violation that dooms it, or None while there is hope.

    It knows what can be known early: text around the object, a second object, a wrong schema_version or task_id,
    a key twice, text that is not JSON, limits. A stream it lets pass still has to be checked as a whole.
    """

    def __init__(
        self,
        contract: ContractLike | None = None,
        context: Context = NO_CONTEXT,
        limits: Limits = LIMITS,
    ) -> None:
        super().__init__(
            None if contract is None else registry.find(contract), context, limits
        )


def schema(contract: ContractLike, dialect: str = "json-schema") -> Export:
    """The schema of a contract, in a dialect: json-schema, openai, anthropic, gemini or llguidance."""
    return export_schema(registry.find(contract), dialect)

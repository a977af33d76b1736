"""The library's calls, on a registry of all built-in and installed contracts."""

from __future__ import annotations

from typing import Final

from accordance.contracts import stream
from accordance.contracts.catalogue.builtin import CATALOGUE
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
"""The default registry.

It has the catalogue, the contracts of installed packages, and every model with
`@contract` on it.
"""

contract = registry.contract
_checker: Final = Checker(registry)
check = _checker.check
check_value = _checker.check_value


def contract_summary() -> JsonObject:
    """Return every contract by scope: its version, required keys and enumerations."""
    return summary(registry)


class StreamGuard(stream.MessageGuard):
    """Checks a message while it arrives in chunks.

    `feed` returns the first violation that cannot be undone, or None. It sees what can
    be seen early: text around the object, a second object, a wrong schema_version or
    task_id, a repeated key, text that is not JSON, limits. The whole message still has
    to be checked when it is complete.
    """

    def __init__(
        self,
        contract: ContractLike | None = None,
        context: Context = NO_CONTEXT,
        limits: Limits = LIMITS,
    ) -> None:
        wanted = None if contract is None else registry.find(contract)
        super().__init__(wanted, context, limits)


def schema(contract: ContractLike, dialect: str = "json-schema") -> Export:
    """Return the schema of a contract in a dialect.

    Dialects: json-schema, openai, anthropic, gemini and llguidance.
    """
    return export_schema(registry.find(contract), dialect)

"""The library's calls, on a registry of all built-in and installed contracts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from accordance.contracts.catalogue.builtin import CATALOGUE
from accordance.contracts.checking import Checker
from accordance.contracts.codes import explain
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.registry import ContractLike, Registry
from accordance.plugins import installed_contracts

if TYPE_CHECKING:
    from accordance.contracts.schemas import Export

__all__ = [
    "check",
    "check_value",
    "contract",
    "contract_summary",
    "explain",
    "registry",
    "schema",
]

registry: Final = Registry(deferred=CATALOGUE, discover=installed_contracts)
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
    from accordance.contracts.describing import summary

    return summary(registry)


def schema(contract: ContractLike, dialect: str = "json-schema") -> Export:
    """Return the schema of a contract in a dialect.

    Dialects: json-schema, openai, anthropic, gemini and llguidance.
    """
    from accordance.contracts.schemas import export_schema

    return export_schema(registry.find(contract), dialect)

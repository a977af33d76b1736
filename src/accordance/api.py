"""The library face: one registry with everything built in and installed, and the calls on it."""

from __future__ import annotations

from accordance.contracts.catalogue import CATALOGUE
from accordance.contracts.checking import Checker
from accordance.contracts.codes import explain
from accordance.contracts.describing import summary
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.registry import Registry
from accordance.contracts.schemas import Export, export_schema
from accordance.plugins import installed_contracts

__all__ = ["check", "check_value", "contract_summary", "explain", "registry", "schema"]

registry = Registry(CATALOGUE, discover=installed_contracts)
"""The default registry: the catalogue, and what installed packages bring."""

_checker = Checker(registry)
check = _checker.check
check_value = _checker.check_value


def contract_summary() -> JsonObject:
    """What machines need to know of every contract, by scope: its version, its required keys, its enumerations."""
    return summary(registry)


def schema(name: str, dialect: str = "json-schema") -> Export:
    """The schema of a registered contract, in a dialect: json-schema, openai, anthropic, gemini or llguidance."""
    return export_schema(registry.get(name), dialect)

"""The library face: one registry with everything built in and installed, and the calls on it."""

from __future__ import annotations

from accordance.contracts.catalogue import CATALOGUE
from accordance.contracts.checking import Checker
from accordance.contracts.codes import explain
from accordance.contracts.registry import Registry
from accordance.contracts.schemas import Export, export_schema
from accordance.plugins import installed_contracts

__all__ = ["check", "check_value", "explain", "registry", "schema"]

registry = Registry(CATALOGUE, discover=installed_contracts)
"""The default registry: the catalogue, and what installed packages bring."""

_checker = Checker(registry)
check = _checker.check
check_value = _checker.check_value


def schema(name: str, dialect: str = "json-schema") -> Export:
    """The schema of a registered contract, in a dialect: json-schema, openai, anthropic, gemini or llguidance."""
    return export_schema(registry.get(name), dialect)

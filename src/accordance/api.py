"""The library face: one registry with everything built in and installed, and the calls on it."""

from __future__ import annotations

from accordance.contracts.catalogue import CATALOGUE
from accordance.contracts.checking import Checker
from accordance.contracts.registry import Registry
from accordance.plugins import installed_contracts

registry = Registry(CATALOGUE, discover=installed_contracts)
"""The default registry: the catalogue, and what installed packages bring."""

_checker = Checker(registry)
check = _checker.check
check_value = _checker.check_value

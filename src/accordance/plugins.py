"""Contracts of other installed packages, found through the entry point group `accordance.contracts`.

An entry point names a `Contract`, a model with `@contract` on it, or a list of these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib.metadata import entry_points
from typing import Any, Final

from pydantic import BaseModel

from accordance.contracts.contract import Contract, contract_of
from accordance.errors import InvalidContract

GROUP: Final = "accordance.contracts"


def installed_contracts() -> Iterator[Contract[Any]]:
    """Everything other packages offer. Raises InvalidContract, naming the package, for what is no contract."""
    for entry in entry_points(group=GROUP):
        offered = entry.load()
        items = (
            offered
            if isinstance(offered, Iterable) and not isinstance(offered, type)
            else (offered,)
        )
        for item in items:
            if isinstance(item, Contract):
                yield item
            elif isinstance(item, type) and issubclass(item, BaseModel):
                yield contract_of(item)
            else:
                raise InvalidContract(
                    f"entry point {entry.name} = {entry.value} is neither a Contract nor a model"
                )

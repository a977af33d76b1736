"""Contracts of other installed packages, from the entry points `accordance.contracts`.

An entry point names a `Contract`, a model with `@contract` on it, or a list of these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib.metadata import entry_points
from typing import Any, Final, cast

from pydantic import BaseModel

from accordance.contracts.contract import Contract, contract_of
from accordance.errors import InvalidContract

GROUP: Final = "accordance.contracts"


def installed_contracts() -> Iterator[Contract[Any]]:
    """Yield the contracts that other packages offer.

    Raises InvalidContract, naming the entry point, for anything that is not a contract.
    """
    for entry in entry_points(group=GROUP):
        for item in _items_of(entry.load()):
            if isinstance(item, Contract):
                yield item
            elif isinstance(item, type) and issubclass(item, BaseModel):
                yield contract_of(item)
            else:
                raise InvalidContract(
                    f"entry point {entry.name} = {entry.value} "
                    "is neither a Contract nor a model"
                )


def _items_of(offer: object) -> Iterable[object]:
    is_list = isinstance(offer, Iterable) and not isinstance(offer, type)
    return cast("Iterable[object]", offer) if is_list else (offer,)

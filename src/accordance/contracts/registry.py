"""Step 2: from a name or a message to its contract. A registry refuses: duplicates, unknown names, broken definitions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

from pydantic import BaseModel

from accordance.contracts.contract import Contract, contract_of
from accordance.errors import ContractAlreadyRegistered, UnknownContract

AnyContract: TypeAlias = Contract[Any]


class Registry:
    """Contracts by version, short name, scope and scope alias. An instance, so that nothing is shared by accident."""

    def __init__(
        self,
        contracts: Iterable[AnyContract] = (),
        discover: Callable[[], Iterable[AnyContract]] | None = None,
    ) -> None:
        self._by_name: dict[str, AnyContract] = {}
        self._by_version: dict[str, AnyContract] = {}
        self._discover = discover
        for contract in contracts:
            self.register(contract)

    def register(self, contract: AnyContract | type[BaseModel]) -> AnyContract:
        """Add a contract. Everything is checked before anything is written: a refused one leaves no trace."""
        found = contract if isinstance(contract, Contract) else contract_of(contract)
        entries = {name: found for name in (found.version, found.name) if name}
        for scope in found.scopes:
            narrowed = found.in_scope(scope)
            entries |= dict.fromkeys((scope.name, *scope.aliases), narrowed)
        for name in found.names:
            if name in self._by_name:
                raise ContractAlreadyRegistered(name)
        self._by_name |= entries
        self._by_version[found.version] = found
        return found

    def get(self, name: str) -> AnyContract:
        """The contract of that version, short name or scope. Raises UnknownContract."""
        found = self._by_name.get(name)
        if found is None:
            self._load_discovered()
            found = self._by_name.get(name)
        if found is None:
            raise UnknownContract(name, self._by_name)
        return found

    def by_version(self, version: object) -> AnyContract | None:
        """The contract a message names as its schema_version, or None."""
        if not isinstance(version, str):
            return None
        if version not in self._by_version:
            self._load_discovered()
        return self._by_version.get(version)

    def versions(self) -> tuple[str, ...]:
        """All versions, sorted."""
        return tuple(sorted(contract.version for contract in self))

    def __iter__(self) -> Iterator[AnyContract]:
        self._load_discovered()
        return iter(self._by_version.values())

    def __contains__(self, name: object) -> bool:
        self._load_discovered()
        return name in self._by_name

    def _load_discovered(self) -> None:
        """Ask for contracts of installed packages, once, and only when somebody needs to know."""
        if self._discover is not None:
            discover, self._discover = self._discover, None
            for contract in discover():
                self.register(contract)

"""Step 2: from a name or a message to its contract.

A registry refuses duplicates, unknown names and broken definitions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias, TypeVar

from pydantic import BaseModel

from accordance.contracts.contract import Contract, contract_of, declare
from accordance.errors import ContractAlreadyRegistered, UnknownContract

M = TypeVar("M", bound=BaseModel)
AnyContract: TypeAlias = Contract[Any]
ContractLike: TypeAlias = "str | Contract[Any] | type[BaseModel]"
"""A contract as every call takes it: by name, as itself, or by its model.

A name is a version, a short name or a scope.
"""


class Registry:
    """Contracts by version, short name, scope and scope alias.

    It is an instance, so that nothing is shared by accident. `lookups` is what checkers
    keep by contract; it is emptied when a contract is replaced.
    """

    def __init__(
        self,
        contracts: Iterable[AnyContract] = (),
        discover: Callable[[], Iterable[AnyContract]] | None = None,
    ) -> None:
        self._by_name: dict[str, AnyContract] = {}
        self._by_version: dict[str, AnyContract] = {}
        self._discover = discover
        self.lookups: dict[Any, Any] = {}
        for contract in contracts:
            self.register(contract)

    def register(self, contract: AnyContract | type[BaseModel]) -> AnyContract:
        """Add a contract.

        Everything is checked before anything is written, so a refused contract leaves
        no trace. Registering the same contract again changes nothing. A model that is
        defined again, by a reloaded module or a notebook cell, replaces its former
        self.
        """
        new = contract if isinstance(contract, Contract) else contract_of(contract)
        former = self._by_version.get(new.version)
        if former is new:
            return new

        self._refuse_taken_names(new, former)
        if former is not None:
            self._forget(former)
        self._add(new)
        return new

    def _refuse_taken_names(self, new: AnyContract, former: AnyContract | None) -> None:
        if former is not None and not _is_former_self(former, new):
            raise ContractAlreadyRegistered(new.version, former.model.__qualname__)
        for name in new.names:
            holder = self._by_name.get(name)
            if holder is not None and holder.version != new.version:
                raise ContractAlreadyRegistered(name, holder.version)

    def _add(self, new: AnyContract) -> None:
        self._by_name[new.version] = new
        if new.name:
            self._by_name[new.name] = new
        for scope in new.scopes:
            narrowed = new.in_scope(scope)
            for name in (scope.name, *scope.aliases):
                self._by_name[name] = narrowed
        self._by_version[new.version] = new

    def contract(self, version: str, **options: Any) -> Callable[[type[M]], type[M]]:
        """Turn a pydantic model into a contract: `@contract("my_review_v1")`.

        Its version, its short name and the model itself then stand for the contract in
        every call that takes a name.
        """

        def declare_and_register(model: type[M]) -> type[M]:
            declare(self.register(Contract(version=version, model=model, **options)))
            return model

        return declare_and_register

    def find(self, contract: ContractLike) -> AnyContract:
        """The contract of a name or a model, or itself. Raises UnknownContract."""
        if isinstance(contract, str):
            return self.get(contract)
        if isinstance(contract, Contract):
            return contract
        return contract_of(contract)

    def get(self, name: str) -> AnyContract:
        """The contract of a version, short name or scope. Raises UnknownContract."""
        contract = self._by_name.get(name)
        if contract is None:
            self._load_discovered()
            contract = self._by_name.get(name)
        if contract is None:
            raise UnknownContract(name, self._by_name)
        return contract

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
        """Load the contracts of installed packages, once, and only when needed."""
        discover = self._discover
        if discover is None:
            return
        self._discover = None
        for contract in discover():
            self.register(contract)

    def _forget(self, former: AnyContract) -> None:
        for name in former.names:
            del self._by_name[name]
        self.lookups.clear()


def _is_former_self(former: AnyContract, new: AnyContract) -> bool:
    """Whether both models are the same class of the same module, defined twice."""
    before = former.model
    after = new.model
    if before is after:
        return False
    is_same_module = before.__module__ == after.__module__
    return is_same_module and before.__qualname__ == after.__qualname__

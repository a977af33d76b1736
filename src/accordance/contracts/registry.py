"""Step 2: from a name or a message to its contract.

A registry refuses duplicates, unknown names and broken definitions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias, TypeVar

from pydantic import BaseModel

from accordance.contracts.contract import Contract, contract_of, declare
from accordance.errors import ContractAlreadyRegistered, UnknownContract

M = TypeVar("M", bound=BaseModel)
AnyContract: TypeAlias = Contract[Any]
ContractLike: TypeAlias = "str | Contract[Any] | type[BaseModel]"
"""A contract as every call takes it: by name, as itself, or by its model.

A name is a version, a short name or a scope.
"""


class Deferred(NamedTuple):
    """A contract that is imported when it is needed for the first time.

    A command that checks a single message should not wait for the models of all others.
    """

    names: tuple[str, ...]
    """Everything it answers to, its version first."""
    load: Callable[[], AnyContract]

    @property
    def version(self) -> str:
        return self.names[0]


class Registry:
    """Contracts by version, short name, scope and scope alias.

    It is an instance, so that nothing is shared by accident. `lookups` is what checkers
    keep by contract; it is emptied when a contract is replaced.
    """

    def __init__(
        self,
        contracts: Iterable[AnyContract] = (),
        discover: Callable[[], Iterable[AnyContract]] | None = None,
        deferred: Iterable[Deferred] = (),
    ) -> None:
        self._by_name: dict[str, AnyContract] = {}
        self._by_version: dict[str, AnyContract] = {}
        self._deferred = tuple(deferred)
        self._deferred_by_name = {
            name: contract for contract in self._deferred for name in contract.names
        }
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
        for name in new.names:
            self._load_deferred(name)
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
            self._load_named(name)
            contract = self._by_name.get(name)
        if contract is None:
            raise UnknownContract(name, {*self._by_name, *self._deferred_by_name})
        return contract

    def by_version(self, version: object) -> AnyContract | None:
        """The contract a message names as its schema_version, or None."""
        if not isinstance(version, str):
            return None
        if version not in self._by_version:
            self._load_named(version)
        return self._by_version.get(version)

    def versions(self) -> tuple[str, ...]:
        """All versions, sorted."""
        self._load_discovered()
        deferred = [contract.version for contract in self._deferred]
        return tuple(sorted({*self._by_version, *deferred}))

    def __iter__(self) -> Iterator[AnyContract]:
        """Yield every contract, the deferred ones first, each in its place."""
        for contract in self._deferred:
            self._load_deferred(contract.version)
        self._load_discovered()

        deferred = [contract.version for contract in self._deferred]
        versions = dict.fromkeys([*deferred, *self._by_version])
        return iter([self._by_version[version] for version in versions])

    def __contains__(self, name: object) -> bool:
        self._load_discovered()
        return name in self._by_name or name in self._deferred_by_name

    def _load_named(self, name: str) -> None:
        """Load the deferred contract of a name; if there is none, ask the packages."""
        if name in self._deferred_by_name:
            self._load_deferred(name)
        else:
            self._load_discovered()

    def _load_deferred(self, name: str) -> None:
        """Load the deferred contract of a name, if there is one that is still to load."""
        deferred = self._deferred_by_name.get(name)
        if deferred is not None and deferred.version not in self._by_version:
            self._add(deferred.load())

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

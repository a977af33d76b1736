"""Step 2: from a name or a message to its contract. A registry refuses: duplicates, unknown names, broken definitions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias, TypeVar

from pydantic import BaseModel

from accordance.contracts.contract import Contract, contract_of, declare
from accordance.errors import ContractAlreadyRegistered, UnknownContract

M = TypeVar("M", bound=BaseModel)
AnyContract: TypeAlias = Contract[Any]
ContractLike: TypeAlias = "str | Contract[Any] | type[BaseModel]"
"""What every call takes for a contract: its version, short name or scope; the contract itself; its model."""


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
        self.lookups: dict[
            Any, Any
        ] = {}  # what checkers keep by contract; emptied when one is replaced
        for contract in contracts:
            self.register(contract)

    def register(self, contract: AnyContract | type[BaseModel]) -> AnyContract:
        """Add a contract. Everything is checked before anything is written: a refused one leaves no trace.

        The same contract again changes nothing. A model that was defined again, by a module that was reloaded or a
        notebook's cell that was run once more, takes the place of its former self.
        """
        new = contract if isinstance(contract, Contract) else contract_of(contract)
        former = self._by_version.get(new.version)
        if former is new:
            return new
        if former is not None and not _is_former_self(former, new):
            raise ContractAlreadyRegistered(new.version, former.model.__qualname__)
        for name in new.names:
            holder = self._by_name.get(name)
            if holder is not None and holder.version != new.version:
                raise ContractAlreadyRegistered(name, holder.version)
        if former is not None:
            self._forget(former)
        self._by_name |= dict.fromkeys(
            (name for name in (new.version, new.name) if name), new
        )
        for scope in new.scopes:
            self._by_name |= dict.fromkeys(
                (scope.name, *scope.aliases), new.in_scope(scope)
            )
        self._by_version[new.version] = new
        return new

    def contract(self, version: str, **options: Any) -> Callable[[type[M]], type[M]]:
        """Turn a pydantic model into a contract of this registry: `@contract("my_review_v1", rules=(...))`.

        Its version, its short name and the model itself stand for it in every call that takes a contract.
        """

        def declare_and_register(model: type[M]) -> type[M]:
            declare(self.register(Contract(version=version, model=model, **options)))
            return model

        return declare_and_register

    def find(self, contract: ContractLike) -> AnyContract:
        """The contract that a name, a model or a contract stands for. Raises UnknownContract."""
        if isinstance(contract, str):
            return self.get(contract)
        return contract if isinstance(contract, Contract) else contract_of(contract)

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

    def _forget(self, former: AnyContract) -> None:
        for name in former.names:
            del self._by_name[name]
        self.lookups.clear()


def _is_former_self(former: AnyContract, new: AnyContract) -> bool:
    """Whether both models are the same class of the same module, defined twice."""
    before, after = former.model, new.model
    is_same_name = (before.__module__, before.__qualname__) == (
        after.__module__,
        after.__qualname__,
    )
    return is_same_name and before is not after

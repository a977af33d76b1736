"""Contracts: listed, shown, exported as schemas, and messages checked against them."""

from __future__ import annotations

from typing import Any

from accordance.api import check, registry
from accordance.contracts.comparing import fields_of
from accordance.contracts.context import NO_CONTEXT, Context
from accordance.contracts.contract import Contract
from accordance.contracts.describing import alias_rows, rule_text
from accordance.contracts.schemas import DIALECTS, export_schema
from accordance.contracts.serialising import dump
from accordance.contracts.tolerant import read_tolerant
from accordance.contracts.violation import Accepted, Rejected
from accordance.errors import AccordanceError, nearest
from accordance.service.views.contracts import (
    CheckView,
    ContractDetailView,
    ContractEntryView,
    ContractListView,
    SchemaView,
)


class UnknownDialect(AccordanceError):
    """No dialect of schemas is called that."""

    code = "unknown-dialect"


def list_contracts() -> ContractListView:
    """Return every contract, built in and installed."""
    return ContractListView(
        items=tuple(ContractEntryView(**_entry(contract)) for contract in registry)
    )


def show_contract(name: str) -> ContractDetailView:
    """Return what a contract demands. Raises UnknownContract."""
    contract = registry.get(name)
    fields = [
        {
            "path": field.path,
            "required": field.required,
            "expected": field.expected,
        }
        for field in fields_of(contract)
    ]
    rules = [
        {"name": rule.__name__, "text": rule_text(rule)} for rule in contract.rules
    ]
    aliases = [
        {
            "path": path,
            "canonical": word,
            "aliases": list(names),
        }
        for path, word, names in alias_rows(contract)
    ]
    return ContractDetailView.model_validate(
        {**_entry(contract), "fields": fields, "rules": rules, "normalised": aliases}
    )


def schema_of(name: str, dialect: str = "json-schema") -> SchemaView:
    """Return the schema of a contract. Raises UnknownContract, UnknownDialect."""
    contract = registry.get(name)
    if dialect not in DIALECTS:
        near = nearest(dialect, DIALECTS, count=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise UnknownDialect(
            f"no dialect is called {dialect[:40]!r}",
            way_out=f"{hint}known: {', '.join(DIALECTS)}",
        )
    export = export_schema(contract, dialect)
    dropped = tuple(str(loss) for loss in export.dropped)
    return SchemaView.model_validate({"schema": export.schema, "dropped": dropped})


def check_message(
    raw: bytes,
    contract: str | None = None,
    context: Context = NO_CONTEXT,
    *,
    tolerant: bool = False,
) -> CheckView:
    """Check a message. Raises UnknownContract."""
    if contract is not None:
        registry.get(contract)
    reader = read_tolerant if tolerant else None
    return check_view(check(raw, contract, context, reader=reader))


def check_view(result: Accepted[Any] | Rejected) -> CheckView:
    """Return what a check has shown."""
    is_rejected = isinstance(result, Rejected)
    violations = result.violations if isinstance(result, Rejected) else ()
    return CheckView(
        accepted=not is_rejected,
        contract=result.contract,
        value=None if isinstance(result, Rejected) else dict(dump(result.value)),
        violations=tuple(violation.to_json() for violation in violations),
        total=result.total if isinstance(result, Rejected) else 0,
        repairs=tuple(repair.to_json() for repair in result.repairs),
        warnings=tuple(warning.to_json() for warning in result.warnings),
    )


def _entry(contract: Contract[Any]) -> dict[str, Any]:
    return {
        "version": contract.version,
        "name": contract.name,
        "scopes": tuple(scope.name for scope in contract.scopes),
        "names": tuple(contract.names),
        "about": contract.about,
        "schema_version": contract.version_key,
        "closed": contract.closed,
        "profiles": ("strict", *contract.profiles),
    }

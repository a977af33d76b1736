"""Contracts, schemas, and checks of messages."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Query, Request
from starlette.responses import Response

from accordance.contracts.context import Context
from accordance.server.authentication import Checker, Reader
from accordance.server.routing import ACT, raw_body, reads
from accordance.server.routing import router as new_router
from accordance.server.showing import shown
from accordance.service import contract_failures, contracts
from accordance.service.views.contracts import (
    CheckView,
    ContractDetailView,
    ContractFailuresView,
    ContractListView,
    SchemaView,
)

router = new_router("contracts")


@router.get("/contracts", response_model=ContractListView)
def list_contracts(request: Request, _: Checker) -> Response:
    """List every contract, built in and installed."""
    return shown(request, contracts.list_contracts())


@router.get("/contracts/{name}", response_model=ContractDetailView)
def show_contract(request: Request, _: Checker, name: str) -> Response:
    """Show what a contract demands: fields, rules, and what is normalised."""
    return shown(request, contracts.show_contract(name))


@router.get("/contracts/{name}/failures", response_model=ContractFailuresView)
def show_failures(
    request: Request,
    caller: Reader,
    name: str,
    plan: Annotated[str | None, Query(max_length=500)] = None,
) -> Response:
    """Show how often messages broke a contract: by field, by agent, with examples."""
    view = contract_failures.contract_failures(caller.project, name, plan)
    return shown(request, view)


@router.get("/schemas/{name}", response_model=SchemaView)
def show_schema(
    request: Request,
    _: Checker,
    name: str,
    dialect: str = "json-schema",
) -> Response:
    """Return the schema of a contract, for people or for a provider."""
    return shown(request, contracts.schema_of(name, dialect))


@router.post(
    "/check",
    response_model=CheckView,
    responses=ACT,
    openapi_extra=reads("application/json", "text/plain", "application/octet-stream"),
)
def check(
    request: Request,
    _: Checker,
    raw: Annotated[bytes, Depends(raw_body)],
    contract: Annotated[str | None, Query(max_length=200)] = None,
    task_id: Annotated[str | None, Query(max_length=500)] = None,
    tolerant: bool = False,
) -> Response:
    """Check a message, which is the body, against its contract."""
    context = Context(task_id=task_id) if task_id else Context()
    checked = contracts.check_message(raw, contract, context, tolerant=tolerant)
    return shown(request, checked)

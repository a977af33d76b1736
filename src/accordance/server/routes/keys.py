"""Keys: made, listed and revoked by admins."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import Request
from starlette.responses import Response

from accordance.server.authentication import Manager
from accordance.server.requests import KeyWanted
from accordance.server.routing import ACT, SecretAnswer
from accordance.server.routing import router as new_router
from accordance.server.showing import shown
from accordance.server.state import state_of
from accordance.service import keys
from accordance.service.kept_replies import ShownOnce
from accordance.service.keys import KeyRequest
from accordance.service.views.keys import KeyListView, KeyView, NewKeyView

router = new_router("keys")


@router.get("/keys", response_model=KeyListView)
def list_keys(request: Request, caller: Manager) -> Response:
    """List the keys of the project."""
    return shown(request, keys.list_keys(caller.project))


@router.post(
    "/keys", response_model=NewKeyView, status_code=HTTPStatus.CREATED, responses=ACT
)
def make_key(request: Request, caller: Manager, wanted: KeyWanted) -> Response:
    """Make a key. It is shown this once."""
    project = caller.project
    key = KeyRequest(
        name=wanted.name,
        role=wanted.role,
        scopes=tuple(wanted.scopes),
        tasks=keys.bound_to_known(project, wanted.tasks),
        contracts=tuple(wanted.contracts),
        days=wanted.days,
    )
    made = keys.make_key(project, key, by=caller.name)
    again = ShownOnce(
        f"{made.key_id} was made by this request, and its key was shown then",
        way_out="revoke it, and make another with a new Idempotency-Key",
    )
    return SecretAnswer(shown(request, made, status=HTTPStatus.CREATED), again)


@router.post("/keys/{key_id}/revoke", response_model=KeyView, responses=ACT)
def revoke_key(request: Request, caller: Manager, key_id: str) -> Response:
    """Revoke a key. Other processes refuse it within two seconds."""
    revoked = keys.revoke_key(caller.project, key_id, by=caller.name)
    state_of(request).tenants.forget_all()
    return shown(request, revoked)

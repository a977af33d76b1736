"""Agents that come with an access token of the OpenID provider instead of a key.

The server is a resource in the sense of OAuth 2: it verifies JSON Web Tokens of its
configured issuer, made for it, and gives them the role of the name that they carry. Its
metadata (RFC 9728) tell a client where it gets such a token.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from joserfc import jwt
from joserfc.errors import InvalidKeyIdError, JoseError
from starlette.requests import HTTPConnection

from accordance.domain.access import RIGHTS, Identity
from accordance.errors import NotAuthenticated
from accordance.server.login import ALGORITHMS, LEEWAY, Provider, name_in
from accordance.server.state import ServerState, provider_of, state_of
from accordance.server.tenants import Caller, in_project

METADATA: Final = "/.well-known/oauth-protected-resource"
_PARTS: Final = 3
_TYPES: Final = ("", "jwt", "at+jwt", "application/at+jwt")
_SECONDS_BETWEEN_LOOKS: Final = 30.0


def is_access_token(key: str) -> bool:
    """Whether what a caller brings has the form of a token: three parts."""
    return len(key.split(".")) == _PARTS


def takes_tokens(state: ServerState) -> bool:
    """Whether agents may come with a token: an issuer is known, and what it calls us.

    What a request calls us does not count: a token for another server could be used.
    """
    settings = state.settings
    return bool(
        settings.login.issuer and (settings.login.audience or settings.public_url)
    )


def base_url(connection: HTTPConnection, state: ServerState) -> str:
    """Return the address of the server."""
    return (state.settings.public_url or str(connection.base_url)).rstrip("/")


def metadata(
    connection: HTTPConnection,
    state: ServerState,
    path: str,
) -> dict[str, Any]:
    """Return what RFC 9728 says about the app at a path; empty: the whole server."""
    return {
        "resource": f"{base_url(connection, state)}{path}",
        "authorization_servers": [state.settings.login.issuer],
        "bearer_methods_supported": ["header"],
        "resource_name": "accordance",
    }


def challenge(connection: HTTPConnection, path: str) -> str:
    """Return the WWW-Authenticate of an app that refuses a caller."""
    state = state_of(connection)
    if not takes_tokens(state):
        return "Bearer"
    where = f"{base_url(connection, state)}{METADATA}{path}"
    error = ', error="invalid_token"' if "authorization" in connection.headers else ""
    return f'Bearer resource_metadata="{where}"{error}'


def caller_with_token(
    state: ServerState,
    token: str,
    path: str,
    wanted: str | None,
) -> Caller:
    """Return who has a token for the app at a path, in the first project.

    Raises NotAuthenticated, NotAllowed, ProviderUnavailable.
    """
    provider = provider_of(state)
    claims = _claims(provider, token, _audiences(state, path))
    name = name_in(claims, state.settings.login.claim)
    if name is None:
        raise NotAuthenticated(
            f"the access token does not say {state.settings.login.claim!r}"
        )
    role = provider.role_of(name)
    identity = Identity(name=name, role=role, rights=RIGHTS[role])
    return in_project(Caller(identity, state.tenants.first), wanted)


def _audiences(state: ServerState, path: str) -> list[str]:
    settings = state.settings
    if settings.login.audience:
        return [settings.login.audience]
    public = settings.public_url.rstrip("/")
    return [public, f"{public}/", f"{public}{path}"]


def _claims(provider: Provider, token: str, audiences: list[str]) -> Mapping[str, Any]:
    try:
        decoded = _decoded(provider, token)
        if str(decoded.header.get("typ", "")).lower() not in _TYPES:
            raise NotAuthenticated("this is another token than an access token")
        registry = jwt.JWTClaimsRegistry(
            leeway=LEEWAY,
            iss={"essential": True, "value": provider.discovered()[0]["issuer"]},
            aud={"essential": True, "values": audiences},
            exp={"essential": True},
        )
        registry.validate(decoded.claims)
    except (JoseError, ValueError) as error:
        raise NotAuthenticated(
            f"the access token does not hold ({type(error).__name__}: {error})",
            way_out="get another from the provider",
        ) from None
    claims: Mapping[str, Any] = decoded.claims
    if "cnf" in claims:
        raise NotAuthenticated("the access token is bound to a proof that is not taken")
    return claims


def _decoded(provider: Provider, token: str) -> jwt.Token:
    """Verify a signature; a key that is not known yet may be new."""
    _, keys = provider.discovered()
    try:
        return jwt.decode(token, keys, algorithms=ALGORITHMS)
    except InvalidKeyIdError:
        _, keys = provider.discovered(known_for=_SECONDS_BETWEEN_LOOKS)
        return jwt.decode(token, keys, algorithms=ALGORITHMS)

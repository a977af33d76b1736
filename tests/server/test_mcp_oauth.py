"""Agents come to the MCP door with an access token of an OpenID provider instead of a key."""

from __future__ import annotations

import contextlib
import threading
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import flask
import httpx
import httpx2
import pytest
from joserfc import jwt
from joserfc.jwk import RSAKey
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)
from pydantic import AnyUrl
from werkzeug.serving import make_server

from accordance.cli.doors import open_doors
from accordance.project.server_settings import LoginSettings, ServerSettings
from accordance.service.project import Project
from tests.server.mcp_agent import Agent, product, running
from tests.server.stage import LIMIT, Served, serving

with warnings.catch_warnings():  # its own use of authlib's older module
    warnings.simplefilter("ignore")
    import oidc_provider_mock
    from oidc_provider_mock._storage import storage

BACK = "http://127.0.0.1/callback"
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
ACCEPT = {"Accept": "application/json, text/event-stream"}


def new_key(name: str) -> RSAKey:
    """Make a key of a name."""
    return RSAKey.generate_key(parameters={"kid": name})


@dataclass
class Issuer:
    """A provider whose access tokens are JSON Web Tokens."""

    url: str = ""
    key: RSAKey = field(default_factory=lambda: new_key("unknown"))

    def token(self, header: dict[str, Any] | None = None, **claims: Any) -> str:
        """Return a token as it signs them; a claim that is None is left out."""
        now = int(time.time())
        content = {"iss": self.url, "exp": now + 60, "iat": now, "sub": "coder"}
        content.update(claims)
        content = {name: value for name, value in content.items() if value is not None}
        kept = {"alg": "RS256", "kid": self.key.kid, "typ": "at+jwt", **(header or {})}
        return jwt.encode(kept, content, self.key)


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    """A provider on loopback that knows whoever types a name."""
    made = Issuer()

    def access_token(*, user: Any, **_: Any) -> str:
        return made.token(sub=user.sub, aud=flask.request.form["resource"])

    app = flask.Flask("issuer")
    app.config["OAUTH2_ACCESS_TOKEN_GENERATOR"] = access_token
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        oidc_provider_mock.init_app(app)
        with app.test_request_context():
            app.preprocess_request()
            private = storage.jwk.as_dict(is_private=True)
        made.key = RSAKey.import_key(private)
        with listening(app) as port:
            made.url = f"http://localhost:{port}"
            yield made


@contextlib.contextmanager
def listening(app: flask.Flask) -> Iterator[int]:
    """Serve an app while the block runs."""
    server = make_server("localhost", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join(LIMIT)
        server.server_close()


def refuse(line: str) -> None:
    """No door stays shut here."""
    raise AssertionError(line)


@pytest.fixture
def door(project: Project, issuer: Issuer) -> Iterator[Served]:
    """A server that takes the issuer's tokens, under its public address."""
    login = LoginSettings(
        issuer=issuer.url, claim="sub", agents=("coder",), viewers=("*",)
    )
    settings = ServerSettings(login=login, requests_per_second=1000, burst=1000)
    mounts = open_doors(refuse)
    with serving(project, settings=settings, mounts=mounts) as served:
        state = served.state
        state.settings = settings.model_copy(update={"public_url": served.url})
        yield served


@dataclass
class Kept:
    """What the client keeps: which client it is, and its tokens."""

    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


@dataclass
class Browser:
    """A person who logs in for an agent."""

    name: str
    answer: httpx.URL = field(default_factory=httpx.URL)

    async def opens(self, url: str) -> None:
        async with httpx.AsyncClient(timeout=LIMIT, trust_env=False) as client:
            typed = await client.post(url, data={"sub": self.name})
        self.answer = httpx.URL(typed.headers["location"])

    async def comes_back(self) -> AuthorizationCodeResult:
        given = self.answer.params
        return AuthorizationCodeResult(code=given["code"], state=given["state"])


def test_the_official_client_gets_a_token_and_works(door: Served) -> None:
    """Refused, it reads where tokens come from, registers, sends a person there, goes on."""
    browser, kept = Browser("coder"), Kept()
    oauth = OAuthClientProvider(
        f"{door.url}/mcp",
        OAuthClientMetadata(
            redirect_uris=[AnyUrl(BACK)],
            token_endpoint_auth_method="client_secret_basic",
        ),
        kept,
        browser.opens,
        browser.comes_back,
    )

    async def act() -> None:
        async with httpx2.AsyncClient(
            auth=oauth, timeout=LIMIT, trust_env=False
        ) as http:
            transport = streamable_http_client(f"{door.url}/mcp", http_client=http)
            async with Client(transport, read_timeout_seconds=LIMIT) as client:
                agent = Agent(client)
                taken = await agent("next_task")
                assert taken["lease"]["holder"] == "coder"
                done = await agent("submit", message=product("a"))
                assert done["status"] == "accepted"

    running(act)
    assert kept.tokens is not None


def test_a_refusal_says_where_tokens_come_from(door: Served, issuer: Issuer) -> None:
    """By the metadata of RFC 9728, for the door and for the whole server."""
    with door.client() as client:
        answer = client.post("/mcp", json=INITIALIZE, headers=ACCEPT)
        where = f"{door.url}/.well-known/oauth-protected-resource"
        assert answer.status_code == 401
        challenge = answer.headers["www-authenticate"]
        assert challenge == f'Bearer resource_metadata="{where}/mcp"'
        assert client.get(f"{where}/mcp").json() == {
            "resource": f"{door.url}/mcp",
            "authorization_servers": [issuer.url],
            "bearer_methods_supported": ["header"],
            "resource_name": "accordance",
        }
        assert client.get(where).json()["resource"] == door.url
        assert client.get(f"{where}/nowhere").json()["code"] == "not-found"


def begins(door: Served, token: str, **headers: str) -> httpx.Response:
    """Begin a session with a token."""
    with door.client(token) as client:
        return client.post("/mcp", json=INITIALIZE, headers={**ACCEPT, **headers})


def test_tokens_that_hold(door: Served, issuer: Issuer) -> None:
    """Made for the door, for the server, or for several."""
    audiences: list[Any] = [
        f"{door.url}/mcp",
        door.url,
        ["elsewhere", f"{door.url}/mcp"],
    ]
    for audience in audiences:
        assert begins(door, issuer.token(aud=audience)).status_code == 200


def test_tokens_that_do_not_hold(door: Served, issuer: Issuer) -> None:
    """Each is refused with a reason; a client learns that it needs another."""
    mine = f"{door.url}/mcp"
    past = int(time.time()) - 3600
    stranger = Issuer(url=issuer.url)
    forger = Issuer(url=issuer.url, key=new_key(str(issuer.key.kid)))
    unsigned = issuer.token(aud=mine).rpartition(".")[0] + "."
    refused = {
        "made for another server": issuer.token(aud="https://elsewhere.example"),
        "made for nothing": issuer.token(),
        "expired": issuer.token(aud=mine, exp=past),
        "without an end": issuer.token(aud=mine, exp=None),
        "of another issuer": issuer.token(aud=mine, iss="https://evil.example"),
        "signed by an unknown key": stranger.token(aud=mine),
        "signed by another key of the same name": forger.token(aud=mine),
        "not signed": unsigned,
        "an ID token by its type": issuer.token({"typ": "id+jwt"}, aud=mine),
        "bound to a proof": issuer.token(aud=mine, cnf={"jkt": "x"}),
        "without a name": issuer.token(aud=mine, sub=None),
        "no token at all": "a.b.c",
    }
    for why, token in refused.items():
        answer = begins(door, token)
        assert (why, answer.status_code) == (why, 401), answer.text
        assert answer.json()["code"] == "not-authenticated"
        assert 'error="invalid_token"' in answer.headers["www-authenticate"]


def test_a_token_of_a_person_who_may_only_look(door: Served, issuer: Issuer) -> None:
    """The role counts, as for a login; and another project is not opened."""
    mine = f"{door.url}/mcp"
    answer = begins(door, issuer.token(aud=mine, sub="grace"))
    assert (answer.status_code, answer.json()["code"]) == (403, "not-allowed")
    other = begins(door, issuer.token(aud=mine), **{"Accordance-Project": "two"})
    assert (other.status_code, other.json()["code"]) == (403, "not-allowed")


def test_a_token_opens_no_route_of_the_api(door: Served, issuer: Issuer) -> None:
    """It is made for a door. Keys still open both."""
    with door.client(issuer.token(aud=f"{door.url}/mcp")) as client:
        assert client.get("/v1/me").status_code == 401
    assert begins(door, door.key("agent")).status_code == 200


def test_what_a_request_calls_the_server_does_not_count(
    project: Project, issuer: Issuer
) -> None:
    """Without a public address and an audience no token is taken, and none is offered."""
    login = LoginSettings(issuer=issuer.url, claim="sub", agents=("*",))
    settings = ServerSettings(login=login, requests_per_second=1000, burst=1000)
    mounts = open_doors(refuse)
    with serving(project, settings=settings, mounts=mounts) as served:
        answer = begins(served, issuer.token(aud="http://evil/mcp"), Host="evil")
        assert answer.headers["www-authenticate"] == "Bearer"
        with served.client() as client:
            told = client.get("/.well-known/oauth-protected-resource/mcp")
            assert (told.status_code, told.json()["code"]) == (404, "no-login")


def test_an_issuer_that_is_away(project: Project) -> None:
    """Is no fault of the agent: it may try again."""
    login = LoginSettings(issuer="http://127.0.0.1:9", claim="sub", audience="me")
    settings = ServerSettings(login=login)
    mounts = open_doors(refuse)
    with serving(project, settings=settings, mounts=mounts) as served:
        answer = begins(served, Issuer().token(aud="me"))
        assert (answer.status_code, answer.json()["code"]) == (
            503,
            "provider-unavailable",
        )
        assert begins(served, served.key("agent")).status_code == 200


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        (None, 200),
        ("SELF", 200),
        ("https://evil.example", 403),
        ("null", 403),
        ("http://127.0.0.1:1", 403),
    ],
)
def test_a_page_of_another_site(
    served_door: Served, origin: str | None, status: int
) -> None:
    """It is refused even with a key: the door is for programs, and for the server's own pages."""
    own = served_door.url if origin == "SELF" else origin
    headers = {"Origin": own} if own else {}
    answer = begins(served_door, served_door.key("agent"), **headers)
    assert answer.status_code == status


def test_a_name_that_was_made_to_lead_here(served_door: Served) -> None:
    """A page at evil.example asks evil.example, which is this machine."""
    headers = {"Host": "evil.example", "Origin": "http://evil.example"}
    assert begins(served_door, served_door.key("agent"), **headers).status_code == 403


@pytest.fixture
def served_door(project: Project) -> Iterator[Served]:
    """A server with doors, and no provider."""
    with serving(project, mounts=open_doors(refuse)) as served:
        yield served

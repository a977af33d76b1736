"""People log in by OpenID Connect, against a real provider on loopback."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx
import pytest

from accordance.project.server_settings import LoginSettings, ServerSettings
from accordance.server.login import LoginFailed, attempt_in, own_path
from accordance.service.project import Project
from tests.server.stage import LIMIT, Served, serving

with warnings.catch_warnings():  # its own use of authlib's older module
    warnings.simplefilter("ignore")
    import oidc_provider_mock


@pytest.fixture
def provider() -> Iterator[str]:
    """A provider that knows whoever types a name."""
    with (
        warnings.catch_warnings(),
        oidc_provider_mock.run_server_in_thread() as server,
    ):
        warnings.simplefilter("ignore")
        yield f"http://localhost:{server.server_port}"


@pytest.fixture
def login_server(
    project: Project, provider: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Served]:
    """A server that lets two people in."""
    monkeypatch.setenv("ACCORDANCE_OIDC_SECRET", "not a secret")
    login = LoginSettings(
        issuer=provider,
        client_id="accordance",
        claim="sub",
        admins=("ada",),
        viewers=("grace",),
    )
    settings = ServerSettings(login=login, requests_per_second=1000, burst=1000)
    with serving(project, settings=settings) as served:
        yield served


def log_in(served: Served, name: str) -> tuple[httpx.Client, httpx.Response]:
    """Walk through the login as a browser does; return it, and the last answer."""
    browser = httpx.Client(base_url=served.url, timeout=LIMIT, trust_env=False)
    begun = browser.get("/auth/login", params={"then": "/v1/me"})
    assert begun.status_code == 302, begun.text
    typed = browser.post(begun.headers["location"], data={"sub": name})
    assert typed.status_code in (302, 303), typed.text
    return browser, browser.get(typed.headers["location"])


def test_a_person_logs_in_acts_and_leaves(login_server: Served) -> None:
    """The session is a cookie; acts need the token against forged requests."""
    browser, answer = log_in(login_server, "ada")
    assert answer.status_code == 302, answer.text
    assert answer.headers["location"] == "/v1/me"
    cookies = answer.headers.get_list("set-cookie")
    session = next(each for each in cookies if each.startswith("accordance_session="))
    assert "HttpOnly" in session
    assert "SameSite=lax" in session
    assert browser.get("/v1/me").json()["role"] == "admin"

    body = {"name": "ci", "role": "viewer"}
    forged = browser.post("/v1/keys", json=body)
    assert (forged.status_code, forged.json()["code"]) == (403, "not-allowed")
    headers = {"X-CSRF-Token": browser.cookies["accordance_csrf"]}
    made = browser.post("/v1/keys", json=body, headers=headers)
    assert made.json()["made_by"] == "ada"

    kept = dict(browser.cookies)
    assert browser.post("/auth/logout", headers=headers).status_code == 204
    again = httpx.get(f"{login_server.url}/v1/me", cookies=kept, trust_env=False)
    assert again.status_code == 401
    browser.close()


def test_a_person_has_the_role_of_the_settings(login_server: Served) -> None:
    """A viewer looks; nobody else comes in."""
    browser, _ = log_in(login_server, "grace")
    assert browser.get("/v1/me").json()["role"] == "viewer"
    browser.close()
    browser, answer = log_in(login_server, "mallory")
    assert (answer.status_code, answer.json()["code"]) == (403, "not-allowed")
    assert browser.get("/v1/me").status_code == 401
    browser.close()


def test_a_login_that_another_browser_began(login_server: Served) -> None:
    """Its state does not fit: nobody is logged in to somebody else's account."""
    victim = httpx.Client(base_url=login_server.url, timeout=LIMIT, trust_env=False)
    mallory = httpx.Client(base_url=login_server.url, timeout=LIMIT, trust_env=False)
    begun = mallory.get("/auth/login")
    typed = mallory.post(begun.headers["location"], data={"sub": "ada"})
    planted = typed.headers["location"]
    without = victim.get(planted)
    assert (without.status_code, without.json()["code"]) == (403, "login-failed")
    victim.get("/auth/login")
    other = victim.get(planted)
    assert other.json()["code"] == "login-failed"
    victim.close()
    mallory.close()


def test_without_a_provider(served: Served) -> None:
    """There is nothing to log in with."""
    with served.client() as client:
        assert client.get("/auth/login").json()["code"] == "no-login"


def test_a_provider_that_is_away(project: Project) -> None:
    """Is a problem of the server, not of the person."""
    login = LoginSettings(issuer="http://127.0.0.1:9", client_id="x")
    settings = ServerSettings(login=login)
    with serving(project, settings=settings) as served, served.client() as client:
        answer = client.get("/auth/login")
    assert (answer.status_code, answer.json()["code"]) == (503, "provider-unavailable")


@pytest.mark.parametrize(
    ("path", "own"),
    [
        ("/v1/me", "/v1/me"),
        ("//evil.example", "/"),
        ("/\\evil.example", "/"),
        ("https://evil.example", "/"),
        ("", "/"),
        ("/a\nb", "/"),
    ],
)
def test_nobody_is_sent_elsewhere(path: str, own: str) -> None:
    """After a login the browser stays here."""
    assert own_path(path) == own
    assert not urlsplit(own_path(path)).netloc


@pytest.mark.parametrize("cookie", ["", "x", "e30=", "W10="])
def test_a_cookie_that_was_made_up(cookie: str) -> None:
    """Is no login."""
    with pytest.raises(LoginFailed):
        attempt_in(cookie)

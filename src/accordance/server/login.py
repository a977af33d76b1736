"""People log in by OpenID Connect; their session is a key in a cookie.

The code flow with PKCE. State, nonce and verifier lie in a short-lived cookie of the
browser that began the login, so that no process has to remember it.
"""

from __future__ import annotations

import base64
import json
import os
import secrets
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final
from urllib.parse import urlsplit

import httpx
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.httpx_client import OAuth2Client
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from accordance.domain.access import Role, role_of_person
from accordance.errors import AccordanceError, Category, NotAllowed
from accordance.project.server_settings import LoginSettings

SECONDS_TO_LOG_IN: Final = 600
_KNOWN_SECONDS: Final = 600.0
_TIMEOUT: Final = 10.0
ALGORITHMS: Final = ["RS256", "ES256", "PS256", "EdDSA"]
LEEWAY: Final = 60
_LONGEST_NAME: Final = 100


class NoLogin(AccordanceError):
    """Nobody can log in here: no provider is configured."""

    code = "no-login"
    category = Category.NOT_FOUND


class LoginFailed(AccordanceError):
    """The login did not come to an end, or what the provider says does not hold."""

    code = "login-failed"
    category = Category.AUTH


class ProviderUnavailable(AccordanceError):
    """The provider of logins does not answer, or not as it should."""

    code = "provider-unavailable"
    category = Category.UNAVAILABLE


@dataclass(frozen=True, slots=True)
class LoginAttempt:
    """A login that a browser has begun."""

    state: str
    nonce: str
    verifier: str
    then: str  # where the browser goes afterwards

    def cookie(self) -> str:
        """As the value of a cookie."""
        text = json.dumps(asdict(self)).encode()
        return base64.urlsafe_b64encode(text).decode()


def attempt_in(cookie: str) -> LoginAttempt:
    """Return the login of a cookie. Raises LoginFailed."""
    try:
        fields = json.loads(base64.urlsafe_b64decode(cookie))
        return LoginAttempt(**{name: str(value) for name, value in fields.items()})
    except (ValueError, TypeError, AttributeError):
        raise LoginFailed(
            "this browser has begun no login here", way_out="begin again at /auth/login"
        ) from None


def own_path(path: str) -> str:
    """Return a path of this server; whatever leads elsewhere becomes `/`."""
    is_own = path.startswith("/") and not path.startswith(("//", "/\\"))
    is_clean = path.isprintable() and "\\" not in path
    return path if is_own and is_clean else "/"


def name_in(claims: Mapping[str, Any], claim: str) -> str | None:
    """Return the name that a claim gives; None if it gives none."""
    name = claims.get(claim)
    if not isinstance(name, str) or not name.strip() or len(name) > _LONGEST_NAME:
        return None
    return name


@dataclass(slots=True)
class Provider:
    """The provider of logins, and what it says about itself."""

    settings: LoginSettings
    _known: tuple[float, Mapping[str, Any], KeySet] | None = None

    def begin(self, redirect: str, then: str) -> tuple[str, LoginAttempt]:
        """Return where the browser is sent, and what it has to remember."""
        about, _ = self._for_logins()
        attempt = LoginAttempt(
            state=secrets.token_urlsafe(24),
            nonce=secrets.token_urlsafe(24),
            verifier=secrets.token_urlsafe(48),
            then=own_path(then),
        )
        with self._client(redirect) as client:
            url, _ = client.create_authorization_url(
                about["authorization_endpoint"],
                state=attempt.state,
                nonce=attempt.nonce,
                code_verifier=attempt.verifier,
            )
        return str(url), attempt

    def finish(self, redirect: str, answer: str, attempt: LoginAttempt) -> str:
        """Return the name of the person who has logged in.

        `answer` is the address that the provider sent the browser to. Raises
        LoginFailed.
        """
        about, keys = self._for_logins()
        try:
            with self._client(redirect) as client:
                token = client.fetch_token(
                    about["token_endpoint"],
                    authorization_response=answer,
                    state=attempt.state,
                    code_verifier=attempt.verifier,
                )
            claims = self._claims(str(token["id_token"]), keys, attempt.nonce)
        except httpx.HTTPError as error:
            raise ProviderUnavailable(
                f"the provider does not answer ({error})"
            ) from None
        except (AuthlibBaseError, JoseError, KeyError, ValueError) as error:
            raise LoginFailed(
                f"the login does not hold ({type(error).__name__}: {error})",
                way_out="begin again at /auth/login",
            ) from None
        name = name_in(claims, self.settings.claim)
        if name is None:
            raise LoginFailed(f"the provider does not say {self.settings.claim!r}")
        return name

    def role_of(self, name: str) -> Role:
        """Return the role of a person. Raises NotAllowed."""
        settings = self.settings
        role = role_of_person(
            name,
            admins=settings.admins,
            operators=settings.operators,
            agents=settings.agents,
            viewers=settings.viewers,
        )
        if role is None:
            raise NotAllowed(f"{name} may not use this server")
        return role

    def _claims(self, id_token: str, keys: KeySet, nonce: str) -> Mapping[str, Any]:
        token = jwt.decode(id_token, keys, algorithms=ALGORITHMS)
        registry = jwt.JWTClaimsRegistry(
            leeway=LEEWAY,
            iss={"essential": True, "value": self.settings.issuer},
            aud={"essential": True, "value": self.settings.client_id},
            exp={"essential": True},
            nonce={"essential": True, "value": nonce},
        )
        registry.validate(token.claims)
        claims: Mapping[str, Any] = token.claims
        return claims

    def _client(self, redirect: str) -> OAuth2Client:
        secret = os.environ.get(self.settings.client_secret_variable)
        return OAuth2Client(
            client_id=self.settings.client_id,
            client_secret=secret,
            token_endpoint_auth_method="client_secret_basic" if secret else "none",
            scope="openid profile email",
            redirect_uri=redirect,
            code_challenge_method="S256",
            timeout=_TIMEOUT,
            trust_env=False,
        )

    def _for_logins(self) -> tuple[Mapping[str, Any], KeySet]:
        """What the provider says, if people log in by it. Raises NoLogin."""
        if not self.settings.issuer or not self.settings.client_id:
            raise NoLogin(
                "no provider is configured", way_out="set [server.login] issuer"
            )
        return self.discovered()

    def discovered(
        self, known_for: float = _KNOWN_SECONDS
    ) -> tuple[Mapping[str, Any], KeySet]:
        """Return what the provider says about itself, and its keys.

        It is asked again after so many seconds. Raises ProviderUnavailable.
        """
        known = self._known
        if known is not None and time.monotonic() - known[0] < known_for:
            return known[1], known[2]
        issuer = self.settings.issuer
        try:
            with httpx.Client(timeout=_TIMEOUT, trust_env=False) as client:
                where = f"{issuer.rstrip('/')}/.well-known/openid-configuration"
                about = client.get(where).raise_for_status().json()
                if about["issuer"].rstrip("/") != issuer.rstrip("/"):
                    raise ProviderUnavailable(
                        f"{issuer} calls itself {about['issuer'][:200]}"
                    )
                raw_keys = client.get(about["jwks_uri"]).raise_for_status().json()
            keys = KeySet.import_key_set(raw_keys)
        except (httpx.HTTPError, JoseError, KeyError, ValueError, TypeError) as error:
            raise ProviderUnavailable(
                f"{urlsplit(issuer).netloc} does not answer as a provider ({error})"
            ) from None
        self._known = time.monotonic(), about, keys
        return about, keys

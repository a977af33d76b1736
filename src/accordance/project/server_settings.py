"""The table `[server]` of accordance.toml."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from accordance.domain.setting_tables import Count, SettingTable, Texts


class LoginSettings(SettingTable):
    """How people log in: by a provider of OpenID Connect."""

    issuer: str = Field(
        default="",
        description="The address of the provider; without it there is no login.",
        examples=["https://login.example.org"],
    )
    client_id: str = Field(
        default="",
        description="What the provider calls this server.",
        examples=["accordance"],
    )
    client_secret_variable: str = Field(
        default="ACCORDANCE_OIDC_SECRET",
        description="The environment variable with the secret of the client.",
        examples=["OIDC_SECRET"],
    )
    claim: str = Field(
        default="email",
        description="The claim that names a person; it stands in the chain of events.",
        examples=["preferred_username"],
    )
    admins: Texts = Field(
        default=(),
        description="Who is an admin, by that claim.",
        examples=[["ada@example.org"]],
    )
    operators: Texts = Field(
        default=(),
        description="Who is an operator, by that claim.",
        examples=[["grace@example.org"]],
    )
    agents: Texts = Field(
        default=(),
        description=(
            "Which agents may work on tasks, by that claim of their access token."
        ),
        examples=[["coder@example.org"]],
    )
    audience: str = Field(
        default="",
        description=(
            "Whom the access tokens of agents are made for; without it, the address of"
            " the door under `public_url`, or `public_url` itself."
        ),
        examples=["accordance"],
    )
    viewers: Texts = Field(
        default=(),
        description="Who may look; `*` is everybody whom the provider lets in.",
        examples=[["*"]],
    )
    hours: Count = Field(
        default=12,
        description="How long a login holds.",
        examples=[8],
    )


class ServerSettings(SettingTable):
    """How `accordance serve` listens, and what it takes."""

    host: str = Field(
        default="127.0.0.1",
        description="The address to listen on.",
        examples=["127.0.0.1"],
    )
    port: Annotated[int, Field(ge=0, le=65535)] = Field(
        default=8420,
        description="The port; 0 takes a free port.",
        examples=[8080],
    )
    certificate: str = Field(
        default="",
        description="The TLS certificate, a file relative to the project folder.",
        examples=["server.pem"],
    )
    certificate_key: str = Field(
        default="",
        description="The key of the certificate, a file.",
        examples=["server.key"],
    )
    trusted_proxies: Texts = Field(
        default=(),
        description=(
            "Addresses of the proxies that end TLS; their X-Forwarded headers count."
        ),
        examples=[["10.0.0.2"]],
    )
    public_url: str = Field(
        default="",
        description="How the server is reached from outside, for logins.",
        examples=["https://accordance.example.org"],
    )
    largest_request_mb: Count = Field(
        default=16,
        description="The largest body of a request, in megabytes.",
        examples=[4],
    )
    largest_upload_mb: Count = Field(
        default=64,
        description="The largest upload to a question, in megabytes.",
        examples=[200],
    )
    requests_per_second: Count = Field(
        default=200,
        description="Requests of one key in a second, in the long run.",
        examples=[20],
    )
    burst: Count = Field(
        default=400,
        description="Requests of one key at once.",
        examples=[50],
    )
    event_buffer: Count = Field(
        default=1000,
        description=(
            "Events that are kept for a slow reader before the stream ends; it may"
            " resume."
        ),
        examples=[5000],
    )
    threads: Count = Field(
        default=40,
        description="Requests that are carried out at once.",
        examples=[16],
    )
    metrics: Literal["key", "open"] = Field(
        default="key",
        description="Whether /metrics takes a key that may read, or is open.",
        examples=["open"],
    )
    private_webhooks: bool = Field(
        default=False,
        description="Whether webhooks may go to private and loopback addresses.",
        examples=[True],
    )
    login: LoginSettings = Field(
        default_factory=LoginSettings.model_construct,
        description="How people log in.",
    )

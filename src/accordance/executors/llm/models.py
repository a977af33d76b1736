"""From a spec to a model of pydantic-ai, with the schema in its provider's dialect."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from accordance.contracts.contract import Contract
from accordance.contracts.schemas import export_schema
from accordance.domain.executor_specs import LlmSpec
from accordance.domain.faults import Fault
from accordance.errors import AccordanceError

if TYPE_CHECKING:
    from pydantic_ai.models import Model, ModelRequestParameters

KEYS: Final = {
    "openai": "OPENAI_API_KEY",
    "openai-responses": "OPENAI_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
    "google": "GOOGLE_API_KEY",
}
_DIALECTS: Final = {"anthropic": "anthropic", "google": "gemini"}
_NO_KEY: Final = "none"  # a custom endpoint may need no key, but clients insist on it


class CannotBegin(AccordanceError):
    """A run that cannot begin, with the fault that stops it."""

    code = "cannot-begin"

    def __init__(self, fault: Fault, text: str, lacks: str = "") -> None:
        super().__init__(text)
        self.fault = fault
        self.lacks = lacks


def key_for(spec: LlmSpec) -> str:
    """Return the key from the environment. Raises CannotBegin.

    A custom endpoint needs a key only if its spec names it.
    """
    name = spec.key_env or KEYS[spec.provider]
    key = os.environ.get(name)
    if key:
        return key
    if spec.base_url is not None and spec.key_env is None:
        return _NO_KEY
    raise CannotBegin(
        Fault.KEY_MISSING,
        f"the environment variable {name} is not set; set it to the key",
        lacks=name,
    )


def open_model(spec: LlmSpec, name: str, key: str) -> Model[Any]:
    """Return a model, ready to be entered and asked."""
    if spec.provider == "anthropic":
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        anthropic = AnthropicProvider(api_key=key, base_url=spec.base_url)
        return AnthropicModel(name, provider=anthropic)

    if spec.provider == "google":
        from pydantic_ai.models.google import GoogleModel
        from pydantic_ai.providers.google import GoogleProvider

        google = GoogleProvider(api_key=key, base_url=spec.base_url)
        return GoogleModel(name, provider=google)

    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    openai = OpenAIProvider(base_url=spec.base_url, api_key=key)
    if spec.provider == "openai-responses":
        return OpenAIResponsesModel(name, provider=openai)
    return OpenAIChatModel(name, provider=openai)


def parameters(
    spec: LlmSpec,
    contract: Contract[Any],
    *,
    native: bool,
) -> ModelRequestParameters:
    """Return how to ask: held to the schema by the provider, or for plain text."""
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition

    if not native:
        return ModelRequestParameters()
    dialect = _DIALECTS.get(spec.provider, "openai")
    schema = export_schema(contract, dialect).schema
    message = OutputObjectDefinition(
        json_schema=schema,
        name="message",
        strict=True,
    )
    return ModelRequestParameters(output_mode="native", output_object=message)


def takes_schema(spec: LlmSpec, model: Model[Any]) -> bool:
    """Whether the provider gets the schema. The prompt contains it in any case."""
    if spec.output == "native":
        return True
    if spec.output != "auto":
        return False
    return bool(model.profile.get("supports_json_schema_output"))

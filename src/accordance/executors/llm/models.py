"""From a spec to a model of pydantic-ai's, and the schema in the dialect its provider understands."""

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
_NO_KEY: Final = "none"  # an endpoint of one's own may want none, but clients do


class CannotBegin(AccordanceError):
    """A run that cannot even begin, and why."""

    code = "cannot-begin"

    def __init__(self, fault: Fault, text: str) -> None:
        super().__init__(text)
        self.fault = fault


def key_for(spec: LlmSpec) -> str:
    """The key, from the environment. An endpoint of one's own needs none unless it says so. Raises CannotBegin."""
    name = spec.key_env or KEYS[spec.provider]
    key = os.environ.get(name)
    if key:
        return key
    if spec.base_url is not None and spec.key_env is None:
        return _NO_KEY
    raise CannotBegin(
        Fault.KEY_MISSING,
        f"the environment variable {name} is not set; it holds the key",
    )


def open_model(spec: LlmSpec, name: str, key: str) -> Model[Any]:
    """A model, ready to be entered and asked."""
    if spec.provider == "anthropic":
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        return AnthropicModel(
            name, provider=AnthropicProvider(api_key=key, base_url=spec.base_url)
        )
    if spec.provider == "google":
        from pydantic_ai.models.google import GoogleModel
        from pydantic_ai.providers.google import GoogleProvider

        return GoogleModel(
            name, provider=GoogleProvider(api_key=key, base_url=spec.base_url)
        )
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(base_url=spec.base_url, api_key=key)
    if spec.provider == "openai-responses":
        return OpenAIResponsesModel(name, provider=provider)
    return OpenAIChatModel(name, provider=provider)


def parameters(
    spec: LlmSpec, contract: Contract[Any], *, native: bool
) -> ModelRequestParameters:
    """How the answer is asked for: held to the schema by the provider itself, or as plain text."""
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition

    if not native:
        return ModelRequestParameters()
    schema = export_schema(contract, _DIALECTS.get(spec.provider, "openai")).schema
    wanted = OutputObjectDefinition(json_schema=schema, name="message", strict=True)
    return ModelRequestParameters(output_mode="native", output_object=wanted)


def takes_schema(spec: LlmSpec, model: Model[Any]) -> bool:
    """Whether the schema goes to the provider itself. The prompt holds it in any case."""
    return spec.output == "native" or (
        spec.output == "auto" and bool(model.profile.get("supports_json_schema_output"))
    )

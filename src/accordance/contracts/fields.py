"""The field types that contracts share. Each is one rule, checked by pydantic in strict mode and published in the schema."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Final, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    JsonValue,
    PlainSerializer,
    PlainValidator,
    StringConstraints,
    WithJsonSchema,
)
from pydantic_core import CoreSchema, PydanticCustomError

from accordance.contracts.printable import VISIBLE

NOT_BLANK: Final = (
    r"\S"  # as it is published; VISIBLE, which also refuses texts of invisible signs, is what is checked
)
UUID_PATTERN: Final = "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$"
_TIME: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?([Zz]|[-+][0-9]{2}:[0-9]{2})?"
)


class Open(BaseModel):
    """A message, or part of one, that may carry further keys: they are kept and mentioned."""

    model_config = ConfigDict(strict=True, frozen=True, extra="allow", allow_inf_nan=False)


class Closed(BaseModel):
    """A message, or part of one, whose schema is closed: a further key is a violation."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid", allow_inf_nan=False)


class _NotNull:
    """Optional means it may be absent; null is not a way to say so."""

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = handler(source)
        return schema["schema"] if schema["type"] == "nullable" else schema


NotNull: Final = _NotNull()


def _real_time(text: str) -> str:
    try:
        if _TIME.fullmatch(text):
            datetime.fromisoformat(text.upper())
            return text
    except ValueError:  # the form is right, the day does not exist
        pass
    raise PydanticCustomError("bad_format", "not a time")


def _flag(value: object) -> object:
    """true, false, and 0 and 1, which is how older planners write it. Kept as it was written."""
    if isinstance(value, int) and value in (0, 1):
        return value
    raise PydanticCustomError("bool_type", "not a flag")


def _as_it_was(value: object) -> object:
    return value


Text: TypeAlias = Annotated[str, StringConstraints(min_length=1, pattern=VISIBLE)]
Uuid: TypeAlias = Annotated[str, StringConstraints(pattern=UUID_PATTERN)]
Time: TypeAlias = Annotated[str, AfterValidator(_real_time), Field(json_schema_extra={"format": "date-time"})]
Score: TypeAlias = Annotated[float, Field(ge=0, le=1)]
Flag: TypeAlias = Annotated[
    bool,
    PlainValidator(_flag),
    PlainSerializer(_as_it_was),
    WithJsonSchema({"enum": [True, False, 0, 1], "description": "true or false"}),
]
Object: TypeAlias = dict[str, JsonValue]
Items: TypeAlias = list[JsonValue]

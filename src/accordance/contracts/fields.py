"""The field types that contracts share. Each is one rule, checked by pydantic in strict mode and published in the schema."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
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

NOT_BLANK: Final = r"\S"  # as it is published; VISIBLE, which also refuses texts of invisible signs, is what is checked
UUID_PATTERN: Final = (
    "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$"
)
_DAY: Final = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_CLOCK: Final = r"[0-9]{2}:[0-9]{2}:(?P<second>[0-9]{2})(\.[0-9]+)?"
_OFFSET: Final = r"([Zz]|[-+][0-9]{2}:[0-5][0-9])"
_TIME: Final = re.compile(rf"{_DAY}[Tt ]{_CLOCK}{_OFFSET}?")
_INSTANT: Final = re.compile(rf"{_DAY}[Tt]{_CLOCK}{_OFFSET}")
_ONE_DAY: Final = timedelta(days=1)


class Open(BaseModel):
    """A message, or part of one, that may carry further keys: they are kept and mentioned."""

    model_config = ConfigDict(
        strict=True, frozen=True, extra="allow", allow_inf_nan=False, defer_build=True
    )


class Closed(BaseModel):
    """A message, or part of one, whose schema is closed: a further key is a violation."""

    model_config = ConfigDict(
        strict=True, frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True
    )


class _NotNull:
    """Optional means it may be absent; null is not a way to say so."""

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
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


def _real_instant(text: str) -> str:
    """A time as RFC 3339 has it: with an offset, and with the leap seconds and the year 0 that Python does not know."""
    form = _INSTANT.fullmatch(text)
    if form is None:
        raise PydanticCustomError("bad_format", "no time of RFC 3339")
    is_leap_second = form["second"] == "60"
    known = text.upper()
    if is_leap_second:
        known = f"{known[: form.start('second')]}59{known[form.end('second') :]}"
    if known.startswith("0000"):
        known = f"2000{known[4:]}"  # a leap year like it
    try:
        time = datetime.fromisoformat(known)
    except ValueError:  # the form is right, the day does not exist
        raise PydanticCustomError("bad_format", "no such time") from None
    if is_leap_second and not _is_last_minute_of_a_day(time):
        raise PydanticCustomError("bad_format", "no leap second")
    return text


def _is_last_minute_of_a_day(time: datetime) -> bool:
    """Whether it is 23:59 in UTC."""
    since_midnight = timedelta(hours=time.hour, minutes=time.minute) - (
        time.utcoffset() or timedelta()
    )
    return since_midnight % _ONE_DAY == _ONE_DAY - timedelta(minutes=1)


def _flag(value: object) -> object:
    """true, false, and 0 and 1, which is how older planners write it. Kept as it was written."""
    if isinstance(value, int) and value in (0, 1):
        return value
    raise PydanticCustomError("bool_type", "not a flag")


def _as_it_was(value: object) -> object:
    return value


Text: TypeAlias = Annotated[str, StringConstraints(min_length=1, pattern=VISIBLE)]
Uuid: TypeAlias = Annotated[str, StringConstraints(pattern=UUID_PATTERN)]
Time: TypeAlias = Annotated[
    str, AfterValidator(_real_time), Field(json_schema_extra={"format": "date-time"})
]
Long: TypeAlias = Annotated[  # what a column of 64 bits holds; bounds as large as that break makers of grammars
    int,
    Field(ge=-(2**63), le=2**63 - 1),
    WithJsonSchema({"type": "integer", "format": "int64"}),
]
Count: TypeAlias = Annotated[
    int, Field(ge=1, le=2**31 - 1)
]  # at least one, in a column of 32 bits
Instant: TypeAlias = Annotated[
    str, AfterValidator(_real_instant), Field(json_schema_extra={"format": "date-time"})
]
Score: TypeAlias = Annotated[float, Field(ge=0, le=1)]
Flag: TypeAlias = Annotated[
    bool,
    PlainValidator(_flag),
    PlainSerializer(_as_it_was),
    WithJsonSchema({"enum": [True, False, 0, 1], "description": "true or false"}),
]
Object: TypeAlias = dict[str, JsonValue]
Items: TypeAlias = list[JsonValue]

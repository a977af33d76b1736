"""The field types that contracts share.

Each is a rule that pydantic checks in strict mode and that the schema publishes.
"""

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

NOT_BLANK: Final = r"\S"
"""The pattern of visible text as it is published.

What is checked is VISIBLE, which also refuses texts of invisible characters.
"""
UUID_PATTERN: Final = (
    "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$"
)
_DAY: Final = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_CLOCK: Final = r"[0-9]{2}:[0-9]{2}:(?P<second>[0-9]{2})(\.[0-9]+)?"
_OFFSET: Final = r"([Zz]|[-+][0-9]{2}:[0-5][0-9])"
_TIME: Final = re.compile(rf"{_DAY}[Tt ]{_CLOCK}{_OFFSET}?")
_INSTANT: Final = re.compile(rf"{_DAY}[Tt]{_CLOCK}{_OFFSET}")
_ONE_DAY: Final = timedelta(days=1)
_SETS_OF_KEYS: Final[dict[tuple[str, ...], set[str]]] = {}
_MOST_SETS_OF_KEYS: Final = 256


class Open(BaseModel):
    """A message, or a part, that may have further keys: they are kept and mentioned."""

    model_config = ConfigDict(
        strict=True,
        frozen=True,
        extra="allow",
        allow_inf_nan=False,
        defer_build=True,
    )


class Repeated(Open):
    """A part of which a message may have hundreds of thousands.

    pydantic keeps with each value the set of the keys that were given: of a plan of
    100,000 nodes these sets alone are 300 MB. Equal ones are shared; the values are
    frozen, so none of them ever changes.
    """

    def model_post_init(self, _context: object, /) -> None:
        """Share the set of given keys with all values that have the same ones.

        Sets with keys that no field has are left alone: anybody may think of more.
        """
        if self.__pydantic_extra__:
            return
        given = self.__pydantic_fields_set__
        names = tuple(given)
        shared = _SETS_OF_KEYS.get(names)
        if shared is not None:
            object.__setattr__(self, "__pydantic_fields_set__", shared)
        elif len(_SETS_OF_KEYS) < _MOST_SETS_OF_KEYS:
            _SETS_OF_KEYS[names] = given


class Closed(BaseModel):
    """A message, or a part, whose schema is closed: a further key is a violation."""

    model_config = ConfigDict(
        strict=True,
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        defer_build=True,
    )


class _NotNull:
    """Marks a field that may be absent but not null."""

    def __get_pydantic_core_schema__(
        self,
        source: object,
        handler: GetCoreSchemaHandler,
    ) -> CoreSchema:
        schema = handler(source)
        return schema["schema"] if schema["type"] == "nullable" else schema


NotNull: Final = _NotNull()


def _real_time(text: str) -> str:
    """A time in ISO form that exists."""
    if not _TIME.fullmatch(text):
        raise PydanticCustomError("bad_format", "not a time")
    try:
        datetime.fromisoformat(text.upper())
    except ValueError:  # the form is right, but there is no such day
        raise PydanticCustomError("bad_format", "not a time") from None
    return text


def _real_instant(text: str) -> str:
    """A time of RFC 3339 that exists.

    It has an offset, and may have a leap second or the year 0, which Python rejects.
    """
    form = _INSTANT.fullmatch(text)
    if form is None:
        raise PydanticCustomError("bad_format", "no time of RFC 3339")

    readable = text.upper()
    is_leap_second = form["second"] == "60"
    if is_leap_second:
        before = readable[: form.start("second")]
        after = readable[form.end("second") :]
        readable = f"{before}59{after}"
    if readable.startswith("0000"):
        readable = f"2000{readable[4:]}"  # a leap year too
    try:
        time = datetime.fromisoformat(readable)
    except ValueError:  # the form is right, but there is no such day
        raise PydanticCustomError("bad_format", "no such time") from None
    if is_leap_second and not _is_last_minute_of_a_day(time):
        raise PydanticCustomError("bad_format", "no leap second")
    return text


def _is_last_minute_of_a_day(time: datetime) -> bool:
    """Whether it is 23:59 in UTC."""
    local = timedelta(hours=time.hour, minutes=time.minute)
    offset = time.utcoffset() or timedelta()
    since_midnight = (local - offset) % _ONE_DAY
    return since_midnight == _ONE_DAY - timedelta(minutes=1)


def _flag(value: object) -> object:
    """A flag as it was written: a boolean, or 0 or 1 as older planners write it."""
    if isinstance(value, int) and value in (0, 1):
        return value
    raise PydanticCustomError("bool_type", "not a flag")


def _unchanged(value: object) -> object:
    return value


Text: TypeAlias = Annotated[str, StringConstraints(min_length=1, pattern=VISIBLE)]
Uuid: TypeAlias = Annotated[str, StringConstraints(pattern=UUID_PATTERN)]
Time: TypeAlias = Annotated[
    str, AfterValidator(_real_time), Field(json_schema_extra={"format": "date-time"})
]
Long: TypeAlias = Annotated[
    int,
    Field(ge=-(2**63), le=2**63 - 1),
    WithJsonSchema({"type": "integer", "format": "int64"}),
]
"""An integer that fits a column of 64 bits.

The bounds are not published, because grammar compilers cannot handle numbers so large.
"""
Count: TypeAlias = Annotated[int, Field(ge=1, le=2**31 - 1)]
"""A positive integer that fits a column of 32 bits."""
Instant: TypeAlias = Annotated[
    str, AfterValidator(_real_instant), Field(json_schema_extra={"format": "date-time"})
]
Score: TypeAlias = Annotated[float, Field(ge=0, le=1)]
Flag: TypeAlias = Annotated[
    bool,
    PlainValidator(_flag),
    PlainSerializer(_unchanged),
    WithJsonSchema({"enum": [True, False, 0, 1], "description": "true or false"}),
]
Object: TypeAlias = dict[str, JsonValue]
Items: TypeAlias = list[JsonValue]

"""Writing a typed message back as the JSON it stands for."""

from __future__ import annotations

import json

from pydantic import BaseModel

from accordance.contracts.contract import VERSION_KEY
from accordance.contracts.jsonpath import JsonObject
from accordance.errors import Unparseable


def dump(message: BaseModel) -> JsonObject:
    """The message as plain JSON: what was sent, under canonical names.

    A version that has a default is always written.
    """
    written: JsonObject = message.model_dump(
        mode="json",
        exclude_unset=True,
        by_alias=True,
    )
    if VERSION_KEY in written:
        return written

    version_field = type(message).model_fields.get(VERSION_KEY)
    if version_field is not None and isinstance(version_field.default, str):
        return {VERSION_KEY: version_field.default, **written}
    return written


def dump_json(message: BaseModel, *, indent: int | None = None) -> str:
    """The message as JSON text."""
    return json.dumps(dump(message), ensure_ascii=False, indent=indent)


def write(message: JsonObject) -> bytes:
    """A decoded message as JSON text.

    Raises Unparseable for a value that JSON cannot express.
    """
    try:
        return json.dumps(message, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise Unparseable(
            "not_json",
            expected="what JSON can say",
            actual=str(error),
        ) from None

"""What the tables of accordance.toml have in common: closed, typed, and explained field by field.

Every field has a description, an example and, unless it must be given, a default. docs/settings.md and the texts of
errors are both written from the schema of these models, so that neither can differ from what is read.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, Strict


class SettingTable(BaseModel):
    """A table of accordance.toml. A key that it does not have is an error; a value is never turned into another type."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        allow_inf_nan=False,
        defer_build=True,  # most commands read few tables, and some none
    )


Count: TypeAlias = Annotated[int, Field(ge=1)]
Positive: TypeAlias = Annotated[float, Field(gt=0)]
Texts: TypeAlias = Annotated[
    tuple[str, ...], Strict(False)
]  # TOML has lists, and no tuples

"""What the tables of accordance.toml have in common.

They are closed and typed. Every field has a description, an example and, unless it is
required, a default. docs/settings.md and the texts of errors are both written from the
schema of these models, so that neither can differ from what is read.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, Strict


class SettingTable(BaseModel):
    """A table of accordance.toml.

    An unknown key is an error, and a value is never converted to another type.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        allow_inf_nan=False,
        defer_build=True,  # most commands read few tables, and some none
    )


Count: TypeAlias = Annotated[int, Field(ge=1)]
Positive: TypeAlias = Annotated[float, Field(gt=0)]
Label: TypeAlias = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,62}$")]
"""What a worker has, and a route or an executor may ask for."""
# TOML has lists, and no tuples
Texts: TypeAlias = Annotated[tuple[str, ...], Strict(False)]

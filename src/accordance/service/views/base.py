"""What every view is."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict


class View(BaseModel):
    """A frozen value that is shown as JSON.

    A field without a default is always shown. One with a default is shown only where it was set, so that a reader can tell
    "there is none" (null) from "this is not asked here" (absent).

    Schemas are built when a view is first used: a command pays only for the views it shows.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    def to_json(self) -> dict[str, Any]:
        """As plain JSON."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)

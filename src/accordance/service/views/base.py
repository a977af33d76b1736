"""What every view is."""

from __future__ import annotations

from typing import Any, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    ModelWrapValidatorHandler,
    ValidationError,
    model_validator,
)

from accordance.errors import LedgerDamaged


class View(BaseModel):
    """A frozen value that is shown as JSON.

    A field without a default is always shown. A field with a default is shown only
    where it was set, so that a reader can tell "there is none" (null) from "this is not
    asked here" (absent).

    Schemas are built when a view is first used: a command pays only for the views it
    shows.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        defer_build=True,
    )

    @model_validator(mode="wrap")
    @classmethod
    def _shows_what_accordance_writes(
        cls,
        fields: Any,
        build: ModelWrapValidatorHandler[Self],
    ) -> Self:
        """Blame the ledger for values that do not fit. Raises LedgerDamaged.

        What is shown comes from the ledger, and accordance wrote none of these values.
        """
        try:
            return build(fields)
        except ValidationError as error:
            fault = error.errors(include_url=False, include_input=False)[0]
            field = ".".join(str(step) for step in fault["loc"])
            raise LedgerDamaged(f"{field} cannot be shown ({fault['msg']})") from error

    def to_json(self) -> dict[str, Any]:
        """As plain JSON."""
        return self.model_dump(
            mode="json",
            by_alias=True,
            exclude_unset=True,
        )


class PageView(View):
    """A page of a list; its items are in a field of their own."""

    next: str | None  # the cursor of the page behind it, if there is a page

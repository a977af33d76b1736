"""Fuses: how much a task or a plan may use up before a person is asked. Data, kept with the plan they were set for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Final, TypeAlias

from pydantic import Field, ValidationError

from accordance.domain.attempts import MAX_ATTEMPTS, SAME_ERROR_LIMIT
from accordance.domain.setting_faults import first_fault
from accordance.domain.setting_tables import Count, Positive, SettingTable
from accordance.errors import InvalidFuses

Money: TypeAlias = (
    Annotated[int, Field(gt=0)] | Positive
)  # a whole sum stays one, as it was written down


class Fuses(SettingTable):
    """How much a task or a plan may use up before a person is asked.

    They are kept with a plan when it is imported. Those of a run count for the whole plan, all others for one task, and each
    since a person last gave it a chance. One without a number bounds nothing.
    """

    attempts: Count = Field(
        default=MAX_ATTEMPTS,
        description="Failed attempts, parse failures included.",
        examples=[5],
    )
    same_error: Count = Field(
        default=SAME_ERROR_LIMIT,
        description="The same error so often running makes trying again pointless.",
        examples=[3],
    )
    review_rounds: Count = Field(
        default=3,
        description="How often a product is returned to be changed.",
        examples=[2],
    )
    review_failures: Count = Field(
        default=3,
        description="Reviews that fail or break their contract.",
        examples=[2],
    )
    idle_rounds: Count = Field(
        default=2,
        description="Messages running that say there is nothing to do.",
        examples=[3],
    )
    calls_per_task: Count | None = Field(
        default=10,
        description="Messages for one task, whatever became of them.",
        examples=[20],
    )
    calls_per_run: Count | None = Field(
        default=None,
        description="Messages of a plan; then it is held until a person resumes it.",
        examples=[200],
    )
    run_seconds: Count | None = Field(
        default=None,
        description="How long a plan is carried out before it is held.",
        examples=[7200],
    )
    tokens_per_task: Count | None = Field(
        default=None,
        description="Tokens that models read and write for one task.",
        examples=[200_000],
    )
    tokens_per_run: Count | None = Field(
        default=None,
        description="Tokens that models read and write for a plan.",
        examples=[5_000_000],
    )
    cost_per_task: Money | None = Field(
        default=None,
        description="What one task may cost, in the currency of the prices.",
        examples=[2.5],
    )
    cost_per_run: Money | None = Field(
        default=None,
        description="What a plan may cost, in the currency of the prices.",
        examples=[20.0],
    )

    @property
    def for_what_passes(self) -> Fuses:
        """For errors that say nothing about the next attempt: they may be repeated as often as there are attempts."""
        return self.model_copy(update={"same_error": self.attempts})


FUSES: Final = Fuses()


def fuses_from(table: Mapping[str, object]) -> Fuses:
    """Fuses from a table that was written down. Raises InvalidFuses."""
    try:
        return Fuses.model_validate(table)
    except ValidationError as error:
        raise InvalidFuses(first_fault(error, Fuses, table, "fuses")) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a plan has used up in this run."""

    calls: int
    seconds: float
    tokens: int = 0
    cost: float = 0.0


def blown(fuses: Fuses, spent: Spent) -> str | None:
    """Why the plan must stop and wait for a person, if it must."""
    if fuses.calls_per_run is not None and spent.calls >= fuses.calls_per_run:
        return f"calls_per_run: {spent.calls} of {fuses.calls_per_run} messages are used up"
    if fuses.run_seconds is not None and spent.seconds >= fuses.run_seconds:
        return f"run_seconds: {spent.seconds:.0f} of {fuses.run_seconds} seconds are used up"
    if fuses.tokens_per_run is not None and spent.tokens >= fuses.tokens_per_run:
        return f"tokens_per_run: {spent.tokens:,} of {fuses.tokens_per_run:,} tokens are used up"
    if fuses.cost_per_run is not None and spent.cost >= fuses.cost_per_run:
        return f"cost_per_run: {spent.cost:.2f} of {fuses.cost_per_run:.2f} are used up"
    return None

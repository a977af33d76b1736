"""Fuses: how much a task or a plan may use up before a person is asked.

They are data, kept with the plan they were set for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BeforeValidator, Field, ValidationError

from accordance.domain.attempts import MAX_ATTEMPTS, SAME_ERROR_LIMIT
from accordance.domain.setting_faults import first_fault
from accordance.domain.setting_tables import Count, Positive, SettingTable
from accordance.errors import InvalidFuses

# a whole sum stays whole, as it was stored
Money: TypeAlias = Annotated[int, Field(gt=0)] | Positive


def _off_is_no_limit(value: object) -> object:
    """Read `false` as no limit: TOML has no null."""
    return None if value is False else value


_Off: Final = BeforeValidator(_off_is_no_limit)
CountOrOff: TypeAlias = Annotated[Count | None, _Off]
MoneyOrOff: TypeAlias = Annotated[Money | None, _Off]
Unpriced: TypeAlias = Literal["refuse", "run"]


class Fuses(SettingTable):
    """How much a task or a plan may use up before a person is asked.

    They are kept with a plan when it is imported. Those of a run count for the whole
    plan, all others for a single task, and each since a person last gave it a chance. A
    fuse without a number limits nothing.
    """

    attempts: Count = Field(
        default=MAX_ATTEMPTS,
        description="Failed attempts, parse failures included.",
        examples=[5],
    )
    same_error: Count = Field(
        default=SAME_ERROR_LIMIT,
        description="After the same error this many times in a row it stops retrying.",
        examples=[3],
    )
    review_rounds: Count = Field(
        default=3,
        description="How often a review may return a product for changes.",
        examples=[2],
    )
    review_failures: Count = Field(
        default=3,
        description="Reviews that may fail or break their contract.",
        examples=[2],
    )
    idle_rounds: Count = Field(
        default=2,
        description="Messages in a row that report nothing to do.",
        examples=[3],
    )
    calls_per_task: Count | None = Field(
        default=10,
        description="Messages for a task, whatever their outcome.",
        examples=[20],
    )
    calls_per_run: Count | None = Field(
        default=None,
        description="Messages for a plan; then it is held until a person resumes it.",
        examples=[200],
    )
    run_seconds: Count | None = Field(
        default=None,
        description="How many seconds a plan may run before it is held.",
        examples=[7200],
    )
    tokens_per_task: Count | None = Field(
        default=None,
        description="Tokens that models read and write for a task.",
        examples=[200_000],
    )
    tokens_per_run: Count | None = Field(
        default=None,
        description="Tokens that models read and write for a plan.",
        examples=[5_000_000],
    )
    cost_per_task: Money | None = Field(
        default=None,
        description="What a task may cost, in the currency of the prices.",
        examples=[2.5],
    )
    cost_per_run: Money | None = Field(
        default=None,
        description="What a plan may cost, in the currency of the prices.",
        examples=[20.0],
    )

    unpriced: Unpriced = Field(
        default="refuse",
        description=(
            "A run whose price is unknown where a fuse bounds the cost: it is refused,"
            " or it runs and its cost is not counted."
        ),
        examples=["run"],
    )

    @property
    def for_what_passes(self) -> Fuses:
        """The fuses for transient errors, which may repeat while attempts remain."""
        return self.model_copy(update={"same_error": self.attempts})


FUSES: Final = Fuses.model_construct()  # without the validator, which takes a moment


class FuseSettings(Fuses):
    """How much a task or a plan may use up before a person is asked.

    They are kept with a plan when it is imported. Those of a run count for the whole
    plan, all others for a single task, and each since a person last gave it a chance.
    The defaults stop a runaway and leave ordinary work alone; a plan that needs more
    gets a higher number, or `false` where calls, seconds, tokens or cost have no limit.
    The seconds of a run go on while it waits for a person.
    """

    calls_per_task: CountOrOff = Field(
        default=10,
        description="Messages for a task, whatever their outcome.",
        examples=[20],
    )
    calls_per_run: CountOrOff = Field(
        default=5_000,
        description="Messages for a plan; then it is held until a person resumes it.",
        examples=[200],
    )
    run_seconds: CountOrOff = Field(
        default=259_200,
        description="How many seconds a plan may run before it is held: three days.",
        examples=[7200],
    )
    tokens_per_task: CountOrOff = Field(
        default=5_000_000,
        description="Tokens that models read and write for a task.",
        examples=[200_000],
    )
    tokens_per_run: CountOrOff = Field(
        default=50_000_000,
        description="Tokens that models read and write for a plan.",
        examples=[5_000_000],
    )
    cost_per_task: MoneyOrOff = Field(
        default=10,
        description="What a task may cost, in the currency of the prices.",
        examples=[2.5],
    )
    cost_per_run: MoneyOrOff = Field(
        default=100,
        description="What a plan may cost, in the currency of the prices.",
        examples=[20.0],
    )
    unpriced: Unpriced = Field(
        default="run",
        description=(
            "A run whose price is unknown where a fuse bounds the cost: it is refused,"
            " or it runs and its cost is not counted. Where you set cost_per_task or"
            " cost_per_run yourself, the default is refuse."
        ),
        examples=["refuse"],
    )

    def for_new_plan(self, overrides: Mapping[str, object]) -> dict[str, object]:
        """Return the table of fuses for a plan that is imported now.

        A limit on money that a person chose is kept: it is no limit if runs of
        unknown price pass it by.
        """
        chosen = {**self.model_dump(exclude_unset=True), **overrides}
        table = {**self.model_dump(), **overrides}
        is_limit_chosen = any(chosen.get(name) is not None for name in _MONEY_FUSES)
        if "unpriced" not in chosen and is_limit_chosen:
            table["unpriced"] = "refuse"
        return table


_MONEY_FUSES: Final = frozenset(("cost_per_task", "cost_per_run"))


def fuses_from(table: Mapping[str, object]) -> Fuses:
    """Return the fuses of a stored table. Raises InvalidFuses."""
    try:
        return Fuses.model_validate(table)
    except ValidationError as error:
        raise InvalidFuses(first_fault(error, Fuses, table, "fuses")) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a plan has used up in its current run."""

    calls: int
    seconds: float
    tokens: int = 0
    cost: float = 0.0


def blown_fuse(fuses: Fuses, spent: Spent) -> str | None:
    """Return why the plan must stop and wait for a person, if it must."""
    calls = fuses.calls_per_run
    if calls is not None and spent.calls >= calls:
        return f"calls_per_run: {spent.calls} of {calls} messages are used up"

    seconds = fuses.run_seconds
    if seconds is not None and spent.seconds >= seconds:
        return f"run_seconds: {spent.seconds:.0f} of {seconds} seconds are used up"

    tokens = fuses.tokens_per_run
    if tokens is not None and spent.tokens >= tokens:
        return f"tokens_per_run: {spent.tokens:,} of {tokens:,} tokens are used up"

    cost = fuses.cost_per_run
    if cost is not None and spent.cost >= cost:
        return f"cost_per_run: {spent.cost:.2f} of {cost:.2f} are used up"
    return None

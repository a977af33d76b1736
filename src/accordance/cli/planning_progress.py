"""What is going on while a model writes a plan, on standard error.

On a terminal a line that is kept up to date; elsewhere a line for each step.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

import click

from accordance.cli.exits import shortened
from accordance.cli.showing import shown

if TYPE_CHECKING:
    from accordance.runtime.consulting import ConsultingStep

Watch: TypeAlias = "Callable[[ConsultingStep], None]"


@contextmanager
def watching(*, is_quiet: bool) -> Iterator[Watch]:
    """Give a function that shows each step."""
    if is_quiet:
        yield lambda _step: None
    elif sys.stderr.isatty():
        with _live() as watch:
            yield watch
    else:
        start = time.monotonic()
        yield lambda step: _print(step, time.monotonic() - start)


def step_text(step: ConsultingStep) -> str:
    """A step in words."""
    asked = step.executor or ""
    if step.model:
        asked = f"{asked} ({step.model})"
    match step.name:
        case "asking":
            text = f"asking {asked} for a plan, attempt {step.attempt}"
        case "checking":
            text = "checking the answer"
        case "rejected":
            text = f"no plan yet: {shortened(step.detail)}"
        case "imported":
            text = f"the plan is good: {step.detail}"
        case "reviewing":
            text = f"asking {asked} for a review"
        case "reviewed":
            text = f"reviewed: {step.detail}"
    return f"{text}, {step.tokens:,} tokens so far" if step.tokens else text


def _print(step: ConsultingStep, seconds: float) -> None:
    click.echo(f"{seconds:4.0f} s  {shown(step_text(step))}", err=True)


@contextmanager
def _live() -> Iterator[Watch]:
    """Keep the last step on a line of its own, with the time since the beginning."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        line = progress.add_task("preparing", total=None)
        yield lambda step: progress.update(line, description=shown(step_text(step)))

"""What the commands share that act on many things: a filter, a preview, a confirmation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, Final

import click

from accordance.cli.confirming import is_on_terminal, must_be_confirmed, yes_option
from accordance.cli.exits import Exit, Failure
from accordance.cli.ledger_commands import print_json
from accordance.cli.list_options import filter_option
from accordance.cli.showing import print_line

if TYPE_CHECKING:
    from accordance.service.listing import ListQuery
    from accordance.service.views.bulk import (
        BulkDoneView,
        BulkItemView,
        BulkPreviewView,
        BulkResultView,
    )

_SHOWN: Final = 20  # things that a preview names


@dataclass(frozen=True, slots=True)
class Many:
    """Which things a command acts on, where there are several."""

    wanted: str = ""
    dry_run: bool = False
    yes: bool = False
    reason: str | None = None

    @property
    def query(self) -> ListQuery:
        """The filter, as lists take it."""
        from accordance.service.listing import ListQuery

        return ListQuery(filter=self.wanted)


def bulk_options(command: Callable[..., int]) -> Callable[..., int]:
    """Add --filter, --dry-run, --yes and --reason, handed on as `many`."""

    @wraps(command)
    def with_many(
        *,
        wanted: str,
        dry_run: bool,
        yes: bool,
        reason: str | None,
        **options: Any,
    ) -> int:
        return command(many=Many(wanted, dry_run, yes, reason), **options)

    return filter_option(
        dry_run_option(yes_option(reason_option(with_many))),
    )


dry_run_option = click.option(
    "--dry-run",
    is_flag=True,
    help="Show what would be done, and change nothing.",
)
reason_option = click.option(
    "--reason",
    metavar="TEXT",
    help="The reason; the event records it.",
)


def is_for_many(name: str | None, many: Many, what: str = "TASK") -> bool:
    """Whether a filter is meant, and not a single name. Raises Failure for both."""
    if name is not None and many.wanted:
        raise Failure(f"name a {what}, or give --filter, but not both", Exit.USAGE)
    if name is None and not many.wanted:
        raise Failure(f"name a {what}, or give --filter", Exit.USAGE)
    return name is None


def act_on(
    preview: BulkPreviewView,
    act: Callable[[], BulkResultView],
    *,
    verb: str,
    many: Many,
    as_json: bool,
) -> int:
    """Show a preview, ask, act, and say what came of it.

    Exit code 5 if there is nothing to act on, 6 if something was left out.
    """
    if not preview.items:
        return _nothing(preview, as_json)
    if many.dry_run:
        _show(preview, verb, as_json)
        return Exit.OK
    if not many.yes:
        _ask(preview, verb, as_json)

    result = act()
    if as_json:
        print_json(result.to_json())
    else:
        _tell(result, verb)
    return Exit.CONFLICT if result.skipped else Exit.OK


def _nothing(preview: BulkPreviewView, as_json: bool) -> int:
    if as_json:
        print_json(preview.to_json())
    else:
        print_line(f"nothing matches{_left_out(preview)}")
    return Exit.NOT_FOUND


def _left_out(preview: BulkPreviewView) -> str:
    if not preview.left_out:
        return ""
    return f"; {preview.left_out} more match the filter, but are in another state"


def _show(preview: BulkPreviewView, verb: str, as_json: bool) -> None:
    if as_json:
        print_json(preview.to_json())
        return
    _print_items(preview.items)
    print_line(f"would {verb} {len(preview.items)}{_left_out(preview)}")


def _ask(preview: BulkPreviewView, verb: str, as_json: bool) -> None:
    """Let a person confirm. Raises Failure if there is no person, or they refuse."""
    if as_json or not is_on_terminal():
        raise Failure(
            f"this would {verb} {len(preview.items)}; nothing was changed;"
            " add --yes to do it, or --dry-run to see them",
            Exit.USAGE,
        )
    _show(preview, verb, as_json)
    must_be_confirmed("Go on?", yes=False)


def _tell(result: BulkResultView, verb: str) -> None:
    _print_items(result.done)
    for skipped in result.skipped[:_SHOWN]:
        print_line(f"  skipped: {skipped.id}  {skipped.title}: {skipped.why}")
    line = f"{verb}: {len(result.done)} done"
    if result.skipped:
        line += f", {len(result.skipped)} skipped"
    print_line(line)


def _print_items(items: Sequence[BulkItemView | BulkDoneView]) -> None:
    for item in items[:_SHOWN]:
        print_line(f"  {item.id}  {item.state:<14}  {item.title}")
    further = len(items) - _SHOWN
    if further > 0:
        print_line(f"  and {further} more")

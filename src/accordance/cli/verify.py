"""`accordance verify`: recompute the decisions of a ledger or a bundle of evidence."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from accordance.cli.exits import Exit, Failure
from accordance.cli.ledger_commands import (
    Where,
    json_option,
    ledger_options,
    opened,
    print_json,
)
from accordance.cli.reading import must_be_a_name, read_bounded
from accordance.cli.showing import print_line

if TYPE_CHECKING:
    from accordance.service.verification import Anchored
    from accordance.service.views.verification import FindingsView, VerificationView

_LARGEST_ANCHOR = 1 << 26


@click.command(name="verify")
@click.argument("what", required=False, metavar="[PLAN|BUNDLE]")
@click.option(
    "--key",
    metavar="PUBLIC",
    type=click.Path(path_type=Path),
    help="The public key (PEM) that must verify the signature of a bundle or an anchor.",
)
@click.option(
    "--anchor",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="A file of `accordance anchor`: every chain in it must still begin as it did then.",
)
@ledger_options
@json_option
def command(
    what: str | None,
    key: Path | None,
    anchor: Path | None,
    where: Where,
    as_json: bool,
) -> int:
    """Recompute every decision from the records. Exit code 1: it does not hold.

    For a PLAN of the ledger (by default, the whole ledger): the chain of events, every
    state from the events, every verdict from the raw messages, every row from the event
    that wrote it. Integrity: what is there is what was written. Completeness: nothing
    that was written is missing.

    For a BUNDLE, a folder that `accordance judge` wrote: every hash, the facts from the
    trees, the verdict from the facts and, with --key, the signature.
    """
    if what is not None and anchor is None:
        folder = _bundle(what)
        if folder is not None:
            return _verify_bundle(folder, key, as_json)

    if key is not None and anchor is None:
        raise click.UsageError(
            "--key is for the signature of a BUNDLE or of an --anchor"
        )
    return _verify_plans(what, anchor, key, where, as_json)


def _bundle(what: str) -> Path | None:
    """The bundle of that name, or None if it is the name of a plan."""
    from accordance.service.bundles import fetched

    must_be_a_name(what)
    folder = Path(what)
    is_place = "/" in what or folder.is_dir()
    if is_place and fetched(folder):
        return folder
    if is_place:
        text = f"{what}: has no manifest.json, so it is not a bundle of evidence"
        raise Failure(text, Exit.NOT_FOUND)
    return None


def _verify_bundle(folder: Path, key: Path | None, as_json: bool) -> int:
    from accordance.service.bundles import verify_bundle
    from accordance.workspace.errors import BundleBroken

    try:
        view = verify_bundle(folder, key)
    except BundleBroken as error:
        raise Failure(str(error), Exit.REJECTED) from None

    if as_json:
        print_json(view.to_json())
    else:
        outcome = view.outcome or "no verdict"
        print_line(f"{_mark(view.holds)} {folder}  {outcome}")
        for fault in view.faults:
            print_line(f"  {fault}")
        print_line(f"  signature: {view.signature}")
    return Exit.OK if view.holds else Exit.REJECTED


def _verify_plans(
    plan: str | None,
    anchor: Path | None,
    key: Path | None,
    where: Where,
    as_json: bool,
) -> int:
    from accordance.service.verification import verify

    against = _anchored(anchor, key) if anchor else None
    with opened(where) as project:
        view = verify(project, plan, against)

    if as_json:
        print_json([findings.to_json() for findings in view.findings])
    else:
        _print_verification(view)
    return Exit.OK if view.holds else Exit.REJECTED


def _print_verification(view: VerificationView) -> None:
    for findings in view.findings:
        _print_findings(findings)
    if view.anchored_at is not None:
        when = view.anchored_at[:19]
        print_line(
            f"anchor of {when}, {view.anchored_plans} plans; signature: {view.signature}"
        )


def _anchored(file: Path, key: Path | None) -> Anchored:
    from accordance.cli.ways_out import line_of
    from accordance.service.verification import InvalidAnchor, anchored

    try:
        return anchored(read_bounded(str(file), _LARGEST_ANCHOR), key)
    except InvalidAnchor as error:
        raise Failure(f"{file}: {line_of(error)}", Exit.REJECTED) from None


def _print_findings(findings: FindingsView) -> None:
    mark = _mark(findings.holds)
    events = f"{findings.events} events"
    blobs = f"{findings.blobs} blobs"
    if findings.plan_id is None:
        print_line(f"{mark} the ledger  {events}, {blobs}")
    else:
        judged = f"{findings.messages} messages, {findings.verdicts} verdicts"
        print_line(f"{mark} {findings.plan_id}  {events}, {judged}, {blobs}")

    _print_faults("integrity", findings.integrity)
    _print_faults("completeness", findings.completeness)
    for notice in findings.notices:
        print_line(f"  note: {notice}")


def _print_faults(name: str, faults: Sequence[str]) -> None:
    result = f"{len(faults)} faults" if faults else "holds"
    print_line(f"  {name}: {result}")
    for fault in faults:
        print_line(f"    {fault}")


def _mark(holds: bool) -> str:
    return "✓" if holds else "✗"

"""`accordance verify`: recompute what the ledger says, or what a bundle of evidence says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from accordance.cli.desk import Where, at_desk, find_plan_id, json_option, ledger_options, say
from accordance.cli.exits import Exit, Failure
from accordance.cli.reading import must_be_a_name
from accordance.cli.showing import tell

if TYPE_CHECKING:
    from accordance.audit.anchoring import Anchor
    from accordance.audit.findings import Findings

_LARGEST_ANCHOR = 1 << 26


@click.command(name="verify")
@click.argument("what", required=False, metavar="[PLAN|BUNDLE]")
@click.option(
    "--key",
    metavar="PUBLIC",
    type=click.Path(path_type=Path),
    help="The public key that the signature of a bundle or an anchor must hold under (PEM).",
)
@click.option(
    "--anchor",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="What `accordance anchor` wrote earlier: every chain in it must still begin as it was then.",
)
@ledger_options
@json_option
def command(what: str | None, key: Path | None, anchor: Path | None, where: Where, as_json: bool) -> int:
    """Recompute what was decided, from what was written down. Exit code 1 if it does not hold.

    Of a PLAN in the ledger (without one, of the whole ledger): the chain of events, every state from the events, every
    verdict from the raw messages, every row from the event that wrote it. Integrity: what is there is what was written. Completeness: nothing that was written is missing.

    Of a BUNDLE, a folder `accordance judge` wrote: every hash, the facts from the trees, the verdict from the facts and,
    with --key, the signature.
    """
    if what is not None and anchor is None and (folder := _bundle(what)) is not None:
        return _verify_bundle(folder, key, as_json)
    if key is not None and anchor is None:
        raise click.UsageError("--key is for the signature of a BUNDLE or of an --anchor")
    return _verify_plans(what, anchor, key, where, as_json)


def _bundle(what: str) -> Path | None:
    """The bundle of that name, or None if it is to be looked for among the plans."""
    from accordance.judging.rejudging import is_bundle

    must_be_a_name(what)
    folder = Path(what)
    if is_bundle(folder):
        return folder
    if "/" in what or folder.is_dir():
        raise Failure(f"{what}: holds no manifest.json, so it is no bundle of evidence", Exit.NOT_FOUND)
    return None


def _verify_bundle(folder: Path, key: Path | None, as_json: bool) -> int:
    from accordance.judging.rejudging import rejudge
    from accordance.workspace.errors import BundleBroken

    try:
        found = rejudge(folder, key)
    except BundleBroken as error:
        raise Failure(str(error), Exit.REJECTED) from None
    verdict = None if found.judgement is None else found.judgement.verdict
    outcome = verdict.outcome.value if verdict else None
    if as_json:
        say(
            {
                "bundle": folder,
                "holds": found.holds,
                "outcome": outcome,
                "reason_code": verdict.reason_code if verdict else None,
                "signature": found.signature,
                "faults": found.faults,
            }
        )
    else:
        tell(f"{'✓' if found.holds else '✗'} {folder}  {outcome or 'no verdict'}")
        for fault in found.faults:
            tell(f"  {fault}")
        tell(f"  signature: {found.signature}")
    return Exit.OK if found.holds else Exit.REJECTED


def _verify_plans(
    plan: str | None, anchored: Path | None, key: Path | None, where: Where, as_json: bool
) -> int:
    from accordance.audit.anchoring import compare_with, missing_plans
    from accordance.audit.verifying import verify_ledger, verify_plan

    anchor, signature = _anchor(anchored, key) if anchored else (None, "")
    with at_desk(where) as desk, desk.ledger.read() as tx:
        if plan is None:
            found = verify_ledger(tx, desk.home.root)
        else:
            found = [verify_plan(tx, find_plan_id(tx, plan), desk.home.root)]
        if anchor is not None:
            compare_with(anchor, tx, found)
            found += missing_plans(anchor, found) if plan is None else []
    if as_json:
        say([_as_json(one) for one in found])
    else:
        for one in found:
            _show(one)
        if anchor is not None:
            tell(f"anchor of {anchor.at[:19]}, {len(anchor.plans)} plans; signature: {signature}")
    return Exit.OK if all(one.holds for one in found) else Exit.REJECTED


def _anchor(file: Path, key: Path | None) -> tuple[Anchor, str]:
    from accordance.audit.anchoring import InvalidAnchor, read_anchor
    from accordance.cli.reading import read_bounded
    from accordance.cli.ways_out import line_of

    try:
        return read_anchor(read_bounded(str(file), _LARGEST_ANCHOR), key)
    except InvalidAnchor as error:
        raise Failure(f"{file}: {line_of(error)}", Exit.REJECTED) from None


def _as_json(found: Findings) -> dict[str, Any]:
    return {
        "plan_id": found.plan_id,  # none: what belongs to the ledger as a whole
        "holds": found.holds,
        "events": found.events,
        "messages": found.messages,
        "verdicts": found.verdicts,
        "blobs": found.blobs,
        "integrity": found.integrity,
        "completeness": found.completeness,
        "notices": found.notices,
    }


def _show(found: Findings) -> None:
    if found.plan_id is None:
        size = f"{found.events} events, {found.blobs} blobs"
        tell(f"{_mark(found)} the ledger  {size}")
    else:
        size = f"{found.events} events, {found.messages} messages, {found.verdicts} verdicts, {found.blobs} blobs"
        tell(f"{_mark(found)} {found.plan_id}  {size}")
    for name, faults in (("integrity", found.integrity), ("completeness", found.completeness)):
        tell(f"  {name}: {'holds' if not faults else f'{len(faults)} faults'}")
        for fault in faults:
            tell(f"    {fault}")
    for notice in found.notices:
        tell(f"  note: {notice}")


def _mark(found: Findings) -> str:
    return "✓" if found.holds else "✗"

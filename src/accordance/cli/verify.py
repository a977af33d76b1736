"""`accordance verify`: recompute what the ledger says, or what a bundle of evidence says."""

from __future__ import annotations

from pathlib import Path

import click

from accordance.cli.desk import Where, at_desk, find_plan, json_option, ledger_options, say
from accordance.cli.exits import Exit, Failure
from accordance.cli.reading import must_be_a_name
from accordance.cli.showing import tell


@click.command(name="verify")
@click.argument("what", required=False, metavar="[PLAN|BUNDLE]")
@click.option(
    "--key",
    metavar="PUBLIC",
    type=click.Path(path_type=Path),
    help="The public key that a bundle's signature must hold under (PEM).",
)
@ledger_options
@json_option
def command(what: str | None, key: Path | None, where: Where, as_json: bool) -> int:
    """Recompute what was decided, from what was written down. Exit code 1 if it does not hold.

    Of a PLAN in the ledger (without one, of every plan): the chain of events, every state from the events, every verdict
    from the raw messages. Integrity: what is there is what was written. Completeness: nothing that was written is missing.

    Of a BUNDLE, a folder `accordance judge` wrote: every hash, the facts from the trees, the verdict from the facts and,
    with --key, the signature.
    """
    if what is not None and (folder := _bundle(what)) is not None:
        return _verify_bundle(folder, key, as_json)
    if key is not None:
        raise click.UsageError("--key is for the signature of a BUNDLE")
    return _verify_plans(what, where, as_json)


def _bundle(what: str) -> Path | None:
    """The bundle of that name, or None if it is to be looked for among the plans."""
    from accordance.engine.rejudging import is_bundle

    must_be_a_name(what)
    folder = Path(what)
    if is_bundle(folder):
        return folder
    if "/" in what or folder.is_dir():
        raise Failure(f"{what}: holds no manifest.json, so it is no bundle of evidence", Exit.NOT_FOUND)
    return None


def _verify_bundle(folder: Path, key: Path | None, as_json: bool) -> int:
    from accordance.engine.rejudging import rejudge
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


def _verify_plans(plan: str | None, where: Where, as_json: bool) -> int:
    from accordance.engine.verifying import verify_plan

    with at_desk(where) as desk, desk.ledger.read() as tx:
        plans = [find_plan(tx, plan)] if plan else tx.plans()
        found = [verify_plan(tx, one, desk.home.root) for one in plans]
    if as_json:
        say(
            [
                {
                    "plan_id": one.plan_id,
                    "holds": one.holds,
                    "events": one.events,
                    "messages": one.messages,
                    "verdicts": one.verdicts,
                    "blobs": one.blobs,
                    "integrity": one.integrity,
                    "completeness": one.completeness,
                }
                for one in found
            ]
        )
    else:
        for one in found:
            size = f"{one.events} events, {one.messages} messages, {one.verdicts} verdicts, {one.blobs} blobs"
            tell(f"{'✓' if one.holds else '✗'} {one.plan_id}  {size}")
            for name, faults in (("integrity", one.integrity), ("completeness", one.completeness)):
                tell(f"  {name}: {'holds' if not faults else f'{len(faults)} faults'}")
                for fault in faults:
                    tell(f"    {fault}")
        if not found:
            tell("no plans")
    return Exit.OK if all(one.holds for one in found) else Exit.REJECTED

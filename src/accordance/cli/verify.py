"""`accordance verify`: recompute what the ledger says."""

from __future__ import annotations

import click

from accordance.cli.desk import Where, at_desk, find_plan, json_option, ledger_options, say
from accordance.cli.exits import Exit


@click.command(name="verify")
@click.argument("plan", required=False)
@ledger_options
@json_option
def command(plan: str | None, where: Where, as_json: bool) -> int:
    """Recompute the chain of events, every state from the events, and every verdict from the raw messages.

    Integrity: what is there is what was written. Completeness: nothing that was written is missing. Exit code 1 if either
    does not hold. Without PLAN, every plan.
    """
    from accordance.engine.verifying import verify_plan

    with at_desk(where) as desk, desk.ledger.read() as tx:
        plans = [find_plan(tx, plan)] if plan else tx.plans()
        found = [verify_plan(tx, one) for one in plans]
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
            click.echo(f"{'✓' if one.holds else '✗'} {one.plan_id}  {size}")
            for name, faults in (("integrity", one.integrity), ("completeness", one.completeness)):
                click.echo(f"  {name}: {'holds' if not faults else f'{len(faults)} faults'}")
                for fault in faults:
                    click.echo(f"    {fault}")
        if not found:
            click.echo("no plans")
    return Exit.OK if all(one.holds for one in found) else Exit.REJECTED

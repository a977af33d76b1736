"""What a reviewer of a change is given beside the patch: what was asked, which tests accordance ran, what the agent reports.

Tests are accordance's own runs, from the facts of the bundle. The report and the summary are the agent's words.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from accordance.contracts.jsonpath import JsonObject
from accordance.domain.facts import ArtifactName, AttemptFacts, CommandRun
from accordance.domain.records import TaskRecord
from accordance.executors.run_folder import read_left
from accordance.store.ledger import Transaction
from accordance.work.coding_tasks import coding_task
from accordance.work.landing import last_change
from accordance.workspace.bundle import read_facts
from accordance.workspace.errors import BundleBroken

MOST_REPORT: Final = 50_000  # bytes of the agent's report
ELSEWHERE: Final = "the evidence of this change lies on the machine that judged it"


def reviewed_change(tx: Transaction, root: Path, task: TaskRecord) -> JsonObject | None:
    """All of it, as plain JSON; None where the task changes no repository."""
    asked = coding_task(tx, task)
    if asked is None:
        return None
    told: dict[str, Any] = {"task": json.loads(asked)}
    message = last_change(tx, task)
    if message is None:
        return told
    told["base"] = message.case["base"]
    if message.accepted:
        told["summary"] = json.loads(tx.blob(message.sha256)).get("summary")
    bundle = root / str(message.case["bundle"])
    try:
        facts = read_facts(bundle)
    except BundleBroken:
        return {**told, "note": ELSEWHERE}
    return {
        **told,
        "changed_files": sorted(facts.changes.paths()),
        "tests": [_result(run) for run in facts.runs],
        "report": _report(bundle, facts),
    }


def _result(run: CommandRun) -> JsonObject:
    return {
        "command": run.command,
        "passed": run.passed,
        "exit_code": run.exit_code,
        "ending": run.ending.value,
        "note": run.note,
    }


def _report(bundle: Path, facts: AttemptFacts) -> str | None:
    """The agent's report, as far as it is text."""
    fact = facts.evidence.artifact(ArtifactName.REPORT_MD)
    place = fact.path.removeprefix(f"{facts.evidence.folder}/") if fact else "report.md"
    raw = read_left(bundle / "agent", place, MOST_REPORT)
    return None if raw is None else raw.decode("utf-8", "replace")

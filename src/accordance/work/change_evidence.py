"""What the reviewer of a change gets beside the patch.

That is the task, the tests that accordance ran, from the facts of the bundle, and the
agent's own report and summary.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from accordance.contracts.jsonpath import JsonObject
from accordance.domain.facts import ArtifactName, AttemptFacts, CommandRun
from accordance.domain.records import TaskRecord
from accordance.executors.left_files import read_file_inside
from accordance.store.ledger import Transaction
from accordance.work.coding_tasks import coding_task
from accordance.work.kept_evidence import fetch_evidence
from accordance.work.landing import last_change
from accordance.workspace.bundle import read_facts
from accordance.workspace.errors import BundleBroken

MOST_REPORT: Final = 50_000
"""Bytes of the agent's report that are shown."""
ELSEWHERE: Final = "the evidence of this change lies on the machine that judged it"


def reviewed_change(tx: Transaction, root: Path, task: TaskRecord) -> JsonObject | None:
    """Return it as plain JSON; None if the task changes no repository."""
    coding = coding_task(tx, task)
    if coding is None:
        return None

    document: dict[str, Any] = {"task": json.loads(coding)}
    message = last_change(tx, task)
    if message is None:
        return document

    document["base"] = message.case["base"]
    if message.accepted:
        submission = json.loads(tx.blob(message.sha256))
        document["summary"] = submission.get("summary")

    try:
        bundle = fetch_evidence(tx, root, message)
        facts = read_facts(bundle)
    except BundleBroken:
        document["note"] = ELSEWHERE
        return document

    document["changed_files"] = sorted(facts.changes.paths())
    document["tests"] = [_test_run(run) for run in facts.runs]
    document["report"] = _report(bundle, facts)
    return document


def _test_run(run: CommandRun) -> JsonObject:
    return {
        "command": run.command,
        "passed": run.passed,
        "exit_code": run.exit_code,
        "ending": run.ending.value,
        "note": run.note,
    }


def _report(bundle: Path, facts: AttemptFacts) -> str | None:
    """The agent's report, as text."""
    path = "report.md"
    fact = facts.evidence.artifact(ArtifactName.REPORT_MD)
    if fact:
        path = fact.path.removeprefix(f"{facts.evidence.folder}/")

    raw = read_file_inside(bundle / "agent", path, MOST_REPORT)
    return None if raw is None else raw.decode("utf-8", "replace")

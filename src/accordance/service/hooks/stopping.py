"""Judging when an agent wants to stop, or git wants to commit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from accordance.domain.causes import cause_of_verdict
from accordance.domain.findings import listed
from accordance.domain.hooks.stopping import (
    Judged,
    StopAnswer,
    WorkStanding,
    standing_of,
    stop_answer,
)
from accordance.domain.retrying import feedback_for
from accordance.errors import AccordanceError
from accordance.judging.judge import judge
from accordance.judging.judgement import Judgement
from accordance.judging.starting_point import top_of
from accordance.service.hooks.state import HookNotSet, HookRecord, HookState
from accordance.workspace.baseline import read_baseline
from accordance.workspace.uncommitted import left_out_of_commit


class StopEventUnreadable(AccordanceError):
    """What an agent told its hook cannot be read."""

    code = "stop-event-unreadable"


@dataclass(frozen=True, slots=True)
class StopEvent:
    """What an agent tells its hook when it wants to stop."""

    session: str
    was_sent_back: bool  # it goes on because a hook made it go on


def read_stop_event(raw: bytes) -> StopEvent:
    """Return the event. Raises StopEventUnreadable."""
    try:
        event = json.loads(raw)
    except ValueError:
        raise StopEventUnreadable(
            "standard input is not the JSON of a stop hook",
            way_out="let the agent call this command",
        ) from None
    if not isinstance(event, Mapping) or not isinstance(event.get("session_id"), str):
        raise StopEventUnreadable(
            "the stop hook's JSON names no session_id",
            way_out="let the agent call this command",
        )
    return StopEvent(event["session_id"], event.get("stop_hook_active") is True)


def answer_agent(repo: Path, event: StopEvent) -> StopAnswer:
    """Judge the working tree, and return whether its agent may stop.

    An error is an answer, too: the agent has to say that nothing was judged.
    """
    try:
        root = top_of(repo)
        state = HookState.of(root)
        record = _record_of(state, root)
    except HookNotSet as error:
        return StopAnswer(note=f"accordance: nothing was judged. {error}")
    except AccordanceError as error:
        if event.was_sent_back:  # it heard of it already
            return StopAnswer(note=f"accordance: NOT JUDGED. {error}")
        return stop_answer(_not_judged(error), refused=0)

    refused = state.refused(event.session) if event.was_sent_back else 0
    answer = stop_answer(_judged(root, state), refused, record.rounds)
    state.count(event.session, 0 if answer.may_stop else refused + 1)
    return answer


def answer_commit(repo: Path) -> Judged:
    """Judge the working tree that is about to be committed.

    Raises HookNotSet, WorkspaceError.
    """
    root = top_of(repo)
    state = HookState.of(root)
    _record_of(state, root)
    base = read_baseline(state.baseline, root).commit
    left_out = left_out_of_commit(root, base)
    if left_out:
        return Judged(
            WorkStanding.NOT_DONE,
            "the whole tree is judged, and the commit would leave out "
            f"{listed(left_out)}",
            "Stage it, or put it away: git stash --keep-index --include-untracked",
        )
    return _judged(root, state)


def as_hook_output(answer: StopAnswer) -> dict[str, Any]:
    """Return an answer as Claude Code and codex read it."""
    if not answer.may_stop:
        return {"decision": "block", "reason": answer.reason}
    return {"systemMessage": answer.note} if answer.note else {}


def _record_of(state: HookState, root: Path) -> HookRecord:
    record = state.record()
    if record is None:
        raise HookNotSet(
            f"no task is set for {root}",
            way_out="put the hook in, with its task",
        )
    return record


def _judged(root: Path, state: HookState) -> Judged:
    """Judge the tree; where that fails, say why."""
    try:
        judgement = judge(
            state.task,
            repo=root,
            baseline=state.baseline,
            artifacts=state.new_evidence(),
        )
    except AccordanceError as error:
        return _not_judged(error)
    return _from(judgement)


def _from(judgement: Judgement) -> Judged:
    verdict = judgement.verdict
    headline = str(verdict.outcome)
    if verdict.reason_code:
        headline += f" {verdict.reason_code}"
    if verdict.reason and not judgement:
        headline += f": {verdict.reason}"
    standing = standing_of(cause_of_verdict(verdict))
    return Judged(
        standing=WorkStanding.DONE if judgement else standing,
        headline=headline,
        reasons="" if judgement else feedback_for(verdict, judgement.failing_tests),
        task_id=judgement.task_id,
    )


def _not_judged(error: AccordanceError) -> Judged:
    return Judged(WorkStanding.NOT_JUDGED, str(error))

"""The work of an agent, kept before it is judged.

A run that continues after a kill only judges it, and its cost is counted. It is kept
where the answers of models are, as the answer to the question "work". What a patch
cannot express is not kept; such work is done again after a kill.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from accordance.domain.faults import Fault
from accordance.domain.left_out import LeftOut
from accordance.domain.spending import Spending
from accordance.executors.protocol import Memory, Observation, RunOutcome
from accordance.judging.judge import AttemptTree
from accordance.work.run_log import IS_COUNTED, spending_of
from accordance.workspace.leftovers import Leftovers, leftovers_in

_QUESTION: Final = "work"
_CONTINUED: Final = Observation(
    "kept", {"by": "a run that was cut off while its work was judged"}
)


@dataclass(frozen=True, slots=True)
class KeptWork:
    """What a run produced, and what it left in its clone."""

    produced: RunOutcome
    left: Leftovers


def keep_work(
    memory: Memory,
    tree: AttemptTree,
    produced: RunOutcome,
    carry: tuple[str, ...],
) -> None:
    """Keep the work of a run, if a patch can express all of it."""
    left = leftovers_in(tree.workspace, tree.before, carry, tree.after)
    if left is None:
        return

    document = {
        "produced": produced.to_json(),
        "raw": None if produced.raw is None else _text(produced.raw),
        "base": left.base,
        "patch": _text(left.patch),
        "tree": left.tree,
        "folders": list(left.folders),
        "left_out": [asdict(item) for item in left.left_out],
    }
    memory.keep(_QUESTION, document)


def recall_work(memory: Memory) -> KeptWork | None:
    """Return the work of a run that was cut off, if it got that far."""
    document = memory.recall(_QUESTION)
    if document is None:
        return None

    patch = _bytes(document["patch"])
    folders = tuple(document["folders"])
    left_out = tuple(_left_out(item) for item in document.get("left_out", ()))
    left = Leftovers(document["base"], patch, document["tree"], folders, left_out)
    produced = _produced(document["produced"], document["raw"])
    if document.get(IS_COUNTED):
        produced = replace(produced, spending=Spending())
    return KeptWork(produced, left)


def _left_out(item: Mapping[str, Any]) -> LeftOut:
    return LeftOut(
        path=item["path"],
        why=item["why"],
        is_folder=item["is_folder"],
        files=tuple(item["files"]),
    )


def _produced(report: Mapping[str, Any], raw: str | None) -> RunOutcome:
    """A run as it was, with a note that it was continued."""
    produced = RunOutcome(
        raw=b"",
        text=report["text"],
        spending=spending_of(report),
        exit_code=report["exit_code"],
        duration_ms=report["duration_ms"],
        seen=(*map(_seen, report["seen"]), _CONTINUED),
        isolation=report["isolation"],
    )
    if raw is None:
        return replace(produced, raw=None, fault=Fault(report["fault"]))
    return replace(produced, raw=_bytes(raw))


def _seen(item: Mapping[str, Any]) -> Observation:
    details = dict(item)
    kind = details.pop("what")
    return Observation(kind, details)


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def _bytes(text: str) -> bytes:
    return base64.b64decode(text)

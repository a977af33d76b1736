"""What an agent has made is kept before it is judged: whoever goes on after a kill only judges, and what it cost is counted.

It is kept where a model's answers are, as an answer to the question that the run itself is. What a patch cannot tell is not kept,
and a run that is cut off while that is judged is made again.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from accordance.domain.faults import Fault
from accordance.executors.protocol import Memory, Produced, Seen
from accordance.judging.judge import AttemptTree
from accordance.work.run_log import spending_of
from accordance.workspace.leftovers import Left, left_in

_WORK: Final = "work"  # the question


@dataclass(frozen=True, slots=True)
class KeptWork:
    """What came of a run, and what it left in its clone."""

    produced: Produced
    left: Left


def keep_work(
    memory: Memory, ground: AttemptTree, produced: Produced, carry: tuple[str, ...]
) -> None:
    """Keep it, if a patch can tell all of it; it is judged at once in any case."""
    left = left_in(ground.workspace, ground.before, carry, ground.after)
    if left is None:
        return
    told = {
        "produced": produced.to_json(),
        "raw": None if produced.raw is None else _text(produced.raw),
        "base": left.base,
        "patch": _text(left.patch),
        "tree": left.tree,
        "folders": list(left.folders),
    }
    memory.keep(_WORK, told)


def recall_work(memory: Memory) -> KeptWork | None:
    """What a run that was cut off has left, if it got so far."""
    told = memory.recall(_WORK)
    if told is None:
        return None
    left = Left(
        told["base"], _bytes(told["patch"]), told["tree"], tuple(told["folders"])
    )
    return KeptWork(_produced(told["produced"], told["raw"]), left)


def _produced(report: Mapping[str, Any], raw: str | None) -> Produced:
    """A run as it was, with a note that it was gone on with."""
    seen = (
        Seen(one["what"], {name: said for name, said in one.items() if name != "what"})
        for one in report["seen"]
    )
    produced = Produced(
        raw=b"",
        text=report["text"],
        spending=spending_of(report),
        exit_code=report["exit_code"],
        duration_ms=report["duration_ms"],
        seen=(
            *seen,
            Seen("kept", {"by": "a run that was cut off while its work was judged"}),
        ),
        isolation=report["isolation"],
    )
    if raw is None:
        return replace(produced, raw=None, fault=Fault(report["fault"]))
    return replace(produced, raw=_bytes(raw))


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def _bytes(text: str) -> bytes:
    return base64.b64decode(text)

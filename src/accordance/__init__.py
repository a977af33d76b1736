"""accordance: the contract layer and runtime for LLM agents.

    from accordance import check, feedback

    result = check(text, "xiaobo_action_v1")
    if result:
        use(result.value)
    else:
        ask_again(feedback(result))

Names are loaded when they are first used, so `import accordance` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from accordance._version import __version__

if TYPE_CHECKING:
    from accordance.api import (
        check,
        check_value,
        contract,
        contract_summary,
        explain,
        registry,
        schema,
    )
    from accordance.asking.conversation import Answer, Attempt, Message, Reply
    from accordance.asking.loop import ask, ask_async, ask_stream, ask_stream_async
    from accordance.client.async_client import AsyncClient
    from accordance.client.calls import ServerProblem
    from accordance.client.client import Client
    from accordance.contracts.agent_output import (
        ValidationResult,
        validate_agent_output,
    )
    from accordance.contracts.context import Context
    from accordance.contracts.contract import Contract, Scope, Upgrade
    from accordance.contracts.feedback import feedback
    from accordance.contracts.fixes import apply_fixes
    from accordance.contracts.limits import Limits
    from accordance.contracts.normalising import Shape, Spelling
    from accordance.contracts.pins import Pins
    from accordance.contracts.reading import read
    from accordance.contracts.registry import Registry
    from accordance.contracts.serialising import dump, dump_json
    from accordance.contracts.tolerant import read_tolerant
    from accordance.contracts.violation import (
        Accepted,
        Fix,
        Notice,
        Rejected,
        Repair,
        Violation,
    )
    from accordance.errors import AccordanceError, NotAccepted
    from accordance.judging.judge import judge
    from accordance.judging.judgement import Judgement
    from accordance.stream_guard import StreamGuard

_HOME = {
    "accordance.api": (
        "check",
        "check_value",
        "contract",
        "contract_summary",
        "explain",
        "registry",
        "schema",
    ),
    "accordance.client.async_client": ("AsyncClient",),
    "accordance.client.calls": ("ServerProblem",),
    "accordance.client.client": ("Client",),
    "accordance.contracts.agent_output": ("ValidationResult", "validate_agent_output"),
    "accordance.asking.conversation": ("Answer", "Attempt", "Message", "Reply"),
    "accordance.asking.loop": ("ask", "ask_async", "ask_stream", "ask_stream_async"),
    "accordance.contracts.context": ("Context",),
    "accordance.contracts.contract": ("Contract", "Scope", "Upgrade"),
    "accordance.contracts.feedback": ("feedback",),
    "accordance.contracts.fixes": ("apply_fixes",),
    "accordance.contracts.limits": ("Limits",),
    "accordance.contracts.normalising": ("Shape", "Spelling"),
    "accordance.contracts.pins": ("Pins",),
    "accordance.contracts.reading": ("read",),
    "accordance.contracts.registry": ("Registry",),
    "accordance.contracts.serialising": ("dump", "dump_json"),
    "accordance.contracts.tolerant": ("read_tolerant",),
    "accordance.contracts.violation": (
        "Accepted",
        "Fix",
        "Notice",
        "Rejected",
        "Repair",
        "Violation",
    ),
    "accordance.judging.judgement": ("Judgement",),
    "accordance.judging.judge": ("judge",),
    "accordance.errors": ("AccordanceError", "NotAccepted"),
    "accordance.stream_guard": ("StreamGuard",),
}
_WHERE = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "Accepted",
    "AccordanceError",
    "Answer",
    "AsyncClient",
    "Attempt",
    "Client",
    "Context",
    "Contract",
    "Fix",
    "Judgement",
    "Limits",
    "Message",
    "NotAccepted",
    "Notice",
    "Pins",
    "Registry",
    "Rejected",
    "Repair",
    "Reply",
    "Scope",
    "ServerProblem",
    "Shape",
    "Spelling",
    "StreamGuard",
    "Upgrade",
    "ValidationResult",
    "Violation",
    "__version__",
    "apply_fixes",
    "ask",
    "ask_async",
    "ask_stream",
    "ask_stream_async",
    "check",
    "check_value",
    "contract",
    "contract_summary",
    "dump",
    "dump_json",
    "explain",
    "feedback",
    "judge",
    "read",
    "read_tolerant",
    "registry",
    "schema",
    "validate_agent_output",
]


def __getattr__(name: str) -> Any:
    module = _WHERE.get(name)
    if module is None:
        raise AttributeError(f"module 'accordance' has no attribute {name!r}")
    value = getattr(importlib.import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})

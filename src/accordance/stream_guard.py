"""The library's check of a message that is still being written."""

from __future__ import annotations

from accordance.api import registry
from accordance.contracts.context import NO_CONTEXT, Context
from accordance.contracts.limits import LIMITS, Limits
from accordance.contracts.registry import ContractLike
from accordance.contracts.stream import MessageGuard


class StreamGuard(MessageGuard):
    """Checks a message while it arrives in chunks.

    `feed` returns the first violation that cannot be undone, or None. It sees what can
    be seen early: text around the object, a second object, a wrong schema_version or
    task_id, a repeated key, text that is not JSON, limits. The whole message still has
    to be checked when it is complete.
    """

    def __init__(
        self,
        contract: ContractLike | None = None,
        context: Context = NO_CONTEXT,
        limits: Limits = LIMITS,
    ) -> None:
        wanted = None if contract is None else registry.find(contract)
        super().__init__(wanted, context, limits)

"""The stream guard: tells, while a model is still writing, that a message is doomed.

Generation can then be stopped, which saves the tokens that were still to come.
"""

from __future__ import annotations

import codecs
from typing import Any

from accordance.contracts.catalogue.identity import is_about_the_task
from accordance.contracts.catalogue.review import is_about_what_was_asked
from accordance.contracts.context import NO_CONTEXT, Context
from accordance.contracts.contract import VERSION_KEY, Contract
from accordance.contracts.jsonpath import render
from accordance.contracts.limits import LIMITS, Limits
from accordance.contracts.modes import fixed_words
from accordance.contracts.scanner import Flaw, Scanner
from accordance.contracts.violation import Violation


class MessageGuard:
    """Feed it the chunks of a message; it returns the violation that dooms it, or None.

    It sees what shows early: text around the object, a second object, a wrong
    schema_version or task_id, a repeated key, text that is not JSON, broken limits. A
    message that it lets pass still has to be checked as a whole.
    """

    def __init__(
        self,
        contract: Contract[Any] | None = None,
        context: Context = NO_CONTEXT,
        limits: Limits = LIMITS,
    ) -> None:
        watched: dict[str, tuple[str, ...]] = {}
        if contract is not None:
            in_profile = contract.profiles.get(context.profile, contract)
            watched = _watched(in_profile, context)
        self._scanner = Scanner(limits, watched=watched)
        self._limits = limits
        self._decoder = codecs.getincrementaldecoder("utf-8")("strict")
        self._size = 0
        self._offset = 0
        self._doom: Violation | None = None

    @property
    def doom(self) -> Violation | None:
        """Why the message is doomed, if it is."""
        return self._doom

    @property
    def complete(self) -> bool:
        """Whether a whole object has come, and nothing is wrong with it so far."""
        return self._doom is None and self._scanner.complete

    def feed(self, chunk: bytes | str) -> Violation | None:
        """Take the next chunk, as text or as UTF-8 bytes cut anywhere."""
        if self._doom is not None:
            return self._doom
        self._size += len(chunk) if isinstance(chunk, bytes) else _utf8_length(chunk)
        max_bytes = self._limits.max_bytes
        if self._size > max_bytes:
            return self._refuse("too_large", f"at most {max_bytes:,} bytes", "more")
        try:
            text = chunk if isinstance(chunk, str) else self._decoder.decode(chunk)
        except UnicodeDecodeError as error:
            return self._refuse("not_utf8", "UTF-8", str(error.reason))
        self._offset += len(text)
        return self._judge(self._scanner.feed(text))

    def finish(self) -> Violation | None:
        """End the stream, and judge what has come as the whole message."""
        if self._doom is not None:
            return self._doom
        try:
            self._decoder.decode(b"", final=True)
        except UnicodeDecodeError as error:
            return self._refuse("not_utf8", "UTF-8", str(error.reason))
        return self._judge(self._scanner.end())

    def _refuse(self, code: str, expected: str, actual: str) -> Violation:
        self._doom = Violation(
            code=code,
            path="$",
            expected=expected,
            actual=actual,
            fix=None,
            offset=self._offset,
        )
        return self._doom

    def _judge(self, flaw: Flaw | None) -> Violation | None:
        if flaw is not None:
            path = render(flaw.path)
            self._doom = Violation(
                code=flaw.code,
                path=path,
                expected=flaw.expected,
                actual=flaw.actual,
                fix=None,
                offset=flaw.offset,
            )
        return self._doom


def _watched(contract: Contract[Any], context: Context) -> dict[str, tuple[str, ...]]:
    """The top-level keys that show early that a message is another than was asked for.

    Each comes with the texts it may hold.
    """
    watched: dict[str, tuple[str, ...]] = {}
    versions = fixed_words(contract.model, VERSION_KEY)
    if versions and VERSION_KEY not in contract.shape.spellings:
        readable = (*contract.read_versions, *versions)
        watched[VERSION_KEY] = tuple(dict.fromkeys(readable))

    task_id = context.task_id
    if task_id is None:
        return watched
    if is_about_the_task in contract.rules:
        watched["task_id"] = (task_id,)
    elif is_about_what_was_asked in contract.rules:
        # The review of a plan may leave its task_id blank; it is filled in later.
        ids = (task_id, context.plan_id or task_id, "")
        watched["task_id"] = tuple(dict.fromkeys(ids))
    return watched


def _utf8_length(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))

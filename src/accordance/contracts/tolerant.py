"""The tolerant reader: opt-in, for text that means one JSON object but is not JSON.

It makes a closed list of repairs and records each: code fences, text around the object,
think blocks, comments, trailing commas, other quotes, bare keys, Python literals, raw
control characters, a byte order mark, the same object sent twice. It refuses whatever
would be a guess: two different objects, an object inside a list, a cut value, an
ellipsis (in a comment too, as it means that something was left out), a repeated key, an
unclosed think block, a missing comma. Work is linear in the length of the text.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Final

from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.limits import LIMITS, Limits
from accordance.contracts.reading import decode, read, too_large
from accordance.contracts.tolerant_values import BARE_WORD, ValueReader
from accordance.contracts.violation import Repair
from accordance.errors import Unparseable

REPAIRS: Final = {
    "byte_order_mark": "a byte order mark before the text is dropped",
    "think_block": "a <think>…</think> block outside of the object is dropped",
    "code_fence": "``` lines around the object are dropped",
    "text_around": "prose before or after the object is dropped",
    "repeated_object": "the same object sent twice counts once",
    "comment": "// …, /* … */ and # … between values are dropped",
    "trailing_comma": "a comma before } or ] is dropped",
    "quotes": "'…' and “…” around a text become \"…\"",
    "bare_key": "a key without quotes gets them",
    "python_literal": "True, False, None become true, false, null",
    "needless_escape": "\\\\' inside of \"…\" is read as '",
    "odd_space": "a no-break space or byte order mark between values is dropped",
    "control_character": "a raw line break or tab inside a text is kept as if it had been escaped",
}
"""Every repair the reader makes. The list is closed."""

_BEYOND_REPAIR: Final = (
    "too_large",
    "not_utf8",
    "too_deep",
    "duplicate_key",
    "not_finite",
    "number_too_long",
)
_LANDMARK = re.compile(r"\{|```|<(?:think|thinking|reasoning)>", re.IGNORECASE)
_BRACKET = re.compile(r"[\[\]]")
_FENCE_LINE = re.compile(r"```[^\n{]*\n?")


def read_tolerant(
    raw: bytes | str, limits: Limits = LIMITS
) -> tuple[JsonObject, tuple[Repair, ...]]:
    """Read the object a text means, and list the repairs. Raises only Unparseable."""
    try:
        return read(raw, limits), ()
    except Unparseable as flaw:
        if flaw.code in _BEYOND_REPAIR:
            raise

    text = raw if isinstance(raw, str) else decode(raw)
    if len(text) > limits.max_bytes:
        raise too_large(len(text), limits)
    return _ObjectFinder(text, limits).read()


@dataclass(slots=True)
class _ObjectFinder(ValueReader):
    """Finds the object in a text and reads it."""

    open_brackets: int = 0  # in the prose before the object

    def read(self) -> tuple[JsonObject, tuple[Repair, ...]]:
        """The only object of the text, and the repairs that were made."""
        if self.text.startswith("\ufeff"):
            self.note("byte_order_mark", (), "\ufeff", "")
            self.at = 1

        objects: list[JsonObject] = []
        prose_from = self.at
        while landmark := _LANDMARK.search(self.text, self.at):
            self.at = landmark.start()
            if landmark[0] == "{" and not self.begins_an_object():
                self.at += 1
                continue
            self.pass_prose(prose_from, objects)
            self.pass_landmark(landmark[0], objects)
            prose_from = self.at

        self.at = len(self.text)
        self.pass_prose(prose_from, objects)
        return self.only_object(objects), tuple(self.repairs)

    def pass_landmark(self, landmark: str, objects: list[JsonObject]) -> None:
        """Read the object, or skip the fence or think block, that begins here."""
        if landmark == "```":
            self.skip_fence()
        elif landmark != "{":
            self.skip_thinking(landmark)
        elif self.open_brackets:
            raise self.part_of_something()
        else:
            objects.append(self.read_object((), 1))

    def skip_fence(self) -> None:
        """Skip the line of a code fence."""
        fence = _FENCE_LINE.match(self.text, self.at)
        end = fence.end() if fence else self.at + 3
        self.note("code_fence", (), self.text[self.at : end].strip(), "")
        self.at = end

    def skip_thinking(self, opening: str) -> None:
        """Skip a think block, which must be closed."""
        closing = f"</{opening[1:]}"
        pattern = re.compile(re.escape(closing), re.IGNORECASE)
        match = pattern.search(self.text, self.at)
        if match is None:
            raise self.refuse("cut_short", closing, "the end of the text")
        self.note("think_block", (), self.text[self.at : match.end()], "")
        self.at = match.end()

    def begins_an_object(self) -> bool:
        """Whether the brace here begins an object; any other is part of the prose.

        An object goes on with a key, with its end, or with a comment such as only an
        object would hold.
        """
        inside = self.at + 1
        at = self.skip_gaps(inside)
        if at >= len(self.text) or self.text[at] in "}\"'“‘":
            return True
        if self.text.startswith("/*", at):  # a comment that never ends
            return True
        has_comment = self.text[inside:at].strip() != ""
        if has_comment and self.text[at] in ",:":
            return True

        word = BARE_WORD.match(self.text, at)
        if word is None:
            return False
        return self.text.startswith(":", self.skip_gaps(word.end()))

    def pass_prose(self, start: int, objects: list[JsonObject]) -> None:
        """Drop the prose from `start` to here, unless it shows a larger value."""
        prose = self.text[start : self.at].strip()
        if not prose:
            return
        if objects and prose[0] in ",]:}":
            raise self.part_of_something()

        for bracket in _BRACKET.findall(prose):
            if bracket == "[":
                self.open_brackets += 1
            elif self.open_brackets:
                self.open_brackets -= 1
        self.note("text_around", (), prose, "", offset=start)

    def part_of_something(self) -> Unparseable:
        """The error for an object that is only a part of a larger value."""
        return self.refuse("not_object", "one JSON object", "a piece of a larger value")

    def only_object(self, objects: list[JsonObject]) -> JsonObject:
        """The object of the text, unless it holds several that differ."""
        if not objects:
            raise self.refuse("text_around", "one JSON object", "none in the text")

        # Compared as texts, because to Python 1 equals true.
        texts = {json.dumps(value, sort_keys=True) for value in objects}
        if len(texts) > 1:
            actual = f"{len(objects)} different ones"
            raise self.refuse("second_value", "one JSON object", actual)
        if len(objects) > 1:
            self.note("repeated_object", (), len(objects), 1)
        return objects[0]

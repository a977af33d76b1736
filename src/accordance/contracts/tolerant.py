"""The tolerant reader: a separate, opt-in call for text that means one JSON object but is not written as one.

It knows a closed list of repairs and records each: code fences, text around the object, think blocks, comments, trailing
commas, other quotes, bare keys, Python's literals, raw control characters, a byte order mark, the same object sent twice.
It refuses whatever would mean guessing: two different objects, an object inside a list, a cut value, an ellipsis (also in a
comment: something was left out), a key twice, an unclosed think block, a missing comma. Work is linear in the text.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from math import isinf
from typing import Final

from accordance.contracts.escapes import ESCAPES, is_high_half, is_low_half, joined
from accordance.contracts.jsonpath import JsonObject, Path, render
from accordance.contracts.limits import LIMITS, Limits
from accordance.contracts.reading import decode, read, too_large
from accordance.contracts.violation import Repair, excerpt
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
"""Every repair the reader knows. The list is closed."""

_BLANK = re.compile(r"[ \t\r\n\u00a0\ufeff]*")
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_GOES_ON = re.compile(
    r"[\w.%]|/(?![/*])"
)  # what follows makes it another thing than a number
_WORD = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_LITERALS: Final = {"true": True, "false": False, "null": None}
_PYTHON_LITERALS: Final = {"True": True, "False": False, "None": None}
_CLOSING: Final = {'"': '"', "'": "'", "“": "”", "„": "“", "‘": "’"}
_ESCAPES: Final = {**ESCAPES, "'": "'"}
_LANDMARK = re.compile(r"\{|```|<(?:think|thinking|reasoning)>", re.IGNORECASE)
_BRACKET = re.compile(r"[\[\]]")
_LEFT_OUT = re.compile(r"\.{3}|[…⋯‥]|\. \. \.")
_FENCE_LINE = re.compile(r"```[^\n{]*\n?")


def read_tolerant(
    raw: bytes | str, limits: Limits = LIMITS
) -> tuple[JsonObject, tuple[Repair, ...]]:
    """Read the one object a text means, and say what was repaired. Raises Unparseable, and nothing else."""
    try:
        return read(raw, limits), ()
    except Unparseable as flaw:
        if flaw.code in (
            "too_large",
            "not_utf8",
            "too_deep",
            "duplicate_key",
            "not_finite",
            "number_too_long",
        ):
            raise
    text = raw if isinstance(raw, str) else decode(raw)
    if len(text) > limits.max_bytes:
        raise too_large(len(text), limits)
    return _Tolerant(text, limits).read()


@dataclass(slots=True)
class _Tolerant:
    text: str
    limits: Limits
    at: int = 0
    repairs: list[Repair] = field(default_factory=list)
    marks: dict[str, tuple[int, int]] = field(
        default_factory=dict
    )  # asked from there, found here
    gaps: dict[int, int] = field(
        default_factory=dict
    )  # looked ahead from there, to here
    open_brackets: int = 0  # of the prose before the object
    quote: str = '"'  # of the text at hand

    # Outside: find the object.

    def read(self) -> tuple[JsonObject, tuple[Repair, ...]]:
        if self.text.startswith("\ufeff"):
            self.note("byte_order_mark", (), "\ufeff", "")
            self.at = 1
        found: list[JsonObject] = []
        prose_from = self.at
        while landmark := _LANDMARK.search(self.text, self.at):
            self.at = landmark.start()
            if landmark[0] == "{" and not self.begins_an_object():
                self.at += 1
                continue
            self.note_prose(prose_from, self.at, found)
            self.pass_landmark(landmark[0], found)
            prose_from = self.at
        self.at = len(self.text)
        self.note_prose(prose_from, self.at, found)
        return self.only_one(found), tuple(self.repairs)

    def pass_landmark(self, landmark: str, found: list[JsonObject]) -> None:
        if landmark == "{":
            if self.open_brackets:
                raise self.part_of_something()
            found.append(self.read_object((), 1))
        elif landmark == "```":
            fence = _FENCE_LINE.match(self.text, self.at)
            end = fence.end() if fence else self.at + 3
            self.note("code_fence", (), self.text[self.at : end].strip(), "")
            self.at = end
        else:
            self.skip_thinking(landmark)

    def skip_thinking(self, opening: str) -> None:
        closing = f"</{opening[1:]}"
        end = re.compile(re.escape(closing), re.IGNORECASE).search(self.text, self.at)
        if end is None:
            raise self.refuse("cut_short", closing, "the end of the text")
        self.note("think_block", (), self.text[self.at : end.end()], "")
        self.at = end.end()

    def begins_an_object(self) -> bool:
        """A brace followed by a key or by its own end, or by a comment that only an object would hold; any other is prose."""
        inside = self.at + 1
        at = self.skip_gaps(inside)
        if at >= len(self.text) or self.text[at] in "}\"'“‘":
            return True
        if self.text.startswith("/*", at):  # a comment that never ends
            return True
        if self.text[at] in ",:" and self.text[inside:at].strip():
            return True
        word = _WORD.match(self.text, at)
        return word is not None and self.text.startswith(
            ":", self.skip_gaps(word.end())
        )

    def note_prose(self, start: int, end: int, found: list[JsonObject]) -> None:
        prose = self.text[start:end].strip()
        if not prose:
            return
        if found and prose[0] in ",]:}":
            raise self.part_of_something()
        for bracket in _BRACKET.findall(prose):
            self.open_brackets = max(
                0, self.open_brackets + (1 if bracket == "[" else -1)
            )
        self.note("text_around", (), prose, "", offset=start)

    def part_of_something(self) -> Unparseable:
        return self.refuse("not_object", "one JSON object", "a piece of a larger value")

    def only_one(self, found: list[JsonObject]) -> JsonObject:
        if not found:
            raise self.refuse("text_around", "one JSON object", "none in the text")
        if (
            len({json.dumps(one, sort_keys=True) for one in found}) > 1
        ):  # as texts: to Python 1 equals true
            raise self.refuse(
                "second_value", "one JSON object", f"{len(found)} different ones"
            )
        if len(found) > 1:
            self.note("repeated_object", (), len(found), 1)
        return found[0]

    # Inside: read the object.

    def value(self, path: Path, depth: int) -> object:
        char = self.peek()
        if char == "{":
            return self.read_object(path, depth + 1)
        if char == "[":
            return self.read_list(path, depth + 1)
        if char in _CLOSING:
            return self.string(path)
        if char in "-0123456789":
            return self.number(path)
        return self.literal(path)

    def read_object(self, path: Path, depth: int) -> JsonObject:
        self.open(depth)
        found: JsonObject = {}
        while not self.closes("}", path, after_item=bool(found)):
            key = self.key(path)
            if key in found:
                raise self.refuse(
                    "duplicate_key",
                    "every key once",
                    f"{excerpt(key)} again",
                    (*path, key),
                )
            self.expect(":", path)
            self.gap((*path, key))
            found[key] = self.value((*path, key), depth)
        return found

    def read_list(self, path: Path, depth: int) -> list[object]:
        self.open(depth)
        found: list[object] = []
        while not self.closes("]", path, after_item=bool(found)):
            found.append(self.value((*path, len(found)), depth))
        return found

    def open(self, depth: int) -> None:
        if depth > self.limits.max_depth:
            raise self.refuse(
                "too_deep", f"at most {self.limits.max_depth} levels", "a deeper one"
            )
        self.at += 1

    def closes(self, closing: str, path: Path, *, after_item: bool) -> bool:
        """Pass the separator; say whether the container ends here."""
        self.gap(path)
        comma_at = self.at
        has_comma = after_item and self.peek() == ","
        if has_comma:
            self.at += 1
            self.gap(path)
        if self.peek() == closing:
            if has_comma:
                self.note("trailing_comma", path, ",", "", offset=comma_at)
            self.at += 1
            return True
        if after_item and not has_comma:
            raise self.refuse("not_json", f", or {closing}", repr(self.peek()))
        return False

    def key(self, path: Path) -> str:
        if self.peek() in _CLOSING:
            return self.string(path)
        word = _WORD.match(self.text, self.at)
        if word is None:
            raise self.refuse("not_json", "a key", repr(self.peek()))
        self.note("bare_key", path, word[0], f'"{word[0]}"')
        self.at = word.end()
        return word[0]

    def expect(self, char: str, path: Path) -> None:
        self.gap(path)
        if self.peek() != char:
            raise self.refuse("not_json", char, repr(self.peek()))
        self.at += 1

    def string(self, path: Path) -> str:
        opening = self.text[self.at]
        closing, start = _CLOSING[opening], self.at
        self.quote = opening
        if opening != '"':
            self.note("quotes", path, opening, '"')
        plain = re.compile(rf"[^{re.escape(closing)}\\\x00-\x1f\ud800-\udfff]*")
        pieces: list[str] = []
        self.at += 1
        while (char := self.peek_into(plain, pieces)) != closing:
            if char == "\\":
                pieces.append(self.escape(path))
            elif char in "\n\r\t":
                self.note("control_character", path, char, repr(char)[1:-1])
                pieces.append(char)
                self.at += 1
            else:
                raise self.refuse(
                    "not_json",
                    "a text without control characters",
                    f"U+{ord(char):04X}",
                    path,
                    start,
                )
        self.at += 1
        return "".join(pieces)

    def peek_into(self, plain: re.Pattern[str], pieces: list[str]) -> str:
        match = plain.match(self.text, self.at)
        start, self.at = self.at, match.end() if match else self.at
        pieces.append(self.text[start : self.at])
        return self.peek()

    def escape(self, path: Path) -> str:
        char = self.text[self.at + 1 : self.at + 2]
        if char in _ESCAPES and char:
            if char == "'" and self.quote == '"':
                self.note("needless_escape", path, "\\'", "'")
            self.at += 2
            return _ESCAPES[char]
        if char != "u":
            raise self.refuse("not_json", "a known escape", f"\\{char}", path)
        code = self.hex(path)
        if is_high_half(code) and self.text.startswith("\\u", self.at):
            low = self.hex(path)
            if is_low_half(low):
                return joined(code, low)
        if is_high_half(code) or is_low_half(code):
            raise self.refuse(
                "lone_surrogate",
                "a whole character",
                f"half of one, \\u{code:04x}",
                path,
            )
        return chr(code)

    def hex(self, path: Path) -> int:
        digits = self.text[self.at + 2 : self.at + 6]
        if not re.fullmatch(r"[0-9A-Fa-f]{4}", digits):
            raise self.refuse(
                "not_json", "four hexadecimal digits after \\u", repr(digits), path
            )
        self.at += 6
        return int(digits, 16)

    def number(self, path: Path) -> int | float:
        match = _NUMBER.match(self.text, self.at)
        if match is None or _GOES_ON.match(self.text, match.end()):
            raise self.refuse(
                "not_json",
                "a number as JSON writes it",
                excerpt(self.text[self.at : self.at + 20]),
            )
        self.at = match.end()
        if len(match[1]) > self.limits.max_digits:
            raise self.refuse(
                "number_too_long",
                f"at most {self.limits.max_digits} digits",
                "a longer number",
                path,
            )
        if not match[2] and not match[3]:
            return int(match[0])
        number = float(match[0])
        if isinf(number):
            raise self.refuse(
                "not_finite", "a number that fits", excerpt(match[0]), path
            )
        return number

    def literal(self, path: Path) -> bool | None:
        word = _WORD.match(self.text, self.at)
        found = word[0] if word else self.peek()
        if found in _PYTHON_LITERALS:
            self.note("python_literal", path, found, excerpt(_PYTHON_LITERALS[found]))
        elif found not in _LITERALS:
            raise self.refuse("not_json", "a value", excerpt(found))
        self.at += len(found)
        return {**_LITERALS, **_PYTHON_LITERALS}[found]

    # Between: white space and comments.

    def gap(self, path: Path) -> None:
        """Pass white space and comments; a comment is noted, and refused where it stands for something left out."""
        while (end := self.gap_end(self.at)) > self.at:
            passed = self.text[self.at : end]
            if passed[0] in "/#":
                if _LEFT_OUT.search(passed):
                    raise self.refuse(
                        "not_json",
                        "the whole object, nothing left out",
                        excerpt(passed.strip()),
                    )
                self.note("comment", path, passed.strip(), "")
            elif not passed.isascii():
                self.note("odd_space", path, passed.strip(" \t\r\n"), "")
            self.at = end
        if self.text.startswith("/*", self.at):
            raise self.refuse(
                "cut_short", "the end of the comment", "the end of the text"
            )

    def skip_gaps(self, start: int) -> int:
        """Look past white space and comments. Where they end is remembered for every place that was passed."""
        passed, at = [start], start
        while at not in self.gaps and (end := self.gap_end(at)) > at:
            passed.append(end)
            at = end
        at = self.gaps.get(at, at)
        self.gaps.update(dict.fromkeys(passed, at))
        return at

    def gap_end(self, at: int) -> int:
        """The end of the white space or of the one comment that begins here."""
        if self.text.startswith(("//", "#"), at):
            return self.following("\n", at)
        if self.text.startswith("/*", at):
            end = self.following("*/", at + 2)
            return at if end == len(self.text) else end + 2
        match = _BLANK.match(self.text, at)
        return match.end() if match else at

    def following(self, mark: str, at: int) -> int:
        """The next place of a mark, or the end. The last answer is kept: askers come closer and closer to the same mark."""
        asked_from, known = self.marks.get(mark, (0, -1))
        if not asked_from <= at <= known:
            found = self.text.find(mark, at)
            known = len(self.text) if found < 0 else found
            self.marks[mark] = at, known
        return known

    def peek(self) -> str:
        if self.at >= len(self.text):
            raise self.refuse(
                "cut_short", "the rest of the object", "the end of the text"
            )
        return self.text[self.at]

    def note(
        self,
        rule: str,
        path: Path,
        before: object,
        after: object,
        offset: int | None = None,
    ) -> None:
        self.repairs.append(
            Repair(
                rule, render(path), before, after, self.at if offset is None else offset
            )
        )

    def refuse(
        self,
        code: str,
        expected: str,
        actual: str,
        path: Path = (),
        at: int | None = None,
    ) -> Unparseable:
        offset = self.at if at is None else at
        return Unparseable(
            code, expected=expected, actual=actual, path=render(path), offset=offset
        )

"""The part of the tolerant reader that reads values: objects, lists, texts, numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from math import isinf
from typing import Final

from accordance.contracts.escapes import ESCAPES, is_high_half, is_low_half, joined
from accordance.contracts.jsonpath import JsonObject, Path, render
from accordance.contracts.limits import Limits
from accordance.contracts.violation import Repair, excerpt
from accordance.errors import Unparseable

BARE_WORD = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
"""A key without quotes, or a literal."""

_BLANK = re.compile(r"[ \t\r\n\u00a0\ufeff]*")
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_GOES_ON = re.compile(r"[\w.%]|/(?![/*])")  # after digits: it is no number then
_HEX = re.compile(r"[0-9A-Fa-f]{4}")
_LEFT_OUT = re.compile(r"\.{3}|[…⋯‥]|\. \. \.")
_PYTHON_LITERALS: Final = {
    "True": True,
    "False": False,
    "None": None,
}
_LITERALS: Final = {"true": True, "false": False, "null": None, **_PYTHON_LITERALS}
_CLOSING: Final = {
    '"': '"',
    "'": "'",
    "“": "”",
    "„": "“",
    "‘": "’",
}
_ESCAPES: Final = {**ESCAPES, "'": "'"}
_PLAIN: Final = {
    closing: re.compile(rf"[^{re.escape(closing)}\\\x00-\x1f\ud800-\udfff]*")
    for closing in _CLOSING.values()
}
"""By closing quote: the characters of a text that need no attention."""


@dataclass(slots=True)
class ValueReader:
    """Reads JSON values at a position of a text, with repairs.

    `marks` and `gaps` remember what was looked ahead for, so that work stays linear:
    `marks` from where a mark was searched and where it is, `gaps` the end of the white
    space and comments that begin at a place.
    """

    text: str
    limits: Limits
    at: int = 0
    repairs: list[Repair] = field(default_factory=list)
    marks: dict[str, tuple[int, int]] = field(default_factory=dict)
    gaps: dict[int, int] = field(default_factory=dict)

    # Objects and lists.

    def value(self, path: Path, depth: int) -> object:
        """Read the value that begins here."""
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
        """Read the object that begins here."""
        self.open(depth)
        members: JsonObject = {}
        while not self.closes("}", path, after_item=bool(members)):
            key = self.key(path)
            member_path = (*path, key)
            if key in members:
                actual = f"{excerpt(key)} again"
                raise self.refuse(
                    "duplicate_key", "every key once", actual, member_path
                )
            self.colon(path)
            self.gap(member_path)
            members[key] = self.value(member_path, depth)
        return members

    def read_list(self, path: Path, depth: int) -> list[object]:
        """Read the list that begins here."""
        self.open(depth)
        items: list[object] = []
        while not self.closes("]", path, after_item=bool(items)):
            items.append(self.value((*path, len(items)), depth))
        return items

    def open(self, depth: int) -> None:
        """Pass the bracket that opens a container of this depth."""
        if depth > self.limits.max_depth:
            expected = f"at most {self.limits.max_depth} levels"
            raise self.refuse("too_deep", expected, "a deeper level")
        self.at += 1

    def closes(self, closing: str, path: Path, *, after_item: bool) -> bool:
        """Pass the separator, and tell whether the container ends here."""
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
        """Read a key, with or without quotes."""
        if self.peek() in _CLOSING:
            return self.string(path)
        word = BARE_WORD.match(self.text, self.at)
        if word is None:
            raise self.refuse("not_json", "a key", repr(self.peek()))
        self.note("bare_key", path, word[0], f'"{word[0]}"')
        self.at = word.end()
        return word[0]

    def colon(self, path: Path) -> None:
        """Pass the colon after a key."""
        self.gap(path)
        if self.peek() != ":":
            raise self.refuse("not_json", ":", repr(self.peek()))
        self.at += 1

    # Texts.

    def string(self, path: Path) -> str:
        """Read the text that begins with the quote here."""
        start = self.at
        quote = self.text[start]
        closing = _CLOSING[quote]
        plain = _PLAIN[closing]
        if quote != '"':
            self.note("quotes", path, quote, '"')

        pieces: list[str] = []
        self.at += 1
        while True:
            pieces.append(self.plain_piece(plain))
            char = self.peek()
            if char == closing:
                break
            if char == "\\":
                pieces.append(self.escape(path, quote))
            elif char in "\n\r\t":
                self.note("control_character", path, char, repr(char)[1:-1])
                pieces.append(char)
                self.at += 1
            else:
                expected = "a text without control characters"
                actual = f"U+{ord(char):04X}"
                raise self.refuse("not_json", expected, actual, path, start)
        self.at += 1
        return "".join(pieces)

    def plain_piece(self, plain: re.Pattern[str]) -> str:
        """Pass the characters that need no attention, and return them."""
        start = self.at
        match = plain.match(self.text, start)
        self.at = match.end() if match else start
        return self.text[start : self.at]

    def escape(self, path: Path, quote: str) -> str:
        """Read the escape that begins here, inside a text in these quotes."""
        char = self.text[self.at + 1 : self.at + 2]
        if char in _ESCAPES:
            if char == "'" and quote == '"':
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
            actual = f"half a character, \\u{code:04x}"
            raise self.refuse("lone_surrogate", "a whole character", actual, path)
        return chr(code)

    def hex(self, path: Path) -> int:
        r"""Read the digits of the \uXXXX that begins here."""
        digits = self.text[self.at + 2 : self.at + 6]
        if not _HEX.fullmatch(digits):
            expected = "four hexadecimal digits after \\u"
            raise self.refuse("not_json", expected, repr(digits), path)
        self.at += 6
        return int(digits, 16)

    # Numbers and literals.

    def number(self, path: Path) -> int | float:
        """Read the number that begins here."""
        match = _NUMBER.match(self.text, self.at)
        if match is None or _GOES_ON.match(self.text, match.end()):
            actual = excerpt(self.text[self.at : self.at + 20])
            raise self.refuse("not_json", "a number as JSON writes it", actual)
        self.at = match.end()

        max_digits = self.limits.max_digits
        if len(match[1]) > max_digits:
            expected = f"at most {max_digits} digits"
            raise self.refuse("number_too_long", expected, "a longer number", path)
        if not match[2] and not match[3]:
            return int(match[0])
        number = float(match[0])
        if isinf(number):
            actual = excerpt(match[0])
            raise self.refuse("not_finite", "a number that fits", actual, path)
        return number

    def literal(self, path: Path) -> bool | None:
        """Read true, false or null, also as Python writes them."""
        match = BARE_WORD.match(self.text, self.at)
        word = match[0] if match else self.peek()
        if word not in _LITERALS:
            raise self.refuse("not_json", "a value", excerpt(word))
        value = _LITERALS[word]
        if word in _PYTHON_LITERALS:
            self.note("python_literal", path, word, excerpt(value))
        self.at += len(word)
        return value

    # White space and comments between values.

    def gap(self, path: Path) -> None:
        """Pass white space and comments. Comments and odd spaces are repairs."""
        while (end := self.gap_end(self.at)) > self.at:
            passed = self.text[self.at : end]
            if passed[0] in "/#":
                self.note_comment(passed.strip(), path)
            elif not passed.isascii():
                self.note("odd_space", path, passed.strip(" \t\r\n"), "")
            self.at = end
        if self.text.startswith("/*", self.at):
            expected = "the end of the comment"
            raise self.refuse("cut_short", expected, "the end of the text")

    def note_comment(self, comment: str, path: Path) -> None:
        """Drop a comment, unless it stands for something that was left out."""
        if _LEFT_OUT.search(comment):
            expected = "the whole object, nothing left out"
            raise self.refuse("not_json", expected, excerpt(comment))
        self.note("comment", path, comment, "")

    def skip_gaps(self, start: int) -> int:
        """Look past white space and comments, and remember where they end."""
        passed = [start]
        at = start
        while at not in self.gaps and (end := self.gap_end(at)) > at:
            passed.append(end)
            at = end
        at = self.gaps.get(at, at)
        self.gaps.update(dict.fromkeys(passed, at))
        return at

    def gap_end(self, at: int) -> int:
        """The end of the white space, or of the comment, that begins at a place."""
        if self.text.startswith(("//", "#"), at):
            return self.following("\n", at)
        if self.text.startswith("/*", at):
            end = self.following("*/", at + 2)
            if end == len(self.text):
                return at
            return end + 2
        match = _BLANK.match(self.text, at)
        return match.end() if match else at

    def following(self, mark: str, at: int) -> int:
        """The next place of a mark, or the end of the text.

        The last answer is kept, because it is asked for again and again on the way
        there.
        """
        searched_from, known = self.marks.get(mark, (0, -1))
        if not searched_from <= at <= known:
            place = self.text.find(mark, at)
            known = len(self.text) if place < 0 else place
            self.marks[mark] = at, known
        return known

    # The character at hand, repairs and refusals.

    def peek(self) -> str:
        """The character here; the text must not end yet."""
        if self.at >= len(self.text):
            expected = "the rest of the object"
            raise self.refuse("cut_short", expected, "the end of the text")
        return self.text[self.at]

    def note(
        self,
        rule: str,
        path: Path,
        before: object,
        after: object,
        offset: int | None = None,
    ) -> None:
        """Record a repair, here unless another offset is given."""
        place = self.at if offset is None else offset
        self.repairs.append(
            Repair(
                rule=rule,
                path=render(path),
                before=before,
                after=after,
                offset=place,
            )
        )

    def refuse(
        self,
        code: str,
        expected: str,
        actual: str,
        path: Path = (),
        offset: int | None = None,
    ) -> Unparseable:
        """The error to raise, about this place unless another offset is given."""
        place = self.at if offset is None else offset
        return Unparseable(
            code,
            expected=expected,
            actual=actual,
            path=render(path),
            offset=place,
        )

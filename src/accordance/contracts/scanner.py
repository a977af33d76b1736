"""A JSON scanner that is fed piece by piece and stops at the first thing that dooms the text.

It builds nothing. It serves three askers with one set of rules: the strict reader, when the fast parser said no
and somebody must say why and where; the stream guard, which must not wait for the end; and reports, which want
the line a path is on. Work is linear in the text, whatever the pieces; memory is bounded by depth and keys.

Grammar: RFC 8259, one object, nothing around it but JSON white space; no key twice, no lone surrogate, no number
that overflows, no deeper and no longer than the limits allow.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from math import isinf
from typing import Final, TypeAlias

from accordance.contracts.escapes import (
    ESCAPES,
    HEX_DIGITS,
    is_high_half,
    is_low_half,
    joined,
)
from accordance.contracts.jsonpath import Path
from accordance.contracts.limits import LIMITS, Limits

_BLANK = re.compile(r"[ \t\n\r]*")
_PLAIN = re.compile(r'[^"\\\x00-\x1f\ud800-\udfff]*')
_NUMBERISH = re.compile(r"[-+.0-9eE]*")
_LETTERS = re.compile(r"[A-Za-z]*")
_HEX = re.compile(r"[0-9A-Fa-f]*")
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_LITERALS: Final = ("true", "false", "null")
_LONGEST_LITERAL: Final = 5


@dataclass(frozen=True, slots=True)
class Flaw:
    """Why a text can no longer become an accepted message, and where that showed."""

    code: str
    offset: int  # in characters from the start of the text
    expected: str
    actual: str
    path: Path = ()


class _Expect(Enum):
    """What may come next outside of strings, numbers and literals."""

    START = auto()
    FIRST_KEY = auto()
    KEY = auto()
    COLON = auto()
    VALUE = auto()
    FIRST_ITEM = auto()
    SEPARATOR = auto()
    NOTHING = auto()


@dataclass(slots=True)
class _Frame:
    """One open object (keys seen, key at hand) or list (index at hand)."""

    keys: set[str] | None
    step: str | int = 0


_Step: TypeAlias = Callable[[str, int], int]


@dataclass(slots=True)
class Scanner:
    """Feed it text; it answers with the first flaw, or None while there is hope."""

    limits: Limits = LIMITS
    wanted: frozenset[Path] = (
        frozenset()
    )  # paths whose place in the text is to be noted
    # top-level key -> the texts it may hold; an empty one stands for any blank text
    watched: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    flaw: Flaw | None = None
    places: dict[Path, int] = field(default_factory=dict)
    _base: int = 0  # offset of the piece at hand
    _expect: _Expect = _Expect.START
    _frames: list[_Frame] = field(default_factory=list)
    _mode: _Step | None = (
        None  # inside a string, number or literal: who goes on reading it
    )
    _pieces: list[str] = field(
        default_factory=list
    )  # of the token at hand, where its text matters
    _length: int = 0  # of the token at hand
    _is_key: bool = False
    _keep: bool = False
    _digits_only: int | None = (
        0  # how many, while a number consists of its integer part
    )
    _digits: str = ""  # of the escape at hand
    _high: int = 0  # a high surrogate that waits for its low half

    @property
    def complete(self) -> bool:
        """Whether a whole object has been read."""
        return self._expect is _Expect.NOTHING

    @property
    def path(self) -> Path:
        """Where in the message the scanner stands."""
        return tuple(frame.step for frame in self._frames)

    def feed(self, text: str) -> Flaw | None:
        """Read on. After a flaw nothing more is read."""
        at, end = 0, len(text)
        while at < end and self.flaw is None:
            step = self._mode
            at = step(text, at) if step else self._structure(text, at)
        self._base += end
        return self.flaw

    def end(self) -> Flaw | None:
        """No more text will come."""
        if self.flaw is None and self._mode in (self._number, self._literal):
            self._finish_token(0)
        if self.flaw is None and self._expect is _Expect.START:
            self._doom("empty", 0, "one JSON object", "nothing")
        if self.flaw is None and not self.complete:
            self._doom("cut_short", 0, "the rest of the object", "the end of the text")
        return self.flaw

    # Structure: braces, brackets, commas, colons, and which token begins.

    def _structure(self, text: str, at: int) -> int:
        match = _BLANK.match(text, at)
        at = match.end() if match else at
        if at == len(text):
            return at
        char = text[at]
        if self._expect is _Expect.START:
            self._begin(char, at, text)
        elif self._expect is _Expect.NOTHING:
            self._after_the_end(char, at, text)
        elif self._expect in (_Expect.FIRST_KEY, _Expect.KEY):
            self._key_or_close(char, at)
        elif self._expect is _Expect.COLON:
            self._punctuation(char, at, ":", _Expect.VALUE)
        elif self._expect is _Expect.SEPARATOR:
            self._separator(char, at)
        elif char == "]" and self._expect is _Expect.FIRST_ITEM:
            self._close()
        else:
            return self._value(char, at)
        return at + 1

    def _begin(self, char: str, at: int, text: str) -> None:
        if char == "{":
            self._note_place(at)
            self._open(_Frame(set()), _Expect.FIRST_KEY, at)
        elif char == "\ufeff":
            self._doom(
                "byte_order_mark", at, "{ as the first character", "a byte order mark"
            )
        elif char in '["':
            self._doom(
                "not_object",
                at,
                "one JSON object",
                "a list" if char == "[" else "a string",
            )
        else:
            self._doom(
                "text_around",
                at,
                "{ as the first character",
                _show(text[at : at + 40].split("\n", maxsplit=1)[0]),
            )

    def _after_the_end(self, char: str, at: int, text: str) -> None:
        if char in "{[":
            self._doom(
                "second_value",
                at,
                "nothing after the object",
                f"another value, from {_show(char)} on",
            )
        else:
            self._doom(
                "text_around",
                at,
                "nothing after the object",
                _show(text[at : at + 40].split("\n", maxsplit=1)[0]),
            )

    def _key_or_close(self, char: str, at: int) -> None:
        if char == '"':
            self._begin_string(is_key=True)
        elif char == "}" and self._expect is _Expect.FIRST_KEY:
            self._close()
        else:
            self._doom("not_json", at, "a key in double quotes", _show(char))

    def _punctuation(self, char: str, at: int, wanted: str, then: _Expect) -> None:
        if char == wanted:
            self._expect = then
        else:
            self._doom("not_json", at, wanted, _show(char))

    def _separator(self, char: str, at: int) -> None:
        frame = self._frames[-1]
        closing = "]" if frame.keys is None else "}"
        if char == closing:
            self._close()
        elif char != ",":
            self._doom("not_json", at, f", or {closing}", _show(char))
        elif isinstance(frame.step, int):
            frame.step += 1
            self._expect = _Expect.VALUE
        else:
            self._expect = _Expect.KEY

    def _value(self, char: str, at: int) -> int:
        self._note_place(at)
        if char == '"':
            self._begin_string(is_key=False)
        elif char == "{":
            self._open(_Frame(set()), _Expect.FIRST_KEY, at)
        elif char == "[":
            self._open(_Frame(None), _Expect.FIRST_ITEM, at)
        elif char in "-0123456789":
            self._begin_token(self._number)
            return at
        elif char in "tfn":
            self._begin_token(self._literal)
            return at
        else:
            self._doom("not_json", at, "a value", _show(char))
        return at + 1

    def _open(self, frame: _Frame, then: _Expect, at: int) -> None:
        if len(self._frames) >= self.limits.max_depth:
            self._doom(
                "too_deep",
                at,
                f"at most {self.limits.max_depth} levels",
                "a deeper one",
            )
        self._frames.append(frame)
        self._expect = then

    def _close(self) -> None:
        self._frames.pop()
        self._value_done()

    def _value_done(self) -> None:
        self._mode = None
        self._expect = _Expect.SEPARATOR if self._frames else _Expect.NOTHING

    # Strings.

    def _begin_string(self, *, is_key: bool) -> None:
        self._begin_token(self._string)
        self._is_key = is_key
        self._keep = is_key or (
            len(self._frames) == 1 and self._frames[0].step in self.watched
        )

    def _string(self, text: str, at: int) -> int:
        match = _PLAIN.match(text, at)
        end = match.end() if match else at
        if self._keep and end > at:
            self._pieces.append(text[at:end])
            self._check_watched(end, final=False)
        if end == len(text):
            return end
        char = text[end]
        if char == '"':
            self._end_string(end)
        elif char == "\\":
            self._mode = self._escape
        elif char < " ":
            self._doom(
                "not_json",
                end,
                "an escape such as \\n",
                f"a raw control character U+{ord(char):04X} in a string",
            )
        else:
            self._doom(
                "lone_surrogate",
                end,
                "a whole character",
                f"half of one, U+{ord(char):04X}",
                self.path,
            )
        return end + 1

    def _escape(self, text: str, at: int) -> int:
        char = text[at]
        if char == "u":
            self._begin_hex()
        elif char in ESCAPES:
            self._keep_piece(ESCAPES[char])
            self._mode = self._string
        else:
            self._doom("not_json", at, "a known escape", f"\\{char}")
        return at + 1

    def _begin_hex(self) -> None:
        self._digits = ""
        self._mode = self._hex

    def _hex(self, text: str, at: int) -> int:
        match = _HEX.match(text, at, at + HEX_DIGITS - len(self._digits))
        end = match.end() if match else at
        self._digits += text[at:end]
        if len(self._digits) == HEX_DIGITS:
            self._end_hex(int(self._digits, 16), end - 1)
        elif end < len(text):
            self._doom(
                "not_json", end, "four hexadecimal digits after \\u", _show(text[end])
            )
        return end

    def _end_hex(self, code: int, at: int) -> None:
        self._mode = self._string
        if is_low_half(code) != bool(self._high):
            self._half_a_character(self._high or code, at)
        elif self._high:
            self._keep_piece(joined(self._high, code))
            self._high = 0
        elif is_high_half(code):
            self._high = code
            self._mode = self._low_half
        else:
            self._keep_piece(chr(code))

    def _half_a_character(self, code: int, at: int) -> None:
        self._doom(
            "lone_surrogate",
            at,
            "a whole character",
            f"half of one, \\u{code:04x}",
            self.path,
        )

    def _low_half(self, text: str, at: int) -> int:
        r"""After a high surrogate only \\u may follow."""
        char = text[at]
        if char == "\\" and self._digits:
            self._digits = ""
        elif char == "u" and not self._digits:
            self._begin_hex()
        else:
            self._half_a_character(self._high, at)
        return at + 1

    def _keep_piece(self, piece: str) -> None:
        if self._keep:
            self._pieces.append(piece)

    def _end_string(self, at: int) -> None:
        if self._is_key:
            self._end_key("".join(self._pieces), at)
        else:
            if self._keep:
                self._check_watched(at, final=True)
            self._value_done()

    def _end_key(self, key: str, at: int) -> None:
        frame = self._frames[-1]
        keys = frame.keys if frame.keys is not None else set()
        frame.step = key
        if key in keys:
            self._doom(
                "duplicate_key", at, "every key once", f"{_show(key)} again", self.path
            )
        keys.add(key)
        self._mode = None
        self._expect = _Expect.COLON

    def _check_watched(self, at: int, *, final: bool) -> None:
        key = self._frames[0].step
        if self._is_key or key not in self.watched:
            return
        wanted, so_far = self.watched[str(key)], "".join(self._pieces)
        if "" in wanted and not so_far.strip():
            return
        if (
            so_far not in wanted
            if final
            else not any(word.startswith(so_far) for word in wanted)
        ):
            code = "version_mismatch" if key == "schema_version" else "wrong_task"
            self._doom(
                code, at, " or ".join(map(repr, wanted)), _show(so_far), self.path
            )

    # Numbers and literals: collected until something else comes, then judged.

    def _begin_token(self, mode: _Step) -> None:
        self._mode = mode
        self._pieces = []
        self._length = 0
        self._digits_only = 0

    def _number(self, text: str, at: int) -> int:
        end = self._collect(_NUMBERISH, text, at)
        if self._mode and (self._digits_only or 0) > self.limits.max_digits:
            self._finish_token(end)
        return end

    def _literal(self, text: str, at: int) -> int:
        end = self._collect(_LETTERS, text, at)
        if self._mode and self._length > _LONGEST_LITERAL:
            self._finish_token(end)
        return end

    def _collect(self, chars: re.Pattern[str], text: str, at: int) -> int:
        match = chars.match(text, at)
        end = match.end() if match else at
        piece = text[at:end]
        self._pieces.append(piece)
        self._count_digits(piece)
        self._length += end - at
        if end < len(text):
            self._finish_token(end)
        return end

    def _count_digits(self, piece: str) -> None:
        digits = piece.removeprefix("-") if self._length == 0 else piece
        if self._digits_only is not None:
            self._digits_only = (
                self._digits_only + len(digits)
                if digits.isdigit() or not digits
                else None
            )

    def _finish_token(self, at: int) -> None:
        token = "".join(self._pieces)
        is_number = self._mode == self._number
        self._value_done()
        if not is_number:
            if token not in _LITERALS:
                self._doom(
                    "not_json", at, "true, false, null or a quoted string", _show(token)
                )
            return
        number = _NUMBER.fullmatch(token)
        if number is None:
            self._doom("not_json", at, "a number as JSON writes it", _show(token))
        elif len(number[1]) > self.limits.max_digits:
            self._doom(
                "number_too_long",
                at,
                f"at most {self.limits.max_digits} digits",
                "a longer number",
                self.path,
            )
        elif (number[2] or number[3]) and isinf(float(token)):
            self._doom("not_finite", at, "a number that fits", _show(token), self.path)

    # Notes.

    def _note_place(self, at: int) -> None:
        if self.wanted and (path := self.path) in self.wanted:
            self.places.setdefault(path, self._base + at)

    def _doom(
        self, code: str, at: int, expected: str, actual: str, path: Path = ()
    ) -> None:
        if self.flaw is None:
            self.flaw = Flaw(code, self._base + at, expected, actual, path)


def _show(text: str) -> str:
    return repr(text if len(text) <= 24 else f"{text[:24]}…")  # noqa: PLR2004 - a glance is enough

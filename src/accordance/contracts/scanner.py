"""A JSON scanner that is fed piece by piece and stops at the first fatal flaw.

It builds nothing. The same rules serve three callers: the strict reader, which needs
to know why and where the fast parser refused a text; the stream guard, which cannot
wait for the end; and reports, which need the line of a path. Work is linear in the
text, however it is cut; memory is bounded by depth and keys.

It is a long module on purpose, for speed: the states share the current token and
follow each other character by character. Split, they would have to pass it around.

Grammar: RFC 8259, an object with nothing around it but JSON white space; no repeated
key, no lone surrogate, no number that overflows, nothing beyond the limits.
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
_LONGEST_LINE: Final = 40  # characters of a line around the object that are looked at
_LONGEST_SHOWN: Final = 24  # characters of a token that are shown


@dataclass(frozen=True, slots=True)
class Flaw:
    """Why a text can no longer become an accepted message, and where that shows."""

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
    """An open object, with its keys and the current key, or a list, with its index."""

    keys: set[str] | None
    step: str | int = 0


_Step: TypeAlias = Callable[[str, int], int]
"""A state of the scanner: reads on in a piece of text, from a place to the next."""


@dataclass(slots=True)
class Scanner:
    """Feed it text; it returns the first flaw, or None while there is hope.

    `wanted` are paths whose place in the text is to be noted in `places`. `watched`
    maps a top-level key to the texts it may hold; an empty text stands for any blank
    text.
    """

    limits: Limits = LIMITS
    wanted: frozenset[Path] = frozenset()
    watched: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    flaw: Flaw | None = None
    places: dict[Path, int] = field(default_factory=dict)
    _base: int = 0  # the offset of the current piece
    _expect: _Expect = _Expect.START
    _frames: list[_Frame] = field(default_factory=list)
    _mode: _Step | None = None  # reads on inside a string, number or literal
    _pieces: list[str] = field(default_factory=list)  # of the current token
    _length: int = 0  # of the current token
    _is_key: bool = False
    _keep: bool = False  # the text of the current string matters
    _digits_only: int | None = 0  # digits so far, while a number has nothing else
    _digits: str = ""  # of the current escape
    _high: int = 0  # a high surrogate that waits for its low half

    @property
    def complete(self) -> bool:
        """Whether a whole object has been read."""
        return self._expect is _Expect.NOTHING

    @property
    def path(self) -> Path:
        """Where in the message the scanner is."""
        return tuple(frame.step for frame in self._frames)

    def feed(self, text: str) -> Flaw | None:
        """Read on. After a flaw nothing more is read."""
        at = 0
        end = len(text)
        while at < end and self.flaw is None:
            step = self._mode or self._structure
            at = step(text, at)
        self._base += end
        return self.flaw

    def end(self) -> Flaw | None:
        """Judge the text as complete: no more will come."""
        if self.flaw is None and self._mode in (self._number, self._literal):
            self._finish_token(0)
        if self.flaw is None and self._expect is _Expect.START:
            self._doom("empty", 0, "one JSON object", "nothing")
        if self.flaw is None and not self.complete:
            self._doom("cut_short", 0, "the rest of the object", "the end of the text")
        return self.flaw

    # Structure: braces, brackets, commas, colons, and which token begins.

    def _structure(self, text: str, at: int) -> int:
        blank = _BLANK.match(text, at)
        at = blank.end() if blank else at
        if at == len(text):
            return at

        char = text[at]
        expect = self._expect
        if expect is _Expect.SEPARATOR:
            self._separator(char, at)
        elif expect is _Expect.KEY or expect is _Expect.FIRST_KEY:
            self._key_or_close(char, at)
        elif expect is _Expect.COLON:
            self._colon(char, at)
        elif expect is _Expect.START:
            self._begin(char, at, text)
        elif expect is _Expect.NOTHING:
            self._after_the_end(char, at, text)
        elif expect is _Expect.FIRST_ITEM and char == "]":
            self._close()
        else:
            return self._value(char, at)
        return at + 1

    def _begin(self, char: str, at: int, text: str) -> None:
        first = "{ as the first character"
        if char == "{":
            self._note_place(at)
            self._open(_Frame(set()), _Expect.FIRST_KEY, at)
        elif char == "\ufeff":
            self._doom("byte_order_mark", at, first, "a byte order mark")
        elif char == "[":
            self._doom("not_object", at, "one JSON object", "a list")
        elif char == '"':
            self._doom("not_object", at, "one JSON object", "a string")
        else:
            self._doom("text_around", at, first, _show_line(text, at))

    def _after_the_end(self, char: str, at: int, text: str) -> None:
        expected = "nothing after the object"
        if char in "{[":
            actual = f"another value, from {_show(char)} on"
            self._doom("second_value", at, expected, actual)
        else:
            self._doom("text_around", at, expected, _show_line(text, at))

    def _key_or_close(self, char: str, at: int) -> None:
        if char == '"':
            self._begin_string(is_key=True)
        elif char == "}" and self._expect is _Expect.FIRST_KEY:
            self._close()
        else:
            self._doom("not_json", at, "a key in double quotes", _show(char))

    def _colon(self, char: str, at: int) -> None:
        if char == ":":
            self._expect = _Expect.VALUE
        else:
            self._doom("not_json", at, ":", _show(char))

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
        max_depth = self.limits.max_depth
        if len(self._frames) >= max_depth:
            self._doom("too_deep", at, f"at most {max_depth} levels", "a deeper level")
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
        is_top_level = len(self._frames) == 1
        is_watched = is_top_level and self._frames[0].step in self.watched
        self._keep = is_key or is_watched

    def _string(self, text: str, at: int) -> int:
        plain = _PLAIN.match(text, at)
        end = plain.end() if plain else at
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
            actual = f"a raw control character U+{ord(char):04X} in a string"
            self._doom("not_json", end, "an escape such as \\n", actual)
        else:
            self._half_a_character(f"U+{ord(char):04X}", end)
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
        digits = _HEX.match(text, at, at + HEX_DIGITS - len(self._digits))
        end = digits.end() if digits else at
        self._digits += text[at:end]
        if len(self._digits) == HEX_DIGITS:
            self._end_hex(int(self._digits, 16), end - 1)
        elif end < len(text):
            expected = "four hexadecimal digits after \\u"
            self._doom("not_json", end, expected, _show(text[end]))
        return end

    def _end_hex(self, code: int, at: int) -> None:
        self._mode = self._string
        awaits_low_half = self._high != 0
        if is_low_half(code) != awaits_low_half:
            self._half_a_character(f"\\u{self._high or code:04x}", at)
        elif awaits_low_half:
            self._keep_piece(joined(self._high, code))
            self._high = 0
        elif is_high_half(code):
            self._high = code
            self._mode = self._low_half
        else:
            self._keep_piece(chr(code))

    def _low_half(self, text: str, at: int) -> int:
        r"""Read on after a high surrogate, where only \\u may follow."""
        char = text[at]
        if char == "\\" and self._digits:
            self._digits = ""
        elif char == "u" and not self._digits:
            self._begin_hex()
        else:
            self._half_a_character(f"\\u{self._high:04x}", at)
        return at + 1

    def _half_a_character(self, half: str, at: int) -> None:
        actual = f"half a character, {half}"
        path = self.path[:-1] if self._is_key else self.path  # the step of a key is old
        self._doom("lone_surrogate", at, "a whole character", actual, path)

    def _keep_piece(self, piece: str) -> None:
        if self._keep:
            self._pieces.append(piece)

    def _end_string(self, at: int) -> None:
        if self._is_key:
            self._end_key("".join(self._pieces), at)
            return
        if self._keep:
            self._check_watched(at, final=True)
        self._value_done()

    def _end_key(self, key: str, at: int) -> None:
        frame = self._frames[-1]
        keys = frame.keys if frame.keys is not None else set()
        frame.step = key
        if key in keys:
            actual = f"{_show(key)} again"
            self._doom("duplicate_key", at, "every key once", actual, self.path)
        keys.add(key)
        self._mode = None
        self._expect = _Expect.COLON

    def _check_watched(self, at: int, *, final: bool) -> None:
        """Doom the text if a watched key can no longer hold what it must."""
        key = self._frames[0].step
        if self._is_key or key not in self.watched:
            return
        wanted = self.watched[str(key)]
        so_far = "".join(self._pieces)
        if "" in wanted and not so_far.strip():
            return

        if final:
            can_fit = so_far in wanted
        else:
            can_fit = any(word.startswith(so_far) for word in wanted)
        if not can_fit:
            code = "version_mismatch" if key == "schema_version" else "wrong_task"
            expected = " or ".join(map(repr, wanted))
            self._doom(code, at, expected, _show(so_far), self.path)

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
        if self._digits_only is None:
            return
        digits = piece.removeprefix("-") if self._length == 0 else piece
        if digits.isdigit() or not digits:
            self._digits_only += len(digits)
        else:
            self._digits_only = None

    def _finish_token(self, at: int) -> None:
        token = "".join(self._pieces)
        is_number = self._mode == self._number
        self._value_done()
        if is_number:
            self._judge_number(token, at)
        elif token not in _LITERALS:
            expected = "true, false, null or a quoted string"
            self._doom("not_json", at, expected, _show(token))

    def _judge_number(self, token: str, at: int) -> None:
        number = _NUMBER.fullmatch(token)
        if number is None:
            self._doom("not_json", at, "a number as JSON writes it", _show(token))
            return

        max_digits = self.limits.max_digits
        has_fraction_or_exponent = number[2] or number[3]
        if len(number[1]) > max_digits:
            expected = f"at most {max_digits} digits"
            self._doom("number_too_long", at, expected, "a longer number", self.path)
        elif has_fraction_or_exponent and isinf(float(token)):
            self._doom("not_finite", at, "a number that fits", _show(token), self.path)

    # Notes.

    def _note_place(self, at: int) -> None:
        if not self.wanted:
            return
        path = self.path
        if path in self.wanted:
            self.places.setdefault(path, self._base + at)

    def _doom(
        self,
        code: str,
        at: int,
        expected: str,
        actual: str,
        path: Path = (),
    ) -> None:
        """Record the flaw, if it is the first."""
        if self.flaw is None:
            self.flaw = Flaw(
                code=code,
                offset=self._base + at,
                expected=expected,
                actual=actual,
                path=path,
            )


def _show(text: str) -> str:
    is_short = len(text) <= _LONGEST_SHOWN
    return repr(text if is_short else f"{text[:_LONGEST_SHOWN]}…")


def _show_line(text: str, at: int) -> str:
    """What stands at a place, up to the end of its line."""
    line = text[at : at + _LONGEST_LINE].split("\n", maxsplit=1)[0]
    return _show(line)

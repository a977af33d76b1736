"""The colours of a plan's picture, by day and by night."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, TypeAlias

from accordance.domain.lifecycle import State
from accordance.rendering.plans.folding import Tie

ThemeName: TypeAlias = Literal["auto", "light", "dark"]
THEMES: Final[tuple[ThemeName, ...]] = ("auto", "light", "dark")


class _Colours(NamedTuple):
    """The colours of a state."""

    fill: str
    border: str
    text: str


class _Theme(NamedTuple):
    page: str
    frame: str
    inner: str  # a frame in a frame
    title: str
    note: str
    states: Mapping[State, _Colours]
    ties: Mapping[Tie, str]


_LIGHT: Final = _Theme(
    page="#ffffff",
    frame="#f3f5f8",
    inner="#fbfcfd",
    title="#1c2126",
    note="#59636e",
    states=MappingProxyType(
        {
            State.PENDING: _Colours("#ffffff", "#b4bcc6", "#59636e"),
            State.READY: _Colours("#e6f3ff", "#5aa9f8", "#0b57a8"),
            State.IN_PROGRESS: _Colours("#c4e2ff", "#1a73d9", "#0a3d7a"),
            State.READY_TO_CHECK: _Colours("#f5ebff", "#b48cf2", "#6336b3"),
            State.TO_BE_MODIFY: _Colours("#ffefe0", "#f0944d", "#8f3c00"),
            State.BLOCKED: _Colours("#fff6c9", "#cfa529", "#744b00"),
            State.FAILED: _Colours("#ffe9e7", "#f47c7c", "#a3122a"),
            State.DONE: _Colours("#ddf7e3", "#4cb96a", "#136030"),
            State.ABANDONED: _Colours("#fafbfc", "#ccd3db", "#848d97"),
            State.DEAD_LETTER: _Colours("#ffc9c6", "#c92a35", "#7d0a1e"),
        }
    ),
    ties=MappingProxyType(
        {
            Tie.BEFORE: "#5b6b7d",
            Tie.CHECKS: "#8a5ad6",
            Tie.PART: "#a3adb8",
        }
    ),
)
_DARK: Final = _Theme(
    page="#0e1217",
    frame="#151a21",
    inner="#1b212a",
    title="#e8edf2",
    note="#93a0ad",
    states=MappingProxyType(
        {
            State.PENDING: _Colours("#1a2027", "#485361", "#93a0ad"),
            State.READY: _Colours("#0f2a47", "#3f8ff0", "#86c3ff"),
            State.IN_PROGRESS: _Colours("#123d70", "#5aa9ff", "#b3d9ff"),
            State.READY_TO_CHECK: _Colours("#2a1f47", "#9d74ee", "#d0b0ff"),
            State.TO_BE_MODIFY: _Colours("#3a2312", "#d87430", "#ffad66"),
            State.BLOCKED: _Colours("#362b0c", "#b58415", "#e8bd4e"),
            State.FAILED: _Colours("#3c171b", "#ee5a52", "#ff8f86"),
            State.DONE: _Colours("#12301d", "#36a552", "#84e79a"),
            State.ABANDONED: _Colours("#12161c", "#333c47", "#6f7a86"),
            State.DEAD_LETTER: _Colours("#58141b", "#ff6259", "#ffb9b3"),
        }
    ),
    ties=MappingProxyType(
        {
            Tie.BEFORE: "#9aa9ba",
            Tie.CHECKS: "#b18cf5",
            Tie.PART: "#5d6874",
        }
    ),
)


def stylesheet(theme: ThemeName) -> str:
    """Return the style sheet; `auto` follows the reader's own setting."""
    first = _DARK if theme == "dark" else _LIGHT
    rules = [*_SHAPES, *_rules(first)]
    if theme == "auto":
        dark = "".join(_rules(_DARK))
        rules.append(f"@media (prefers-color-scheme: dark){{{dark}}}")
    return "\n".join(rules)


_FONTS: Final = "system-ui,'Segoe UI',Roboto,'Noto Sans','Noto Sans CJK SC',sans-serif"
_SHAPES: Final = (
    f"text{{font-family:{_FONTS}}}",
    ".t{font-size:12.5px}",
    ".h{font-size:14px;font-weight:600}",
    ".n{font-size:10.5px}",
    ".a{fill:none;stroke-width:1.4}",
    ".a.checks{stroke-dasharray:2 3}",
    ".a.part{stroke-dasharray:6 4}",
    ".b{stroke-width:1.2}",
    ".alternative .b{stroke-dasharray:5 3}",
)


def _rules(theme: _Theme) -> Iterator[str]:
    yield f".page{{fill:{theme.page}}}"
    yield f".t,.h{{fill:{theme.title}}}"
    yield f".n{{fill:{theme.note}}}"
    for state, colours in theme.states.items():
        yield f".{state} .b{{fill:{colours.fill};stroke:{colours.border}}}"
        yield f".{state} .n{{fill:{colours.text}}}"
        yield f".{state}.bar{{fill:{colours.border}}}"
    yield f".frame .b{{fill:{theme.frame}}}"
    yield f".frame.inner .b{{fill:{theme.inner}}}"
    for tie, colour in theme.ties.items():
        yield f".a.{tie}{{stroke:{colour}}}"
        yield f".tip.{tie}{{fill:{colour}}}"

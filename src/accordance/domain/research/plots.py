"""T-scores as a picture: SVG for pages, text for terminals. Options from the least to the most typical, classes as bands."""

from __future__ import annotations

import unicodedata
from html import escape
from typing import Final

from accordance.contracts.catalogue.answer import AgentAnswer, TScore
from accordance.domain.research.names import tidy, visible
from accordance.domain.research.words import WORDS, Language
from accordance.domain.t_scores import t_class

BANDS: Final = (
    (0.0, 0.3, "creative"),
    (0.3, 0.5, "emerging"),
    (0.5, 0.8, "established"),
    (0.8, 1.0, "modal"),
)
_COLOURS: Final = {
    "creative": "#d7f0e1",
    "emerging": "#e3f0fb",
    "established": "#fbf3d9",
    "modal": "#fbe0dd",
}
_ROW, _TOP, _LEFT, _SCALE, _RIGHT = (
    28,
    64,
    260,
    480,
    72,
)  # sizes of the picture, in pixels
_LONGEST_LABEL: Final = (
    32  # columns; a longer name is cut, its whole stands in the tooltip
)
_TEXT_SCALE: Final = 40
_FONT: Final = 'font-family="system-ui, sans-serif" font-size="13"'


def _in_order(answer: AgentAnswer) -> list[TScore]:
    return sorted(answer.vs_metadata.t_scores, key=lambda one: one.score)


def t_score_svg(answer: AgentAnswer, language: Language = "ko") -> str:
    """The T-scores of an answer as SVG that fetches nothing and runs nothing."""
    words, scores = WORDS[language], _in_order(answer)
    height = _TOP + _ROW * len(scores) + 40
    width = _LEFT + _SCALE + _RIGHT
    title = escape(words.plot_title)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" {_FONT}>',
        f"<title>{title}</title>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        f'<text x="{_LEFT}" y="24" font-size="16" font-weight="600">{title}</text>',
        *_bands(height - 40),
    ]
    selected = answer.vs_metadata.final_selection.option
    for at, one in enumerate(scores):
        lines += _svg_row(
            one,
            _TOP + _ROW * at + _ROW // 2,
            words.selected if one.option == selected else "",
        )
    return "\n".join([*lines, "</svg>"]) + "\n"


def _x(score: float) -> str:
    return f"{_LEFT + score * _SCALE:.1f}"


def _bands(bottom: int) -> list[str]:
    lines = []
    for low, high, name in BANDS:
        width = (high - low) * _SCALE
        middle = _x((low + high) / 2)
        lines += [
            f'<rect x="{_x(low)}" y="{_TOP - 8}" width="{width:.1f}" height="{bottom - _TOP + 8}" fill="{_COLOURS[name]}"/>',
            f'<text x="{middle}" y="{_TOP - 16}" text-anchor="middle" fill="#57606a">{name}</text>',
            f'<text x="{_x(low)}" y="{bottom + 18}" text-anchor="middle" fill="#57606a">{low:g}</text>',
        ]
    return [
        *lines,
        f'<text x="{_x(1)}" y="{bottom + 18}" text-anchor="middle" fill="#57606a">1</text>',
    ]


def _svg_row(one: TScore, y: int, selected: str) -> list[str]:
    colour, radius = ("#0969da", 8) if selected else ("#57606a", 6)
    weight = ' font-weight="600"' if selected else ""
    note = f" · {escape(selected)}" if selected else ""
    return [
        f'<text x="{_LEFT - 12}" y="{y + 4}" text-anchor="end"{weight}>{escape(_cut(one.option))}</text>',
        f'<circle cx="{_x(one.score)}" cy="{y}" r="{radius}" fill="{colour}"><title>{escape(visible(tidy(one.option)))}: {one.score:.2f}{note}</title></circle>',
        f'<text x="{_LEFT + _SCALE + 8}" y="{y + 4}"{weight}>{one.score:.2f}</text>',
    ]


def t_score_text(answer: AgentAnswer, language: Language = "ko") -> str:
    """The T-scores of an answer for a terminal: one line per option, bounds of the classes marked."""
    words, scores = WORDS[language], _in_order(answer)
    width = max(columns(_cut(one.option)) for one in scores)
    selected = answer.vs_metadata.final_selection.option
    lines = [f"{' ' * width}  {_ruler()}"]
    for one in scores:
        note = f"  ◀ {words.selected}" if one.option == selected else ""
        mark = "●" if one.option == selected else "○"
        lines.append(
            f"{_pad(_cut(one.option), width)}  {_line(one.score, mark)} {one.score:.2f} {t_class(one.score)}{note}"
        )
    return "\n".join(lines) + "\n"


def _ruler() -> str:
    """The numbers of the class bounds over their places."""
    line = [" "] * (_TEXT_SCALE + 3)
    for bound in ("0", "0.3", "0.5", "0.8", "1"):
        at = _place(float(bound))
        line[at : at + len(bound)] = bound
    return "".join(line).rstrip()


def _line(score: float, mark: str) -> str:
    line = ["·"] * (_TEXT_SCALE + 1)
    for low, _, _ in BANDS[1:]:
        line[_place(low)] = "┊"
    line[_place(score)] = mark
    return "".join(line)


def _place(score: float) -> int:
    return round(score * _TEXT_SCALE)


def columns(text: str) -> int:
    """How many columns of a terminal a text takes: wide characters take two, combining ones none."""
    return sum(
        0
        if unicodedata.combining(char)
        else 2
        if unicodedata.east_asian_width(char) in "WF"
        else 1
        for char in text
    )


def _pad(text: str, width: int) -> str:
    return text + " " * (width - columns(text))


def _cut(text: str) -> str:
    """A name on one line, at most so wide."""
    shown = visible(tidy(text))
    if columns(shown) <= _LONGEST_LABEL:
        return shown
    while columns(shown) > _LONGEST_LABEL - 1:
        shown = shown[:-1]
    return f"{shown}…"

"""The T-scores of an answer as a picture: SVG for pages, text for terminals.

Options go from the least to the most typical; the classes are bands.
"""

from __future__ import annotations

import unicodedata
from html import escape
from typing import Final

from accordance.contracts.catalogue.answer import AgentAnswer, TScore
from accordance.domain.research.names import tidy, visible
from accordance.domain.t_scores import t_class
from accordance.rendering.svg import document_start, element
from accordance.rendering.words import WORDS, Language

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
_GREY: Final = "#57606a"
_BLUE: Final = "#0969da"
_FONT: Final = ' font-family="system-ui, sans-serif" font-size="13"'

# Sizes of the picture, in pixels.
_ROW: Final = 28
_TOP: Final = 64
_BOTTOM: Final = 40
_LEFT: Final = 260
_SCALE: Final = 480
_RIGHT: Final = 72

# Sizes in a terminal, in columns.
_TEXT_SCALE: Final = 40
_LONGEST_LABEL: Final = 32
"""A longer name is cut; the tooltip has all of it."""


def _by_typicality(answer: AgentAnswer) -> list[TScore]:
    return sorted(answer.vs_metadata.t_scores, key=lambda entry: entry.score)


# -- SVG


def t_score_svg(answer: AgentAnswer, language: Language = "ko") -> str:
    """Return the T-scores as SVG that fetches nothing and runs nothing."""
    words = WORDS[language]
    selected = answer.vs_metadata.final_selection.option
    entries = _by_typicality(answer)

    width = _LEFT + _SCALE + _RIGHT
    height = _TOP + _ROW * len(entries) + _BOTTOM
    title = escape(words.plot_title)

    lines = [
        document_start(width, height, _FONT),
        element("title", title),
        element(
            "rect",
            width=width,
            height=height,
            fill="#ffffff",
        ),
        element(
            "text",
            title,
            x=_LEFT,
            y=24,
            font_size=16,
            font_weight=600,
        ),
    ]
    lines += _svg_bands(height - _BOTTOM)
    for row, entry in enumerate(entries):
        middle = _TOP + _ROW * row + _ROW // 2
        note = words.selected if entry.option == selected else ""
        lines += _svg_row(entry, middle, note)
    lines.append("</svg>")
    return "\n".join(lines) + "\n"


def _svg_bands(bottom: int) -> list[str]:
    lines = []
    height = bottom - _TOP + 8
    for low, high, name in BANDS:
        width = (high - low) * _SCALE
        middle = (low + high) / 2
        band = element(
            "rect",
            x=_x(low),
            y=_TOP - 8,
            width=f"{width:.1f}",
            height=height,
            fill=_COLOURS[name],
        )
        lines.append(band)
        lines.append(_svg_label(_x(middle), _TOP - 16, name))
        lines.append(_svg_label(_x(low), bottom + 18, f"{low:g}"))
    lines.append(_svg_label(_x(1), bottom + 18, "1"))
    return lines


def _svg_label(x: str, y: int, text: str) -> str:
    return element(
        "text",
        text,
        x=x,
        y=y,
        text_anchor="middle",
        fill=_GREY,
    )


def _svg_row(entry: TScore, middle: int, note: str) -> list[str]:
    """Return name, dot and score of an option; the selected option stands out."""
    colour = _GREY
    radius = 6
    weight: dict[str, object] = {}
    name = escape(visible(tidy(entry.option)))
    score = f"{entry.score:.2f}"
    tooltip = f"{name}: {score}"
    if note:
        colour = _BLUE
        radius = 8
        weight = {"font_weight": 600}
        tooltip += f" · {escape(note)}"

    label = escape(_cut(entry.option))
    title = element("title", tooltip)
    baseline = middle + 4
    score_x = _LEFT + _SCALE + 8
    return [
        element(
            "text",
            label,
            x=_LEFT - 12,
            y=baseline,
            text_anchor="end",
            **weight,
        ),
        element(
            "circle",
            title,
            cx=_x(entry.score),
            cy=middle,
            r=radius,
            fill=colour,
        ),
        element("text", score, x=score_x, y=baseline, **weight),
    ]


def _x(score: float) -> str:
    return f"{_LEFT + score * _SCALE:.1f}"


# -- text


def t_score_text(answer: AgentAnswer, language: Language = "ko") -> str:
    """Return the T-scores for a terminal, an option on each line."""
    words = WORDS[language]
    selected = answer.vs_metadata.final_selection.option
    entries = _by_typicality(answer)
    width = max(columns(_cut(entry.option)) for entry in entries)

    lines = [f"{' ' * width}  {_ruler()}"]
    for entry in entries:
        is_selected = entry.option == selected
        label = _pad(_cut(entry.option), width)
        scale = _scale(entry.score, "●" if is_selected else "○")
        line = f"{label}  {scale} {entry.score:.2f} {t_class(entry.score)}"
        if is_selected:
            line += f"  ◀ {words.selected}"
        lines.append(line)
    return "\n".join(lines) + "\n"


def _ruler() -> str:
    """Return the bounds of the classes, each above its place on the scale."""
    line = [" "] * (_TEXT_SCALE + 3)
    for bound in ("0", "0.3", "0.5", "0.8", "1"):
        start = _place(float(bound))
        line[start : start + len(bound)] = bound
    return "".join(line).rstrip()


def _scale(score: float, mark: str) -> str:
    line = ["·"] * (_TEXT_SCALE + 1)
    for low, _, _ in BANDS[1:]:
        line[_place(low)] = "┊"
    line[_place(score)] = mark
    return "".join(line)


def _place(score: float) -> int:
    return round(score * _TEXT_SCALE)


def columns(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    return sum(_width(char) for char in text)


def _width(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    is_wide = unicodedata.east_asian_width(char) in "WF"
    return 2 if is_wide else 1


def _pad(text: str, width: int) -> str:
    return text + " " * (width - columns(text))


def _cut(text: str) -> str:
    """Return a name on a single line, cut to the longest label."""
    label = visible(tidy(text))
    if columns(label) <= _LONGEST_LABEL:
        return label

    while columns(label) > _LONGEST_LABEL - 1:
        label = label[:-1]
    return f"{label}…"

"""Reports and pictures: three languages, two forms, the same bytes, nothing that escapes its cell."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from typing import Any, get_args
from xml.etree import ElementTree as ET

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from accordance import Accepted, check
from accordance.contracts.catalogue.answer import AgentAnswer
from accordance.domain.research.answers import AnswerExpectations, check_answer
from accordance.domain.research.collapse import Tally, collapse
from accordance.domain.research.names import visible
from accordance.domain.research.runs import Group
from accordance.rendering.documents import (
    WRITERS,
    Bullets,
    Paragraph,
    as_html,
    as_markdown,
    cell,
    inline,
    table_lines,
)
from accordance.rendering.plots import columns, t_score_svg, t_score_text
from accordance.rendering.reports import (
    collapse_blocks,
    run_report,
    self_critique_blocks,
    t_score_table,
    validation_report,
)
from accordance.rendering.words import LANGUAGES, WORDS, Language, ReportWords
from tests.messages import changed
from tests.unit.research import REGISTRY, answer, example

NASTY = 'a|b\\|c\nd <script>alert(1)</script> ![x](http://example.org/x.png) "q" & <0.3'


def nasty() -> AgentAnswer:
    message = json.loads(
        json.dumps(example("answer-1")).replace(
            "\\uae30\\uc220\\uc218\\uc6a9\\ubaa8\\ud615", "TAM"
        )
    )
    text = json.dumps(message).replace("TAM", json.dumps(NASTY)[1:-1])
    found: AgentAnswer = check(text, "answer").value  # type: ignore[union-attr]
    return found


def test_every_language_has_every_word() -> None:
    """No word is blank, and the three are told apart."""
    assert set(WORDS) == set(LANGUAGES) == set(get_args(Language))
    for language in LANGUAGES:
        for one in fields(ReportWords):
            assert getattr(WORDS[language], one.name), (language, one.name)
    assert len({WORDS[language].run_report for language in LANGUAGES}) == len(LANGUAGES)


@pytest.mark.seed("002-39")
def test_the_table_is_the_seeds() -> None:
    """To the letter, in Korean."""
    assert table_lines(t_score_table(answer().vs_metadata.t_scores))[:3] == [
        "| 옵션 | T-Score | 분류 | 근거 |",
        "|------|---------|------|------|",
        "| 기술수용모형 | 0.92 | modal | 비슷한 연구의 절반 가까이가 쓴다 |",
    ]


@pytest.mark.seed("002-42")
def test_the_self_critique_is_the_seeds_template() -> None:
    """Headings and order as the seed has them; what is empty says so."""
    critique = answer().self_critique
    assert critique is not None
    text = as_markdown(list(self_critique_blocks(critique)))
    assert re.findall(r"^(?:###.*|\*\*.*)$", text, re.MULTILINE) == [
        "### 자기 평가 (Self-Critique)",
        "**강점**:",
        "**약점**:",
        "**개선 제안**:",
        "**대안적 관점**:",
    ]
    bare = answer(
        self_critique={
            "strengths": [],
            "weaknesses": [{"b": 1, "a": 2}],
            "improvement_suggestions": [],
        }
    )
    assert bare.self_critique is not None
    text = as_markdown(list(self_critique_blocks(bare.self_critique, "en")))
    assert "**Strengths**:\n- none" in text
    assert '{"a": 2, "b": 1}' in text


@pytest.mark.parametrize("form", WRITERS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_reports_are_the_same_bytes(language: Language, form: str) -> None:
    """Twice the same; and every report says what it is in its language."""
    written = [
        [
            WRITERS[form](list(blocks), language)
            for blocks in (
                run_report(answer(), language),
                validation_report(refused(), "x", language),
            )
        ]
        for _ in range(2)
    ]
    assert written[0] == written[1]
    assert WORDS[language].run_report in WRITERS[form](
        list(run_report(answer(), language)), language
    )


def refused() -> Any:
    return check_answer(
        json.dumps(changed(example("answer-1"), "provenance", None)),
        AnswerExpectations(registry=REGISTRY),
    )


def test_a_run_report_tells_everything() -> None:
    """What is optional is told where it is there."""
    more = answer(warnings=["w"], limitations=["l"])
    text = as_markdown(list(run_report(more, "en")))
    for told in (
        "## Summary",
        "0.45 (emerging)",
        "**Warnings**:",
        "**Limitations**:",
        "design-smith",
        "Probability",
    ):
        assert told in text
    message = changed(example("answer-1"), "self_critique", ...)
    message |= {
        "vs_level": "Enhanced",
        "next_agents": [],
        "agent_id": "construct-mapper",
    }
    for one in message["vs_metadata"]["t_scores"]:
        del one["probability"]
    plainer = as_markdown(
        list(run_report(check(json.dumps(message), "answer").value, "en"))  # type: ignore[union-attr]
    )
    for untold in ("Self-critique", "Probability", "Next agents", "Warnings"):
        assert untold not in plainer


@pytest.mark.parametrize(
    ("scores", "told"),
    [
        ((0.9, 0.85), WORDS["en"].distribution_modal),
        ((0.9, 0.7), WORDS["en"].distribution_narrow),
        ((0.9, 0.5), WORDS["en"].distribution_ok),
    ],
)
def test_the_distribution_is_judged(scores: tuple[float, float], told: str) -> None:
    """The second option is selected."""
    entries = [
        {"option": str(at), "score": score, "rationale": "r"}
        for at, score in enumerate(scores)
    ]
    selection = {"option": "1", "t_score": scores[1], "justification": "j"}
    metadata = {
        **example("answer-1")["vs_metadata"],
        "t_scores": entries,
        "final_selection": selection,
    }
    assert told in as_markdown(list(run_report(answer(vs_metadata=metadata), "en")))


def test_validation_reports() -> None:
    """Verdict, violations, warnings, and how many are not listed."""
    accepted = check_answer(
        json.dumps(changed(example("answer-1"), "mood", "fine")),
        AnswerExpectations(registry=REGISTRY),
    )
    text = as_markdown(list(validation_report(accepted, language="en")))
    assert "- **Verdict**: accepted" in text
    assert "## Warnings (1)" in text
    assert "Violations" not in text
    broken = changed(example("answer-1"), "vs_metadata.t_scores", ["x"] * 60)
    text = as_markdown(
        list(
            validation_report(
                check_answer(json.dumps(broken), AnswerExpectations(registry=REGISTRY)),
                "f",
                "en",
            )
        )
    )
    assert "## Violations (60)" in text
    assert "Violations not listed: 10" in text


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a|b", r"a\|b"),
        (r"a\|b", r"a\\\|b"),
        ("a\r\nb\u2028c", "a b c"),
        ("<script>", r"\<script>"),
        ("p < .05, T<0.3", "p < .05, T<0.3"),
        ("![x](http://h/x)", r"![x]\(http://h/x)"),
    ],
)
def test_cells_are_escaped(text: str, written: str) -> None:
    """One row stays one row of so many columns."""
    assert cell(text) == written


@given(st.lists(st.text(), min_size=1, max_size=4))
def test_no_text_breaks_its_row(texts: list[str]) -> None:
    """Whatever agents say, a row is one line with its bars."""
    row = "| " + " | ".join(map(cell, texts)) + " |"
    assert len(row.splitlines()) == 1
    bars = re.findall(r"(?<!\\)(?:\\\\)*\|", row)
    assert len(bars) == len(texts) + 1


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("# no heading", r"\# no heading"),
        ("- no list", r"\- no list"),
        ("12. no number", r"12\. no number"),
        ("2.5 is a number", "2.5 is a number"),
        ("3-way", "3-way"),
        ("plain", "plain"),
    ],
)
def test_lines_begin_plainly(text: str, written: str) -> None:
    """A text of an agent is no heading and no list."""
    assert as_markdown([Paragraph(text)]) == f"{written}\n"
    assert as_markdown([Bullets("l", [text])]).splitlines()[1] == f"- {written}"


def test_nasty_names_stay_in_their_place() -> None:
    """In Markdown, in HTML, in SVG and on a terminal."""
    found = nasty()
    markdown = as_markdown(list(run_report(found)))
    assert "<script" not in markdown.replace(r"\<script", "")
    assert "](http" not in markdown
    page = as_html(list(run_report(found)), "ko")
    assert "<script" not in page
    assert page.count("<table>") == page.count("</table>") == 2
    picture = ET.fromstring(t_score_svg(found))
    assert {one.tag.rpartition("}")[2] for one in picture.iter()} == {
        "svg",
        "title",
        "rect",
        "text",
        "circle",
    }
    assert len(t_score_text(found).splitlines()) == 6
    assert "\x1b" not in t_score_text(answer(**with_option("\x1b[31mred\u200b")))


def with_option(name: str) -> dict[str, Any]:
    metadata = example("answer-1")["vs_metadata"]
    metadata["t_scores"][0]["option"] = name
    return {"vs_metadata": metadata}


def test_the_picture_is_in_order_and_marks_the_selection() -> None:
    """From the least to the most typical; columns line up whatever the script."""
    text = t_score_text(answer(), "en").splitlines()
    assert next(line.split("  ")[0] for line in text[1:]) == "체화된 불안 모형"
    assert [line for line in text if "●" in line] == [
        line for line in text if line.endswith("selected")
    ]
    assert len({columns(line[: line.index("·")]) for line in text[1:]}) == 1
    assert t_score_svg(answer()) == t_score_svg(answer())
    assert "선택" in t_score_svg(answer())
    long = t_score_text(answer(**with_option("가" * 40)))
    assert "가" * 15 + "…" in long
    assert columns("e\u0301") == 1


@given(
    st.text(min_size=1).filter(
        lambda name: re.search(r"\S", name) and not re.search("[\ud800-\udfff]", name)
    )
)
def test_any_name_can_be_drawn(name: str) -> None:
    """The picture is well-formed, the terminal hears no commands, whatever an option is called."""
    metadata = example("answer-1")["vs_metadata"]
    metadata["t_scores"][0]["option"] = name
    result = check(
        json.dumps({**example("answer-1"), "vs_metadata": metadata}), "answer"
    )
    assume(
        isinstance(result, Accepted)
    )  # not blank in pydantic's eyes, nor the name of another option
    assert isinstance(result, Accepted)
    assert (
        len(
            ET.fromstring(t_score_svg(result.value)).findall(
                "{http://www.w3.org/2000/svg}circle"
            )
        )
        == 5
    )
    written = t_score_text(result.value) + as_markdown(list(run_report(result.value)))
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", written)


@given(st.floats(0, 1))
def test_any_score_has_its_place(score: float) -> None:
    """On the scale, never beside it."""
    metadata = example("answer-1")["vs_metadata"]
    metadata["t_scores"][0]["score"] = score
    assert t_score_text(answer(vs_metadata=metadata)).count("○") == 4


def reports() -> dict[Group, Any]:
    found = {}
    for name, selected in (("a", "AB"), ("b", "A" * 9), ("c", "A")):
        tally = Tally()
        for one in selected:
            tally.add(one)
        found[Group(name, "f" * 64, "agent_answer_v1")] = collapse(tally)
    return found


def test_collapse_reports() -> None:
    """The collapsed ones first; what cannot be said is a dash."""
    rows = as_markdown(list(collapse_blocks(reports(), "en"))).splitlines()[4:]
    assert rows == [
        "| b | ffffffffffff | collapsed | 9 | 1 | 0.00 | 1.00 | 100% | A ×9 | steady |",
        "| a | ffffffffffff | diverse | 2 | 2 | 1.00 | 2.00 | 50% | A ×1, B ×1 | – |",
        "| c | ffffffffffff | too few runs | 1 | – | – | – | – | – | – |",
    ]
    assert WORDS["zh"].none in as_html(list(collapse_blocks({}, "zh")), "zh")


@pytest.mark.parametrize("char", ["\x1b", "\x00", "\ud800", "\ufffe", "\uffff"])
def test_text_is_shown_without_what_cannot_be_seen(char: str) -> None:
    """A terminal would obey it, or XML refuse it."""
    assert visible(f"a{char}b") == "ab"


def test_inline_keeps_ordinary_text() -> None:
    """Nothing is escaped that need not be."""
    ordinary = "통제-가치 이론 [Pekrun 2006] (β = .31, p < .05) a*b_c"
    assert inline(ordinary) == ordinary


def test_a_run_report_shows_what_the_phases_left() -> None:
    """Each output under its phase; scores and selection stand above; what is not there is not made up."""
    text = as_markdown(list(run_report(answer(), "en")))
    outputs = text[
        text.index("## Outputs of the phases") : text.index("### Self-critique")
    ]
    assert outputs.splitlines()[2:] == [
        "**0 Context Collection, context_summary**:",
        "- 대학생 영어 말하기 불안, 인공지능 튜터의 즉각적 피드백.",
        "",
        "**2 Long-Tail Sampling, alternative_directions**:",
        "- 자기결정성 이론의 자율성 지지",
        "- 상호작용 정렬 이론",
        "",
        "**4 Execution, main_content**:",
        "- theoretical_framework: 통제-가치 이론",
        '- hypotheses: ["즉각적 피드백은 통제감을 높인다", "통제감은 말하기 불안을 낮춘다"]',
        "",
        "**5 Originality Verification, novelty_assessment**:",
        "- 이 맥락에서 통제-가치 이론을 쓴 연구는 드물다.",
        "",
    ]
    metadata = example("answer-1")["vs_metadata"]
    bare = {
        **{key: metadata[key] for key in ("phase_executed", "modal_identified")},
        "t_scores": [metadata["t_scores"][0]],
        "final_selection": {
            "option": "기술수용모형",
            "t_score": 0.92,
            "justification": "j",
        },
    }
    content = {**example("answer-1")["content"], "main_output": {}}
    assert "Outputs of the phases" not in as_markdown(
        list(run_report(answer(vs_metadata=bare, content=content), "en"))
    )

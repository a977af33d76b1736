"""Reports in Korean, English and Chinese: T-scores, self-critique, validation, a run, collapse. Blocks in, bytes elsewhere.

The T-score table in Korean is the seed's, to the letter; class words stay English in every language, as the seed has them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from accordance.contracts.catalogue.answer import AgentAnswer, SelfCritique, TScore
from accordance.contracts.phase_outputs import CONTRACTED, OUTPUTS, phase_output
from accordance.contracts.phases import PHASES
from accordance.contracts.serialising import dump
from accordance.contracts.violation import Accepted, Rejected
from accordance.domain.research.collapse import CollapseReport
from accordance.domain.research.documents import (
    Block,
    Bullets,
    Facts,
    Heading,
    Paragraph,
    Table,
    table_lines,
)
from accordance.domain.research.quality import distribution
from accordance.domain.research.runs import Group
from accordance.domain.research.words import WORDS, Language, ReportWords
from accordance.domain.t_scores import t_class

T_SCORE_RULE: Final = "|------|---------|------|------|"
_SHORT_DIGEST: Final = 12


def t_score_table(t_scores: Sequence[TScore], language: Language = "ko") -> Table:
    """The table of the seed: option, score with two decimals, class of the raw score, rationale. Order is kept."""
    words = WORDS[language]
    rows = [
        (one.option, f"{one.score:.2f}", t_class(one.score), one.rationale)
        for one in t_scores
    ]
    return Table(
        (words.option, words.t_score, words.t_class, words.rationale),
        rows,
        T_SCORE_RULE,
    )


def t_score_lines(t_scores: Sequence[TScore], language: Language = "ko") -> list[str]:
    """The same as lines of Markdown."""
    return table_lines(t_score_table(t_scores, language))


def self_critique_blocks(
    critique: SelfCritique, language: Language = "ko"
) -> Iterator[Block]:
    """The seed's template, filled in."""
    words = WORDS[language]
    yield Heading(3, words.self_critique)
    for label, items in (
        (words.strengths, critique.strengths),
        (words.weaknesses, critique.weaknesses),
        (words.improvements, critique.improvement_suggestions),
        (words.alternatives, critique.alternative_perspectives or ()),
    ):
        yield Bullets(label, _texts(items, words))


def validation_report(
    result: Accepted[Any] | Rejected, name: str = "", language: Language = "ko"
) -> Iterator[Block]:
    """What came of checking a message."""
    words = WORDS[language]
    yield Heading(1, words.validation_report)
    verdict = words.accepted if result else words.rejected
    yield Facts([*([(words.message, name)] if name else []), (words.verdict, verdict)])
    if isinstance(result, Rejected):
        yield Heading(2, f"{words.violations} ({result.total})")
        rows = [
            (one.code, one.path, one.expected, one.actual) for one in result.violations
        ]
        yield Table((words.code, words.place, words.expected, words.actual), rows)
        if result.total > len(rows):
            yield Paragraph(
                words.more_violations.format(count=result.total - len(rows))
            )
    if result.warnings:
        yield Heading(
            2, f"{words.warnings} ({max(result.total_warnings, len(result.warnings))})"
        )
        notices = [(one.code, one.path, one.message) for one in result.warnings]
        yield Table((words.code, words.place, words.message), notices)


def run_report(answer: AgentAnswer, language: Language = "ko") -> Iterator[Block]:
    """One answer, told to people."""
    words = WORDS[language]
    yield Heading(1, words.run_report)
    yield Facts(
        [
            (words.agent, answer.agent_id),
            (words.level, answer.vs_level),
            (words.time, answer.execution_timestamp),
            (words.phases, _phases(answer.vs_metadata.phase_executed)),
            (words.confidence, f"{answer.content.confidence:.2f}"),
        ]
    )
    yield Heading(2, words.summary)
    yield Paragraph(answer.content.summary)
    yield Heading(2, words.t_scores)
    yield t_score_table(answer.vs_metadata.t_scores, language)
    yield from _probabilities(answer.vs_metadata.t_scores, words)
    yield from _selection(answer, words)
    yield from _outputs(answer, words)
    if answer.self_critique is not None:
        yield from self_critique_blocks(answer.self_critique, language)
    yield from _provenance(answer, words)


def _phases(executed: Sequence[int]) -> str:
    return ", ".join(f"{phase} {PHASES[phase]}" for phase in dict.fromkeys(executed))


def _probabilities(t_scores: Sequence[TScore], words: ReportWords) -> Iterator[Block]:
    """Beside the table, never in it: a probability is not a T-score."""
    rows = [
        (one.option, f"{one.probability:.2f}")
        for one in t_scores
        if one.probability is not None
    ]
    if rows:
        yield Table((words.option, words.probability), rows)


def _selection(answer: AgentAnswer, words: ReportWords) -> Iterator[Block]:
    selection = answer.vs_metadata.final_selection
    score = f"{selection.t_score:.2f} ({t_class(selection.t_score)})"
    found = distribution(dump(answer))
    told = words.distribution_ok if found.passed else words.distribution_narrow
    yield Heading(2, words.selection)
    yield Facts(
        [
            (words.option, selection.option),
            (words.t_score, score),
            (words.justification, selection.justification),
            (
                words.distribution,
                words.distribution_modal if found.modal_only else told,
            ),
        ]
    )


def _outputs(answer: AgentAnswer, words: ReportWords) -> Iterator[Block]:
    """What the phases have left, beside the scores and the selection, which stand above."""
    message = dump(answer)
    left = [
        (phase, output)
        for phase in OUTPUTS
        if phase not in CONTRACTED
        and (output := phase_output(message, phase)) is not None
    ]
    if not left:
        return
    yield Heading(2, words.phase_outputs)
    for phase, output in left:
        yield Bullets(
            f"{phase} {PHASES[phase]}, {OUTPUTS[phase]}", _texts(_items(output), words)
        )


def _items(output: object) -> list[object]:
    match output:
        case list():
            return output
        case dict():
            return [f"{key}: {_text(value)}" for key, value in output.items()]
        case _:
            return [output]


def _provenance(answer: AgentAnswer, words: ReportWords) -> Iterator[Block]:
    yield Heading(2, words.provenance)
    yield Bullets(words.sources, _texts(answer.provenance.sources, words))
    yield Bullets(words.reasoning, _texts(answer.provenance.reasoning_trace, words))
    yield Bullets(words.assumptions, _texts(answer.provenance.assumptions, words))
    for label, items in (
        (words.warnings, answer.warnings),
        (words.limitations, answer.limitations),
    ):
        if items:
            yield Bullets(label, _texts(items, words))
    if answer.next_agents:
        told = [
            f"{one.agent_id} ({one.priority}): {one.reason}"
            for one in answer.next_agents
        ]
        yield Bullets(words.next_agents, told)


def _texts(items: Sequence[object], words: ReportWords) -> list[str]:
    return [_text(item) for item in items] or [words.none]


def _text(item: object) -> str:
    return (
        item
        if isinstance(item, str)
        else json.dumps(item, ensure_ascii=False, sort_keys=True)
    )


def collapse_blocks(
    reports: Mapping[Group, CollapseReport], language: Language = "ko"
) -> Iterator[Block]:
    """All groups in one table, the collapsed ones first."""
    words = WORDS[language]
    yield Heading(1, words.collapse_report)
    if not reports:
        yield Paragraph(words.none)
        return
    ordered = sorted(
        reports.items(), key=lambda pair: (pair[1].status != "collapsed", pair[0])
    )
    head = (
        words.agent,
        words.request,
        words.status,
        words.runs,
        words.pool,
        words.diversity,
        words.effective_options,
        words.top_share,
        words.most_common,
        words.trend,
    )
    yield Table(
        head, [_collapse_row(group, report, words) for group, report in ordered]
    )


def _collapse_row(
    group: Group, report: CollapseReport, words: ReportWords
) -> tuple[str, ...]:
    begin = (
        group.agent_id,
        group.request[:_SHORT_DIGEST],
        words.statuses[report.status],
        str(report.total_runs),
    )
    if report.status == "insufficient_runs":
        return (*begin, *("–",) * 6)
    common = ", ".join(f"{name} ×{count}" for name, count in report.most_common)
    trend = words.directions[report.trend.direction] if report.trend else "–"
    return (
        *begin,
        str(report.pool_size),
        f"{report.diversity:.2f}",
        f"{report.effective_options:.2f}",
        f"{report.top_share:.0%}",
        common,
        trend,
    )

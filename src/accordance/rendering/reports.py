"""Reports on research in Korean, English and Chinese, as blocks.

T-scores, self-critique, validation, a run, collapse. The T-score table in Korean is the
seed's, to the letter; the names of the classes stay English in every language, as in
the seed.
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
from accordance.domain.research.quality import Distribution, distribution
from accordance.domain.research.runs import Group
from accordance.domain.t_scores import t_class
from accordance.rendering.documents import (
    Block,
    Bullets,
    Facts,
    Heading,
    Paragraph,
    Table,
)
from accordance.rendering.words import WORDS, Language, ReportWords

T_SCORE_RULE: Final = "|------|---------|------|------|"
_SHORT_DIGEST: Final = 12
_NO_VALUE: Final = "–"


# -- T-scores and self-critique


def t_score_table(t_scores: Sequence[TScore], language: Language = "ko") -> Table:
    """Return the table of the seed, in the order of the answer.

    The class is that of the exact score, not of the score rounded to two decimals.
    """
    words = WORDS[language]
    head = (words.option, words.t_score, words.t_class, words.rationale)
    rows = []
    for entry in t_scores:
        score, score_class = f"{entry.score:.2f}", t_class(entry.score)
        rows.append((entry.option, score, score_class, entry.rationale))
    return Table(head, rows, T_SCORE_RULE)


def self_critique_blocks(
    critique: SelfCritique, language: Language = "ko"
) -> Iterator[Block]:
    """Yield the seed's template, filled in."""
    words = WORDS[language]
    perspectives = critique.alternative_perspectives or ()

    yield Heading(3, words.self_critique)
    yield Bullets(words.strengths, _texts(critique.strengths, words))
    yield Bullets(words.weaknesses, _texts(critique.weaknesses, words))
    yield Bullets(words.improvements, _texts(critique.improvement_suggestions, words))
    yield Bullets(words.alternatives, _texts(perspectives, words))


# -- validation


def validation_report(
    result: Accepted[Any] | Rejected,
    name: str = "",
    language: Language = "ko",
) -> Iterator[Block]:
    """Yield a report on the check of a message."""
    words = WORDS[language]
    verdict = words.accepted if result else words.rejected
    facts = [(words.verdict, verdict)]
    if name:
        facts.insert(0, (words.message, name))

    yield Heading(1, words.validation_report)
    yield Facts(facts)
    if isinstance(result, Rejected):
        yield from _violations(result, words)
    if result.warnings:
        yield from _warnings(result, words)


def _violations(result: Rejected, words: ReportWords) -> Iterator[Block]:
    rows = []
    for violation in result.violations:
        row = (
            violation.code,
            violation.path,
            violation.expected,
            violation.actual,
        )
        rows.append(row)

    yield Heading(2, f"{words.violations} ({result.total})")
    yield Table((words.code, words.place, words.expected, words.actual), rows)

    rest = result.total - len(rows)
    if rest > 0:
        yield Paragraph(words.more_violations.format(count=rest))


def _warnings(result: Accepted[Any] | Rejected, words: ReportWords) -> Iterator[Block]:
    rows = [(notice.code, notice.path, notice.message) for notice in result.warnings]
    total = max(result.total_warnings, len(rows))

    yield Heading(2, f"{words.warnings} ({total})")
    yield Table((words.code, words.place, words.message), rows)


# -- a run


def run_report(answer: AgentAnswer, language: Language = "ko") -> Iterator[Block]:
    """Yield a report on an answer."""
    words = WORDS[language]
    t_scores = answer.vs_metadata.t_scores

    yield Heading(1, words.run_report)
    yield _run_facts(answer, words)
    yield Heading(2, words.summary)
    yield Paragraph(answer.content.summary)

    yield Heading(2, words.t_scores)
    yield t_score_table(t_scores, language)
    yield from _probabilities(t_scores, words)

    yield Heading(2, words.selection)
    yield _selection(answer, words)
    yield from _outputs(answer, words)
    if answer.self_critique is not None:
        yield from self_critique_blocks(answer.self_critique, language)
    yield from _provenance(answer, words)
    yield from _remarks(answer, words)


def _run_facts(answer: AgentAnswer, words: ReportWords) -> Facts:
    phases = dict.fromkeys(answer.vs_metadata.phase_executed)
    executed = ", ".join(f"{phase} {PHASES[phase]}" for phase in phases)
    return Facts(
        [
            (words.agent, answer.agent_id),
            (words.level, answer.vs_level),
            (words.time, answer.execution_timestamp),
            (words.phases, executed),
            (words.confidence, f"{answer.content.confidence:.2f}"),
        ]
    )


def _probabilities(t_scores: Sequence[TScore], words: ReportWords) -> Iterator[Block]:
    """A table of its own: a probability is not a T-score."""
    rows = [
        (entry.option, f"{entry.probability:.2f}")
        for entry in t_scores
        if entry.probability is not None
    ]
    if rows:
        yield Table((words.option, words.probability), rows)


def _selection(answer: AgentAnswer, words: ReportWords) -> Facts:
    selection = answer.vs_metadata.final_selection
    score = f"{selection.t_score:.2f} ({t_class(selection.t_score)})"
    assessment = _distribution_text(distribution(dump(answer)), words)
    return Facts(
        [
            (words.option, selection.option),
            (words.t_score, score),
            (words.justification, selection.justification),
            (words.distribution, assessment),
        ]
    )


def _distribution_text(options: Distribution, words: ReportWords) -> str:
    if options.modal_only:
        return words.distribution_modal
    if options.passed:
        return words.distribution_ok
    return words.distribution_narrow


def _outputs(answer: AgentAnswer, words: ReportWords) -> Iterator[Block]:
    """The outputs of the phases, without the scores and the selection above."""
    message = dump(answer)
    lists = []
    for phase, name in OUTPUTS.items():
        output = phase_output(message, phase)
        if phase not in CONTRACTED and output is not None:
            label = f"{phase} {PHASES[phase]}, {name}"
            lists.append(Bullets(label, _texts(_items(output), words)))

    if lists:
        yield Heading(2, words.phase_outputs)
        yield from lists


def _items(output: object) -> list[object]:
    match output:
        case list():
            return output
        case dict():
            return [f"{key}: {_text(value)}" for key, value in output.items()]
        case _:
            return [output]


def _provenance(answer: AgentAnswer, words: ReportWords) -> Iterator[Block]:
    provenance = answer.provenance
    yield Heading(2, words.provenance)
    yield Bullets(words.sources, _texts(provenance.sources, words))
    yield Bullets(words.reasoning, _texts(provenance.reasoning_trace, words))
    yield Bullets(words.assumptions, _texts(provenance.assumptions, words))


def _remarks(answer: AgentAnswer, words: ReportWords) -> Iterator[Block]:
    """Warnings, limitations and next agents, if an answer has them."""
    if answer.warnings:
        yield Bullets(words.warnings, _texts(answer.warnings, words))
    if answer.limitations:
        yield Bullets(words.limitations, _texts(answer.limitations, words))
    if answer.next_agents:
        agents = [
            f"{agent.agent_id} ({agent.priority}): {agent.reason}"
            for agent in answer.next_agents
        ]
        yield Bullets(words.next_agents, agents)


def _texts(items: Sequence[object], words: ReportWords) -> list[str]:
    return [_text(item) for item in items] or [words.none]


def _text(item: object) -> str:
    if isinstance(item, str):
        return item
    return json.dumps(item, ensure_ascii=False, sort_keys=True)


# -- collapse


def collapse_blocks(
    reports: Mapping[Group, CollapseReport], language: Language = "ko"
) -> Iterator[Block]:
    """Yield all groups in a table, the collapsed groups first."""
    words = WORDS[language]
    yield Heading(1, words.collapse_report)
    if not reports:
        yield Paragraph(words.none)
        return

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
    rows = []
    for group, report in sorted(reports.items(), key=_collapsed_first):
        rows.append(_collapse_row(group, report, words))
    yield Table(head, rows)


def _collapsed_first(entry: tuple[Group, CollapseReport]) -> tuple[bool, Group]:
    group, report = entry
    return report.status != "collapsed", group


def _collapse_row(
    group: Group,
    report: CollapseReport,
    words: ReportWords,
) -> tuple[str, ...]:
    status = words.statuses[report.status]
    request = group.request[:_SHORT_DIGEST]
    first_cells = (group.agent_id, request, status, str(report.total_runs))
    if report.status == "insufficient_runs":
        return (*first_cells, *[_NO_VALUE] * 6)

    common = ", ".join(f"{name} ×{count}" for name, count in report.most_common)
    trend = _NO_VALUE
    if report.trend:
        trend = words.directions[report.trend.direction]
    return (
        *first_cells,
        str(report.pool_size),
        f"{report.diversity:.2f}",
        f"{report.effective_options:.2f}",
        f"{report.top_share:.0%}",
        common,
        trend,
    )

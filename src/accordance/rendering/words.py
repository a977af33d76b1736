"""The words of research reports, in a table for each language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

Language: TypeAlias = Literal["ko", "en", "zh"]
LANGUAGES: Final[tuple[Language, ...]] = ("ko", "en", "zh")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportWords:
    """The words of reports. A language that lacks a word does not type-check."""

    # the T-score table: the heads are the seed's in Korean
    option: str
    t_score: str
    t_class: str
    rationale: str
    probability: str
    # self-critique: the heads are the seed's in Korean
    self_critique: str
    strengths: str
    weaknesses: str
    improvements: str
    alternatives: str
    # validation report
    validation_report: str
    verdict: str
    accepted: str
    rejected: str
    violations: str
    warnings: str
    code: str
    place: str
    expected: str
    actual: str
    message: str
    more_violations: str
    # run report
    run_report: str
    agent: str
    level: str
    time: str
    phases: str
    confidence: str
    summary: str
    t_scores: str
    selection: str
    justification: str
    phase_outputs: str
    provenance: str
    sources: str
    reasoning: str
    assumptions: str
    limitations: str
    next_agents: str
    distribution: str
    distribution_ok: str
    distribution_modal: str
    distribution_narrow: str
    none: str
    # collapse report
    collapse_report: str
    request: str
    runs: str
    pool: str
    diversity: str
    effective_options: str
    top_share: str
    most_common: str
    trend: str
    status: str
    statuses: Mapping[str, str]
    directions: Mapping[str, str]
    # routing
    because: Mapping[str, str]
    ready: str
    waits_for: str
    no_proposal: str
    # plot
    plot_title: str
    selected: str


WORDS: Final[Mapping[Language, ReportWords]] = MappingProxyType(
    {
        "ko": ReportWords(
            option="옵션",
            t_score="T-Score",
            t_class="분류",
            rationale="근거",
            probability="확률",
            self_critique="자기 평가 (Self-Critique)",
            strengths="강점",
            weaknesses="약점",
            improvements="개선 제안",
            alternatives="대안적 관점",
            validation_report="검증 보고서",
            verdict="판정",
            accepted="통과",
            rejected="반려",
            violations="위반",
            warnings="주의",
            code="코드",
            place="위치",
            expected="기대",
            actual="실제",
            message="내용",
            more_violations="표시하지 않은 위반: {count}건",
            run_report="실행 보고서",
            agent="에이전트",
            level="VS 수준",
            time="실행 시각",
            phases="수행한 단계",
            confidence="확신도",
            summary="요약",
            t_scores="T-Score 분포",
            selection="최종 선택",
            justification="선택 이유",
            phase_outputs="단계별 산출",
            provenance="출처와 추론",
            sources="출처",
            reasoning="추론 과정",
            assumptions="가정",
            limitations="한계",
            next_agents="다음 에이전트",
            distribution="분포 점검",
            distribution_ok="전형을 벗어난 옵션이 있고, 선택이 모달이 아니다.",
            distribution_modal="모든 옵션이 모달이다. 뻔한 답만 나왔다.",
            distribution_narrow="전형을 벗어난 옵션이 없거나 선택이 모달이다.",
            none="없음",
            collapse_report="모드 붕괴 보고서",
            request="요청",
            runs="실행 수",
            pool="옵션 수",
            diversity="다양도",
            effective_options="유효 옵션 수",
            top_share="최다 비율",
            most_common="가장 잦은 선택",
            trend="추세",
            status="상태",
            statuses={
                "insufficient_runs": "실행 부족",
                "collapsed": "붕괴",
                "diverse": "다양",
            },
            directions={
                "narrowing": "좁아짐",
                "steady": "그대로",
                "widening": "넓어짐",
            },
            because={
                "task_type": "작업 유형 {detail}",
                "stage": "단계 {detail}",
                "trigger": "요청에 '{detail}'",
                "required_by": "{detail}에 필요",
            },
            ready="바로 시작 가능",
            waits_for="먼저 필요",
            no_proposal="맞는 에이전트가 없다",
            plot_title="T-Score 분포",
            selected="선택",
        ),
        "en": ReportWords(
            option="Option",
            t_score="T-Score",
            t_class="Class",
            rationale="Rationale",
            probability="Probability",
            self_critique="Self-critique",
            strengths="Strengths",
            weaknesses="Weaknesses",
            improvements="Improvements",
            alternatives="Other perspectives",
            validation_report="Validation report",
            verdict="Verdict",
            accepted="accepted",
            rejected="rejected",
            violations="Violations",
            warnings="Warnings",
            code="Code",
            place="Place",
            expected="Expected",
            actual="Actual",
            message="Message",
            more_violations="Violations not listed: {count}",
            run_report="Run report",
            agent="Agent",
            level="VS level",
            time="Executed at",
            phases="Phases executed",
            confidence="Confidence",
            summary="Summary",
            t_scores="T-score distribution",
            selection="Final selection",
            justification="Justification",
            phase_outputs="Outputs of the phases",
            provenance="Provenance",
            sources="Sources",
            reasoning="Reasoning",
            assumptions="Assumptions",
            limitations="Limitations",
            next_agents="Next agents",
            distribution="Distribution check",
            distribution_ok=(
                "An option is off the beaten track, and the selection is not modal."
            ),
            distribution_modal=(
                "Every option is modal: the answer only states the obvious."
            ),
            distribution_narrow=(
                "No option is off the beaten track, or the selection is modal."
            ),
            none="none",
            collapse_report="Mode collapse report",
            request="Request",
            runs="Runs",
            pool="Options",
            diversity="Diversity",
            effective_options="Effective options",
            top_share="Top share",
            most_common="Most common",
            trend="Trend",
            status="Status",
            statuses={
                "insufficient_runs": "too few runs",
                "collapsed": "collapsed",
                "diverse": "diverse",
            },
            directions={
                "narrowing": "narrowing",
                "steady": "steady",
                "widening": "widening",
            },
            because={
                "task_type": "task type {detail}",
                "stage": "stage {detail}",
                "trigger": "the request contains '{detail}'",
                "required_by": "{detail} requires it",
            },
            ready="can start now",
            waits_for="starts after",
            no_proposal="no agent fits",
            plot_title="T-score distribution",
            selected="selected",
        ),
        "zh": ReportWords(
            option="选项",
            t_score="T-Score",
            t_class="分类",
            rationale="依据",
            probability="概率",
            self_critique="自我评估 (Self-Critique)",
            strengths="优点",
            weaknesses="不足",
            improvements="改进建议",
            alternatives="其他视角",
            validation_report="校验报告",
            verdict="结论",
            accepted="通过",
            rejected="退回",
            violations="违规",
            warnings="提醒",
            code="代码",
            place="位置",
            expected="期望",
            actual="实际",
            message="内容",
            more_violations="未列出的违规：{count} 条",
            run_report="运行报告",
            agent="智能体",
            level="VS 级别",
            time="执行时间",
            phases="已执行阶段",
            confidence="置信度",
            summary="摘要",
            t_scores="T-Score 分布",
            selection="最终选择",
            justification="选择理由",
            phase_outputs="各阶段产出",
            provenance="来源与推理",
            sources="来源",
            reasoning="推理过程",
            assumptions="假设",
            limitations="局限",
            next_agents="后续智能体",
            distribution="分布检查",
            distribution_ok="存在非典型选项，且所选并非众数选项。",
            distribution_modal="所有选项都是众数选项，只给出了显而易见的答案。",
            distribution_narrow="没有非典型选项，或所选为众数选项。",
            none="无",
            collapse_report="模式坍缩报告",
            request="请求",
            runs="运行次数",
            pool="选项数",
            diversity="多样性",
            effective_options="有效选项数",
            top_share="最高占比",
            most_common="最常见选择",
            trend="趋势",
            status="状态",
            statuses={
                "insufficient_runs": "运行次数不足",
                "collapsed": "坍缩",
                "diverse": "多样",
            },
            directions={
                "narrowing": "收窄",
                "steady": "平稳",
                "widening": "变宽",
            },
            because={
                "task_type": "任务类型 {detail}",
                "stage": "阶段 {detail}",
                "trigger": "请求中含“{detail}”",
                "required_by": "{detail} 需要它",
            },
            ready="可以立即开始",
            waits_for="须先完成",
            no_proposal="没有合适的智能体",
            plot_title="T-Score 分布",
            selected="已选",
        ),
    }
)

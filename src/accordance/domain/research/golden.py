"""Golden sets: questions with expectations of their answers.

Data in, a report out; asking the questions is left to others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field, JsonValue

from accordance.contracts.catalogue.request import REQUEST, AgentRequest
from accordance.contracts.checking import Checker
from accordance.contracts.contract import Contract
from accordance.contracts.fields import Closed, Text
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.phases import LEVELS, phase_completion
from accordance.contracts.registry import Registry
from accordance.contracts.serialising import dump
from accordance.contracts.toml import InvalidToml, read_toml
from accordance.contracts.violation import Rejected, excerpt
from accordance.domain.research.agents import AgentRegistry, ResearchAgent
from accordance.domain.research.answers import AnswerExpectations, check_answer
from accordance.domain.research.comparators import (
    ABSENT,
    Comparator,
    comparator,
    value_at,
)
from accordance.domain.research.quality import (
    critique_quality,
    distribution,
    provenance_completeness,
)
from accordance.errors import InvalidComparator, InvalidGolden, UnknownAgent

Status: TypeAlias = Literal["PASSED", "FAILED", "MISSING"]
_MOST_PROBLEMS: Final = 5


class GoldenEntry(Closed):
    """A case as it is written."""

    id: Text
    agent: Text
    about: Text
    request: dict[str, JsonValue]
    expect: Annotated[dict[str, JsonValue], Field(min_length=1)]


class GoldenFile(Closed):
    """A whole golden set."""

    schema_version: Literal["accordance.golden.v1"]
    name: Text
    cases: Annotated[list[GoldenEntry], Field(min_length=1)]


_FILE: Final = Contract(
    version="accordance.golden.v1",
    name="golden",
    model=GoldenFile,
)
_checker: Final = Checker(Registry((_FILE, REQUEST)))


# -- what is measured


def _phase_completion(answer: JsonObject) -> float:
    executed = value_at(answer, "$.vs_metadata.phase_executed")
    phases = executed if isinstance(executed, list) else []
    return phase_completion(str(answer["vs_level"]), phases).score


def _critique(answer: JsonObject) -> float | None:
    """Only where it exists: levels below Full need none."""
    if "self_critique" not in answer:
        return None
    return critique_quality(answer).score


METRICS: Final[Mapping[str, Callable[[JsonObject], float | None]]] = MappingProxyType(
    {
        "phase_completion": _phase_completion,
        "options": lambda answer: distribution(answer).count,
        "lowest": lambda answer: distribution(answer).lowest,
        "spread": lambda answer: distribution(answer).spread,
        "selected": lambda answer: distribution(answer).selected,
        "critique": _critique,
        "provenance": lambda answer: provenance_completeness(answer).score,
    }
)
"""What is measured of every answer that honours its contract.

Cases may state expectations about these too, by name.
"""


def _measured(answer: JsonObject) -> dict[str, float]:
    """Return every metric that an answer has."""
    metrics = {}
    for name, metric in METRICS.items():
        value = metric(answer)
        if value is not None:
            metrics[name] = round(float(value), 6)
    return metrics


@dataclass(frozen=True, slots=True)
class GoldenExpectation:
    """What a path into the answer, or a metric, has to be."""

    where: str
    comparator: Comparator

    def problem_in(self, answer: JsonObject) -> str | None:
        """Return what is wrong, on a single line, or None."""
        value = self._value_in(answer)
        if self.comparator.holds(value):
            return None

        actual = "nothing" if value is ABSENT else excerpt(value)
        return f"{self.where}: expected {self.comparator.text}, got {actual}"

    def _value_in(self, answer: JsonObject) -> object:
        metric = METRICS.get(self.where)
        if metric is None:
            return value_at(answer, self.where)

        value = metric(answer)
        return ABSENT if value is None else value


# -- the sets


@dataclass(frozen=True, slots=True)
class GoldenCase:
    """A question for an agent, with what is expected of the answer."""

    id: str
    agent: ResearchAgent
    about: str
    request: AgentRequest
    expectations: tuple[GoldenExpectation, ...]


@dataclass(frozen=True, slots=True)
class GoldenSet:
    """Cases under a common name."""

    name: str
    cases: tuple[GoldenCase, ...]


def read_golden(text: str, registry: AgentRegistry) -> GoldenSet:
    """Read a golden set from TOML. Raises InvalidGolden, naming the case at fault."""
    try:
        message = read_toml(text)
    except InvalidToml as error:
        raise InvalidGolden(f"the golden set is not valid TOML: {error}") from None

    result = _checker.check_value(message, _FILE)
    if isinstance(result, Rejected):
        raise InvalidGolden(f"the golden set is invalid: {result.violations[0]}")
    file: GoldenFile = result.value

    occurrences = Counter(entry.id for entry in file.cases)
    for case_id, count in occurrences.items():
        if count > 1:
            raise InvalidGolden(f"{case_id}: two cases have this id")

    cases = [_case(entry, registry) for entry in file.cases]
    return GoldenSet(file.name, tuple(cases))


def _case(entry: GoldenEntry, registry: AgentRegistry) -> GoldenCase:
    request = _checker.check_value(dict(entry.request), REQUEST)
    if isinstance(request, Rejected):
        violation = request.violations[0]
        raise InvalidGolden(f"{entry.id}: its request is invalid: {violation}")

    try:
        agent = registry.get(entry.agent)
        expectations = [
            _expectation(where, written) for where, written in entry.expect.items()
        ]
    except (UnknownAgent, InvalidComparator) as error:
        raise InvalidGolden(f"{entry.id}: {error}") from None

    return GoldenCase(
        id=entry.id,
        agent=agent,
        about=entry.about,
        request=request.value,
        expectations=tuple(expectations),
    )


def _expectation(where: str, written: object) -> GoldenExpectation:
    is_path = where.startswith("$")
    if where not in METRICS and not is_path:
        metrics = ", ".join(METRICS)
        raise InvalidComparator(
            f"{where!r} is neither a path ($.…) nor a metric; metrics: {metrics}"
        )
    if is_path:
        value_at({}, where)  # raises for a path that cannot be read
    return GoldenExpectation(where, comparator(written))


def chosen(golden: GoldenSet, ids: Iterable[str]) -> GoldenSet:
    """Return the set with only the cases of these ids, with all if none is named.

    Raises InvalidGolden.
    """
    wanted = dict.fromkeys(ids)
    if not wanted:
        return golden

    by_id = {case.id: case for case in golden.cases}
    for case_id in wanted:
        if case_id not in by_id:
            raise InvalidGolden(f"{case_id}: no such case in {golden.name}")

    cases = [by_id[case_id] for case_id in wanted]
    return GoldenSet(golden.name, tuple(cases))


# -- the results


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """The reason why a case got no answer."""

    reason: str = "no answer was given"


GivenAnswer: TypeAlias = bytes | str | NoAnswer


@dataclass(frozen=True, slots=True)
class CaseResult:
    """The result of a case."""

    id: str
    level: str
    agent: str
    status: Status
    problems: tuple[str, ...] = ()
    metrics: Mapping[str, float] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether the case passed. A case without an answer did not."""
        return self.status == "PASSED"


@dataclass(frozen=True, slots=True)
class GoldenReport:
    """The results of a golden set."""

    name: str
    results: tuple[CaseResult, ...]

    @property
    def passed(self) -> bool:
        """Whether every case passed."""
        return all(result.passed for result in self.results)

    def by_level(self) -> dict[str, tuple[int, int]]:
        """Return how many cases passed, of how many, for each level."""
        rates = {}
        for level in LEVELS:
            results = [result for result in self.results if result.level == level]
            if results:
                passed = sum(result.passed for result in results)
                rates[level] = (passed, len(results))
        return rates

    def metrics(self) -> dict[str, float]:
        """Return the mean of every metric over the answers that have it."""
        means = {}
        for name in METRICS:
            values = [
                result.metrics[name]
                for result in self.results
                if name in result.metrics
            ]
            if values:
                means[name] = sum(values) / len(values)
        return means


def judge_case(
    case: GoldenCase,
    raw: GivenAnswer,
    registry: AgentRegistry,
) -> CaseResult:
    """Hold an answer against its contract, then against what the case expects."""
    head = (case.id, case.agent.level, case.agent.id)
    if isinstance(raw, NoAnswer):
        return CaseResult(*head, "MISSING", (raw.reason,))

    expectations = AnswerExpectations(
        registry=registry,
        request=case.request,
        agent=case.agent.id,
    )
    result = check_answer(raw, expectations)
    if isinstance(result, Rejected):
        return CaseResult(*head, "FAILED", _violations(result))

    answer = dump(result.value)
    problems = []
    for expectation in case.expectations:
        problem = expectation.problem_in(answer)
        if problem is not None:
            problems.append(problem)

    status: Status = "FAILED" if problems else "PASSED"
    return CaseResult(*head, status, tuple(problems), _measured(answer))


def _violations(result: Rejected) -> tuple[str, ...]:
    """Return the first violations, and the number of the others."""
    texts = [str(violation) for violation in result.violations[:_MOST_PROBLEMS]]
    rest = result.total - len(texts)
    if rest:
        texts.append(f"and {rest} more violations")
    return tuple(texts)


def run_golden(
    golden: GoldenSet,
    answers: Callable[[GoldenCase], GivenAnswer],
    registry: AgentRegistry,
) -> GoldenReport:
    """Get an answer to every case, and judge it."""
    results = [judge_case(case, answers(case), registry) for case in golden.cases]
    return GoldenReport(golden.name, tuple(results))

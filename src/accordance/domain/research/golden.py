"""Golden sets: questions with expectations, and what came of asking them. Data in, a report out; who asks is elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import Field, JsonValue

from accordance.contracts.catalogue.request import REQUEST, AgentRequest
from accordance.contracts.checking import Checker
from accordance.contracts.contract import Contract
from accordance.contracts.fields import Closed, Text
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.phases import LEVELS, phase_completion
from accordance.contracts.registry import Registry
from accordance.contracts.serialising import dump
from accordance.contracts.toml import NoToml, read_toml
from accordance.contracts.violation import Rejected, excerpt
from accordance.domain.research.agents import AgentRegistry, ResearchAgent
from accordance.domain.research.answers import AnswerExpectations, check_answer
from accordance.domain.research.comparators import (
    ABSENT,
    Comparator,
    comparator,
    found_at,
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
    """One case as it is written."""

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


_FILE: Final = Contract(version="accordance.golden.v1", name="golden", model=GoldenFile)
_checker: Final = Checker(Registry((_FILE, REQUEST)))


def _phases(answer: JsonObject) -> float:
    executed = found_at(answer, "$.vs_metadata.phase_executed")
    done = executed if isinstance(executed, list) else []
    return phase_completion(str(answer["vs_level"]), done).score


def _critique(answer: JsonObject) -> float | None:
    """Only where there is one: levels below Full need none."""
    return critique_quality(answer).score if "self_critique" in answer else None


METRICS: Final[Mapping[str, Callable[[JsonObject], float | None]]] = MappingProxyType(
    {
        "phase_completion": _phases,
        "options": lambda answer: distribution(answer).count,
        "lowest": lambda answer: distribution(answer).lowest,
        "spread": lambda answer: distribution(answer).spread,
        "selected": lambda answer: distribution(answer).selected,
        "critique": _critique,
        "provenance": lambda answer: provenance_completeness(answer).score,
    }
)
"""What is measured of every answer that honours its contract. Cases may expect something of these too, by name."""


@dataclass(frozen=True, slots=True)
class GoldenExpectation:
    """What must be found where: a path into the answer, or the name of a metric."""

    where: str
    comparator: Comparator

    def problem_in(self, answer: JsonObject) -> str | None:
        """What is wrong, in one line, or None."""
        metric = METRICS.get(self.where)
        found = found_at(answer, self.where) if metric is None else metric(answer)
        found = ABSENT if found is None and metric else found
        if self.comparator.holds(found):
            return None
        return f"{self.where}: expected {self.comparator.text}, got {'nothing' if found is ABSENT else excerpt(found)}"


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
    """Cases under one name."""

    name: str
    cases: tuple[GoldenCase, ...]


def read_golden(text: str, registry: AgentRegistry) -> GoldenSet:
    """A golden set from its TOML. Raises InvalidGolden, naming the case at fault."""
    try:
        message = read_toml(text)
    except NoToml as error:
        raise InvalidGolden(f"the golden set is no TOML: {error}") from None
    found = _checker.check_value(message, _FILE)
    if isinstance(found, Rejected):
        raise InvalidGolden(f"the golden set does not fit: {found.violations[0]}")
    written: GoldenFile = found.value
    ids = [entry.id for entry in written.cases]
    if twice := next((name for at, name in enumerate(ids) if name in ids[:at]), None):
        raise InvalidGolden(f"{twice}: two cases have this id")
    return GoldenSet(
        written.name, tuple(_case(entry, registry) for entry in written.cases)
    )


def _case(entry: GoldenEntry, registry: AgentRegistry) -> GoldenCase:
    request = _checker.check_value(dict(entry.request), REQUEST)
    if isinstance(request, Rejected):
        raise InvalidGolden(
            f"{entry.id}: its request does not fit: {request.violations[0]}"
        )
    try:
        agent = registry.get(entry.agent)
        expectations = tuple(
            _expectation(where, value) for where, value in entry.expect.items()
        )
    except (UnknownAgent, InvalidComparator) as error:
        raise InvalidGolden(f"{entry.id}: {error}") from None
    return GoldenCase(entry.id, agent, entry.about, request.value, expectations)


def _expectation(where: str, written: object) -> GoldenExpectation:
    if where not in METRICS:
        if not where.startswith("$"):
            raise InvalidComparator(
                f"{where!r} is neither a path ($.…) nor a metric; metrics: {', '.join(METRICS)}"
            )
        found_at(
            {}, where
        )  # a path that cannot be read is a fault of the set, not of the answer
    return GoldenExpectation(where, comparator(written))


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """Nobody answered a case, and why."""

    reason: str = "no answer was given"


Given: TypeAlias = bytes | str | NoAnswer


@dataclass(frozen=True, slots=True)
class CaseResult:
    """What came of one case."""

    id: str
    level: str
    agent: str
    status: Status
    problems: tuple[str, ...] = ()
    metrics: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GoldenReport:
    """What came of a golden set."""

    name: str
    results: tuple[CaseResult, ...]

    @property
    def passed(self) -> bool:
        """Whether every case passed. A case without an answer did not."""
        return all(result.status == "PASSED" for result in self.results)

    def by_level(self) -> dict[str, tuple[int, int]]:
        """How many passed, of how many, per level."""
        return {
            level: (sum(one.status == "PASSED" for one in found), len(found))
            for level in LEVELS
            if (found := [one for one in self.results if one.level == level])
        }

    def metrics(self) -> dict[str, float]:
        """The mean of every metric over the answers that were measured."""
        return {
            name: sum(measured) / len(measured)
            for name in METRICS
            if (
                measured := [
                    one.metrics[name] for one in self.results if name in one.metrics
                ]
            )
        }


def judge_case(case: GoldenCase, raw: Given, registry: AgentRegistry) -> CaseResult:
    """One answer against its case: first its contract, then what the case expects. No answer is no pass."""
    begin = (case.id, case.agent.level, case.agent.id)
    if isinstance(raw, NoAnswer):
        return CaseResult(*begin, "MISSING", (raw.reason,))
    result = check_answer(
        raw,
        AnswerExpectations(
            registry=registry, request=case.request, agent=case.agent.id
        ),
    )
    if isinstance(result, Rejected):
        problems = [str(violation) for violation in result.violations[:_MOST_PROBLEMS]]
        more = result.total - len(problems)
        return CaseResult(
            *begin,
            "FAILED",
            (*problems, *([f"and {more} more violations"] if more else [])),
        )
    answer = dump(result.value)
    found = tuple(
        problem for one in case.expectations if (problem := one.problem_in(answer))
    )
    measured = {name: metric(answer) for name, metric in METRICS.items()}
    metrics = {
        name: round(float(value), 6)
        for name, value in measured.items()
        if value is not None
    }
    return CaseResult(*begin, "FAILED" if found else "PASSED", found, metrics)


def run_golden(
    golden: GoldenSet, answers: Callable[[GoldenCase], Given], registry: AgentRegistry
) -> GoldenReport:
    """Ask for an answer to every case, and judge it."""
    return GoldenReport(
        golden.name,
        tuple(judge_case(case, answers(case), registry) for case in golden.cases),
    )


def chosen(golden: GoldenSet, ids: Iterable[str]) -> GoldenSet:
    """Only the cases of these ids; all if none is named. Raises InvalidGolden."""
    wanted = dict.fromkeys(ids)
    known: dict[str, Any] = {case.id: case for case in golden.cases}
    for name in wanted:
        if name not in known:
            raise InvalidGolden(f"{name}: no such case in {golden.name}")
    return (
        GoldenSet(golden.name, tuple(known[name] for name in wanted))
        if wanted
        else golden
    )

"""Models asked directly, against a scripted server that speaks their dialects and fails in every way."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from accordance.domain.faults import Fault
from accordance.domain.spending import Spending, estimate
from accordance.domain.usage import Budget
from accordance.executors.opinion import Opinion
from accordance.executors.protocol import (
    ASKED_AGAIN,
    MODEL_CALL,
    Observation,
    RunLimits,
    RunOutcome,
)
from tests.executors.assignments import (
    BAD_ACTION,
    PROMPT,
    an_assignment,
    an_executor,
    stopped_when,
)
from tests.fake_model_server import Script, Server, serving
from tests.limits import LIMIT
from tests.messages import ACTION

PROVIDERS = ("openai", "openai-responses", "anthropic", "google")


def ask(
    server: Server, tmp_path: Path, limits: RunLimits | None = None, **said: Any
) -> RunOutcome:
    """Ask the scripted model once."""
    said = {"provider": "openai", "model": "fake-model", **said}
    url = (
        server.url
        if said["provider"] in ("anthropic", "google")
        else f"{server.url}/v1"
    )
    executor = an_executor(tmp_path, kind="llm", base_url=url, **said)
    return executor.run(
        an_assignment(tmp_path), limits or RunLimits(seconds=LIMIT, output_bytes=20_000)
    )


def calls_of(produced: RunOutcome) -> list[Observation]:
    """The calls of the model that were noticed, beside other things."""
    return [one for one in produced.seen if one.what == MODEL_CALL]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_good_answer_is_taken_as_it_is(tmp_path: Path, provider: str) -> None:
    """One call, its tokens counted, the system and the user told apart."""
    with serving(Script([{"json": ACTION}])) as server:
        produced = ask(server, tmp_path, provider=provider)
    assert produced.fault is None, produced.text
    assert json.loads(produced.raw or b"") == ACTION
    spent = produced.spending
    assert (spent.read, spent.written, spent.cached, spent.calls) == (100, 20, 40, 1)
    assert not spent.estimated
    assert "You do one task." in json.dumps(server.requests[0]["body"])


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_bad_answer_is_asked_for_again_with_its_faults(
    tmp_path: Path, provider: str
) -> None:
    """Prose is stopped at once, a broken contract is explained, and every call is counted."""
    script = Script(
        [
            {"say": "Of course! Here it is: " * 50},
            {"json": BAD_ACTION},
            {"json": ACTION},
        ]
    )
    with serving(script) as server:
        produced = ask(server, tmp_path, provider=provider)
    assert json.loads(produced.raw or b"") == ACTION
    assert [one["step"] for one in server.asked] == [0, 1, 2]
    assert "not_in_enum" in json.dumps(server.asked[2]["body"])
    assert produced.spending.calls == 3
    assert (
        produced.spending.estimated
    )  # the first was broken off before anybody counted
    assert [one.details["doom"] is not None for one in calls_of(produced)] == [
        True,
        False,
        False,
    ]
    bad = [one.details["why"] for one in produced.seen if one.what == ASKED_AGAIN]
    assert ["text_around" in str(bad[0]), "not_in_enum" in str(bad[1])] == [True, True]


def test_an_answer_that_stays_bad_is_handed_on(tmp_path: Path) -> None:
    """After the re-asks the last one is what is judged; nothing is made up."""
    with serving(Script([{"json": BAD_ACTION}])) as server:
        produced = ask(server, tmp_path, reasks=1)
    assert json.loads(produced.raw or b"") == BAD_ACTION
    assert produced.spending.calls == len(server.asked) == 2


FAULTS: list[tuple[str, dict[str, Any], Fault, str]] = [
    ("429", {"status": 429, "retry_after": 7}, Fault.RATE_LIMITED, "EXECUTOR_ERROR"),
    ("500", {"status": 500}, Fault.SERVER_ERROR, "EXECUTOR_ERROR"),
    ("503", {"status": 503}, Fault.UNAVAILABLE, "MODEL_UNAVAILABLE"),
    (
        "402",
        {"status": 402, "code": "insufficient_quota"},
        Fault.UNAVAILABLE,
        "MODEL_UNAVAILABLE",
    ),
    ("400", {"status": 400}, Fault.REJECTED, "EXECUTOR_ERROR"),
    ("cut stream", {"cut": True}, Fault.CUT, "EXECUTOR_ERROR"),
    ("endless stream", {"endless": "x" * 500}, Fault.FLOODED, "EXECUTOR_ERROR"),
    ("garbage", {"garbage": True}, Fault.GARBAGE, "EXECUTOR_ERROR"),
]


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("fault", "kind", "code"),
    [row[1:] for row in FAULTS],
    ids=[row[0] for row in FAULTS],
)
def test_every_fault_of_an_endpoint_has_its_kind(
    tmp_path: Path, provider: str, fault: dict[str, Any], kind: Fault, code: str
) -> None:
    """The right code, a line for people, the wait the provider asks for; nothing hangs and nothing is raised."""
    step = {
        "say": json.dumps(
            {"schema_version": ACTION["schema_version"], "note": "x" * 200}
        ),
        "fault": fault,
    }
    with serving(Script([step])) as server:
        produced = ask(server, tmp_path, provider=provider)
    assert (produced.fault, produced.code) == (kind, code), produced.text
    assert produced.text
    assert produced.retry_after == fault.get("retry_after")
    assert (produced.spending.tokens > 0) is (
        "status" not in fault
    )  # who was sent away pays nothing
    noted = [
        one.details["read_tokens"] for one in produced.seen if one.what == "model_call"
    ]
    assert noted[-1] == produced.spending.read


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_refusal_is_one(tmp_path: Path, provider: str) -> None:
    """The task waits for a person: asking again would not help."""
    with serving(Script([{"refuse": "I will not do that."}])) as server:
        produced = ask(server, tmp_path, provider=provider)
    assert (produced.fault, produced.code) == (Fault.REFUSED, "LLM_REFUSAL")
    assert len(server.asked) == 1


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("script", "fault"),
    [
        (Script([{"json": ACTION}], key="another"), Fault.UNAUTHORISED),
        (Script([{"json": ACTION}], models=("big", "small")), Fault.UNKNOWN_MODEL),
    ],
    ids=["wrong key", "unknown model"],
)
def test_a_wrong_key_or_model_is_said(
    tmp_path: Path, provider: str, script: Script, fault: Fault
) -> None:
    """Each has its own kind."""
    with serving(script) as server:
        produced = ask(server, tmp_path, provider=provider)
    assert (produced.fault, produced.spending) == (fault, Spending())


def test_the_key_comes_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Named by the spec, or the provider's own; missing, it is named."""
    with serving(Script([{"json": ACTION}], key="right")) as server:
        monkeypatch.setenv("MY_KEY", "right")
        assert ask(server, tmp_path, key_env="MY_KEY").fault is None
        monkeypatch.delenv("MY_KEY")
        produced = ask(server, tmp_path, key_env="MY_KEY")
    assert (produced.fault, produced.code) == (Fault.KEY_MISSING, "PERMISSION_DENIED")
    assert "MY_KEY is not set" in produced.text
    for provider, name in (
        ("openai", "OPENAI_API_KEY"),
        ("anthropic", "ANTHROPIC_API_KEY"),
        ("google", "GOOGLE_API_KEY"),
    ):
        monkeypatch.delenv(name, raising=False)
        executor = an_executor(tmp_path, kind="llm", provider=provider, model="m")
        assert name in executor.run(an_assignment(tmp_path), RunLimits()).text


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_key_that_an_endpoint_repeats_is_not_kept(
    tmp_path: Path, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever a run leaves is stored and shown."""
    monkeypatch.setenv("MY_KEY", "sk-very-secret")
    with serving(Script([{"json": ACTION}], key="another")) as server:
        produced = ask(server, tmp_path, provider=provider, key_env="MY_KEY")
    assert "this key is not taken: [key]" in produced.text
    assert "sk-very" not in json.dumps(produced.to_json())


@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_endpoint_that_is_not_there_is_said(tmp_path: Path, provider: str) -> None:
    """No connection, no model; at once."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    executor = an_executor(
        tmp_path,
        kind="llm",
        provider=provider,
        model="m",
        base_url=f"http://127.0.0.1:{port}",
    )
    produced = executor.run(an_assignment(tmp_path), RunLimits(seconds=LIMIT))
    assert (produced.fault, produced.code) == (
        Fault.UNAVAILABLE,
        "MODEL_UNAVAILABLE",
    ), produced.text
    assert produced.spending == Spending()


def test_a_model_that_stays_silent_is_left(tmp_path: Path) -> None:
    """Its time is up; it was asked, so that is reckoned, though not a word has come."""
    with serving(Script([{"json": ACTION, "fault": {"hang": 600}}])) as server:
        produced = ask(server, tmp_path, RunLimits(seconds=3))
    assert (produced.fault, produced.code) == (Fault.TIMED_OUT, "TIMEOUT_EXCEEDED")
    assert produced.spending == estimate(PROMPT.text, "")


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    "fault", [{"endless": "x"}, {"hang": 600}], ids=["while it speaks", "before"]
)
def test_a_call_is_stopped(
    tmp_path: Path, fault: dict[str, Any], provider: str
) -> None:
    """Soon after the wish, with what it probably cost."""
    script = Script([{"say": '{"x": "abcdefgh', "fault": fault}])
    with (
        serving(script) as server,
        stopped_when(lambda: bool(server.requests)) as limits,
    ):
        produced = ask(server, tmp_path, limits, provider=provider)
    assert produced.fault is Fault.STOPPED
    assert produced.spending.read == estimate(PROMPT.text, "").read
    assert (produced.spending.calls, produced.spending.estimated) == (1, True)


def test_half_a_character_is_a_fault_of_the_answer(tmp_path: Path) -> None:
    """It is told, asked for again, counted, and handed on as what it is if it stays; nothing crashes."""
    half = json.dumps(ACTION, ensure_ascii=False).replace(
        '"artifact"', '"x": "\ud83d", "artifact"', 1
    )
    with serving(Script([{"say": half}, {"json": ACTION}])) as server:
        produced = ask(server, tmp_path)
        assert json.loads(produced.raw or b"") == ACTION
        assert "lone_surrogate" in json.dumps(server.asked[1]["body"])
        assert (produced.spending.calls, len(calls_of(produced))) == (2, 2)
        produced = ask(server, tmp_path, reasks=0)
    assert b"\\ud83d" in (produced.raw or b"")
    assert produced.spending.calls == 1


def test_a_character_in_two_halves_is_whole(tmp_path: Path) -> None:
    """Where a server cuts its stream says nothing about the message."""
    before, after = json.dumps({**ACTION, "note": "|"}, ensure_ascii=False).split("|")
    middle = (
        before + "\ud83d" + "\ude00" + after.ljust(len(before))
    )  # the server cuts it into halves
    with serving(Script([{"say": middle}])) as server:
        produced = ask(server, tmp_path)
    assert json.loads(produced.raw or b"")["note"] == "\U0001f600"
    assert len(server.asked) == 1


def test_empty_answers_are_silence(tmp_path: Path) -> None:
    """Asked again, and still nothing."""
    with serving(Script([{"say": "  "}])) as server:
        assert ask(server, tmp_path, reasks=1).fault is Fault.SILENT


def test_a_budget_ends_the_asking(tmp_path: Path) -> None:
    """No further call once it is used up."""
    with serving(Script([{"json": BAD_ACTION}])) as server:
        produced = ask(
            server, tmp_path, RunLimits(seconds=LIMIT, budget=Budget(tokens=150))
        )
    assert (produced.fault, produced.code) == (Fault.OVER_BUDGET, "BUDGET_EXCEEDED")
    assert len(server.asked) == 2


@pytest.mark.parametrize(
    ("said", "budget", "most"),
    [
        ({}, Budget(), 16_000),
        ({}, Budget(tokens=500), 500),
        (
            {"prices": {"fake-model": {"input": 1.0, "output": 10.0}}},
            Budget(cost=0.01),
            1_000,
        ),
        ({"max_tokens": 50}, Budget(tokens=500), 50),
    ],
    ids=["no budget", "tokens", "money", "what it may anyway"],
)
def test_an_answer_is_no_longer_than_what_is_left(
    tmp_path: Path, said: dict[str, Any], budget: Budget, most: int
) -> None:
    """The provider is told."""
    with serving(Script([{"json": ACTION}])) as server:
        ask(server, tmp_path, RunLimits(seconds=LIMIT, budget=budget), **said)
    body = server.requests[0]["body"]
    assert body.get("max_completion_tokens", body.get("max_tokens")) == most


@pytest.mark.parametrize(
    ("budget", "fault"),
    [(Budget(tokens=500), Fault.OVER_BUDGET), (Budget(), Fault.TOO_LONG)],
    ids=["by the budget", "by its own bound"],
)
def test_an_answer_that_is_cut_says_by_what(
    tmp_path: Path, budget: Budget, fault: Fault
) -> None:
    """Splitting the task would not help a budget."""
    with serving(
        Script([{"say": '{"schema_version": ', "finish": "length"}])
    ) as server:
        produced = ask(server, tmp_path, RunLimits(seconds=LIMIT, budget=budget))
    assert produced.fault is fault, produced.text


def test_prices_of_the_spec_make_the_cost(tmp_path: Path) -> None:
    """For every call, good or bad."""
    with serving(Script([{"json": BAD_ACTION}, {"json": ACTION}])) as server:
        prices = {"fake-model": {"input": 1.0, "output": 10.0}}
        produced = ask(server, tmp_path, prices=prices)
    assert produced.spending.cost == pytest.approx(2 * (100 + 200) / 1_000_000)


@pytest.mark.parametrize(
    ("output", "told"), [("auto", True), ("native", True), ("prompt", False)]
)
def test_the_schema_goes_to_a_provider_that_takes_it(
    tmp_path: Path, output: str, told: bool
) -> None:
    """In its own dialect: everything required, nothing further."""
    with serving(Script([{"json": ACTION}])) as server:
        assert ask(server, tmp_path, output=output).fault is None
    schema = server.requests[0]["schema"]
    assert (schema is not None) is told
    assert schema is None or (
        schema["additionalProperties"] is False and "task_id" in schema["required"]
    )


def test_an_endpoint_that_takes_no_schema_is_asked_without(tmp_path: Path) -> None:
    """Once, and it is noted."""
    with serving(
        Script([{"json": ACTION, "fault": {"status": 400}, "times": 1}])
    ) as server:
        produced = ask(server, tmp_path)
    assert json.loads(produced.raw or b"") == ACTION
    assert [one["schema"] is not None for one in server.requests] == [True, False]
    assert "schema_not_taken" in [one.what for one in produced.seen]


def test_the_model_of_the_assignment_is_the_one_that_is_asked(tmp_path: Path) -> None:
    """So a stronger one can be asked after a failure."""
    with serving(Script([{"json": ACTION}], models=("big",))) as server:
        executor = an_executor(
            tmp_path, kind="llm", model="small", base_url=f"{server.url}/v1"
        )
        produced = executor.run(
            an_assignment(tmp_path, model="big"), RunLimits(seconds=LIMIT)
        )
    assert produced.fault is None
    assert produced.seen[0].details["model"] == "big"


class Remembering:
    """Keeps answers as the engine does."""

    def __init__(self) -> None:
        self.kept: dict[str, dict[str, Any]] = {}

    def recall(self, asked: str) -> dict[str, Any] | None:
        """What was kept."""
        return self.kept.get(asked)

    def keep(self, asked: str, answer: Mapping[str, Any]) -> None:
        """Keep it, once."""
        assert asked not in self.kept
        self.kept[asked] = json.loads(json.dumps(answer))


def test_answers_that_were_kept_are_not_asked_for_again(tmp_path: Path) -> None:
    """Also one that was broken off, and one that was bad; they are counted as they were."""
    memory = Remembering()
    script = Script(
        [
            {"say": "Of course! Here it is: " * 50},
            {"json": BAD_ACTION},
            {"json": ACTION},
        ]
    )
    with serving(script) as server:
        executor = an_executor(
            tmp_path, kind="llm", model="m", base_url=f"{server.url}/v1"
        )
        first, second = (
            executor.run(
                an_assignment(tmp_path, memory=memory), RunLimits(seconds=LIMIT)
            )
            for _ in range(2)
        )
    assert len(server.asked) == len(memory.kept) == 3
    assert (first.raw, first.spending) == (second.raw, second.spending)
    assert [one.details["kept"] for one in (*calls_of(first), *calls_of(second))] == [
        False
    ] * 3 + [True] * 3


def test_an_opinion_is_a_reason_to_ask_again(tmp_path: Path) -> None:
    """What honours its contract is judged; the model is told, asked again, and what it said before is not paid for twice."""
    memory, judged = Remembering(), []
    other = {**ACTION, "artifact": {**ACTION["artifact"], "content": "other"}}

    def opinion(raw: bytes) -> Opinion:
        judged.append(json.loads(raw))
        text = f"the test took {len(judged)} s"  # never the same twice
        return Opinion(done=judged[-1] == other, text=text, reason_code="CI_FAILED")

    with serving(
        Script([{"json": BAD_ACTION}, {"json": ACTION}, {"json": other}])
    ) as server:
        executor = an_executor(
            tmp_path, kind="llm", model="m", base_url=f"{server.url}/v1"
        )
        first, second = (
            executor.run(
                an_assignment(tmp_path, memory=memory, opinion=opinion),
                RunLimits(seconds=LIMIT),
            )
            for _ in range(2)
        )
    assert json.loads(first.raw or b"") == other
    assert judged == [ACTION, other] * 2
    assert "the test took 1 s" in json.dumps(server.asked[2]["body"])
    assert len(server.asked) == len(memory.kept) == 3
    assert (first.raw, first.spending) == (second.raw, second.spending)
    verdicts = [one.details["verdict"] for one in first.seen if one.what == "submitted"]
    assert verdicts == ["RETRY", "DONE"]


@pytest.mark.parametrize(("reasks", "is_final", "calls"), [(1, False, 2), (5, True, 1)])
def test_what_cannot_be_mended_is_handed_on(
    tmp_path: Path, reasks: int, is_final: bool, calls: int
) -> None:
    """When it has been asked often enough, or when only a person can help."""
    opinion = Opinion(done=False, text="no", is_final=is_final)
    with serving(Script([{"json": ACTION}])) as server:
        executor = an_executor(
            tmp_path, kind="llm", model="m", base_url=f"{server.url}/v1", reasks=reasks
        )
        produced = executor.run(
            an_assignment(tmp_path, opinion=lambda _: opinion), RunLimits(seconds=LIMIT)
        )
    assert json.loads(produced.raw or b"") == ACTION
    assert len(server.asked) == calls


def test_a_failed_call_is_not_kept(tmp_path: Path) -> None:
    """It brought nothing, and the next may go well."""
    memory = Remembering()
    with serving(Script([{"fault": {"status": 500}, "json": ACTION}])) as server:
        executor = an_executor(
            tmp_path, kind="llm", model="m", base_url=f"{server.url}/v1"
        )
        assert executor.run(
            an_assignment(tmp_path, memory=memory), RunLimits(seconds=LIMIT)
        ).fault
    assert memory.kept == {}

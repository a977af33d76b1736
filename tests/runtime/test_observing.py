"""The spans and the log lines of a plan that is carried out."""

from __future__ import annotations

import io
import json
import logging
import sys
import threading
from pathlib import Path

import pytest

from accordance.executors.protocol import RunOutcome
from accordance.project.home import Home
from accordance.runtime.ports import TaskAttempt
from accordance.service.project import open_project
from accordance.service.runs import RunOptions, prepare_run
from accordance.telemetry import tracing
from accordance.telemetry.logs import logged
from accordance.telemetry.names import SCHEMA_URL
from tests.messages import small_plan
from tests.prepared import PreparedSqlite
from tests.reviews import node_review
from tests.runtime.stage import Stage, said
from tests.service.conftest import brings
from tests.spans import recorded

REVIEW = json.dumps(node_review("TASK", 95))
WORKER = f"""\
import json, os, sys
assignment = json.load(sys.stdin)
task = assignment["task"]["task_id"]
if assignment["kind"] == "review":
    print({REVIEW!r}.replace("TASK", task))
    sys.exit()
content = os.environ.get("TRACEPARENT", "none")
artifact = dict(name=task, format="md", content=content)
print(json.dumps(dict(schema_version="xiaobo_action_v1", task_id=task,
                      result_type="ARTIFACT", artifact=artifact)))
"""


def test_the_spans_of_a_run(on: Stage) -> None:
    """A run holds its tasks, a task its attempts, an attempt the check of its message."""
    with recorded() as spans:
        assert on.brings(small_plan()).runner().until_it_rests() is not None
    assert spans.tree() == [
        "accordance.run",
        "  accordance.task a",
        "    accordance.attempt a action 1",
        "      accordance.check True",
        "    accordance.attempt a review 1 DONE",
        "      accordance.check True",
        "  accordance.task b",
        "    accordance.attempt b action 1",
        "      accordance.check True",
        "    accordance.attempt b review 1 DONE",
        "      accordance.check True",
    ]
    (run,) = spans.named("accordance.run")
    assert run.instrumentation_scope is not None
    assert run.instrumentation_scope.schema_url == SCHEMA_URL
    assert len({span.context.trace_id for span in spans.all}) == 1
    tasks = spans.named("accordance.task")
    assert all(task.start_time and run.start_time for task in tasks)
    assert all((run.start_time or 0) <= (task.start_time or 0) for task in tasks)


def test_a_bad_message_is_a_bad_span(on: Stage) -> None:
    """Its code is there, and none of its words."""

    def bad_at_first(one: TaskAttempt, _: threading.Event) -> RunOutcome:
        if one.number == 1 and one.kind == "action":
            return RunOutcome(raw=b'{"schema_version": "xiaobo_action_v1", "x": "Bob"}')
        return said(one)

    with recorded() as spans:
        on.brings(small_plan()).runner(bad_at_first).until_it_rests()
    bad = [
        span
        for span in spans.named("accordance.check")
        if span.attributes and not span.attributes["accordance.accepted"]
    ]
    assert len(bad) == 2  # a task each
    assert all(span.attributes and span.attributes["error.type"] for span in bad)
    assert "Bob" not in "".join(span.to_json() for span in spans.all)


@pytest.mark.parametrize("contents", [False, True])
def test_an_agent_and_what_it_was_told(
    tmp_path: Path, prepared_sqlite: PreparedSqlite, contents: bool
) -> None:
    """It learns its trace; the span has the names of the GenAI conventions."""
    with recorded(contents=contents) as spans:
        documents = carried_out(tmp_path, prepared_sqlite)
    agents = spans.named("invoke_agent maker")
    assert len(agents) == 4  # two tasks, and their reviews
    for span in agents:
        attributes = dict(span.attributes or {})
        assert attributes["gen_ai.operation.name"] == "invoke_agent"
        assert attributes["gen_ai.agent.name"] == "maker"
        assert attributes["gen_ai.provider.name"] == "command"
        assert ("gen_ai.input.messages" in attributes) is contents
        assert ("gen_ai.output.messages" in attributes) is contents
    wanted = {
        f"00-{span.context.trace_id:032x}-{span.context.span_id:016x}-01"
        for span in agents
    }
    assert documents < wanted
    assert len(documents) == 2


def test_without_traces_an_agent_learns_of_none(
    tmp_path: Path, prepared_sqlite: PreparedSqlite
) -> None:
    """Nothing is added to its environment."""
    assert not tracing.is_on()
    assert carried_out(tmp_path, prepared_sqlite) == {"none"}


def carried_out(folder: Path, prepared: PreparedSqlite) -> set[str]:
    """Carry a plan out with a program, and return what its products hold."""
    script = folder / "worker.py"
    script.write_text(WORKER)
    (folder / "accordance.toml").write_text(
        "[executors.maker]\n"
        'kind = "command"\n'
        f"command = [{sys.executable!r}, {str(script)!r}]\n"
        "[[routes]]\n"
        'executor = "maker"\n'
        "[review]\n"
        "own_work = true\n"
    )
    prepared.copy_to(Home(folder).ledger)
    with open_project(folder) as project:
        plan = brings(project, small_plan())
        with prepare_run(project, plan.plan_id, RunOptions(), print) as prepared_run:
            run = prepared_run.begin(lambda _: None)
            run.until_it_rests()
        products = project.home.root.glob("workspace/artifacts/*/*.md")
        return {product.read_text() for product in products}


def test_log_lines_of_attempts(on: Stage) -> None:
    """Each says which run, task and attempt it is about, and where it stands in a trace."""
    out = io.StringIO()
    with recorded() as spans, logged("json", "info", out):
        on.brings(small_plan()).runner().until_it_rests()
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    settled = [line for line in lines if line["event"].startswith("attempt settled")]
    assert {(line["task"], line["attempt"]) for line in settled} == {("a", 1), ("b", 1)}
    traces = {f"{span.context.trace_id:032x}" for span in spans.all}
    assert {line["trace"] for line in settled} == traces
    assert all(len(line["span"]) == 16 for line in settled)


def test_nothing_is_written_by_default(
    on: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    """A run that goes well warns of nothing."""
    with caplog.at_level(logging.WARNING):
        on.brings(small_plan()).runner().until_it_rests()
    assert not caplog.records

"""Executors that are not installed say so; a local model is asked where there is one."""

from __future__ import annotations

import json
import os
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from accordance.domain.faults import Fault
from accordance.executors.catalogue import executor_for, limits_for
from accordance.executors.local import LocalExecutor
from accordance.executors.protocol import RunLimits
from tests.executors.assignments import a_spec, an_assignment, an_executor
from tests.limits import LIMIT

GGUF = "ACCORDANCE_GGUF"


@pytest.mark.parametrize(
    ("said", "missing", "module", "extra"),
    [
        (
            {"kind": "llm", "model": "m"},
            "pydantic_ai",
            "accordance.executors.llm",
            "llm",
        ),
        ({"kind": "codex", "model": "m"}, "mcp", "accordance.executors.agents", "mcp"),
    ],
    ids=["llm", "mcp"],
)
def test_an_extra_that_is_missing_is_named(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    said: dict[str, str],
    missing: str,
    module: str,
    extra: str,
) -> None:
    """When it is asked to run, with what to install."""
    for name in list(sys.modules):
        if (
            name.startswith(
                (f"{missing}.", f"{module}.", "accordance.executors.tool_server")
            )
            or name == missing
        ):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    produced = an_executor(tmp_path, **said).run(an_assignment(tmp_path), RunLimits())
    assert (produced.fault, produced.code) == (
        Fault.NOT_INSTALLED,
        "DEPENDENCY_MISSING",
    )
    assert f"pip install 'accordance[{extra}]'" in produced.text


def test_limits_are_those_of_the_spec() -> None:
    """The caller adds the rest."""
    limits = limits_for(a_spec(kind="external", seconds=5, output_bytes=2048))
    assert (limits.seconds, limits.output_bytes, limits.stop.is_set()) == (
        5,
        2048,
        False,
    )


def test_a_local_model_that_cannot_be_had_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No package, or no file."""
    executor = executor_for(
        a_spec(kind="llm", provider="local", model="none.gguf"), tmp_path
    )
    assert isinstance(executor, LocalExecutor)
    produced = executor.run(an_assignment(tmp_path), RunLimits())
    if find_spec("llama_cpp") is None:
        assert produced.fault is Fault.NOT_INSTALLED
        assert "accordance[local]" in produced.text
    monkeypatch.setattr("accordance.executors.local.find_spec", lambda name: name)
    produced = executor.run(an_assignment(tmp_path), RunLimits())
    assert (produced.fault, produced.code) == (Fault.UNKNOWN_MODEL, "MODEL_UNAVAILABLE")
    assert "none.gguf is not a file" in produced.text


ECHO = """
import json, sys
asked = json.load(sys.stdin)
print(json.dumps({"model": sys.argv[1], "keys": sorted(asked), "last": asked["messages"][-1]}))
sys.stderr.write("noise\\n" + json.dumps({"prompt_tokens": 7, "completion_tokens": 3}) + "\\n")
"""


@pytest.mark.parametrize(
    ("source", "fault", "tokens"),
    [
        (ECHO, None, 10),
        ("print('{}')", None, 0),
        ("import os; os.kill(os.getpid(), 4)", Fault.CRASHED, 0),
    ],
    ids=["answers", "does not count", "dies of a wrong instruction"],
)
def test_a_local_model_has_a_process_of_its_own(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    source: str,
    fault: Fault | None,
    tokens: int,
) -> None:
    """With another program in its place: what it is told, what is read of it, and that it may die."""
    (tmp_path / "small.gguf").write_bytes(b"GGUF")
    monkeypatch.setattr("accordance.executors.local.find_spec", lambda name: name)
    monkeypatch.setattr("accordance.executors.local._SOURCE", source)
    executor = an_executor(tmp_path, kind="llm", provider="local", model="small.gguf")
    produced = executor.run(an_assignment(tmp_path), RunLimits(seconds=LIMIT))
    assert (produced.fault, produced.spending.tokens) == (fault, tokens), produced.text
    if tokens:
        said = json.loads(produced.raw or b"")
        assert said["model"] == str(tmp_path / "small.gguf")
        assert said["last"] == {"role": "user", "content": "Write it."}


def test_a_local_model_is_asked(tmp_path: Path) -> None:
    """Held to the schema by its grammar, in a process of its own."""
    gguf = os.environ.get(GGUF)
    if find_spec("llama_cpp") is None or not gguf:
        pytest.skip(f"llama-cpp-python is not installed, or {GGUF} names no file")
    executor = an_executor(
        tmp_path, kind="llm", provider="local", model=gguf, max_tokens=200
    )
    produced = executor.run(an_assignment(tmp_path), RunLimits(seconds=600))
    if produced.fault is Fault.CRASHED:
        pytest.skip(
            f"the model's library does not run on this machine: {produced.text}"
        )
    assert json.loads(produced.raw or b"{").keys() >= {"schema_version", "task_id"}

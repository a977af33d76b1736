"""What `accordance.check` costs compared with its peers: the same messages, one run, CPU time.

    python bench/contracts.py [--rounds N] [--quick] [--json] [--growth]

It measures two paths, and how the time grows with the size of a message. The valid path takes a canonical message as
`str` and ends with a typed, checked value. The error path takes a message with known errors and ends when the report of
them exists as Python objects.

The bars are ratios within one run, not microseconds: a figure in microseconds is true for one machine on one day,
while two programs that did the same work on the same core by turns can be compared anywhere. So the peers take turns in
short slices of every round, forwards and backwards. CPU time is measured, because a busy machine changes it little. The
garbage collector runs before each slice and is off inside it. Every call gets its own copy of the text, made before the
clock starts and dropped after the call: Python caches the UTF-8 of a `str`, so with a shared text the first peer would
pay for all. Nothing here fails a build: a bar that does not hold is printed as such. Treat a ratio within a tenth of its
bar as undecided, and look at the spread of the rounds; on the largest plan the state of the heap alone can move it that
much.

The peers do not all do the same work. Each is timed at the step that turns text into a value, without client or HTTP:
instructor at the parse step of its markdown-JSON mode, pydantic-ai at its output processor, langchain-core at
`PydanticOutputParser`, guardrails at `Guard.parse` with telemetry off, BAML at `parse_llm_response`. All but BAML
use accordance's own models. The BAML classes and the msgspec structs are made from the schema that accordance
publishes; the structs include its bounds, the BAML classes only its types. Only accordance checks the rules across
fields, and only accordance and the two `jiter` rows refuse duplicate keys.
"""

from __future__ import annotations

import argparse
import functools
import gc
import importlib.metadata
import json
import operator
import os
import platform
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
import types
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeAlias

import jiter
from pydantic import BaseModel, ValidationError, create_model

import accordance
from accordance.contracts.catalogue.action import Action
from accordance.contracts.catalogue.plan import Plan
from accordance.contracts.catalogue.review import Review
from accordance.contracts.catalogue.submit import Submit
from accordance.contracts.limits import MAX_REPORTED

ACTION: Final = "xiaobo_action_v1"
ANSWER: Final = "agent_answer_v1"
TASK: Final = "scc.task.v1"
REVIEW: Final = "xiaojing_review_v1"
SUBMIT: Final = "scc.submit.v1"
PLAN: Final = "plan_json_v1"
MODELS: Final[Mapping[str, type[BaseModel]]] = {
    ACTION: Action,
    REVIEW: Review,
    SUBMIT: Submit,
    PLAN: Plan,
}

LIMIT_S: Final = 5  # a call that takes longer is stopped and reported as such
SUSPECT_S: Final = 2  # a call expected to take longer, judged by a smaller message, is first tried in its own process
LARGE: Final = 1_000_000  # bytes; messages above it have few rounds
LARGE_ROUNDS: Final = 3
SLOW_S: Final = 0.05  # a call that takes longer has fewer slices
SLOW_SLICES: Final = 3
SLICES: Final = 9  # of a round; each peer has a turn in each slice, so that a burst of load affects all of them
SLICE_BYTES: Final = (
    8_000_000  # of text in a slice, because every call has its own copy
)

Json: TypeAlias = dict[str, Any]
Call: TypeAlias = Callable[[], object]
Prepare: TypeAlias = Callable[[str, str], Call]  # contract, text -> what is timed, once


class Reader(NamedTuple):
    """A peer, ready to use: how it reads a message, and how it counts the errors of a bad message."""

    read: Prepare
    report: Prepare | None = None


class Peer(NamedTuple):
    """A library that can read messages."""

    name: str
    distribution: str
    load: Callable[[], Reader]
    reports: bool = (
        True  # takes part in the error path: lists every error, in a fair time
    )


class Message(NamedTuple):
    """A text, the contract it belongs to, and the number of errors in it."""

    name: str
    contract: str
    text: str
    errors: int = 0
    smaller: str = ""  # the message of the same shape from which its time is predicted

    @property
    def size(self) -> int:
        """In bytes."""
        return len(self.text.encode())


@dataclass(slots=True)
class Cell:
    """A peer on a message: a sample per round, in seconds per call, or a word why there is none."""

    samples: list[float] = field(default_factory=list)
    word: str = ""
    why: str = ""
    errors: int | None = None  # how many it reports, on the error path
    prepare: Prepare | None = None  # set while there is something to measure
    count: int = 1  # calls per slice
    is_slow: bool = False

    @property
    def seconds(self) -> float:
        """The median; only for a cell without a word."""
        return median(self.samples)


class Bar(NamedTuple):
    """A bar of the design, checked on a message."""

    bar: str
    message: str
    ratio: float | None
    low: float | None
    high: float | None
    verdict: str


Table: TypeAlias = dict[str, dict[str, Cell]]  # message -> peer -> cell


# The messages. Everything follows from counters, so that every run reads the same bytes.

_VOCABULARY: Final = (
    "plan review agent contract evidence report folder check result value message limit rule error path field "
    "score schema version task node edge input output reason summary change step test"
)
_WORDS: Final = _VOCABULARY.split()


def _sentence(seed: int, length: int = 9) -> str:
    words = [
        _WORDS[(seed * 7 + at * (3 + seed % 5)) % len(_WORDS)] for at in range(length)
    ]
    return " ".join(words).capitalize() + "."


def _document(size: int) -> str:
    """Markdown as models write it: prose, code with quotes and backslashes, and some Chinese."""
    lines: list[str] = []
    total = 0
    while total < size:
        at = len(lines)
        odd = {
            3: f'    print("line {at}\\n")',
            7: "交付物必须有证据，并且可以复核。",
            11: f"## Part {at // 12 + 1}",
        }
        lines.append(odd.get(at % 12) or f"{_sentence(at)} {_sentence(at + 1)}")
        total += len(lines[-1].encode()) + 1
    return "\n".join(lines)


def _action(size: int) -> Json:
    return {
        "schema_version": ACTION,
        "task_id": "task-00042",
        "result_type": "ARTIFACT",
        "needs_input": None,
        "artifact": {
            "name": "report",
            "format": "md",
            "content": _document(size),
            "path_hint": "workspace/artifacts/task-00042/report.md",
            "summary": _sentence(1),
        },
        "error": None,
    }


def _issue(seed: int) -> Json:
    keys = ("problem", "evidence", "impact", "suggestion", "acceptance_criteria")
    return {key: _sentence(seed + at, 10) for at, key in enumerate(keys)}


def _review() -> Json:
    names = ("Completeness", "Correctness", "Evidence", "Clarity", "Safety")
    return {
        "schema_version": REVIEW,
        "task_id": "task-00042",
        "review_target": "NODE",
        "total_score": 5 * 16,
        "breakdown": [
            {
                "dimension": name,
                "score": 16,
                "max_score": 20,
                "issues": [_issue(at * 5)],
            }
            for at, name in enumerate(names)
        ],
        "summary": f"{_sentence(3)} {_sentence(4)}",
        "action_required": "MODIFY",
        "suggestions": [
            {
                "priority": ("HIGH", "MED", "LOW")[at % 3],
                "change": _sentence(at + 20),
                "steps": [_sentence(at + 30 + step) for step in range(2)],
                "acceptance_criteria": _sentence(at + 40),
            }
            for at in range(4)
        ],
    }


def _submit() -> Json:
    folder = "artifacts/task-00042"
    return {
        "schema_version": SUBMIT,
        "task_id": "task-00042",
        "status": "DONE",
        "reason_code": "ok",
        "changed_files": ["src/app/reader.py", "src/app/writer.py"],
        "new_files": ["tests/test_reader.py"],
        "tests": {"commands": ["pytest -q"], "passed": True, "summary": "41 passed"},
        "artifacts": {
            "report_md": f"{folder}/report.md",
            "selftest_log": f"{folder}/selftest.log",
            "evidence_dir": f"{folder}/evidence/",
            "patch_diff": f"{folder}/patch.diff",
            "submit_json": f"{folder}/submit.json",
        },
        "exit_code": 0,
        "needs_input": [],
        "summary": _sentence(5),
    }


def _node(at: int) -> Json:
    return {
        "task_id": f"task-{at:05}",
        "plan_id": "plan-001",
        "node_type": "GOAL" if at == 0 else ("ACTION", "ACTION", "CHECK")[at % 3],
        "title": _sentence(at, 4),
        "owner_agent_id": "xiaobo",
        "priority": at % 5,
        "tags": ["bench", _WORDS[at % len(_WORDS)]],
        "goal_statement": _sentence(at + 1, 7),
        "rationale": None,
    }


def _edge(source: int, target: int, kind: str) -> Json:
    return {
        "edge_id": f"edge-{kind[:3].lower()}-{target:05}",
        "plan_id": "plan-001",
        "from_task_id": f"task-{source:05}",
        "to_task_id": f"task-{target:05}",
        "edge_type": kind,
        "metadata": {"and_or": "AND"} if kind == "DECOMPOSE" else None,
    }


def _plan(count: int) -> Json:
    """A tree of eight parts each; every third node waits for its predecessor."""
    parts = [_edge((at - 1) // 8, at, "DECOMPOSE") for at in range(1, count)]
    waits = [_edge(at - 1, at, "DEPENDS_ON") for at in range(2, count, 3)]
    return {
        "schema_version": PLAN,
        "plan": {
            "plan_id": "plan-001",
            "title": "A plan to measure",
            "root_task_id": "task-00000",
            "created_at": "2025-01-02T03:04:05Z",
            "owner_agent_id": "xiaojing",
            "constraints": {"deadline": "2025-02-01", "budget": 3},
        },
        "nodes": [_node(at) for at in range(count)],
        "edges": [*parts, *waits],
        "requirements": [
            {
                "requirement_id": "requirement-1",
                "task_id": "task-00001",
                "name": "The brief",
                "kind": "FILE",
                "required": True,
                "min_count": 1,
                "allowed_types": ["md", "txt"],
                "source": "USER",
                "validation": None,
            }
        ],
    }


def _bad_review() -> Json:
    """Ten faults of many kinds, none of which normalising may mend."""
    review = _review()
    first, second = review["breakdown"][:2]
    del review["summary"]
    review |= {"review_target": "SUBTREE", "total_score": "eighty"}
    first |= {"score": 16.5}
    first["issues"][0] |= {"evidence": "", "impact": 7}
    second |= {"max_score": None}
    review["suggestions"][0] |= {"priority": "SOON", "steps": "do it"}
    review["suggestions"][1] |= {"change": "   "}
    return review


def _bad_plan(count: int, errors: int) -> Json:
    """One fault in every so many nodes, of four kinds."""
    plan = _plan(count)
    faults: tuple[Json, ...] = (
        {"priority": "high"},
        {"title": " "},
        {"node_type": "STEP"},
        {"tags": "none"},
    )
    for at in range(errors):
        plan["nodes"][at * (count // errors)] |= faults[at % len(faults)]
    return plan


def _text(message: Json) -> str:
    return json.dumps(message, ensure_ascii=False)


def valid_messages() -> list[Message]:
    """Canonical messages, from small to large."""
    return [
        Message("action 0.5 kB", ACTION, _text(_action(150))),
        Message("action 50 kB", ACTION, _text(_action(50_000))),
        Message("review 4 kB", REVIEW, _text(_review())),
        Message("submit", SUBMIT, _text(_submit())),
        Message("plan 100", PLAN, _text(_plan(100))),
        Message("plan 10,000", PLAN, _text(_plan(10_000)), smaller="plan 100"),
    ]


def bad_messages() -> list[Message]:
    """Messages with a known number of errors."""
    return [
        Message("review, 10 errors", REVIEW, _text(_bad_review()), 10),
        Message("plan 100, 20 errors", PLAN, _text(_bad_plan(100, 20)), 20),
        Message(
            "plan 10,000, 10,000 errors", PLAN, _text(_bad_plan(10_000, 10_000)), 10_000
        ),
    ]


def assert_as_promised(messages: Iterable[Message]) -> None:
    """Check that valid messages are accepted unchanged, and bad messages have exactly their errors."""
    for message in messages:
        result = accordance.check(message.text, message.contract)
        if isinstance(result, accordance.Rejected):
            if result.total != message.errors:
                raise AssertionError(
                    f"{message.name}: {result.total} errors, first {result.violations[0]}"
                )
        elif message.errors or result.repairs or result.warnings:
            raise AssertionError(
                f"{message.name}: {result.repairs[:1]} {result.warnings[:1]}"
            )


# The peers.


def _accordance() -> Reader:
    def report(contract: str, text: str) -> Call:
        def count() -> int:
            result = accordance.check(text, contract)
            return result.total if isinstance(result, accordance.Rejected) else 0

        return count

    return Reader(
        lambda contract, text: partial(accordance.check, text, contract), report
    )


def _parse(text: str) -> Any:
    return jiter.from_json(
        text.encode(), catch_duplicate_keys=True, allow_inf_nan=False
    )


def _jiter_and_pydantic() -> Reader:
    def read(contract: str, text: str) -> Call:
        model = MODELS[contract]
        return lambda: model.model_validate(_parse(text), strict=True)

    return Reader(read, _pydantic_report(read))


def _model_validate_json() -> Reader:
    def read(contract: str, text: str) -> Call:
        return partial(MODELS[contract].model_validate_json, text, strict=True)

    return Reader(read, _pydantic_report(read))


def _pydantic_report(read: Prepare, **options: bool) -> Prepare:
    """The full list of `errors()`, also where the peer wraps pydantic's exception in its own."""

    def report(contract: str, text: str) -> Call:
        call = read(contract, text)

        def count() -> int:
            try:
                call()
            except Exception as error:
                cause = error if isinstance(error, ValidationError) else error.__cause__
                if not isinstance(cause, ValidationError):
                    raise
                return len(cause.errors(**options))
            return 0

        return count

    return report


def _jsonschema_rs() -> Reader:
    import jsonschema_rs

    judges = {
        name: jsonschema_rs.validator_for(accordance.schema(name).schema)
        for name in MODELS
    }

    def read(contract: str, text: str) -> Call:
        validate = judges[contract].validate

        def call() -> object:
            value = _parse(text)
            validate(value)
            return value

        return call

    def report(contract: str, text: str) -> Call:
        iter_errors = judges[contract].iter_errors
        return lambda: len(
            [
                (error.message, error.instance_path)
                for error in iter_errors(_parse(text))
            ]
        )

    return Reader(read, report)


def _msgspec() -> Reader:
    import msgspec

    bounds = {
        "minLength": "min_length",
        "maxLength": "max_length",
        "minItems": "min_length",
        "maxItems": "max_length",
        "minimum": "ge",
        "maximum": "le",
        "pattern": "pattern",
    }

    def bound(kind: Any, part: Json) -> Any:
        limits: dict[str, Any] = {
            bounds[key]: part[key] for key in bounds if key in part
        }
        return Annotated[kind, msgspec.Meta(**limits)] if limits else kind

    def make(name: str, fields: Json, part: Json) -> Any:
        listed = [
            (key, kind) if required else (key, kind, None)
            for key, (kind, required) in fields.items()
        ]
        closed = part.get("additionalProperties") is False
        return msgspec.defstruct(
            name, listed, kw_only=True, frozen=True, forbid_unknown_fields=closed
        )

    decoders = {
        name: msgspec.json.Decoder(_classes(name, make, bound)["Root"])
        for name in MODELS
    }
    return Reader(lambda contract, text: partial(decoders[contract].decode, text))


def _pydantic_ai() -> Reader:
    from pydantic_ai._output import ObjectOutputProcessor

    processors = {name: ObjectOutputProcessor(model) for name, model in MODELS.items()}

    def read(contract: str, text: str) -> Call:
        return partial(processors[contract].validate, text)

    return Reader(
        read, _pydantic_report(read, include_url=False, include_context=False)
    )


def _langchain() -> Reader:
    from langchain_core.output_parsers import PydanticOutputParser

    parsers: dict[str, Any] = {
        name: PydanticOutputParser(pydantic_object=model)
        for name, model in MODELS.items()
    }

    def read(contract: str, text: str) -> Call:
        return partial(parsers[contract].parse, text)

    return Reader(read, _pydantic_report(read))


def _instructor() -> Reader:
    """What its retry loop calls with the completion that a client returned."""
    import instructor.v2  # it registers the handlers
    from instructor.v2.core.registry import mode_registry
    from instructor.v2.core.response_model import prepare_response_model
    from openai.types.chat import ChatCompletion

    models: dict[str, Any] = {
        name: prepare_response_model(model) for name, model in MODELS.items()
    }
    handlers = mode_registry.get_handlers(
        instructor.Provider.OPENAI, instructor.Mode.MD_JSON
    )

    def read(contract: str, text: str) -> Call:
        answer = {"role": "assistant", "content": text}
        completion = ChatCompletion.model_validate(
            {
                "id": "none",
                "object": "chat.completion",
                "created": 0,
                "model": "none",
                "choices": [{"index": 0, "finish_reason": "stop", "message": answer}],
            }
        )
        return partial(
            handlers.response_parser,
            response=completion,
            response_model=models[contract],
            validation_context=None,
            strict=True,
            stream=False,
            is_async=False,
        )

    return Reader(read, _pydantic_report(read))


def _guardrails() -> Reader:
    import guardrails
    from guardrails.settings import settings

    settings.disable_tracing = True
    guards = {}
    for name, model in MODELS.items():
        guards[name] = guardrails.Guard.for_pydantic(model)
        guards[name].configure(allow_metrics_collection=False)
    if settings.rc.enable_metrics:
        raise RuntimeError("its telemetry could not be switched off")
    return Reader(lambda contract, text: partial(guards[contract].parse, text))


def _baml() -> Reader:
    from baml_py import BamlRuntime

    def prepare(contract: str) -> Callable[[str], object]:
        runtime = BamlRuntime.from_files(".", {"main.baml": _baml_source(contract)}, {})
        module = types.ModuleType("baml_types")
        module.__dict__.update(_classes(contract, _plain_model, lambda kind, _: kind))
        context = runtime.create_context_manager()

        def parse(text: str) -> object:
            return runtime.parse_llm_response(
                "Read", text, module, module, module, False, context, None, None, {}
            )

        return parse

    parsers = {name: prepare(name) for name in MODELS}
    return Reader(lambda contract, text: partial(parsers[contract], text))


PEERS: Final = (
    Peer("accordance.check", "accordance", _accordance),
    Peer("jiter + pydantic", "jiter", _jiter_and_pydantic),
    Peer("model_validate_json", "pydantic", _model_validate_json),
    Peer("jiter + jsonschema-rs", "jsonschema-rs", _jsonschema_rs),
    Peer("msgspec", "msgspec", _msgspec, reports=False),
    Peer("pydantic-ai", "pydantic-ai-slim", _pydantic_ai),
    Peer("langchain-core", "langchain-core", _langchain),
    Peer("instructor", "instructor", _instructor),
    Peer("baml", "baml-py", _baml, reports=False),
    Peer("guardrails", "guardrails-ai", _guardrails, reports=False),
)
OURS: Final = "accordance.check"


# Classes that say the same as a published schema, for the peers that do not take pydantic models.


def _classes(
    contract: str,
    make: Callable[[str, Json, Json], Any],
    bound: Callable[[Any, Json], Any],
) -> dict[str, Any]:
    """One class for each object of the schema, by name; the whole message is `Root`."""
    schema: Json = dict(accordance.schema(contract).schema)
    made: dict[str, Any] = {}

    def class_of(name: str, part: Json) -> Any:
        if "properties" not in part:
            return Any
        if name not in made:
            needed = part.get("required", ())
            kinds = {key: kind_of(value) for key, value in part["properties"].items()}
            fields = {
                key: (kind if key in needed else kind | None, key in needed)
                for key, kind in kinds.items()
            }
            made[name] = make(name, fields, part)
        return made[name]

    def kind_of(part: Json) -> Any:
        match part:
            case {"$ref": str(path)}:
                name = path.rpartition("/")[2]
                return class_of(name, schema["$defs"][name])
            case {"anyOf": options}:
                return functools.reduce(operator.or_, map(kind_of, options))
            case {"const": word}:
                return Literal[word]
            case {"enum": [str(), *_] as words}:
                return Literal[tuple(words)]
            case {"type": "array", "items": items}:
                return bound(list[kind_of(items)], part)  # type: ignore[misc]
        kinds = {
            "string": str,
            "integer": int,
            "boolean": bool,
            "object": dict[str, Any],
            "null": None,
        }
        return (
            bound(kinds[part["type"]], part) if "type" in part else bool
        )  # an enum of flags has no type

    class_of("Root", schema)
    return made


def _plain_model(name: str, fields: Json, _: Json) -> type[BaseModel]:
    """As BAML's own generator writes them: types, no bounds."""
    listed: Json = {
        key: (kind, ... if needed else None) for key, (kind, needed) in fields.items()
    }
    return create_model(name, **listed)


def _baml_source(contract: str) -> str:
    schema: Json = dict(accordance.schema(contract).schema)
    objects = {"Root": schema, **schema.get("$defs", {})}
    lines = [
        "type JsonValue = int | float | bool | string | null | JsonValue[] | map<string, JsonValue>"
    ]
    for name, part in objects.items():
        if "properties" in part:
            lines.append(f"class {name} {{")
            for key, value in part["properties"].items():
                kind = _baml_type(value)
                optional = key not in part.get("required", ()) and not kind.endswith(
                    "?"
                )
                lines.append(f"  {key} {kind}{'?' if optional else ''}")
            lines.append("}")
    lines += [
        "client<llm> Nobody {",
        "  provider openai",
        "  options {",
        '    model "none"',
    ]
    lines += [
        '    api_key "none"',
        "  }",
        "}",
        "function Read(text: string) -> Root {",
        "  client Nobody",
    ]
    lines += ['  prompt #"{{ text }} {{ ctx.output_format }}"#', "}"]
    return "\n".join(lines)


def _baml_type(part: Json) -> str:
    match part:
        case {"$ref": str(path)}:
            return path.rpartition("/")[2]
        case {"anyOf": [option, {"type": "null"}]}:
            return f"{_baml_type(option)}?"
        case {"const": word}:
            return json.dumps(word)
        case {"enum": [str(), *_] as words}:
            return f"({' | '.join(map(json.dumps, words))})"
        case {"type": "array", "items": items}:
            return f"{_baml_type(items)}[]"
    kinds = {"string": "string", "integer": "int", "object": "map<string, JsonValue>"}
    return kinds.get(part.get("type", ""), "bool")


# Offline, by force.

_refused: list[str] = []


def stay_offline(home: Path) -> None:
    """Switch off whatever would call home, and refuse what tries all the same. Before any peer is imported."""
    (home / ".guardrailsrc").write_text("enable_metrics=false\n", encoding="utf-8")
    os.environ.pop("RUST_BACKTRACE", None)  # BAML becomes slow with it
    os.environ |= {
        "HOME": str(home),  # guardrails reads its settings there, and nowhere else
        "GUARDRAILS_LOG_FILE_PATH": str(home / "guardrails.db"),
        "OTEL_SDK_DISABLED": "true",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LANGSMITH_TRACING": "false",
        "LANGCHAIN_TRACING_V2": "false",
        "BAML_LOG": "off",
    }
    warnings.simplefilter("ignore")

    def refuse(*arguments: object, **_: object) -> Any:
        _refused.append(repr(arguments[-1]))
        raise ConnectionRefusedError("this benchmark stays offline")

    socket.socket.connect = socket.socket.connect_ex = refuse  # type: ignore[method-assign]
    socket.getaddrinfo = refuse


# Measuring.


def load_peers(wanted: Iterable[Peer]) -> tuple[dict[str, Reader], dict[str, str]]:
    """The peers that can be used, and why the others cannot."""
    readers: dict[str, Reader] = {}
    missing: dict[str, str] = {}
    for peer in wanted:
        try:
            readers[peer.name] = peer.load()
        except ImportError as error:
            missing[peer.name] = f"not installed: {error}"
        except Exception as error:
            missing[peer.name] = f"not usable: {_in_short(error)}"
    return readers, missing


def _in_short(error: BaseException) -> str:
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0][:120]}"


@dataclass(slots=True)
class Bench:
    """One run: who is measured, how often and how long."""

    readers: dict[str, Reader]
    missing: dict[str, str]
    rounds: int
    slice_s: float  # CPU seconds a slice should last
    quick: bool = False

    def run(self, messages: Sequence[Message], *, errors: bool = False) -> Table:
        """Every peer on every message."""
        table: Table = {}
        for message in messages:
            table[message.name] = cells = {}
            for peer in PEERS:
                if peer.reports or not errors:
                    cells[peer.name] = self._cell(
                        peer.name, message, table, errors=errors
                    )
            self._measure(message, [cell for cell in cells.values() if cell.prepare])
        return table

    def _cell(self, peer: str, message: Message, table: Table, *, errors: bool) -> Cell:
        """A cell that is ready to be measured, or says why it is not."""
        if peer in self.missing:
            return Cell(
                word=self.missing[peer].partition(":")[0], why=self.missing[peer]
            )
        reader = self.readers[peer]
        prepare = (reader.report if errors else None) or reader.read
        smaller = table.get(message.smaller, {}).get(peer)
        if smaller is not None and smaller.samples:
            foreseen = smaller.seconds * message.size / len_of(message.smaller)
            if foreseen > SUSPECT_S and (
                word := self._try_apart(peer, message, foreseen)
            ):
                return Cell(word=word[0], why=word[1])
        return _ready(prepare, message, self.slice_s, errors=errors)

    def _try_apart(
        self, peer: str, message: Message, foreseen: float
    ) -> tuple[str, str] | None:
        over = f"over {LIMIT_S} s"
        if self.quick:
            return over, f"foreseen {foreseen:.0f} s, by {message.smaller}; not tried"
        command = [sys.executable, __file__, "--probe", peer, message.name]
        try:
            code = subprocess.run(
                command, capture_output=True, check=False, timeout=12 * LIMIT_S
            ).returncode
        except subprocess.TimeoutExpired:
            return over, f"stopped after {12 * LIMIT_S} s of wall time"
        if code == -signal.SIGXCPU:
            return (
                over,
                f"stopped after {LIMIT_S} s of CPU time (foreseen {foreseen:.0f} s, by {message.smaller})",
            )
        return None if code == 0 else ("died", f"the process ended with {code}")

    def _measure(self, message: Message, cells: list[Cell]) -> None:
        rounds = min(self.rounds, LARGE_ROUNDS) if message.size > LARGE else self.rounds
        slow = 1 if self.quick else SLOW_SLICES
        for turn in range(rounds):
            taken: list[list[float]] = [[] for _ in cells]
            for at in range(SLICES):
                order = [*zip(cells, taken, strict=True)]
                for cell, times in order if (turn + at) % 2 == 0 else reversed(order):
                    if cell.prepare and (at < slow or not cell.is_slow):
                        times.append(_sample(cell.prepare, message, cell.count))
            for cell, times in zip(cells, taken, strict=True):
                cell.samples.append(median(times))


@functools.cache
def len_of(name: str) -> int:
    """The size of a valid message, in bytes."""
    return next(message.size for message in valid_messages() if message.name == name)


def _ready(prepare: Prepare, message: Message, slice_s: float, *, errors: bool) -> Cell:
    """Make the first calls: is the message accepted, is the value right, how many calls make a slice."""
    try:
        result = prepare(message.contract, message.text)()
        if not errors and _plain(result) != _without_nulls(json.loads(message.text)):
            return Cell(
                word="refused" if _is_refusal(result) else "changed",
                why="the value differs",
            )
        once = _sample(prepare, message, 1)
        if once < slice_s:
            once = _sample(prepare, message, 5)
    except Exception as error:
        return Cell(word="refused", why=_in_short(error))
    count = min(int(slice_s / max(once, 1e-7)), SLICE_BYTES // message.size)
    errors_reported = result if isinstance(result, int) else None
    return Cell(
        prepare=prepare,
        count=max(1, count),
        is_slow=once > SLOW_S,
        errors=errors_reported,
    )


def _sample(prepare: Prepare, message: Message, count: int) -> float:
    """CPU seconds per call."""
    head, tail = message.text[:1], message.text[1:]
    calls = deque(prepare(message.contract, head + tail) for _ in range(count))
    gc.collect()
    gc.disable()
    try:
        began = time.process_time()
        while calls:
            calls.popleft()()
        return (time.process_time() - began) / count
    finally:
        gc.enable()


def _is_refusal(result: Any) -> bool:
    return (
        getattr(result, "validation_passed", True) is False
    )  # guardrails says no without an exception


def _plain(result: Any) -> object:
    """What a peer returned, as plain JSON, to see that all of them read the same."""
    value = result.value if isinstance(result, accordance.Accepted) else result
    value = getattr(value, "validated_output", value)
    if isinstance(value, BaseModel):
        value = value.model_dump()
    elif hasattr(value, "__struct_fields__"):
        import msgspec

        value = msgspec.to_builtins(value)
    return _without_nulls(value)


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: _without_nulls(item) for key, item in value.items() if item is not None
        }
    return (
        [_without_nulls(item) for item in value] if isinstance(value, list) else value
    )


def probe(peer: str, name: str) -> None:
    """Make a call of a slow peer under a limit of CPU time, in a process that may be killed."""
    (reader,) = load_peers(each for each in PEERS if each.name == peer)[0].values()
    message = next(each for each in valid_messages() if each.name == name)
    call = reader.read(message.contract, message.text)
    used = resource.getrusage(resource.RUSAGE_SELF)
    limit = int(used.ru_utime + used.ru_stime) + LIMIT_S + 1
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
    call()


# The bars of the design, section 9.


def bars(valid: Table, errors: Table) -> list[Bar]:
    """Each bar about `check`, message by message."""
    checked = [*_at_most("valid", 1.3, "jiter + pydantic", valid)]
    checked += _at_most("valid", 2.5, "model_validate_json", valid)
    for peer in ("instructor", "langchain-core", "baml", "guardrails"):
        checked += _faster_than(peer, valid)
    reports = _at_most("full error report", 3.0, "model_validate_json", errors)
    return [*checked, *reports]


def _at_most(what: str, most: float, peer: str, table: Table) -> Iterable[Bar]:
    bar = f"{what} <= {most}x {peer}{'' if what == 'valid' else ' + errors()'}"
    return [
        _bar(bar, message, cells, peer, lambda ratio: ratio <= most)
        for message, cells in table.items()
    ]


def _faster_than(peer: str, table: Table) -> Iterable[Bar]:
    bar = f"valid, faster than {peer}"
    return [
        _bar(bar, message, cells, peer, lambda ratio: ratio < 1)
        for message, cells in table.items()
    ]


def _bar(
    bar: str,
    message: str,
    cells: dict[str, Cell],
    peer: str,
    holds: Callable[[float], bool],
) -> Bar:
    ours, theirs = cells[OURS], cells[peer]
    if theirs.word.startswith("over") and ours.samples:
        return Bar(
            bar,
            message,
            None,
            None,
            ours.seconds / LIMIT_S,
            f"HOLDS (peer: {theirs.word})",
        )
    if not ours.samples or not theirs.samples:
        return Bar(
            bar,
            message,
            None,
            None,
            None,
            f"NOT COMPARED (peer: {theirs.word or ours.word})",
        )
    ratio = ours.seconds / theirs.seconds
    each = [
        mine / other for mine, other in zip(ours.samples, theirs.samples, strict=True)
    ]
    return Bar(
        bar,
        message,
        ratio,
        min(each),
        max(each),
        "HOLDS" if holds(ratio) else "DOES NOT HOLD",
    )


# Growth: what a message of four times the size costs, valid or not.

GROWTH_BAR: Final = 5.0  # 4n may cost this many times n
GROWTH_ROUNDS: Final = 3


class Growth(NamedTuple):
    """One shape of message that can become large, and how large it is made first."""

    name: str
    contract: str
    make: Callable[[int], Json]
    count: int


def _bad_answer(count: int) -> Json:
    """A research answer whose scores are all out of range."""
    scores = [
        {"option": f"option {at}", "score": 7, "rationale": "because"}
        for at in range(count)
    ]
    return {
        "schema_version": ANSWER,
        "agent_id": "a",
        "vs_level": "Light",
        "vs_metadata": {"t_scores": scores},
    }


def _large_bad_review(count: int) -> Json:
    """A review of many dimensions, each with two faults, of which a rule and the model both speak."""
    part = {"dimension": "", "score": 9, "max_score": 3, "issues": []}
    return {**_review(), "breakdown": [part] * count}


def _large_bad_plan(count: int) -> Json:
    """A plan whose nodes belong to another plan and whose edges lead nowhere, by names that are no edges."""
    plan = _plan(count)
    plan["nodes"] = [
        {**node, "plan_id": "other", "priority": "high"} for node in plan["nodes"]
    ]
    plan["edges"] = [
        {**edge, "to_task_id": "nobody", "edge_type": "MAYBE"} for edge in plan["edges"]
    ]
    return plan


def _with_unknown_keys(message: Json, count: int) -> Json:
    return {**message, **{f"unknown_{at}": at for at in range(count)}}


def _large_task(count: int) -> Json:
    """A task that expects to touch many files outside its pins: a notice for each."""
    return {
        "task_id": "5b0c6f0e-1f2d-4c55-9a51-0d6d3c1b7a01",
        "goal": "Change everything.",
        "role": "engineer",
        "pins": {"allowed_paths": ["src/**"]},
        "files": [f"docs/{at}.md" for at in range(count)],
    }


def _chain_without_parts(count: int) -> Json:
    """One task after the other, and nothing says that they belong to the root."""
    chain = [_edge(at - 1, at, "DEPENDS_ON") for at in range(2, count)]
    return {**_plan(count), "edges": chain}


def _reversed_plan(count: int) -> Json:
    """The same plan, its nodes and edges listed backwards."""
    plan = _plan(count)
    return {**plan, "nodes": plan["nodes"][::-1], "edges": plan["edges"][::-1]}


def _mixed_plan(count: int) -> Json:
    """Ways to choose from, candidates, tasks that wait for goals, strays, and marks at both ends."""
    plan = _plan(count)
    edges = [edge for at, edge in enumerate(plan["edges"]) if at % 7]
    for edge in edges:
        if edge["edge_type"] == "DECOMPOSE" and int(edge["from_task_id"][-5:]) % 3 == 1:
            edge["metadata"] = {"and_or": "OR"}
    for at in range(9, count - 1, 8):
        group = [_edge((at - 1) // 8, part, "ALTERNATIVE") for part in (at, at + 1)]
        edges += [{**edge, "metadata": {"group_id": "ways"}} for edge in group]
    ends = {"from_task_id": "START", "edge_type": "DEPENDS_ON", "metadata": None}
    starts = [{**_edge(0, at, "START"), **ends} for at in range(1, count, 11)]
    return {**plan, "edges": [*edges, *starts]}


def _circle_through_goals(count: int) -> Json:
    """Every goal's last part waits for the goal itself."""
    plan = _plan(count)
    waits = [_edge((at - 1) // 8, at, "DEPENDS_ON") for at in range(8, count, 8)]
    parts = [edge for edge in plan["edges"] if edge["edge_type"] == "DECOMPOSE"]
    return {**plan, "edges": [*parts, *waits]}


GROWING: Final = (
    Growth("answer, every score wrong", ANSWER, _bad_answer, 4_000),
    Growth("review, every dimension wrong", REVIEW, _large_bad_review, 4_000),
    Growth("plan, every node and edge wrong", PLAN, _large_bad_plan, 1_000),
    Growth("plan, a tree", PLAN, _plan, 4_000),
    Growth("plan, a chain without DECOMPOSE", PLAN, _chain_without_parts, 4_000),
    Growth("plan, listed backwards", PLAN, _reversed_plan, 4_000),
    Growth("plan, mixed", PLAN, _mixed_plan, 4_000),
    Growth("plan, circles through goals", PLAN, _circle_through_goals, 4_000),
    Growth(
        "submit, unknown keys (refused)",
        SUBMIT,
        lambda n: _with_unknown_keys(_submit(), n),
        10_000,
    ),
    Growth(
        "action, unknown keys (noted)",
        ACTION,
        lambda n: _with_unknown_keys(_action(150), n),
        50_000,
    ),
    Growth("task, files outside the pins (noted)", TASK, _large_task, 5_000),
)


def growth() -> list[Bar]:
    """CPU time of the check and of its report, at n and at 4n, taking turns."""
    bars = []
    for shape in GROWING:
        texts = [_text(shape.make(size)) for size in (shape.count, 4 * shape.count)]
        rounds = [
            [_checked_in(text, shape.contract) for text in texts]
            for _ in range(GROWTH_ROUNDS)
        ]
        ratios = [large / small for small, large in rounds]
        ratio = median(large for _, large in rounds) / median(
            small for small, _ in rounds
        )
        verdict = "HOLDS" if ratio <= GROWTH_BAR else "DOES NOT HOLD"
        name = f"{shape.name}, n = {shape.count:,}"
        bars.append(
            Bar(
                f"check, 4n <= {GROWTH_BAR:g}x n",
                name,
                ratio,
                min(ratios),
                max(ratios),
                verdict,
            )
        )
    return bars


def _checked_in(text: str, contract: str) -> float:
    gc.collect()
    gc.disable()
    try:
        began = time.process_time()
        result = accordance.check(text, contract)
        if isinstance(result, accordance.Rejected):
            accordance.feedback(result)
        return time.process_time() - began
    finally:
        gc.enable()


# Printing.


def _us(cell: Cell) -> str:
    us = cell.seconds * 1e6
    return f"{us:,.1f}" if us < 1000 else f"{us:,.0f}"


def _rows(table: Table, show: Callable[[str, Cell], str]) -> list[list[str]]:
    names = [
        peer.name
        for peer in PEERS
        if any(peer.name in cells for cells in table.values())
    ]
    head = ["", *table]
    return [
        head,
        *(
            [name, *(show(message, table[message][name]) for message in table)]
            for name in names
        ),
    ]


def _print_rows(rows: list[list[str]]) -> None:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        first, *others = row
        cells = (
            text.rjust(width) for text, width in zip(others, widths[1:], strict=True)
        )
        print("  ".join((first.ljust(widths[0]), *cells)).rstrip())


def _print_table(title: str, table: Table, messages: Sequence[Message]) -> None:
    def time_of(_: str, cell: Cell) -> str:
        errors = "" if cell.errors is None else f" ({cell.errors:,})"
        return cell.word or _us(cell) + errors

    def ratio_of(message: str, cell: Cell) -> str:
        return cell.word or f"{cell.seconds / table[message][OURS].seconds:.2f}x"

    print(f"\n{title}, us per call")
    rows = _rows(table, time_of)
    _print_rows(
        [rows[0], ["bytes", *(f"{message.size:,}" for message in messages)], *rows[1:]]
    )
    print(f"\n{title}, as a multiple of {OURS}")
    _print_rows(_rows(table, ratio_of))
    notes: dict[tuple[str, str], list[str]] = {}
    for message, cells in table.items():
        for peer, cell in cells.items():
            if cell.why:
                notes.setdefault((peer, cell.why), []).append(message)
    for (peer, why), where in notes.items():
        everywhere = len(where) == len(table)
        print(
            f"  {peer}: {why}" if everywhere else f"  {peer}, {'; '.join(where)}: {why}"
        )


def _print_bars(bars: Iterable[Bar]) -> None:
    rows = [["bar", "message", "ratio", "rounds", "verdict"]]
    for bar in bars:
        ratio = (
            f"{bar.ratio:.3f}x"
            if bar.ratio is not None
            else f"< {bar.high:.3f}x"
            if bar.high
            else "-"
        )
        spread = f"{bar.low:.3f}-{bar.high:.3f}" if bar.low is not None else "-"
        rows.append([bar.bar, bar.message, ratio, spread, bar.verdict])
    print("\nThe bars (ratio of medians; lowest and highest ratio of a round)")
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print(
            "  ".join(
                text.ljust(width) for text, width in zip(row, widths, strict=True)
            ).rstrip()
        )


def versions() -> dict[str, str]:
    """The versions of Python and of every peer."""
    versions = {"python": platform.python_version()}
    for name in sorted({"pydantic-core", *(peer.distribution for peer in PEERS)}):
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            versions[name] = "not installed"
    return versions


def _as_json(table: Table, messages: Sequence[Message]) -> Json:
    return {
        message.name: {
            "bytes": message.size,
            "peers": {
                peer: {"why": cell.why, "word": cell.word}
                if cell.word
                else {
                    "us": cell.seconds * 1e6,
                    "rounds_us": [sample * 1e6 for sample in cell.samples],
                    "errors": cell.errors,
                }
                for peer, cell in table[message.name].items()
            },
        }
        for message in messages
    }


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--rounds",
        type=int,
        help=f"default 7; at most {LARGE_ROUNDS} for the largest plan",
    )
    parser.add_argument(
        "--quick", action="store_true", help="3 short rounds, without slow peers"
    )
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument(
        "--growth",
        action="store_true",
        help="only compare 4n with n, without the peers",
    )
    parser.add_argument("--probe", nargs=2, help=argparse.SUPPRESS)
    return parser.parse_args()


def _run(arguments: argparse.Namespace) -> None:
    good, bad = valid_messages(), bad_messages()
    assert_as_promised([*good, *bad])
    rounds = max(1, arguments.rounds or (3 if arguments.quick else 7))
    bench = Bench(
        *load_peers(PEERS), rounds, 0.002 if arguments.quick else 0.01, arguments.quick
    )
    gc.collect()
    gc.freeze()  # the collector can skip what was imported
    valid, errors = bench.run(good), bench.run(bad, errors=True)
    checked = [*bars(valid, errors), *growth()]
    if arguments.json:
        figures = {
            "versions": versions(),
            "rounds": rounds,
            "network_attempts_refused": _refused,
        }
        figures |= {"valid": _as_json(valid, good), "errors": _as_json(errors, bad)}
        print(
            json.dumps(
                {**figures, "bars": [bar._asdict() for bar in checked]}, indent=2
            )
        )
        return
    print(
        "Versions: "
        + ", ".join(f"{name} {version}" for name, version in versions().items())
    )
    print(
        f"Median CPU time of {rounds} rounds ({min(rounds, LARGE_ROUNDS)} for messages over 1 MB), interleaved."
    )
    print(f"Attempts to reach the network, refused: {len(_refused)}")
    _print_table("Valid messages", valid, good)
    _print_table("Error reports", errors, bad)
    print(
        f"  In brackets: the number of errors. accordance counts all and lists at most {MAX_REPORTED}."
    )
    _print_bars(checked)


def main() -> None:
    """Run it."""
    arguments = _arguments()
    with tempfile.TemporaryDirectory() as home:
        stay_offline(Path(home))
        if arguments.probe:
            probe(*arguments.probe)
        elif arguments.growth:
            _print_bars(growth())
        else:
            _run(arguments)


if __name__ == "__main__":
    main()

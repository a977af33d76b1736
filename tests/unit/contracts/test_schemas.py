"""Schemas: complete where they can be, honest about what they lost, and in agreement with the models."""

from __future__ import annotations

import copy
import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import jsonschema_rs
import llguidance
import pytest
from pydantic import BaseModel, Field, ValidationError

from accordance import Contract, Rejected, check, registry, schema
from accordance.contracts.comparing import compare, fields_of
from accordance.contracts.describing import summary
from accordance.contracts.mending import mended
from accordance.contracts.schema_words import describe
from accordance.contracts.schemas import DIALECTS, export_schema
from accordance.errors import UnknownContract, UnknownProfile
from tests.conformance.lines import read_lines
from tests.conftest import GIVEN_VECTORS
from tests.messages import VALID

VERSIONS = registry.versions()


@pytest.mark.seed("004-1")
@pytest.mark.parametrize("version", VERSIONS)
def test_the_schema_identifies_itself(version: str) -> None:
    """JSON Schema 2020-12 with an $id, valid by its own metaschema."""
    whole = schema(version).schema
    assert whole["$id"] == f"urn:accordance:contract:{version}"
    assert "2020-12" in str(whole["$schema"])
    jsonschema_rs.validator_for(whole)
    assert schema(version).dropped == ()


def every_object() -> Iterator[tuple[str, dict[str, Any]]]:
    """The parsed messages of all vectors, with the contract they are meant for."""
    names = {
        "agent_input": "request",
        "agent_output": "answer",
        "handoff": "handoff",
        "submit": "submit",
        "task": "task",
    }
    for path in sorted(Path(GIVEN_VECTORS).glob("*.jsonl")):
        for line in read_lines(path):
            name = line.get("contract") or names.get(line.get("kind", ""))
            message = (
                line.get("submit")
                if line.get("kind") == "submit"
                else line.get("task", line.get("input"))
            )
            if name and isinstance(message, dict):
                yield str(name), message
    yield from VALID.items()


@pytest.mark.seed("001-1")
def test_schema_and_models_agree_on_every_vector() -> None:
    """jsonschema-rs, which shares no code with pydantic, gives the same answer wherever no rule across fields speaks."""
    validators = {
        name: jsonschema_rs.validator_for(
            export_schema(contract).schema, validate_formats=True
        )
        for contract in registry
        for name in contract.names
    }
    compared = 0
    for name, message in every_object():
        if has_whole_float(message):
            continue  # to JSON Schema 1.0 is an integer; to us it is not
        compared += 1
        assert validators[name].is_valid(message) == fits_the_model(name, message), (
            name,
            message,
        )
    assert compared > 300


@pytest.mark.parametrize(
    ("time", "is_one"),
    [
        pytest.param("2026-01-31T12:00:00Z", True, id="in UTC"),
        pytest.param(
            "2026-01-31t12:00:00.25z", True, id="small letters and a fraction"
        ),
        pytest.param("2026-01-31T12:00:00-09:30", True, id="with an offset"),
        pytest.param("2026-01-31T12:00:00", False, id="without an offset"),
        pytest.param("2026-01-31 12:00:00Z", False, id="with a space"),
        pytest.param("2026-01-31T12:00Z", False, id="without seconds"),
        pytest.param("2026-02-30T12:00:00Z", False, id="on a day that does not exist"),
        pytest.param(
            "2026-01-31T24:00:00Z", False, id="at an hour that does not exist"
        ),
        pytest.param(
            "2026-01-31T12:00:00+09:60", False, id="with an offset that does not exist"
        ),
        pytest.param("0000-02-29T12:00:00Z", True, id="in the year 0"),
        pytest.param("9999-12-31T23:59:59-12:00", True, id="at the end of all times"),
        pytest.param("2016-12-31T23:59:60Z", True, id="a leap second"),
        pytest.param("2017-01-01T08:59:60+09:00", True, id="a leap second elsewhere"),
        pytest.param(
            "2017-01-01T09:59:60+09:00", False, id="a leap second in the wrong minute"
        ),
    ],
)
def test_a_verdict_carries_times_of_rfc_3339(time: str, is_one: bool) -> None:
    """Schema and check give the same answer."""
    message = json.loads(json.dumps(VALID["scc.verdict.v1"]))
    message["timestamps"]["evaluated_at"] = time
    by_schema = jsonschema_rs.validator_for(
        schema("verdict").schema, validate_formats=True
    )
    assert by_schema.is_valid(message) == is_one
    assert isinstance(check(json.dumps(message), "verdict"), Rejected) != is_one


def fits_the_model(name: str, message: dict[str, Any]) -> bool:
    try:
        registry.get(name).model.model_validate(message, strict=True)
    except ValidationError:
        return False
    return True


def has_whole_float(value: object) -> bool:
    if isinstance(value, dict | list):
        return any(
            has_whole_float(item)
            for item in (value.values() if isinstance(value, dict) else value)
        )
    return isinstance(value, float) and value.is_integer()


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("version", VERSIONS)
def test_llguidance_compiles_every_export(version: str, dialect: str) -> None:
    """A grammar can be made of each, so constrained decoding can use it."""
    exported = json.dumps(schema(version, dialect).schema)
    assert (
        llguidance.LLMatcher.validate_grammar(
            llguidance.LLMatcher.grammar_from_json_schema(exported)
        )
        == ""
    )


class Circle(BaseModel):
    """A shape."""

    kind: Literal["circle"]
    radius: float


class Square(BaseModel):
    """Another shape."""

    kind: Literal["square"]
    side: float


class Motley(BaseModel):
    """Much of what a model can say and a provider cannot."""

    shape: Annotated[Circle | Square, Field(discriminator="kind")]
    size: Literal[1, 2, 3]
    switch: Literal["on", 0, True, None]  # noqa: PYI061 - one list of four kinds is the point
    pair: tuple[int, str]
    several: list[Any]
    whatever: Any
    table: dict[str, Any]
    step: Annotated[int, Field(multiple_of=5, examples=[5])]


EXPORTED = [*registry, Contract(version="motley_v1", model=Motley)]


@pytest.mark.parametrize("contract", EXPORTED, ids=lambda contract: contract.version)
class TestWhatTheSdksTake:
    """Each provider's own library takes the schema in the provider's dialect, without asking the provider."""

    def test_gemini(self, contract: Contract[Any]) -> None:
        """google-genai reads it as a response schema."""
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # what Python says when it compiles that library is not our concern
            from google.genai.types import Schema
        Schema.model_validate(export_schema(contract, "gemini").schema)

    def test_anthropic(self, contract: Contract[Any]) -> None:
        """The transformer finds a type everywhere, and nothing that it has to close."""
        import anthropic  # takes seconds: nobody else should wait for it

        exported = export_schema(contract, "anthropic").schema
        taken = anthropic.transform_schema(exported)
        assert [node.get("properties", {}).keys() for node in objects_of(taken)] == [
            node.get("properties", {}).keys() for node in objects_of(exported)
        ]

    def test_openai(self, contract: Contract[Any]) -> None:
        """It is strict already: nothing would have to be changed."""
        from openai.lib._pydantic import _ensure_strict_json_schema
        from pydantic_ai.profiles.openai import OpenAIJsonSchemaTransformer

        exported = export_schema(contract, "openai").schema
        strict = _ensure_strict_json_schema(
            copy.deepcopy(exported), path=(), root=copy.deepcopy(exported)
        )
        assert strict == exported
        transformer = OpenAIJsonSchemaTransformer(copy.deepcopy(exported))
        transformer.walk()
        assert transformer.is_strict_compatible


def objects_of(exported: dict[str, Any]) -> list[dict[str, Any]]:
    return [node for node in nodes_of(exported) if node.get("type") == "object"]


def test_what_has_no_type_is_said_as_near_as_can_be() -> None:
    """A value without parts in place of anything; a type in place of a list of numbers. Each loss is listed."""
    motley = Contract(version="motley_v1", model=Motley)
    export = export_schema(motley, "gemini")
    properties: Any = export.schema["properties"]
    scalars = [{"type": "string"}, {"type": "number"}, {"type": "boolean"}]
    assert properties["whatever"] == {"anyOf": scalars, "nullable": True}
    assert properties["size"] == {"type": "integer"}
    assert properties["switch"] == {"anyOf": [{"type": "boolean"}, {"type": "integer"}, {"type": "null"}, {"type": "string"}]}  # fmt: skip
    assert "$.size: enum [1, 2, 3]" in export.dropped
    assert (
        "$.several[*]: a list or an object (every value needs a type)" in export.dropped
    )
    required: Any = schema("plan", "openai").schema
    assert required["$defs"]["Requirement"]["properties"]["required"] == {"description": "true or false", "type": "boolean"}  # fmt: skip


def nodes_of(node: object) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        yield node
        for key, value in node.items():
            for part in value.values() if key in ("properties", "$defs") else [value]:
                yield from nodes_of(part)
    elif isinstance(node, list):
        for part in node:
            yield from nodes_of(part)


@pytest.mark.parametrize("version", VERSIONS)
def test_dialects_keep_their_rules_and_say_what_they_lost(version: str) -> None:
    """What a provider refuses is not there; what is not there is listed."""
    for name, dialect in DIALECTS.items():
        export = schema(version, name)
        objects = [
            node for node in nodes_of(export.schema) if node.get("type") == "object"
        ]
        for node in nodes_of(export.schema):
            assert not dialect.without & node.keys()
            assert not (dialect.inline and ({"$ref", "$defs", "const"} & node.keys()))
        if dialect.closed:
            assert all(node["additionalProperties"] is False for node in objects)
        if dialect.all_required:
            assert all(
                set(node["required"]) == set(node["properties"]) for node in objects
            )
        if name != "json-schema":
            assert any("rules across fields" in loss for loss in export.dropped)
    assert any("maxItems" in loss for loss in schema("submit", "openai").dropped)
    assert any("may be absent" in loss for loss in schema("submit", "openai").dropped)
    assert any("any keys" in loss for loss in schema("answer", "anthropic").dropped)


def test_what_a_dialect_accepts_is_what_check_accepts_or_less() -> None:
    """A valid message, written as OpenAI's strict mode would have it, is valid for the whole schema too."""
    openai = jsonschema_rs.validator_for(schema("submit", "openai").schema)
    assert not openai.is_valid({**VALID["scc.submit.v1"], "more": 1})


def test_unknown_names() -> None:
    """Near matches are offered."""
    with pytest.raises(UnknownContract):
        schema("sumbit_v1")
    with pytest.raises(UnknownProfile, match="did you mean openai"):
        schema("submit", "open-ai")


class Two(BaseModel):
    numbers: list[int] = []
    few: int


def test_bounds_that_a_dialect_cannot_say() -> None:
    """Anthropic takes minItems only as 0 or 1."""

    class Many(BaseModel):
        items: Annotated[list[int], Field(min_length=3)]

    export = export_schema(Contract(version="many_v1", model=Many), "anthropic")
    assert export.dropped == ("$.items: minItems 3",)


def seed_summary() -> dict[str, Any]:
    """What seed 001 states between its two markers."""
    review = ["schema_version", "task_id", "review_target", "total_score", "action_required", "summary", "breakdown", "suggestions"]  # fmt: skip
    actions, priorities = (
        ["APPROVE", "MODIFY", "REQUEST_EXTERNAL_INPUT"],
        ["HIGH", "MED", "LOW"],
    )
    return {
        "TASK_ACTION": {
            "schema_version": "xiaobo_action_v1",
            "required_keys": ["schema_version", "task_id", "result_type"],
            "enums": {
                "result_type": ["ARTIFACT", "NEEDS_INPUT", "NOOP", "ERROR"],
                "artifact.format": ["md", "txt", "json", "html", "css", "js"],
            },
        },
        **{
            scope: {
                "schema_version": "xiaojing_review_v1",
                "required_keys": review,
                "enums": {
                    "review_target": [target],
                    "action_required": actions,
                    "suggestions[*].priority": priorities,
                },
            }
            for scope, target in (("PLAN_REVIEW", "PLAN"), ("TASK_CHECK", "NODE"))
        },
        "PLAN_GEN": {
            "schema_version": "plan_json_v1",
            "required_keys": ["plan", "nodes", "edges"],
            "enums": {
                "nodes[*].node_type": ["GOAL", "ACTION", "CHECK"],
                "edges[*].edge_type": ["DECOMPOSE", "DEPENDS_ON", "ALTERNATIVE"],
            },
        },
    }


def test_the_summary_is_the_seeds() -> None:
    """Generated from the models, equal to what seed 001 says."""
    assert summary(registry) == seed_summary()


@pytest.mark.parametrize(
    ("node", "text"),
    [
        ({}, "a value"),
        ({"type": "string"}, "a text"),
        (
            {"type": "string", "minLength": 2, "maxLength": 5},
            "a text of 2 to 5 characters",
        ),
        ({"type": "string", "pattern": "^x"}, "a text that matches ^x"),
        ({"type": "integer", "minimum": 1}, "an integer of at least 1"),
        ({"type": "number", "maximum": 1}, "a number of at most 1"),
        ({"type": "number", "exclusiveMinimum": 0}, "a number above 0"),
        ({"type": "array", "minItems": 2}, "a list of at least 2 items"),
        ({"type": "array", "maxItems": 9}, "a list of at most 9 items"),
        ({"type": "boolean", "nullable": True}, "true or false, or null"),
        ({"const": "x"}, '"x"'),
    ],
)
def test_expectations_in_words(node: dict[str, object], text: str) -> None:
    """Read from the schema, so that report and schema cannot disagree."""
    assert describe(node) == text


@pytest.mark.parametrize(
    ("node", "found", "value"),
    [
        ({"const": "x"}, "X ", ("x",)),
        ({"const": "x"}, 1, None),
        ({"const": 2}, "2", (2,)),
        ({"enum": ["APPROVE", "MODIFY"]}, "Approve", ("APPROVE",)),
        ({"enum": ["APPROVE", "MODIFY"]}, "approved", None),
        ({"enum": ["NEED_INPUT"]}, "need input", ("NEED_INPUT",)),
        ({"enum": [True, False, 0, 1]}, "true", (True,)),
        ({"enum": [True, False, 0, 1]}, [1.0], None),
        ({"enum": ["APPROVE", "MODIFY"]}, ["MODIFY"], ("MODIFY",)),
        ({"enum": ["APPROVE", "MODIFY"]}, "other", None),
        ({"enum": ["APPROVE", "MODIFY"]}, "x" * 101, None),
        ({"enum": ["APPROVE", "MODIFY"]}, 5, None),
        ({"type": "integer"}, "95", (95,)),
        ({"type": "integer"}, 95.0, (95,)),
        ({"type": "integer"}, 95.5, None),
        ({"type": "integer"}, "95.5", None),
        ({"type": "integer"}, "1_000", None),
        ({"type": "integer"}, "9" * 41, None),
        ({"type": "integer"}, 1e300, None),
        ({"type": "integer"}, "1e999", None),
        ({"type": "number"}, "0.5", (0.5,)),
        ({"type": "number", "minimum": 1}, "0.5", None),
        ({"type": "number", "exclusiveMinimum": 0}, "0", None),
        ({"type": "integer"}, "high", None),
        ({"type": "integer"}, True, None),
        ({"type": "integer", "maximum": 90}, "95", None),
        ({"type": "boolean"}, "false", (False,)),
        ({"type": "boolean"}, "no", None),
        ({"type": "boolean"}, 1, None),
        ({"type": "array", "items": {"type": "string"}}, "x", (["x"],)),
        ({"type": "array", "items": {"$ref": "#/$defs/X"}}, {"a": 1}, ([{"a": 1}],)),
        ({"type": "array", "items": {"type": "string"}}, 7, None),
        ({"type": "array"}, None, ([],)),
        ({"type": "array", "minItems": 1}, None, None),
        ({"type": "object"}, None, None),
    ],
)
def test_what_was_surely_meant(
    node: dict[str, object], found: object, value: object
) -> None:
    """A fix is offered only where there is no doubt."""
    assert mended(node, found) == value


def old(**fields: Any) -> Contract[Any]:
    from pydantic import ConfigDict, create_model

    model = create_model("Model", __config__=ConfigDict(extra="forbid"), **fields)
    return Contract(version="x_v1", model=model)


def test_comparing_contracts() -> None:
    """Breaking is what would refuse a message the old contract takes."""
    from typing import Annotated, Literal

    from pydantic import Field

    before = old(
        gone=(str, "x"),
        word=(Literal["a", "b"], ...),
        narrow=(Literal["a", "b"], ...),
        kind=(str, ...),
        size=(Annotated[int, Field(ge=1, le=5)], ...),
        loose=(int, ...),
        tight=(Annotated[int, Field(le=9)], ...),
        free=(Annotated[int, Field(ge=1, le=9)], ...),
        same=(str, ...),
        must=(str, ...),
        may=(str, "x"),
    )
    after = old(
        word=(Literal["a", "b", "c"], ...),
        narrow=(Literal["a", "c"], ...),
        kind=(int, ...),
        size=(Annotated[int, Field(ge=0, le=9)], ...),
        loose=(Annotated[int, Field(ge=1)], ...),
        tight=(Annotated[int, Field(le=5)], ...),
        free=(int, ...),
        same=(str, ...),
        must=(str, "x"),
        may=(str, ...),
        new=(str, ...),
        extra=(list[Two], []),
    ).with_rules(strict_rule)
    changes = {
        f"{one.path} {one.change.split()[0]}": one.breaking
        for one in compare(before, after)
    }
    assert changes == {
        "$.gone removed": True,
        "$.new added,": True,
        "$.extra added,": False,
        "$.word was": False,
        "$.narrow was": True,
        "$.kind was": True,
        "$.size was": False,
        "$.loose was": True,
        "$.tight was": True,
        "$.free was": False,
        "$.must now": False,
        "$.may now": True,
        "$ new": True,
    }
    assert compare(before, before) == ()
    assert compare(before, after)[0].to_json() == {
        "path": "$.gone",
        "change": "removed",
        "breaking": True,
    }


def strict_rule(_message: object, _context: object) -> tuple[()]:
    return ()


def test_fields_of_a_contract_that_contains_itself() -> None:
    """Each model is unfolded once."""
    paths = [one.path for one in fields_of(Contract(version="tree_v1", model=Tree))]
    assert paths == ["$.label", "$.parts"]


def test_a_model_that_contains_itself_can_be_exported() -> None:
    """Where a dialect has no $ref, the inner one is an object of which nothing more is said."""
    tree = Contract(version="tree_v1", model=Tree)
    export = export_schema(tree, "gemini")
    assert export.dropped == ("$.parts[*]: contains itself, which needs $ref",)
    for dialect in DIALECTS:
        json.dumps(export_schema(tree, dialect).schema)


class Tree(BaseModel):
    label: str
    parts: list[Tree] = []


def test_reports_use_the_words_of_the_schema() -> None:
    """From the schema to the violation."""
    result = check("{}", "submit")
    assert isinstance(result, Rejected)
    assert {one.path: one.expected for one in result.violations}[
        "$.changed_files"
    ] == "a list of at most 1000 items"

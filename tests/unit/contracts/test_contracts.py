"""Contracts, registries, upgrades, profiles and the checks on them."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, JsonValue, field_validator
from typing_extensions import TypedDict

from accordance import (
    Accepted,
    Context,
    Contract,
    Registry,
    Rejected,
    Scope,
    Shape,
    Spelling,
    Upgrade,
    Violation,
    check,
    check_value,
    dump,
    dump_json,
    registry,
)
from accordance.contracts.catalogue.builtin import CATALOGUE
from accordance.contracts.checking import Checker
from accordance.contracts.contract import contract_of
from accordance.contracts.free_parts import free_parts
from accordance.contracts.registry import Deferred
from accordance.errors import (
    ContractAlreadyRegistered,
    InvalidContract,
    UnknownContract,
    UnknownProfile,
)
from tests.messages import ACTION, ANSWER, REVIEW, VALID, changed, small_plan


class Greeting(BaseModel):
    """A user's own message: neither strict nor closed by its own configuration."""

    schema_version: Literal["greeting_v1"]
    text: str
    times: int = 1


GREETING = Contract(
    version="greeting_v1",
    model=Greeting,
    name="greeting",
    scopes=(Scope(name="HELLO"),),
)


def own_checker(*contracts: Contract[Any]) -> Checker:
    return Checker(Registry(contracts))


@pytest.mark.parametrize("version", VALID)
def test_valid_messages_are_accepted_as_they_are(version: str) -> None:
    """No repair, no warning, the typed value, and the same message when it is written again."""
    result = check(json.dumps(VALID[version]), version)
    assert isinstance(result, Accepted), result
    assert (result.repairs, result.warnings, result.contract) == ((), (), version)
    assert bool(result)
    written = dump(result.value)
    assert {key: written[key] for key in VALID[version]} == VALID[version]
    again = check(dump_json(result.value, indent=2), version)
    assert isinstance(again, Accepted)
    assert again == result


def test_a_plan_writes_its_version() -> None:
    """Optional when it is read, always there when accordance writes it."""
    result = check(json.dumps(small_plan()), "PLAN_GEN")
    assert isinstance(result, Accepted)
    assert dump(result.value)["schema_version"] == "plan_json_v1"


def test_a_message_names_its_own_contract() -> None:
    """Without a contract the message's schema_version decides."""
    assert isinstance(check(json.dumps(ACTION)), Accepted)
    assert isinstance(check(json.dumps(ACTION).encode()), Accepted)


@pytest.mark.parametrize(
    ("message", "code", "actual"),
    [
        ({}, "version_missing", "nothing"),
        ({"schema_version": None}, "version_unknown", "null"),
        ({"schema_version": ["x"]}, "version_unknown", '["x"]'),
        (
            {"schema_version": "xiaobo_action_v9"},
            "version_unknown",
            '"xiaobo_action_v9"',
        ),
    ],
)
def test_a_message_without_a_known_version(
    message: dict[str, object], code: str, actual: str
) -> None:
    """Missing or unknown: an error that lists what is known, or what is near."""
    result = check(json.dumps(message))
    assert isinstance(result, Rejected)
    assert not result
    (violation,) = result.violations
    assert (violation.code, violation.path, violation.actual) == (
        code,
        "$.schema_version",
        actual,
    )
    assert "xiaobo_action_v1" in violation.expected


def test_the_wrong_version_does_not_hide_the_rest() -> None:
    """Every violation at once, the version among them."""
    result = check(
        json.dumps(
            changed(changed(ACTION, "schema_version", "v1"), "artifact.name", "")
        ),
        "action",
    )
    assert isinstance(result, Rejected)
    assert [(one.code, one.path) for one in result.violations] == [
        ("version_mismatch", "$.schema_version"),
        ("empty", "$.artifact.name"),
    ]
    assert result.contract == "xiaobo_action_v1"


def test_unknown_names_offer_near_ones() -> None:
    """An unknown contract is the caller's error, so it is raised."""
    with pytest.raises(
        UnknownContract, match="did you mean xiaobo_action_v1"
    ) as caught:
        check("{}", "xiaobo_aktion_v1")
    assert "TASK_CHECK" in caught.value.known
    with pytest.raises(UnknownContract, match="known: "):
        check("{}", "§§§")


def test_at_most_fifty_violations_are_listed() -> None:
    """All are counted."""
    plan = small_plan()
    plan["nodes"] += [{"task_id": f"n{at}"} for at in range(30)]
    result = check(json.dumps(plan), "plan")
    assert isinstance(result, Rejected)
    assert len(result.violations) == 50
    assert result.total == 30 * 6


def test_rules_are_counted_beyond_fifty_too() -> None:
    """The report is bounded, the total is not."""
    plan = small_plan()
    plan["edges"] += [
        {**plan["edges"][2], "edge_id": str(at), "to_task_id": f"nowhere {at}"}
        for at in range(70)
    ]
    result = check(json.dumps(plan), "plan")
    assert isinstance(result, Rejected)
    assert (len(result.violations), result.total) == (50, 70)


def test_unions_are_told_as_any_value() -> None:
    """Where several types are right there is no one word for them."""

    class Either(BaseModel):
        size: int | str
        sizes: list[int | str] = []

    either = Contract(version="either_v1", model=Either)
    result = own_checker().check('{"size": [], "sizes": [1, null]}', either)
    assert isinstance(result, Rejected)
    assert [(one.code, one.path) for one in result.violations] == [
        ("wrong_type", "$.size"),
        ("wrong_type", "$.sizes[1]"),
    ]

    class Circle(BaseModel):
        radius: int

    class Box(BaseModel):
        width: int

    class Drawing(BaseModel):
        shape: Circle | Box

    drawing = own_checker().check(
        '{"shape": {"width": "x"}}', Contract(version="drawing_v1", model=Drawing)
    )
    assert isinstance(drawing, Rejected)
    assert {one.path for one in drawing.violations} == {
        "$.shape.radius",
        "$.shape.width",
    }
    missing = own_checker().check("{}", either)
    assert isinstance(missing, Rejected)
    assert [(one.code, one.path) for one in missing.violations] == [
        ("missing", "$.size")
    ]


def test_codes_say_what_is_the_matter() -> None:
    """Short is not empty, few is not none, and a word of the right type is not of the wrong one."""

    class Sized(BaseModel):
        name: Annotated[str, Field(min_length=3)]
        items: Annotated[list[int], Field(min_length=2)]
        level: Literal[1, 2]

    sized = Contract(version="sized_v1", model=Sized)
    for message, codes in (
        (
            {"name": "ab", "items": [1], "level": 3},
            ["too_short", "too_few", "not_in_enum"],
        ),
        ({"name": " ", "items": [], "level": "1"}, ["empty", "empty", "wrong_type"]),
    ):
        result = own_checker().check(json.dumps(message), sized)
        assert isinstance(result, Rejected)
        assert [one.code for one in result.violations] == codes


def test_the_version_key_is_what_the_model_says() -> None:
    """Required, optional or absent: derived, so that it cannot be declared wrongly."""
    assert [
        registry.get(name).version_key for name in ("action", "plan", "answer")
    ] == [
        "required",
        "optional",
        "optional",
    ]
    assert Contract(version="open_v1", model=BaseModel).version_key == "absent"


def test_parts_that_are_no_models_are_looked_at_too() -> None:
    """A TypedDict has a configuration of its own."""

    class Point(TypedDict):
        x: float

    class Map(BaseModel):
        model_config = ConfigDict(allow_inf_nan=False)
        point: Point

    result = own_checker().check(
        '{"point": {"x": 1e999}}', Contract(version="map_v1", model=Map)
    )
    assert isinstance(result, Rejected)
    assert result.violations[0].code == "not_finite"


def test_a_contract_of_ones_own() -> None:
    """Any pydantic model will do; strictness comes with it."""
    checker = own_checker(GREETING)
    result = checker.check('{"schema_version": "greeting_v1", "text": "hi"}', GREETING)
    assert isinstance(result, Accepted)
    assert result.value.text == "hi"
    refused = checker.check(
        '{"schema_version": "greeting_v1", "text": "hi", "times": "2"}', "HELLO"
    )
    assert isinstance(refused, Rejected)
    assert refused.violations[0].fix is not None
    assert refused.violations[0].fix.value == 2


@pytest.mark.parametrize(
    ("extra", "fate"),
    [
        pytest.param(
            "ignore", "ignored", id="what pydantic ignores is ignored, and mentioned"
        ),
        pytest.param("allow", "kept", id="what the model keeps is kept, and mentioned"),
        pytest.param("forbid", None, id="what the model forbids is refused"),
    ],
)
@pytest.mark.parametrize(
    "kind", [int, date], ids=["read from the message", "read from the text"]
)
def test_unknown_keys_fare_as_the_model_says(
    extra: Literal["ignore", "allow", "forbid"], fate: str | None, kind: type
) -> None:
    """The model decides, and no key goes unmentioned."""

    class Part(BaseModel):
        model_config = ConfigDict(extra=extra)
        size: int = 1

    class Whole(BaseModel):
        model_config = ConfigDict(extra=extra)
        part: Part = Part()
        on: kind | None = None  # type: ignore[valid-type]

    result = own_checker().check('{"part": {"szie": 2}, "more": 1}', Whole)
    if fate is None:
        assert isinstance(result, Rejected)
        found = [(one.code, one.path, str(one.fix)) for one in result.violations]
        assert found == [
            ("unknown_key", "$.part.szie", "remove $.part.szie"),
            ("unknown_key", "$.more", "remove $.more"),
        ]
        return
    assert isinstance(result, Accepted)
    assert [str(notice) for notice in result.warnings] == [
        f"$.part.szie: a key the contract does not name; {fate} [unknown_key]",
        f"$.more: a key the contract does not name; {fate} [unknown_key]",
    ]
    assert (dump(result.value) == {"part": {"szie": 2}, "more": 1}) == (fate == "kept")


def test_the_decorator() -> None:
    """A model with @contract is registered, and is taken wherever a contract is."""
    own = Registry()

    @own.contract(
        "farewell_v1",
        name="farewell",
        rules=(
            lambda message, _: (
                [Violation("rude", "$.text", "manners", str(message.get("text")))]
                if message.get("text") == "go"
                else ()
            ),
        ),
    )
    class Farewell(BaseModel):
        schema_version: Literal["farewell_v1"]
        text: str

    checker = own_checker()
    text = '{"schema_version": "farewell_v1", "text": "%s"}'
    good = checker.check(text % "bye", Farewell)
    assert isinstance(good, Accepted)
    assert good.value.text == "bye"
    bad = checker.check(text % "go", Farewell)
    assert isinstance(bad, Rejected)
    assert bad.violations[0].code == "rude"
    assert (
        own.get("farewell")
        is own.find(Farewell)
        is own.register(Farewell)
        is contract_of(Farewell)
    )
    assert Checker(own).check(text % "bye", "farewell")
    assert Checker(own).check(text % "bye")


def test_a_registry_refuses_a_second_definition() -> None:
    """Same version, same name, or a scope that is taken: refused, and nothing is half registered."""
    own = Registry((GREETING,))
    with pytest.raises(ContractAlreadyRegistered, match="greeting_v1"):
        own.register(Contract(version="greeting_v1", model=Greeting))
    with pytest.raises(
        ContractAlreadyRegistered,
        match=r"already registered for Greeting; .* a new name",
    ):
        own.register(Contract(version="greeting_v1", model=BaseModel))
    twin = Contract(
        version="hello_v1",
        model=BaseModel,
        scopes=(Scope(name="NEW"), Scope(name="HELLO")),
    )
    with pytest.raises(ContractAlreadyRegistered, match="HELLO"):
        own.register(twin)
    assert "hello_v1" not in own
    assert "NEW" not in own
    assert own.versions() == ("greeting_v1",)


def test_discovery_happens_once_and_only_when_needed() -> None:
    """Installed packages are asked when a name is not known already."""
    asked: list[int] = []

    def discover() -> list[Contract[Any]]:
        asked.append(1)
        return [GREETING]

    own = Registry(registry, discover=discover)
    assert own.get("action").version == "xiaobo_action_v1"
    assert own.by_version("xiaobo_action_v1")
    assert asked == []
    assert own.by_version("greeting_v1") is GREETING
    assert own.get("HELLO").scope == "HELLO"
    assert own.by_version(7) is None
    assert asked == [1]


@pytest.mark.parametrize("deferred", CATALOGUE, ids=lambda deferred: deferred.version)
def test_a_deferred_contract_answers_to_the_names_that_are_declared(
    deferred: Deferred,
) -> None:
    """Its names are known before it is loaded, so they stand in two places."""
    assert deferred.load().names == deferred.names


class Counted:
    """A deferred contract, and how often it was loaded."""

    def __init__(self, contract: Contract[Any]) -> None:
        self.contract = contract
        self.loads = 0
        self.deferred = Deferred(contract.names, self._load)

    def _load(self) -> Contract[Any]:
        self.loads += 1
        return self.contract


PARTING = Contract(version="parting_v1", model=BaseModel, name="parting")


def test_a_deferred_contract_is_loaded_once_and_only_when_needed() -> None:
    """To name it, or to see that nothing is named like that, loads nothing."""
    greeting, parting = Counted(GREETING), Counted(PARTING)
    own = Registry(deferred=(greeting.deferred, parting.deferred))

    assert own.versions() == ("greeting_v1", "parting_v1")
    assert "HELLO" in own
    assert own.by_version("other_v1") is None
    with pytest.raises(UnknownContract, match="did you mean greeting"):
        own.get("greting")
    assert (greeting.loads, parting.loads) == (0, 0)

    assert own.by_version("parting_v1") is PARTING
    assert own.get("parting") is PARTING
    assert (greeting.loads, parting.loads) == (0, 1)

    assert list(own) == [GREETING, PARTING]
    assert own.get("HELLO").scope == "HELLO"
    assert (greeting.loads, parting.loads) == (1, 1)


def test_a_deferred_contract_holds_its_names() -> None:
    """A second definition is refused, as if it were loaded already."""
    own = Registry(deferred=(Deferred(GREETING.names, lambda: GREETING),))
    with pytest.raises(ContractAlreadyRegistered, match="HELLO"):
        own.register(
            Contract(version="x_v1", model=BaseModel, scopes=(Scope(name="HELLO"),))
        )
    assert own.register(GREETING) is GREETING


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"version": "no spaces", "model": Greeting}, "no version"),
        ({"version": "greeting_v1", "model": dict}, "pydantic model"),
        ({"version": "greeting_v2", "model": Greeting}, "must be Literal"),
    ],
)
def test_definitions_that_could_never_work(options: dict[str, Any], match: str) -> None:
    """Refused when they are made, not when they are used."""
    with pytest.raises(InvalidContract, match=match):
        Contract(**options)


def test_with_rules() -> None:
    """A contract can be made stricter without touching it."""
    stricter = GREETING.with_rules(
        lambda message, _: (
            [Violation("loud", "$.text", "calm", "")]
            if "!" in str(message.get("text"))
            else ()
        )
    )
    checker = own_checker()
    assert checker.check('{"schema_version": "greeting_v1", "text": "hi"}', stricter)
    assert not checker.check(
        '{"schema_version": "greeting_v1", "text": "hi!"}', stricter
    )


@pytest.mark.parametrize("text", ["hi!", 7])
def test_each_rule_is_run_once(text: object) -> None:
    """Whether a message is right in every field or not, and whichever rule speaks; all of them are heard, in order."""
    runs: list[str] = []

    def rule(name: str, *, speaks: bool) -> Callable[..., list[Violation]]:
        def run(*_: object) -> list[Violation]:
            runs.append(name)
            return [Violation(name, "$", "silence", "words")] if speaks else []

        return run

    rules = [rule(name, speaks=name in "bc") for name in "abcd"]
    message = json.dumps({"schema_version": "greeting_v1", "text": text})
    result = own_checker().check(message, GREETING.with_rules(*rules))
    assert isinstance(result, Rejected)
    assert runs == ["a", "b", "c", "d"]
    assert [violation.code for violation in result.violations][-2:] == ["b", "c"]


def test_further_rules_hold_where_the_rest_is_plainly_sound() -> None:
    """A quick test that makes a contract's own rules needless knows nothing of others."""
    plans = registry.get("plan_json_v1")
    assert plans.settled is not None
    never = plans.with_rules(
        lambda *_: iter([Violation("bad", "$", "another plan", "this one")])
    )
    assert check(json.dumps(small_plan()), plans.with_rules())
    assert not check(json.dumps(small_plan()), never)
    assert not check(json.dumps(small_plan()), never.in_scope(Scope(name="PLAN_GEN")))


class OldNote(BaseModel):
    schema_version: Literal["note_v1"]
    body: str


class Note(BaseModel):
    schema_version: Literal["note_v2"]
    text: str


class NewNote(BaseModel):
    schema_version: Literal["note_v3"]
    text: str
    lines: int


NOTE_1 = Contract(
    version="note_v1", model=OldNote, shape=Shape(renames={"body": ("content",)})
)
NOTE_2 = Contract(
    version="note_v2",
    model=Note,
    upgrades=(
        Upgrade(
            source=NOTE_1,
            function=lambda old: {"schema_version": "note_v2", "text": old["body"]},
        ),
    ),
)
NOTE_3 = Contract(
    version="note_v3",
    model=NewNote,
    upgrades=(
        Upgrade(
            source=NOTE_2,
            function=lambda old: {**old, "schema_version": "note_v3", "lines": 1},
        ),
    ),
)


def test_older_versions_are_raised_step_by_step() -> None:
    """Checked as what they are, upgraded on read, every step recorded."""
    checker = own_checker(NOTE_1, NOTE_2, NOTE_3)
    result = checker.check('{"schema_version": "note_v1", "content": "x"}', "note_v3")
    assert isinstance(result, Accepted)
    assert (result.value.text, result.value.lines) == ("x", 1)
    assert [
        (repair.rule, repair.before, repair.after) for repair in result.repairs
    ] == [
        ("rename", "content", "body"),
        ("upgrade", "note_v1", "note_v2"),
        ("upgrade", "note_v2", "note_v3"),
    ]


def test_warnings_of_the_older_message_are_kept() -> None:
    """Once each, although what is kept of them is noticed again after the upgrade."""

    class Old(BaseModel):
        model_config = ConfigDict(extra="allow")
        schema_version: Literal["memo_v1"]

    class New(BaseModel):
        model_config = ConfigDict(extra="allow")
        schema_version: Literal["memo_v2"]

    def raise_it(old: dict[str, Any]) -> dict[str, Any]:
        kept = {key: value for key, value in old.items() if key != "dropped"}
        return {**kept, "schema_version": "memo_v2"}

    older = Contract(version="memo_v1", model=Old)
    newer = Contract(
        version="memo_v2",
        model=New,
        upgrades=(Upgrade(source=older, function=raise_it),),
    )
    text = '{"schema_version": "memo_v1", "dropped": 1, "kept": 2}'
    result = own_checker(older, newer).check(text, "memo_v2")
    assert isinstance(result, Accepted)
    assert [notice.path for notice in result.warnings] == ["$.dropped", "$.kept"]
    assert result.total_warnings == 2


def _stumble(_: dict[str, Any]) -> dict[str, Any]:
    raise KeyError("body")


def _fall(_: dict[str, Any]) -> dict[str, Any]:
    raise RuntimeError


def _forget(_: dict[str, Any]) -> Any:
    return None


@pytest.mark.parametrize(
    ("function", "told"),
    [
        pytest.param(_stumble, "KeyError: 'body'", id="it raises, with a reason"),
        pytest.param(_fall, "RuntimeError", id="it raises, without a reason"),
        pytest.param(_forget, "null", id="it returns nothing"),
    ],
)
def test_a_failing_upgrade_is_a_violation_that_names_it(
    function: Any, told: str
) -> None:
    """`check` does not raise for a message, and does not blame the message for the contract's fault."""
    broken = Contract(
        version="note_v2",
        model=Note,
        upgrades=(Upgrade(source=NOTE_1, function=function),),
    )
    result = own_checker(NOTE_1, broken).check(
        '{"schema_version": "note_v1", "body": "x"}', "note_v2"
    )
    assert isinstance(result, Rejected)
    (violation,) = result.violations
    assert violation.code == "upgrade_failed"
    assert violation.expected == "a message of note_v1 that can be raised to note_v2"
    assert told in violation.actual


def test_a_version_in_a_message_whose_model_has_no_place_for_it() -> None:
    """Its own version is no news; another version is mentioned; a model that forbids further keys refuses it."""

    class Person(BaseModel):
        name: str

    class Closed(Person, extra="forbid"):
        pass

    person = Contract(version="person_v1", model=Person)
    same = own_checker(person).check(
        '{"schema_version": "person_v1", "name": "Ada"}', person
    )
    assert isinstance(same, Accepted)
    assert same.warnings == ()
    other = own_checker(person).check(
        '{"schema_version": "person_v2", "name": "Ada"}', person
    )
    assert isinstance(other, Accepted)
    assert [notice.code for notice in other.warnings] == ["unknown_key"]
    closed = own_checker().check(
        '{"schema_version": "person_v1", "name": "Ada"}', Closed
    )
    assert isinstance(closed, Rejected)
    assert [str(violation) for violation in closed.violations] == [
        '$.schema_version: expected no such key, got "person_v1" [unknown_key]; fix: remove $.schema_version'
    ]


def test_warnings_are_listed_up_to_a_number() -> None:
    """All are counted."""
    accepted = check(
        json.dumps(NOOP | {f"more_{at}": at for at in range(1000)}), "action"
    )
    assert isinstance(accepted, Accepted)
    assert (len(accepted.warnings), accepted.total_warnings) == (50, 1000)
    rejected = check(
        json.dumps(FAILED | {"error": None} | {f"more_{at}": at for at in range(1000)}),
        "action",
    )
    assert isinstance(rejected, Rejected)
    assert (len(rejected.warnings), rejected.total_warnings, rejected.total) == (
        50,
        1000,
        1,
    )


def test_a_union_is_counted_once_however_many_faults_there_are() -> None:
    """Beyond the listed violations too: a fault in two types of a union is one fault."""

    class Either(BaseModel):
        values: list[int | bool]

    text = json.dumps({"values": ["x"] * 200})
    result = own_checker().check(text, Contract(version="either_v1", model=Either))
    assert isinstance(result, Rejected)
    assert (len(result.violations), result.total) == (50, 200)


def test_a_key_of_a_megabyte_is_reported_briefly() -> None:
    """Its path is short, and no fix claims to lead there."""

    class Closed(BaseModel, extra="forbid"):
        text: str

    text = json.dumps({"text": "hi", "k" * 1_000_000: 1})
    result = own_checker().check(text, Closed)
    assert isinstance(result, Rejected)
    (violation,) = result.violations
    assert len(str(violation)) < 500
    assert violation.fix is None


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ('{"schema_version": "note_v1"}', "note_v1"),
        ('{"schema_version": "note_v0", "text": "x"}', "note_v3"),
        ('{"schema_version": "note_v2"}', "note_v2"),
        ('{"schema_version": "note_v3", "text": "x"}', "note_v3"),
        ('{"text": "x"}', "note_v3"),
    ],
)
def test_a_broken_older_message_is_reported_as_what_it_is(
    text: str, label: str
) -> None:
    """No upgrade makes a broken message whole."""
    result = own_checker(NOTE_1, NOTE_2, NOTE_3).check(text, "note_v3")
    assert isinstance(result, Rejected)
    assert result.contract == label


def test_profiles() -> None:
    """The seed's own answer on request; an unknown profile is the caller's error."""
    text = json.dumps(changed(ANSWER, "self_critique", ...))
    assert isinstance(check(text, "answer"), Rejected)
    seed = check(text, "answer", Context(profile="seed"))
    assert isinstance(seed, Accepted)
    assert [notice.message for notice in seed.warnings] == [
        "Full VS agent should include self_critique"
    ]
    with pytest.raises(UnknownProfile, match="did you mean seed"):
        check(text, "answer", Context(profile="sed"))
    with pytest.raises(UnknownProfile):
        check(json.dumps(ACTION), None, Context(profile="seed"))


class Free(BaseModel):
    schema_version: Literal["free_v1"]
    anything: JsonValue = None
    boxes: list[dict[str, JsonValue]] = []
    inner: Free | None = None


FREE = Contract(version="free_v1", model=Free)


@pytest.mark.parametrize(
    ("extra", "code"),
    [
        (f'"anything": {"[" * 70}{"]" * 70}', "too_deep"),
        (f'"boxes": [{{"x": {"[" * 70}{"]" * 70}}}]', "too_deep"),
        (
            '"inner": '
            + '{"schema_version": "free_v1", "inner": ' * 70
            + "null"
            + "}" * 70,
            "too_deep",
        ),
        ('"anything": [1, {"x": 1e999}]', "not_finite"),
        ('"unknown": 1e999', "not_finite"),
        (f'"unknown": {"[" * 70}{"]" * 70}', "too_deep"),
    ],
)
def test_free_parts_are_guarded_too(extra: str, code: str) -> None:
    """Where a contract takes any JSON, the limits of the reader still hold."""
    result = own_checker(FREE).check(
        f'{{"schema_version": "free_v1", {extra}}}', "free_v1"
    )
    assert isinstance(result, Rejected)
    assert result.violations[0].code == code


class Nested(BaseModel):
    model_config = ConfigDict(allow_inf_nan=False)
    inner: Nested | None = None
    boxes: list[dict[str, int]] = []


@pytest.mark.parametrize(
    ("model", "places"),
    [
        (registry.get("action").model, ()),
        (registry.get("review").model, ()),
        (registry.get("submit").model, (("payload",),)),
        (registry.get("plan").model, (("plan", "constraints"),)),
        (Nested, (("inner",), ("boxes",))),
        (Greeting, ((),)),
    ],
)
def test_only_free_parts_are_looked_at(
    model: type[BaseModel], places: tuple[tuple[str, ...], ...]
) -> None:
    """Our models are finite, so that a check looks only where any JSON may stand; a model that says nothing, everywhere."""
    assert free_parts(model) == places


def test_soundness_does_not_wait_for_a_contract() -> None:
    """Also a message that names no contract is refused for what no reader should give; parsed values are guarded too."""
    unnamed = check('{"a": 1e999}')
    assert isinstance(unnamed, Rejected)
    assert unnamed.violations[0].code == "not_finite"
    parsed = check_value({**ACTION, "mood": float("inf")}, "action")
    assert isinstance(parsed, Rejected)
    assert parsed.violations[0].code == "too_deep"


def test_infinite_numbers_in_any_model() -> None:
    """Also where a model of the user's own would take them."""

    class Loose(BaseModel):
        size: float
        inner: list[Greeting] = []

    result = own_checker().check(
        '{"size": 1e999}', Contract(version="loose_v1", model=Loose)
    )
    assert isinstance(result, Rejected)
    assert result.violations[0].code == "not_finite"


def test_validators_of_the_users_own() -> None:
    """What they say is what was expected."""

    class Even(BaseModel):
        number: int

        @field_validator("number")
        @classmethod
        def is_even(cls, number: int) -> int:
            if number % 2:
                raise ValueError("an even number")
            return number

    result = own_checker().check(
        '{"number": 3}', Contract(version="even_v1", model=Even)
    )
    assert isinstance(result, Rejected)
    assert (
        str(result.violations[0])
        == "$.number: expected an even number, got 3 [rule_broken]"
    )


def test_aliases_of_the_users_own() -> None:
    """A field is written under the name it is read by."""

    class Move(BaseModel):
        from_: str = Field(alias="from")

    move = Contract(version="move_v1", model=Move)
    result = own_checker().check('{"from": "a"}', move)
    assert isinstance(result, Accepted)
    assert dump(result.value) == {"from": "a"}
    assert own_checker().check(dump_json(result.value), move)


@pytest.mark.parametrize("value", [[], None, 5, "x"])
def test_parsed_values_that_are_no_object(value: Any) -> None:
    """A rejection, not an exception."""
    result = check_value(value, "action")
    assert isinstance(result, Rejected)
    assert result.violations[0].code == "not_object"


def test_other_buffers() -> None:
    """Whatever holds bytes will do."""
    held: Any = bytearray(json.dumps(ACTION).encode())
    assert check(held, "action")


def test_rejected_messages_have_warnings_too() -> None:
    """A violation does not hide what else is worth knowing."""
    result = check(
        json.dumps({**changed(ACTION, "artifact.name", ""), "mood": 1}), "action"
    )
    assert isinstance(result, Rejected)
    assert [notice.code for notice in result.warnings] == ["unknown_key"]


def test_free_parts_within_the_limits() -> None:
    """What is deep but not too deep passes."""
    text = f'{{"schema_version": "free_v1", "anything": {"[" * 60}{"]" * 60}, "boxes": [{{"x": 1.5}}]}}'
    assert isinstance(own_checker(FREE).check(text, "free_v1"), Accepted)


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"\xff",
        b"[]",
        b"{}",
        b'{"a":',
        "\ud800",
        '{"schema_version": 1e999}',
        "{" * 300,
    ],
)
def test_bad_input_is_never_an_exception(value: bytes | str) -> None:
    """With and without a contract."""
    assert isinstance(check(value), Rejected)
    for version in registry.versions():
        assert isinstance(check(value, version), Rejected)


def test_spelling_and_wrappers_need_nothing_lost() -> None:
    """A wrapper that would overwrite something is left alone, and the message is refused as it is."""
    clash = {"task_id": "other", "data": ACTION}
    result = check(json.dumps(clash), "action")
    assert isinstance(result, Rejected)
    assert result.repairs == ()
    inner = {**ACTION, "task_id": ACTION["task_id"]}
    merged = check(json.dumps({"task_id": ACTION["task_id"], "data": inner}), "action")
    assert isinstance(merged, Accepted)
    assert [repair.rule for repair in merged.repairs] == ["unwrap"]
    assert check(json.dumps({"data": 1, "result": ACTION}), "action")


NOOP = {"schema_version": "xiaobo_action_v1", "task_id": "t", "result_type": "NOOP"}
FAILED = {**NOOP, "result_type": "ERROR", "error": {"code": "X", "message": "it broke"}}

RIVALS = [
    pytest.param({"action": NOOP, "result": FAILED}, "$.result", id="two wrappers"),
    pytest.param({"payload": FAILED, "data": NOOP}, "$.payload", id="two wrappers, the other way round"),
    pytest.param({**NOOP, "result": FAILED}, "$.result", id="a wrapper beside a whole answer"),
    pytest.param({"task_id": "u", "result": NOOP}, "$.result", id="a wrapper beside another id"),
    pytest.param({"action": NOOP, "result": {**NOOP, "note": 1}, "output": {**NOOP, "note": 2}}, "$.output", id="the second and the third"),
]  # fmt: skip


@pytest.mark.parametrize(("message", "place"), RIVALS)
def test_two_different_answers_are_refused(message: dict[str, Any], place: str) -> None:
    """Which one counts would be a guess; nothing else is judged before that is clear."""
    result = check(json.dumps(message), "action")
    assert isinstance(result, Rejected)
    assert [(one.code, one.path, one.fix) for one in result.violations] == [
        ("two_answers", place, None)
    ]


def test_a_wrapper_without_an_answer_is_left_alone_where_it_would_overwrite_something() -> (
    None
):
    """Then the message is judged as it stands."""
    result = check(
        '{"task_id": "t", "data": {"task_id": "u"}, "payload": {"task_id": "v"}}',
        "action",
    )
    assert isinstance(result, Rejected)
    assert [one.path for one in result.violations] == [
        "$.schema_version",
        "$.result_type",
    ]
    assert result.repairs == ()


AGREEING = [
    pytest.param({"action": NOOP, "result": NOOP}, "NOOP", id="the same answer twice"),
    pytest.param({"action": NOOP, "result": {**NOOP, "result_type": "noop"}}, "NOOP", id="in another spelling"),
    pytest.param({"data": {"rows": 3}, "result": FAILED}, "ERROR", id="beside data that is no answer"),
    pytest.param({**NOOP, "data": {"result_type": "rows"}}, "NOOP", id="data with a word of its own"),
    pytest.param({"id": "message-7", "result": FAILED}, "ERROR", id="an envelope with an id of its own"),
    pytest.param({**NOOP, "result": NOOP}, "NOOP", id="an answer and its copy"),
]  # fmt: skip


@pytest.mark.parametrize(("message", "result_type"), AGREEING)
def test_wrappers_that_do_not_contradict_are_taken(
    message: dict[str, Any], result_type: str
) -> None:
    """What is beside the answer is kept, with a warning."""
    result = check(json.dumps(message), "action")
    assert isinstance(result, Accepted), result
    assert result.value.result_type == result_type


def test_two_aliases_that_disagree_are_not_resolved() -> None:
    """Which one was meant would be a guess."""
    both = {
        **{key: value for key, value in REVIEW.items() if key != "task_id"},
        "id": "a",
        "taskId": "b",
    }
    result = check(json.dumps(both), "review")
    assert isinstance(result, Rejected)
    assert [(one.code, one.path) for one in result.violations] == [
        ("missing", "$.task_id")
    ]
    agreeing = check(json.dumps({**both, "taskId": "a"}), "review")
    assert isinstance(agreeing, Accepted)
    assert agreeing.value.task_id == "a"


def test_the_input_is_never_touched() -> None:
    """Normalising works on a copy."""
    from accordance import check_value

    message = {**changed(ACTION, "result_type", " artifact "), "id": "x"}
    before = json.dumps(message)
    result = check_value(message, "action")
    assert isinstance(result, Accepted)
    assert json.dumps(message) == before


def test_spelling() -> None:
    """Any case, white space around, known aliases; nothing else."""
    spelling = Spelling(("HIGH", "MED"), {"H": "HIGH"})
    assert [spelling.canonical(word) for word in ("high", " Med\n", "h", "urgent")] == [
        "HIGH",
        "MED",
        "HIGH",
        None,
    ]


def test_contracts_made_on_the_way_are_not_kept_for_ever() -> None:
    """What is looked up once is kept for the next time, within bounds."""
    checker = own_checker(GREETING)
    for _ in range(600):
        assert checker.check(
            '{"schema_version": "greeting_v1", "text": "hi"}', GREETING.with_rules()
        )
    assert len(checker._prepared) <= 256

"""Users' own models, case by case: which types are read, what a refusal says, what becomes of unknown keys."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import date
from decimal import Decimal
from ipaddress import IPv4Address
from typing import Annotated, Any, Literal, Self

import pytest
from pydantic import (
    AfterValidator,
    AliasChoices,
    AliasPath,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Json,
    OnErrorOmit,
    PastDate,
    RootModel,
    Tag,
    TypeAdapter,
    ValidationInfo,
    WithJsonSchema,
    WrapValidator,
    model_validator,
)
from pydantic.dataclasses import dataclass as pydantic_dataclass
from pydantic_core import ErrorDetails, PydanticCustomError

from accordance import (
    Accepted,
    Context,
    Contract,
    Registry,
    Rejected,
    Shape,
    Spelling,
    StreamGuard,
    Violation,
    check,
    check_value,
    contract,
    dump,
    read_tolerant,
    registry,
    schema,
)
from accordance.contracts.checking import Checker
from accordance.contracts.contract import contract_of
from accordance.contracts.expectations import expectation_at
from accordance.contracts.field_violations import expected_text
from accordance.contracts.modes import fixed_words, is_transparent, reads_alike
from accordance.errors import ContractAlreadyRegistered, InvalidContract
from tests.own_models import (
    Aliased,
    Cat,
    Closed,
    Currency,
    Dog,
    Names,
    Partial,
    Point,
    Rights,
    Size,
    Tree,
    made,
)


def holder(annotation: Any, **config: Any) -> type[BaseModel]:
    """A model with one field."""
    return made("Holder", config=config, held=(annotation, ...))


class Invoice(BaseModel):
    """What people begin with: a date, an amount, a currency."""

    day: date
    total: Decimal
    currency: Currency


def test_an_invoice_is_read_as_pydantic_reads_it() -> None:
    """No decorator, no registration: a model is a contract."""
    result = check(
        '{"day": "2026-01-31", "total": "12.50", "currency": "EUR"}', Invoice
    )
    assert isinstance(result, Accepted)
    assert result.value == Invoice(
        day=date(2026, 1, 31), total=Decimal("12.50"), currency=Currency.EUR
    )
    assert (result.contract, result.repairs, result.warnings) == ("Invoice", (), ())


FORGIVING: Any = OnErrorOmit
Pet = Annotated[Cat | Dog, Field(discriminator="kind")]


def _tag(value: object) -> str:
    return "text" if isinstance(value, str) else "number"


def _no_monday(value: date) -> date:
    if not value.weekday():
        raise ValueError("any day but Monday")
    return value


def _whole(value: Decimal) -> Decimal:
    if value % 1:
        raise PydanticCustomError("not_whole", "Cents are not accepted")
    return value


def _never(value: object) -> object:
    if value is not None:
        raise ValueError
    return value


@pytest.mark.parametrize(
    ("annotation", "held", "told"),
    [
        pytest.param(date, "31.01.2026", 'expected a date such as 2026-01-31, got "31.01.2026" [bad_format]', id="a date in another form"),
        pytest.param(date, 7.5, "expected a date such as 2026-01-31, got 7.5 [wrong_type]", id="a number for a date"),
        pytest.param(PastDate, "9999-01-01", 'expected a date such as 2026-01-31, in the past, got "9999-01-01" [out_of_range]', id="a date that is still to come"),
        pytest.param(AwareDatetime, "2026-01-31T12:00:00", 'expected a time such as 2026-01-31T12:00:00Z, with timezone info, got "2026-01-31T12:00:00" [bad_format]', id="a time without an offset"),
        pytest.param(Decimal, "much", 'expected a number, or a text such as "12.50", got "much" [bad_format]', id="a text for a Decimal"),
        pytest.param(Annotated[Decimal, Field(max_digits=3)], "12.345", 'expected a number, or a text such as "12.50", with no more than 3 digits in total, got "12.345" [out_of_range]', id="too many digits"),
        pytest.param(Currency, "GBP", 'expected one of EUR, USD, got "GBP" [not_in_enum]', id="another word"),
        pytest.param(Currency | None, "eur", 'expected one of EUR, USD, or null, got "eur" [not_in_enum]; fix: set $.held to "EUR"', id="a word in another case"),
        pytest.param(Size, 3, "expected one of 1, 2, got 3 [not_in_enum]", id="another number"),
        pytest.param(Literal[Currency.EUR], "USD", 'expected "EUR", got "USD" [not_in_enum]', id="another member"),
        pytest.param(set[int], [1, "x"], 'expected an integer, got "x" [wrong_type]', id="an item of a set"),
        pytest.param(Annotated[set[int], Field(max_length=1)], [1, 2], "expected a list of at most 1 item, got [1, 2] [too_many]", id="too large a set"),
        pytest.param(tuple[int, str], [1], "expected a text, got nothing [missing]", id="a tuple that is too short"),
        pytest.param(tuple[int, str], [1, 2], "expected a text, got 2 [wrong_type]", id="an item of a tuple"),
        pytest.param(tuple[int, ...], [1, "x"], 'expected an integer, got "x" [wrong_type]', id="an item of a tuple of any length"),
        pytest.param(dict[int, str], {"x": "y"}, 'expected a key that is a valid integer, got "x" [bad_format]', id="a key of a mapping"),
        pytest.param(dict[int, date], {"1": "y"}, 'expected a date such as 2026-01-31, got "y" [bad_format]', id="a value of a mapping"),
        pytest.param(int | date, [], "expected an integer or a date such as 2026-01-31, got [] [wrong_type]", id="neither type of a union"),
        pytest.param(list[date] | dict[str, date], ["x"], 'expected a date such as 2026-01-31, got "x" [bad_format]', id="an item of a list that is one type of a union"),
        pytest.param(Pet, {"kind": "cow"}, 'expected one of cat, dog, puppy, got "cow" [not_in_enum]', id="a tag that is none"),
        pytest.param(Pet, {}, "expected one of cat, dog, puppy, got nothing [missing]", id="no tag"),
        pytest.param(Pet, {"kind": "dog"}, "expected a date such as 2026-01-31, got nothing [missing]", id="a field of the type that the tag names"),
        pytest.param(Pet, {"kind": "cat", "lives": "9"}, 'expected an integer, got "9" [wrong_type]; fix: set $.held.lives to 9', id="a fix, because the tag leaves no doubt"),
        pytest.param(list[Pet], [7], "expected an object, got 7 [wrong_type]", id="no object where a tagged one is due"),
        pytest.param(Annotated[Annotated[str, Tag("text")] | Annotated[date, Tag("day")], Discriminator(_tag)], 7, "expected input tag 'number' found using _tag() does not match any of the expected tags: 'text', 'day', got 7 [wrong_type]", id="a tag that a function makes"),
        pytest.param(Annotated[date, AfterValidator(_no_monday)], "2026-02-02", 'expected any day but Monday, got "2026-02-02" [rule_broken]', id="what a validator says"),
        pytest.param(Annotated[Decimal, AfterValidator(_whole)], "1.5", 'expected cents are not accepted, got "1.5" [rule_broken]', id="an error of the user's own"),
        pytest.param(Annotated[Any, AfterValidator(_never)], 1, "expected what the model's validator demands, got 1 [rule_broken]", id="a validator that says nothing"),
        pytest.param(Json[int], "x", 'expected a text, invalid JSON: expected value at line 1 column 1, got "x" [bad_format]', id="JSON in JSON"),
        pytest.param(Annotated[int, Field(multiple_of=3)], 4, "expected an integer, a multiple of 3, got 4 [out_of_range]", id="no multiple"),
        pytest.param(Annotated[float, Field(gt=0, lt=3)], 3, "expected a number above 0 and below 3, got 3 [out_of_range]", id="at the bound"),
        pytest.param(Annotated[float, Field(lt=3)], 3, "expected a number below 3, got 3 [out_of_range]", id="at the upper bound"),
        pytest.param(Annotated[str, Field(max_length=1)] | date, "xy", 'expected a text of at most 1 character or a date such as 2026-01-31, string should have at most 1 character, got "xy" [too_long]', id="too long for one type of a union"),
        pytest.param(Annotated[bytes, Field(max_length=1)], "xy", 'expected a text of at most 1 character, got "xy" [too_long]', id="too many bytes"),
        pytest.param(IPv4Address, "1", "expected an IPv4 address such as 192.0.2.1 (Expected 4 octets in '1'), got \"1\" [bad_format]", id="no address"),
        pytest.param(int | Annotated[int, AfterValidator(abs)], "x", 'expected an integer, got "x" [wrong_type]', id="types that look alike"),
        pytest.param(Annotated[int, WithJsonSchema({"type": "string"})] | bool, "x", 'expected a text or true or false, got "x" [wrong_type]', id="a schema that is not true"),
        pytest.param(Point, {"x": 1, "y": "1"}, 'expected a number, got "1" [wrong_type]; fix: set $.held.y to 1', id="a field of a dataclass"),
        pytest.param(Closed, {"on": "2026-01-31", "z": 1}, "expected no such key, got 1 [unknown_key]; fix: remove $.held.z", id="a key that a dataclass forbids"),
        pytest.param(Partial, {"on": "x"}, 'expected a date such as 2026-01-31, got "x" [bad_format]', id="a key of a TypedDict"),
        pytest.param(Names, {"x": 1.5}, "expected a date such as 2026-01-31, got 1.5 [wrong_type]", id="a value of a root model"),
        pytest.param(Aliased, {"firstValue": 1, "zweiter": "x"}, 'expected a valid date in the format YYYY-MM-DD, input is too short, got "x" [bad_format]', id="under another name"),
        pytest.param(Callable, 1, "expected callable, got 1 [wrong_type]", id="a type that JSON Schema has no word for"),
    ],
)  # fmt: skip
def test_what_a_refusal_says(annotation: Any, held: object, told: str) -> None:
    """What should be there, what is there, and the fix where there is only one."""
    result = check(json.dumps({"held": held}), holder(annotation))
    assert isinstance(result, Rejected)
    assert [str(violation).partition(": ")[2] for violation in result.violations] == [
        told
    ]


@pytest.mark.parametrize(
    ("annotation", "held", "paths"),
    [
        pytest.param(tuple[int, str], [1], ["$.held[1]"], id="the item that is missing"),
        pytest.param(dict[int, str], {"x": 1}, ["$.held.x", "$.held.x"], id="key and value are wrong in one place"),
        pytest.param(Pet, {"kind": "dog"}, ["$.held.born"], id="no tag in the path"),
        pytest.param(Pet, {}, ["$.held.kind"], id="the tag itself"),
        pytest.param(list[Cat | Tree], [{"int": 1}], ["$.held[0].kind", "$.held[0].label"], id="no name of a type in the path"),
        pytest.param(int | str | date, {"int": 1}, ["$.held"], id="a key called like a type"),
        pytest.param(list[int] | dict[str, int], {"a": "x"}, ["$.held.a"], id="the type that it has, not the other"),
    ],
)  # fmt: skip
def test_where_a_refusal_is(annotation: Any, held: object, paths: list[str]) -> None:
    """A path leads to a place in the message, never through the name of a type."""
    result = check(json.dumps({"held": held}), holder(annotation))
    assert isinstance(result, Rejected)
    assert [violation.path for violation in result.violations] == paths


def test_a_type_with_a_validator_of_its_own() -> None:
    """Its name in pydantic's location is longer, and still no place."""

    class Span(BaseModel):
        begin: int
        end: int

        @model_validator(mode="after")
        def is_forward(self) -> Self:
            if self.end < self.begin:
                raise ValueError("an end after the beginning")
            return self

    result = check('{"held": {"begin": 2}}', holder(Span | int))
    assert isinstance(result, Rejected)
    assert [str(violation) for violation in result.violations] == [
        "$.held.end: expected an integer, got nothing [missing]"
    ]
    backward = check('{"held": {"begin": 2, "end": 1}}', holder(Span))
    assert isinstance(backward, Rejected)
    assert [(one.path, one.expected) for one in backward.violations] == [
        ("$.held", "an end after the beginning")
    ]


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_bytes_of_every_kind(kind: Callable[[bytes], Any]) -> None:
    """As the reader takes them."""
    assert check(kind(b'{"held": "2026-01-31"}'), holder(date))


def test_a_guess_between_two_types_is_not_offered_as_a_fix() -> None:
    """Nobody knows whether the cat or the kind is wrong."""

    class Bird(BaseModel):
        kind: Literal["bird"]

    result = check('{"held": {"kind": "brd"}}', holder(Cat | Bird))
    assert isinstance(result, Rejected)
    assert [violation.fix for violation in result.violations] == [None]


class Loose(BaseModel):
    """A union, a wrapping validator, a dataclass: places where a refused key would change the choice."""

    which: Annotated[Cat | Partial | Point, Field(union_mode="left_to_right")]


@pytest.mark.parametrize(
    ("model", "message", "mentioned"),
    [
        pytest.param(Loose, {"which": {"kind": "cat", "a": 1}}, ["$.which.a"], id="known to a type that was not chosen"),
        pytest.param(Loose, {"which": {"a": 1, "kind": 2}}, ["$.which.kind"], id="a key of the type before"),
        pytest.param(Loose, {"which": {"a": 1}}, [], id="nothing unknown"),
        pytest.param(Loose, {"which": {"a": 1}, "more": 1}, ["$.more"], id="beside the union"),
        pytest.param(holder(list[Point | Cat]), {"held": [{"x": 1, "z": 1}]}, ["$.held[0].z"], id="in a dataclass in a list"),
        pytest.param(holder(Closed | Names), {"held": {"on": "2026-01-31", "z": "2026-01-31"}}, [], id="a root model takes what a dataclass forbids"),
        pytest.param(holder(Aliased | Names), {"held": {"first": 1, "zweiter": "2026-01-31", "z": 1}}, ["$.held.z"], id="other names are known"),
        pytest.param(holder(Aliased | int), {"held": {"firstValue": 1, "all": [1, "2026-01-31"], "z": 1}}, ["$.held.z"], id="paths into other keys are known"),
        pytest.param(holder(set[int] | holder(Cat | int)), {"held": {"held": {"kind": "cat", "z": 1}}}, ["$.held.held.z"], id="deeper down"),
        pytest.param(holder(Annotated[Any, BeforeValidator(lambda value: Cat(**value))]), {"held": {"kind": "cat"}}, [], id="made by a validator"),
        pytest.param(holder(Annotated[Cat, AfterValidator(lambda cat: cat.kind)] | int), {"held": {"kind": "cat", "z": 1}}, ["$.held.z"], id="of what a validator made of it nobody can tell"),
        pytest.param(holder(list[OnErrorOmit[int]]), {"held": [1, "x"]}, [], id="items that are left out when they are wrong"),
        pytest.param(Invoice, {"day": "2026-01-31", "total": 1, "currency": "EUR", "schema_version": "Invoice"}, [], id="the contract's own version is known"),
    ],
)  # fmt: skip
def test_which_keys_are_mentioned(
    model: type[BaseModel], message: dict[str, Any], mentioned: list[str]
) -> None:
    """Those that the value knows nothing of."""
    text = json.dumps(message)
    result = check(text, model)
    assert isinstance(result, Accepted), result
    assert result.value == TypeAdapter(model).validate_json(text, strict=True)
    assert [notice.path for notice in result.warnings] == mentioned


def test_a_union_chooses_as_it_always_does() -> None:
    """That unknown keys are looked for does not move the choice to a type that knows them."""

    class Short(BaseModel):
        a: int

    class Long(BaseModel):
        a: int
        b: int

    model = holder(Annotated[Short | Long, Field(union_mode="left_to_right")])
    result = check('{"held": {"a": 1, "b": 2}}', model)
    assert isinstance(result, Accepted)
    assert result.value.held == Short(a=1)  # type: ignore[attr-defined]


def test_a_refused_message_names_its_unknown_keys_too() -> None:
    """A slip in a key is seen at once: something is missing, something is unknown. Inside of a union nobody can say."""
    result = check('{"dya": "2026-01-31", "total": 1, "currency": "EUR"}', Invoice)
    assert isinstance(result, Rejected)
    assert [violation.path for violation in result.violations] == ["$.day"]
    assert [notice.path for notice in result.warnings] == ["$.dya"]
    union = check(
        '{"which": {"kind": "cat", "lives": "x", "z": 1}, "more": 1}',
        holder(Cat | Point),
    )
    assert isinstance(union, Rejected)
    assert [notice.path for notice in union.warnings] == ["$.which", "$.more"]


def test_a_version_that_the_model_does_not_have() -> None:
    """Another version than the contract's is mentioned, the right one is not, and a closed model refuses both as a key."""
    message = {
        "day": "2026-01-31",
        "total": 1,
        "currency": "EUR",
        "schema_version": "invoice_v2",
    }
    own = Contract(version="invoice_v1", model=Invoice)
    result = check(json.dumps(message), own)
    assert isinstance(result, Accepted)
    assert [str(notice) for notice in result.warnings] == [
        '$.schema_version: names "invoice_v2", but this contract is "invoice_v1"; ignored [unknown_key]'
    ]
    named = check(json.dumps(message | {"schema_version": "invoice_v1"}), own)
    assert isinstance(named, Accepted)
    assert named.warnings == ()
    closed = Contract(version="word_v1", model=holder(int, extra="forbid"))
    refused = check('{"held": 1, "schema_version": "word_v1"}', closed)
    assert isinstance(refused, Rejected)
    assert [str(violation) for violation in refused.violations] == [
        '$.schema_version: expected no such key, got "word_v1" [unknown_key]; fix: remove $.schema_version'
    ]


def test_a_version_field_of_the_models_own() -> None:
    """A schema_version that is no version of ours is a field like any other."""
    free = made("Free", schema_version=(str, ...))
    assert check('{"schema_version": "anything"}', free)
    numbered = made(
        "Numbered", schema_version=(Literal["1.0"], ...), on=(date | None, None)
    )
    refused = check('{"schema_version": "2.0"}', numbered)
    assert isinstance(refused, Rejected)
    assert str(refused.violations[0]).startswith(
        '$.schema_version: expected "1.0", got "2.0" [not_in_enum]'
    )
    assert contract_of(numbered).version == "Numbered"
    assert contract_of(made("§")).version == "model"
    two = made("Two", schema_version=(Literal["two_v1", "two_v2"], ...))
    assert contract_of(two).version == "two_v1"
    assert check('{"schema_version": "two_v2"}', two)
    assert StreamGuard(two).feed('{"schema_version": "two_v2"') is None
    assert StreamGuard(two).feed('{"schema_version": "two_v3"') is not None


@pytest.mark.parametrize(
    ("model", "alike", "transparent"),
    [
        pytest.param(holder(int), True, True, id="a number"),
        pytest.param(Tree, True, True, id="a model that contains itself"),
        pytest.param(holder(dict[Literal["a"], int]), True, True, id="words as keys"),
        pytest.param(holder(Annotated[int, AfterValidator(abs)]), True, True, id="a validator that sees only the value"),
        pytest.param(holder(date), False, True, id="a date"),
        pytest.param(holder(dict[int, int]), False, True, id="numbers as keys"),
        pytest.param(holder(dict[Literal[1], int]), False, True, id="numbers as words as keys"),
        pytest.param(holder(Literal[Currency.EUR]), False, True, id="a member of an enumeration"),
        pytest.param(Names, False, True, id="a root model"),
        pytest.param(Aliased, False, True, id="paths as names"),
        pytest.param(holder(Point), False, True, id="a dataclass"),
        pytest.param(holder(Pet), False, True, id="a tagged union"),
        pytest.param(holder(int | str), False, False, id="a union"),
        pytest.param(holder(Annotated[int, WrapValidator(lambda value, handler: handler(value))]), False, False, id="a wrapping validator"),
    ],
)  # fmt: skip
def test_how_a_model_may_be_validated(
    model: type[BaseModel], alike: bool, transparent: bool
) -> None:
    """It follows from the model; nobody has to say so."""
    assert (reads_alike(model), is_transparent(model)) == (alike, transparent)


def test_validators_that_ask_how_they_are_called() -> None:
    """A validator is told that it reads JSON, as it would be by pydantic."""

    def only_json(value: int, info: ValidationInfo) -> int:
        if info.mode != "json":
            raise ValueError("JSON")
        return value

    assert check('{"held": 1}', holder(Annotated[int, AfterValidator(only_json)]))


def test_models_with_a_way_of_their_own() -> None:
    """An __init__ of its own, a validator before everything, a default in the place of what is wrong, a late definition."""

    class Made(BaseModel):
        schema_version: Literal["made_v1"] = "made_v1"
        size: int

        def __init__(self, **data: Any) -> None:
            super().__init__(size=len(data), schema_version="made_v1")

    class Prepared(BaseModel):
        schema_version: Literal["prepared_v1"]

        @model_validator(mode="before")
        @classmethod
        def lower(cls, data: Any) -> Any:
            return {key: str(value).lower() for key, value in data.items()}

    class Lenient(BaseModel):
        schema_version: Annotated[
            Literal["lenient_v1"], WrapValidator(lambda _value, _: "lenient_v1")
        ]

    class Late(BaseModel):
        model_config = ConfigDict(defer_build=True)
        schema_version: Literal["late_v1"]
        on: date | None = None

    for model, text in (
        (Made, '{"schema_version": "any"}'),
        (Prepared, '{"schema_version": "PREPARED_v1"}'),
        (Lenient, '{"schema_version": "any"}'),
        (Late, '{"schema_version": "late_v1", "on": "2026-01-31"}'),
    ):
        result = check(text, model)
        assert isinstance(result, Accepted), result
        assert result.value == TypeAdapter(model).validate_json(text, strict=True)
        guard = StreamGuard(model)
        assert guard.feed(text) is None
        assert guard.finish() is None


@pytest.mark.parametrize(
    ("model", "words"),
    [
        pytest.param(made("A", schema_version=(Literal["a_v1"], ...)), ("a_v1",), id="a word"),
        pytest.param(made("A", schema_version=(Literal["a_v1"] | None, "a_v1")), ("a_v1",), id="a word, null or nothing"),
        pytest.param(made("A", schema_version=(Literal["a_v1", 2], ...)), ("a_v1",), id="a word or a number"),
        pytest.param(made("A", schema_version=(str, ...)), (), id="any text"),
        pytest.param(made("A", version=(str, ...)), (), id="no such field"),
        pytest.param(made("A", schema_version=(Literal["a_v1"], Field(alias="v"))), (), id="under another name"),
        pytest.param(Names, (), id="no fields at all"),
        pytest.param(made("A", schema_version=(FORGIVING[Literal["a_v1"]], ...)), (), id="what is wrong is no error"),
        pytest.param(Tree, (), id="a model that contains itself"),
    ],
)  # fmt: skip
def test_the_words_a_guard_may_rely_on(
    model: type[BaseModel], words: tuple[str, ...]
) -> None:
    """Only what the model fixes beyond doubt dooms a stream."""
    assert fixed_words(model, "schema_version") == words


def test_a_guard_does_not_ask_for_what_no_rule_demands() -> None:
    """A field called task_id is the user's own, unless a rule of the contract compares it."""
    mine = made("Mine", task_id=(str, ...))
    asked = Context(task_id="t-1")
    assert check('{"task_id": "t-2"}', mine, asked)
    assert StreamGuard(mine, asked).feed('{"task_id": "t-2"') is None
    theirs = contract_of(mine).with_rules(*registry.get("action").rules[:1])
    assert not check('{"task_id": "t-2"}', theirs, asked)
    assert StreamGuard(theirs, asked).feed('{"task_id": "t-2"') is not None


class Order(BaseModel):
    schema_version: Literal["order_v1"]
    day: date
    state: Currency
    tags: set[str] = set()


def on_a_weekday(message: dict[str, object], _: Context) -> Iterator[Violation]:
    """The 31st is taken for a holiday."""
    if str(message.get("day")).endswith("-31"):
        yield Violation("holiday", "$.day", "another day", str(message.get("day")))


ORDER = Contract(
    version="order_v1",
    model=Order,
    shape=Shape(
        renames={"day": ("date",)}, spellings={"state": Spelling(("EUR", "USD"))}
    ),
    rules=(on_a_weekday,),
)


@pytest.mark.parametrize(
    ("text", "repairs", "codes"),
    [
        pytest.param('{"schema_version": "order_v1", "day": "2026-01-30", "state": "EUR"}', [], [], id="as it should be"),
        pytest.param('{"schema_version": "order_v1", "date": "2026-01-30", "state": " eur"}', ["rename", "spelling"], [], id="normalised, then read from its new text"),
        pytest.param('{"schema_version": "order_v1", "date": "2026-01-31", "state": "EUR"}', ["rename"], ["holiday"], id="a rule sees the normalised message"),
        pytest.param('{"schema_version": "order_v1", "date": "x", "state": "EUR"}', ["rename"], ["bad_format"], id="normalised, and still wrong"),
        pytest.param('{"schema_version": "order_v1", "day": "2026-01-30", "state": "EUR", "tags": ["a", 1e999]}', [], ["not_finite"], id="what no reader takes"),
    ],
)  # fmt: skip
def test_rules_and_tables_hold_for_such_models_too(
    text: str, repairs: list[str], codes: list[str]
) -> None:
    """The whole path of a message, whichever way pydantic reads it."""
    result = check(text, ORDER)
    assert [repair.rule for repair in result.repairs] == repairs
    assert (
        [violation.code for violation in result.violations] == codes
        if isinstance(result, Rejected)
        else not codes
    )


def test_the_tolerant_reader_gives_a_text_anew() -> None:
    """What it repaired is what pydantic reads."""
    text = "```json\n{'schema_version': 'order_v1', 'day': '2026-01-30', 'state': 'EUR',}\n```"
    result = check(text, ORDER, reader=read_tolerant)
    assert isinstance(result, Accepted)
    assert result.value.day == date(2026, 1, 30)


@pytest.mark.parametrize(
    ("message", "code"),
    [
        pytest.param(
            {"day": date(2026, 1, 31)}, "not_json", id="a date that is no text"
        ),
        pytest.param({"day": "\ud800"}, "not_json", id="half a character"),
        pytest.param({"day": float("inf")}, "too_deep", id="no finite number"),
    ],
)
def test_values_that_no_text_decodes_to(message: dict[str, Any], code: str) -> None:
    """`check_value` takes decoded JSON, and says so of anything else."""
    result = check_value(message, Invoice)
    assert isinstance(result, Rejected)
    assert [violation.code for violation in result.violations] == [code]


def test_a_fix_is_tried_on_the_text() -> None:
    """As pydantic will read it."""
    result = check('{"held": "eur"}', holder(Currency))
    assert isinstance(result, Rejected)
    assert result.violations[0].fix is not None
    assert check_value({"held": result.violations[0].fix.value}, holder(Currency))


@pytest.mark.parametrize(
    "like", ["xiaobo_action_v1", "action", "TASK_ACTION", registry.get("action"), registry.get("action").model],
    ids=["by version", "by name", "by scope", "by contract", "by model"],
)  # fmt: skip
def test_every_call_takes_a_contract_in_every_form(like: Any) -> None:
    """Name, contract or model."""
    text = '{"schema_version": "xiaobo_action_v1", "task_id": "t-1", "result_type": "NOOP"}'
    assert check(text, like)
    assert check_value(json.loads(text), like)
    assert StreamGuard(like).feed('{"schema_version": "x_v1"') is not None
    assert schema(like).schema["$id"] == "urn:accordance:contract:xiaobo_action_v1"
    assert schema(like, "openai").dropped


@pytest.mark.usefixtures("registry_as_it_was")
def test_the_decorator_registers_in_the_default_registry() -> None:
    """So that its names and its version are known to every call."""
    model = contract("thanks_v1", name="thanks")(
        made("Thanks", schema_version=(Literal["thanks_v1"], ...))
    )
    for like in ("thanks_v1", "thanks", model, None):
        assert check('{"schema_version": "thanks_v1"}', like)
    assert registry.get("thanks").model is model


def test_a_definition_that_is_run_again_takes_the_place_of_the_first() -> None:
    """A notebook's cell, a module that is reloaded: the same class of the same module, once more."""
    own = Registry()
    checker = Checker(own)

    def cell(kind: type, name: str) -> type[BaseModel]:
        return own.contract("thing_v1", name=name)(made("Thing", size=(kind, ...)))

    first = cell(int, "thing")
    assert not checker.check('{"size": "2026-01-31"}', "thing")
    second = cell(date, "other")
    assert checker.check('{"size": "2026-01-31"}', "other")
    assert checker.check('{"size": "2026-01-31"}', second)
    assert checker.check('{"size": 1}', first)
    assert ("thing" in own, own.versions()) == (False, ("thing_v1",))
    stranger = made("Thing", size=(int, ...))
    stranger.__module__ = "elsewhere"
    with pytest.raises(
        ContractAlreadyRegistered, match="'thing_v1' is already registered for Thing"
    ):
        own.contract("thing_v1")(stranger)
    assert contract_of(stranger).version == "Thing"


def test_a_model_that_json_schema_cannot_describe() -> None:
    """It can be checked; only its schema cannot be had, and that is said."""
    model = holder(Callable[[], int] | None)
    assert check('{"held": null}', model)
    with pytest.raises(InvalidContract, match="Holder has no JSON Schema"):
        schema(model)


def test_defaults_that_json_cannot_say_are_left_out_quietly() -> None:
    """No warning of pydantic's reaches the user of a schema."""
    model = made("Odd", held=(Any, object()))
    properties = schema(model).schema["properties"]
    assert isinstance(properties, dict)
    assert "default" not in properties["held"]


def test_a_flag_is_a_number() -> None:
    """As pydantic has it."""
    assert check('{"held": 3}', holder(Rights))
    assert dump(check('{"held": 3}', holder(Rights)).value) == {"held": 3}  # type: ignore[union-attr]


@pydantic_dataclass
class Named:
    first: int = Field(validation_alias=AliasChoices("one", AliasPath("all", 0)))


def test_other_names_in_a_dataclass() -> None:
    """They are known, and what is not is mentioned."""
    result = check('{"held": {"one": 1, "z": 2}}', holder(Named | int))
    assert isinstance(result, Accepted)
    assert [notice.path for notice in result.warnings] == ["$.held.z"]


def test_a_root_model_in_a_union() -> None:
    """What it holds is looked into."""
    result = check(
        '{"held": {"held": {"kind": "cat", "z": 1}}}',
        holder(RootModel[holder(Cat)] | int),  # type: ignore[misc]
    )
    assert isinstance(result, Accepted)
    assert [notice.path for notice in result.warnings] == ["$.held.held.z"]


def test_a_word_that_looks_right_is_told_as_pydantic_tells_it() -> None:
    """`expected "a", got "a"` would help nobody."""

    class Held(BaseModel):
        held: Literal["a"]

    details = ErrorDetails(
        type="literal_error",
        loc=("held",),
        msg="Input should be another thing",
        input="a",
    )
    assert expected_text(details, expectation_at(Held, ("held",))) == "another thing"

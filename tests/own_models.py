"""Random pydantic models and random messages for them: what the properties about users' own models draw from.

A `Kind` is an annotation with the JSON values that are probably right for it. Kinds are put together to lists, unions and
models; a message is then drawn from its model's kinds and, mostly, spoilt a little.
"""

from __future__ import annotations

import copy
import enum
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from ipaddress import IPv4Address, IPv6Network
from pathlib import Path
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    NamedTuple,
    TypeVar,
    Union,
    get_args,
    get_origin,
)
from uuid import UUID

from hypothesis import strategies as st
from pydantic import (
    AfterValidator,
    AliasChoices,
    AliasPath,
    AnyUrl,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Json,
    JsonValue,
    OnErrorOmit,
    RootModel,
    WrapValidator,
    create_model,
)
from pydantic.dataclasses import dataclass as pydantic_dataclass
from typing_extensions import TypedDict

T = TypeVar("T")


class Currency(str, enum.Enum):  # noqa: UP042 - the older way is the usual one
    """A docstring is no list of words."""

    EUR = "EUR"
    USD = "USD"


class Size(enum.IntEnum):
    SMALL = 1
    LARGE = 2


class Mood(enum.Enum):
    GOOD = "good"
    SEVEN = 7
    NOTHING = None
    HALF = 0.5


class Rights(enum.Flag):
    READ = 1
    WRITE = 2


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["dog", "puppy"]
    born: date


class Tree(BaseModel):
    label: str
    parts: list[Tree] = []


class Box(BaseModel, Generic[T]):
    content: T


class Names(RootModel[dict[str, date]]):
    pass


class Aliased(BaseModel):
    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True)
    first: int = Field(alias="firstValue")
    second: date = Field(
        validation_alias=AliasChoices("second", "zweiter", AliasPath("all", 1))
    )


class OnlyAlias(BaseModel):
    first: int = Field(alias="firstValue", default=1)


class Kept(BaseModel):
    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Decimal]
    size: int = 0


@dataclass
class Point:
    x: int
    y: float = 0


@pydantic_dataclass(config=ConfigDict(extra="forbid"))
class Closed:
    on: date


class Partial(TypedDict, total=False):
    a: int
    on: date


class Pair(NamedTuple):
    left: int
    right: str = ""


class Kind(NamedTuple):
    """An annotation, and the JSON values that fit it."""

    annotation: Any
    values: st.SearchStrategy[Any]
    name: str


def _of(origin: Any, *arguments: Any) -> Any:
    """`origin[arguments]`, of annotations that are known only now."""
    return origin[arguments if len(arguments) > 1 else arguments[0]]


def made(name: str, /, *, config: Any = None, **fields: Any) -> type[BaseModel]:
    """A model of these fields, each an annotation and its default."""
    model: type[BaseModel] = create_model(name, __config__=config, **fields)
    return model


def _swallow(value: Any, handler: Callable[[Any], Any]) -> Any:
    try:
        return handler(value)
    except ValueError:
        return None


def _trimmed(value: object) -> object:
    return value.strip() if isinstance(value, str) else value


def _even(value: int) -> int:
    if value % 2:
        raise ValueError("an even number")
    return value


dates = st.sampled_from(
    ["2026-01-31", "1999-12-31", "2024-02-29", "2026-01-31T00:00:00"]
)
times = st.sampled_from(["14:30", "14:30:00", "23:59:59.5Z", "00:00:00+02:00"])
datetimes = st.sampled_from(
    [
        "2026-01-31T12:00:00Z",
        "2026-01-31 12:00",
        "2026-01-31",
        "2026-01-31T12:00:00+02:00",
    ]
)
durations = st.sampled_from(["PT1H30M", "P3D", "-P1DT2S", "1 day, 2:00:00", "12:30:00"])
decimals = st.sampled_from(["12.50", "1e3", 3, 4.25, "-0", "NaN", 10**30])
uuids = st.sampled_from(
    ["123e4567-e89b-42d3-a456-426614174000", "123E4567E89B42D3A456426614174000"]
)
ints = st.integers(-3, 5) | st.sampled_from([2**63, -(2**70), 10**40])
floats = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-3, 3)
texts = st.text(max_size=5) | st.sampled_from(["abc", " b ", "1", "true", "EUR", "é🥐"])

JSON = st.recursive(
    st.none() | st.booleans() | ints | floats | texts,
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2)
    ),
    max_leaves=4,
)

LEAVES: Sequence[Kind] = (
    Kind(str, texts, "str"),
    Kind(int, ints, "int"),
    Kind(float, floats, "float"),
    Kind(bool, st.booleans(), "bool"),
    Kind(Any, JSON, "Any"),
    Kind(JsonValue, JSON, "JsonValue"),
    Kind(
        Annotated[str, Field(min_length=2, max_length=4)],
        st.sampled_from(["ab", "abcd"]),
        "short text",
    ),
    Kind(
        Annotated[str, Field(pattern="^[a-c]+$")],
        st.sampled_from(["a", "abc"]),
        "patterned text",
    ),
    Kind(Annotated[int, Field(ge=0, lt=4)], st.integers(0, 3), "small int"),
    Kind(
        Annotated[float, Field(gt=0, multiple_of=0.5)],
        st.sampled_from([0.5, 2]),
        "halves",
    ),
    Kind(Literal["a", "b"], st.sampled_from(["a", "b"]), "words"),
    Kind(
        Literal[1, "x", True] | None,
        st.sampled_from([1, "x", True, None]),
        "mixed words",
    ),
    Kind(Literal[Currency.EUR], st.just("EUR"), "a member"),
    Kind(date, dates, "date"),
    Kind(time, times, "time"),
    Kind(datetime, datetimes, "datetime"),
    Kind(AwareDatetime, datetimes, "aware"),
    Kind(timedelta, durations, "timedelta"),
    Kind(Decimal, decimals, "Decimal"),
    Kind(
        Annotated[Decimal, Field(max_digits=4, decimal_places=2, ge=1)],
        decimals,
        "price",
    ),
    Kind(Currency, st.sampled_from(["EUR", "USD"]), "Currency"),
    Kind(Size, st.sampled_from([1, 2]), "Size"),
    Kind(Mood, st.sampled_from(["good", 7, None, 0.5]), "Mood"),
    Kind(Rights, st.sampled_from([1, 2, 3]), "Rights"),
    Kind(UUID, uuids, "UUID"),
    Kind(Path, st.sampled_from(["a/b", "/", "."]), "Path"),
    Kind(bytes, texts, "bytes"),
    Kind(IPv4Address, st.sampled_from(["192.0.2.1", "0.0.0.0"]), "IPv4Address"),
    Kind(IPv6Network, st.just("2001:db8::/32"), "IPv6Network"),
    Kind(AnyUrl, st.just("https://example.org/"), "AnyUrl"),
    Kind(Json[list[int]], st.sampled_from(["[1]", "[]", "[1.5]"]), "Json"),
    Kind(
        list[OnErrorOmit[int]], st.sampled_from([[1], [1, "x"], []]), "forgiving list"
    ),
    Kind(Annotated[int, AfterValidator(_even)], st.sampled_from([2, 4]), "even"),
    Kind(
        Annotated[date, BeforeValidator(_trimmed)],
        st.sampled_from([" 2026-01-31 "]),
        "trimmed date",
    ),
    Kind(
        Cat,
        st.fixed_dictionaries({"kind": st.just("cat")}, optional={"lives": ints}),
        "Cat",
    ),
    Kind(
        Annotated[Cat, WrapValidator(_swallow)] | None,
        st.just({"kind": "cat"}),
        "swallowed",
    ),
    Kind(
        Annotated[Cat | Dog, Field(discriminator="kind")],
        st.sampled_from([{"kind": "cat"}, {"kind": "puppy", "born": "2026-01-31"}]),
        "pet",
    ),
    Kind(Tree, st.just({"label": "x", "parts": [{"label": "y", "parts": []}]}), "Tree"),
    Kind(Box[date], st.fixed_dictionaries({"content": dates}), "Box[date]"),
    Kind(Box[int], st.fixed_dictionaries({"content": ints}), "Box[int]"),
    Kind(Names, st.dictionaries(texts, dates, max_size=2), "Names"),
    Kind(
        Aliased,
        st.sampled_from(
            [
                {"firstValue": 1, "second": "2026-01-31"},
                {"first": 1, "zweiter": "2026-01-31"},
                {"first": 2, "all": [0, "2026-01-31"]},
            ]
        ),
        "Aliased",
    ),
    Kind(
        OnlyAlias, st.sampled_from([{"firstValue": 3}, {"first": 3}, {}]), "OnlyAlias"
    ),
    Kind(
        Kept, st.dictionaries(st.sampled_from(["size", "x"]), st.integers(0, 3)), "Kept"
    ),
    Kind(
        Point,
        st.fixed_dictionaries({"x": ints}, optional={"y": floats, "z": ints}),
        "Point",
    ),
    Kind(Closed, st.fixed_dictionaries({"on": dates}, optional={"z": ints}), "Closed"),
    Kind(
        Partial,
        st.fixed_dictionaries({}, optional={"a": ints, "on": dates, "z": ints}),
        "Partial",
    ),
    Kind(Pair, st.sampled_from([[1, "x"], [1], {"left": 1}]), "Pair"),
)

# What JSON Schema can say to the letter, as long as no whole number is written as 95.0.
SAYABLE = frozenset(
    {
        "str", "int", "float", "bool", "JsonValue", "short text", "patterned text", "small int", "words", "Currency", "Size",
        "Cat", "Tree", "Box[int]", "OnlyAlias",
    }
)  # fmt: skip


def kinds(
    leaves: Sequence[Kind] = LEAVES, *, sayable: bool = False
) -> st.SearchStrategy[Kind]:
    """A leaf, or something made of others."""
    wider = [_listed, _optional, _mapped, _either] if sayable else [*_CONTAINERS]
    return st.recursive(
        st.sampled_from(leaves),
        lambda inner: st.one_of([container(inner) for container in wider]),
        max_leaves=3,
    )


def _listed(inner: st.SearchStrategy[Kind]) -> st.SearchStrategy[Kind]:
    return inner.map(
        lambda kind: Kind(
            _of(list, kind.annotation),
            st.lists(kind.values, max_size=3),
            f"list of {kind.name}",
        )
    )


def _optional(inner: st.SearchStrategy[Kind]) -> st.SearchStrategy[Kind]:
    return inner.map(
        lambda kind: Kind(
            _of(Union, kind.annotation, None),
            kind.values | st.none(),
            f"optional {kind.name}",
        )
    )


def _mapped(inner: st.SearchStrategy[Kind]) -> st.SearchStrategy[Kind]:
    return inner.map(
        lambda kind: Kind(
            _of(dict, str, kind.annotation),
            st.dictionaries(texts, kind.values, max_size=2),
            f"dict of {kind.name}",
        )
    )


def _either(inner: st.SearchStrategy[Kind]) -> st.SearchStrategy[Kind]:
    return st.tuples(inner, inner).map(
        lambda pair: Kind(
            _of(Union, pair[0].annotation, pair[1].annotation),
            pair[0].values | pair[1].values,
            f"{pair[0].name} or {pair[1].name}",
        )
    )


def _first_that_fits(inner: st.SearchStrategy[Kind]) -> st.SearchStrategy[Kind]:
    return _either(inner).map(
        lambda kind: Kind(
            _of(Annotated, kind.annotation, Field(union_mode="left_to_right"))
            if _is_union(kind)
            else kind[0],
            kind.values,
            f"the first of {kind.name}",
        )
    )


def _is_union(kind: Kind) -> bool:
    types = [one for one in get_args(kind.annotation) if one is not type(None)]
    return get_origin(kind.annotation) is Union and len(types) > 1


def _sets(inner: st.SearchStrategy[Kind]) -> st.SearchStrategy[Kind]:
    hashable = st.sampled_from(
        [kind for kind in LEAVES if kind.name in ("int", "date", "Currency", "UUID")]
    )
    return st.tuples(hashable, st.sampled_from([set, frozenset])).map(
        lambda pair: Kind(
            _of(pair[1], pair[0].annotation),
            st.lists(pair[0].values, max_size=3),
            f"set of {pair[0].name}",
        )
    )


def _tuples(inner: st.SearchStrategy[Kind]) -> st.SearchStrategy[Kind]:
    return st.tuples(inner, inner).map(
        lambda pair: Kind(
            _of(tuple, pair[0].annotation, pair[1].annotation),
            st.tuples(pair[0].values, pair[1].values).map(list),
            f"tuple of {pair[0].name}, {pair[1].name}",
        )
    )


def _runs(inner: st.SearchStrategy[Kind]) -> st.SearchStrategy[Kind]:
    return inner.map(
        lambda kind: Kind(
            _of(tuple, kind.annotation, ...),
            st.lists(kind.values, max_size=3),
            f"tuple of any {kind.name}",
        )
    )


_KEYS: Mapping[Any, Sequence[str]] = {
    int: ["1", "-7", "x"],
    date: ["2026-01-31", "x"],
    Currency: ["EUR", "GBP"],
    UUID: ["123e4567-e89b-42d3-a456-426614174000"],
    float: ["1.5", "1"],
    bool: ["true", "1"],
    Literal["a", "b"]: ["a", "c"],
    Annotated[str, Field(max_length=2)]: ["ab", "abc"],
}


def _typed_keys(inner: st.SearchStrategy[Kind]) -> st.SearchStrategy[Kind]:
    return st.tuples(st.sampled_from([*_KEYS]), inner).map(
        lambda pair: Kind(
            _of(dict, pair[0], pair[1].annotation),
            st.dictionaries(
                st.sampled_from(_KEYS[pair[0]]), pair[1].values, max_size=2
            ),
            f"dict by {pair[0]} of {pair[1].name}",
        )
    )


_CONTAINERS = (
    _listed,
    _optional,
    _mapped,
    _either,
    _first_that_fits,
    _sets,
    _tuples,
    _runs,
    _typed_keys,
)


class Case(NamedTuple):
    """A model and a message for it."""

    model: type[BaseModel]
    text: str
    kinds: Mapping[str, str]


@st.composite
def cases(draw: st.DrawFn, *, sayable: bool = False) -> Case:
    """A model with a few fields, and a message that fits, was spoilt, or has nothing to do with it."""
    leaves = [kind for kind in LEAVES if not sayable or kind.name in SAYABLE]
    parts = draw(st.lists(kinds(leaves, sayable=sayable), min_size=1, max_size=4))
    fields = {f"f{at}": kind for at, kind in enumerate(parts)}
    optional = draw(st.sets(st.sampled_from(sorted(fields))))
    extra = draw(st.sampled_from(["ignore", "allow", "forbid"]))
    config = {"extra": extra, "use_enum_values": draw(st.booleans())}
    defaults = {name: None if name in optional else ... for name in fields}
    model = made(
        "Drawn",
        config=config,
        **{name: (fields[name].annotation, defaults[name]) for name in fields},
    )
    message = {
        name: draw(kind.values)
        for name, kind in fields.items()
        if name not in optional or draw(st.booleans())
    }
    if draw(st.integers(0, 9)) == 0:
        message = draw(
            st.dictionaries(st.sampled_from([*fields, "x"]), JSON, max_size=3)
        )
    for _ in range(draw(st.integers(0, 2))):
        message = draw(_spoilt(message))
    names = {name: kind.name for name, kind in fields.items()}
    return Case(model, json.dumps(message, ensure_ascii=draw(st.booleans())), names)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a message."""
    below = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [
        path,
        *(place for step, item in below for place in places(item, (*path, step))),
    ]


@st.composite
def _spoilt(draw: st.DrawFn, message: dict[str, Any]) -> dict[str, Any]:
    """Something replaced by something else, taken away, or added."""
    other = st.sampled_from(LEAVES).flatmap(lambda kind: kind.values)
    changed = copy.deepcopy(message)
    path = draw(st.sampled_from(places(changed)))
    parent: Any = changed
    for step in path[:-1]:
        parent = parent[step]
    holder = parent[path[-1]] if path else changed
    how = draw(st.sampled_from(["replace", "remove", "add", "add"]))
    if how == "add" and isinstance(holder, dict):
        holder[
            draw(st.sampled_from(["extra", "kind", "size", "schema_version", "f1"]))
        ] = draw(other)
    elif how == "add" and isinstance(holder, list):
        holder.append(draw(other))
    elif path and how == "remove":
        del parent[path[-1]]
    elif path:
        parent[path[-1]] = draw(other)
    return changed

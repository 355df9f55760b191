"""serdes.typed: what can't come back as it went in is refused, while the schema is made or when it is written."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import json
import time
import uuid
from dataclasses import dataclass, field
from typing import Annotated, Any, Generic, Literal, NewType, NotRequired, Required, TypedDict, TypeVar

import attrs
import pydantic
import pytest

from registry import Schema
from serdes import Duration, MessageField, SerializationContext, SerializationError
from serdes.avro import AvroDeserializer, AvroSerializer
from serdes.json_schema import JSONDeserializer, JSONSerializer
from serdes.typed import Aliases, AvroType, avro_schema
from tests.unit.serdes.fake import FakeRegistry

VALUE = SerializationContext("t", MessageField.VALUE)
T = TypeVar("T")
UserId = NewType("UserId", int)
LOCAL = AvroType({"type": "long", "logicalType": "local-timestamp-micros"})


def through_avro(kind: Any, value: Any) -> Any:
    registry: Any = FakeRegistry()
    return AvroDeserializer.for_type(kind, registry)(AvroSerializer.for_type(kind, registry)(value, VALUE), VALUE)


def through_json(kind: Any, value: Any) -> Any:
    registry: Any = FakeRegistry()
    return JSONDeserializer.for_type(kind, registry)(JSONSerializer.for_type(kind, registry)(value, VALUE), VALUE)


@dataclass
class Created:
    id: str
    at: int


@dataclass
class Deleted:
    id: str
    at: int


@dataclass
class Envelope:
    event: Created | Deleted
    more: list[Created | Deleted | None] = field(default_factory=list)


class Status(enum.Enum):
    NEW = "NEW"


class Other(enum.Enum):
    OLD = "OLD"


class Keys(TypedDict, total=False):
    a: Required[int]
    b: str


def test_of_two_classes_with_the_same_fields_the_right_one_comes_back() -> None:
    value = Envelope(Deleted("a", 1), [Created("b", 2), None, Deleted("c", 3)])
    assert through_avro(Envelope, value) == value
    with pytest.raises(TypeError, match="Created and Deleted have the same fields and can't be told apart in JSON"):
        JSONSerializer.for_type(Envelope, FakeRegistry())  # type: ignore[arg-type]


class Cat(pydantic.BaseModel):
    kind: Literal["cat"] = "cat"
    name: str


class Dog(pydantic.BaseModel):
    kind: Literal["dog"] = "dog"
    name: str


class Home(pydantic.BaseModel):
    pets: list[Annotated[Cat | Dog, pydantic.Field(discriminator="kind")]]
    also: Cat | Dog


class Loose(pydantic.BaseModel):
    thing: dict[str, int] | Cat
    text: datetime.date | str


def test_in_json_a_discriminator_or_a_constant_tells_classes_apart() -> None:
    home = Home(pets=[Dog(name="a"), Cat(name="b")], also=Dog(name="c"))
    assert through_json(Home, home) == home


def test_in_json_a_value_that_would_come_back_as_another_is_refused() -> None:
    good = Loose(thing={"a": 1}, text="no date")
    assert through_json(Loose, good) == good
    with pytest.raises(SerializationError, match="would be read back as something else"):
        through_json(Loose, Loose(thing={}, text="2020-01-01"))


def test_a_dict_that_could_be_two_classes_is_refused() -> None:
    with pytest.raises(SerializationError, match=r"fits several alternatives .*Created, .*Deleted"):
        through_avro(Envelope, Envelope({"id": "a", "at": 1}))  # type: ignore[arg-type]


def test_a_subclass_is_refused_since_its_fields_would_be_lost() -> None:
    @dataclass
    class Special(Created):
        extra: str = "SECRET"

    holder = dataclasses.make_dataclass("Holder", [("one", Created)])
    cases: list[tuple[Any, Any]] = [(Envelope(Special("a", 1)), Envelope), (holder(Special("a", 1)), holder)]
    for value, kind in cases:
        with pytest.raises(SerializationError, match=r"Special") as caught:
            through_avro(kind, value)
        assert "SECRET" not in str(caught.value)
    with pytest.raises(SerializationError, match="Special"):
        through_json(holder, holder(Special("a", 1)))


def test_factories_are_not_called_for_a_schema() -> None:
    calls = []

    def count() -> str:
        calls.append(1)
        return str(uuid.uuid4())

    @dataclass
    class Event:
        id: str = field(default_factory=count)
        at: float = field(default_factory=time.time)
        tags: list[str] = field(default_factory=list)
        seen: set[int] = field(default_factory=set)

    Mark = attrs.make_class("Mark", {"id": attrs.field(type=str, factory=count)})

    class Model(pydantic.BaseModel):
        id: str = pydantic.Field(default_factory=count)

    for kind in (Event, Mark, Model):
        assert avro_schema(kind) == avro_schema(kind)
        assert "default" not in json.loads(avro_schema(kind))["fields"][0]
    assert calls == []
    assert [part.get("default") for part in json.loads(avro_schema(Event))["fields"]] == [None, None, [], []]


def test_two_classes_of_one_name_are_refused_or_named() -> None:
    one = dataclasses.make_dataclass("Address", [("street", str)])
    two = dataclasses.make_dataclass("Address", [("street", str), ("zip", str)])
    two.__module__ = "shop"
    host = dataclasses.make_dataclass("Host", [("home", one), ("net", two), ("either", one | two)])
    with pytest.raises(TypeError, match=r"'Address' is the name of two classes, .*\.Address and shop\.Address"):
        avro_schema(host)
    two.__avro_name__ = "NetAddress"  # type: ignore[attr-defined]
    value = host(one("s"), two("t", "99999"), two("u", "1"))
    back = through_avro(host, value)
    assert back == value
    assert type(back.either) is two


def test_aliases_and_private_fields() -> None:
    class Person(pydantic.BaseModel):
        user_name: str = pydantic.Field(alias="userName")
        nick: str = pydantic.Field("", validation_alias="n", serialization_alias="n")

    value = Person.model_validate({"userName": "x", "n": "y"})
    assert through_avro(Person, value) == value
    assert through_json(Person, value) == value

    class Torn(pydantic.BaseModel):
        name: str = pydantic.Field(validation_alias="in", serialization_alias="out")

    with pytest.raises(TypeError, match="reads in by a name that it does not write"):
        JSONSerializer.for_type(Torn, FakeRegistry())  # type: ignore[arg-type]
    assert through_avro(Torn, Torn(**{"in": "x"})).name == "x"

    @attrs.frozen
    class Private:
        _x: int
        y: int = attrs.field(init=False, default=5)

    assert through_avro(Private, Private(3)) == Private(3)


class Extra(pydantic.BaseModel, extra="allow"):
    a: int


def test_fields_beyond_the_class_are_refused() -> None:
    with pytest.raises(SerializationError, match=r"fields its class does not: \['b'\]"):
        through_avro(Extra, Extra(a=1, b="SECRET"))  # type: ignore[call-arg]


@dataclass
class Moments:
    at: datetime.datetime
    local: Annotated[datetime.datetime, LOCAL]
    day: datetime.date
    noon: datetime.time


AWARE = datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=2)))
NAIVE = datetime.datetime(2020, 1, 1, 5)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"at": NAIVE}, "a datetime with a time zone is needed"),
        ({"day": NAIVE}, "a date is needed, not a datetime"),
        ({"noon": datetime.time(5, tzinfo=datetime.UTC)}, "a time of day without a time zone"),
    ],
)
def test_points_in_time_keep_what_they_are(change: dict[str, Any], text: str) -> None:
    good = {"at": AWARE, "local": NAIVE, "day": NAIVE.date(), "noon": datetime.time(5, 6, 7, 8)}
    assert through_avro(Moments, Moments(**good)) == Moments(**good)  # type: ignore[arg-type]
    with pytest.raises(SerializationError, match=text) as caught:
        through_avro(Moments, Moments(**{**good, **change}))  # type: ignore[arg-type]
    assert caught.value.path == f"Moments.{next(iter(change))}"


def test_in_json_a_naive_datetime_is_refused() -> None:
    made = dataclasses.make_dataclass("At", [("at", datetime.datetime)])
    assert through_json(made, made(AWARE)) == made(AWARE)
    with pytest.raises(SerializationError, match="date-time") as caught:
        through_json(made, made(NAIVE))
    assert caught.value.path == "at"


def test_sets_tuples_new_types_and_keys_that_may_be_missing() -> None:
    made = dataclasses.make_dataclass(
        "Made",
        [("ids", set[int]), ("pair", tuple[int, int]), ("user", UserId), ("keys", Keys), ("wait", Duration | None)],
    )
    value = made({1, 2}, (1, 2), UserId(5), {"a": 1}, Duration(1, 2, 3))
    assert through_avro(made, value) == value
    assert through_avro(Keys, {"a": 1, "b": "x"}) == {"a": 1, "b": "x"}
    for wrong in (
        made({1}, (1, 2, 3), 5, {"a": 1}, None),
        made([1], (1, 2), 5, {"a": 1}, None),
        made({1}, (1, 2), 5, {"b": "x"}, None),
        made({1}, (1, 2), 5, {"a": 1, "c": 1}, None),
    ):
        with pytest.raises(SerializationError) as caught:
            through_avro(made, wrong)
        assert caught.value.path


class Level(enum.IntEnum):
    LOW = 1


class Odd(enum.Enum):
    A = "in-transit"


class Twice(enum.Enum):
    A = "B"
    B = 2


class Flags(enum.Flag):
    X = 1


class Boxed(Generic[T]):
    pass


class Nullable(TypedDict):
    a: NotRequired[int | None]


class Rows(TypedDict):
    a: int


@pytest.mark.parametrize(
    ("annotation", "text"),
    [
        (Status | str, "can't be told apart in a union: both are string"),
        (Status | Other, "can't be told apart"),
        (uuid.UUID | str, "can't be told apart"),
        (list[int] | list[str], "both are array"),
        (list[int] | set[int], "both are array"),
        (dict[str, int] | Rows, "both are map"),
        (Rows | Keys, "can.t be told apart in a union"),
        (int | datetime.datetime, "both are long"),
        (Literal["a"] | str, "both are string"),
        (Literal[1, 2], "has no Avro type"),
        (tuple[int, str], "its items are of several types"),
        (dict[int, str], "has no Avro type"),
        (datetime.timedelta, "has no Avro type"),
        (Odd, "'in-transit' is no symbol of Avro"),
        (Twice, "can't be told apart by symbols"),
        (Flags, "can't be told apart by symbols"),
        (list, "has no Avro type"),
        (object, "has no Avro type"),
        (Nullable, "can't be None too"),
    ],
)
def test_types_without_an_avro_form_are_refused_when_the_schema_is_made(annotation: Any, text: str) -> None:
    made = dataclasses.make_dataclass("Made", [("x", annotation)])
    with pytest.raises(TypeError, match=text) as caught:
        avro_schema(made)
    assert "Made.x" in str(caught.value) or "Odd" in str(caught.value)


def test_more_classes_that_are_refused() -> None:
    @dataclass
    class Init:
        a: int
        b: dataclasses.InitVar[int]

    Init.__annotations__["b"] = dataclasses.InitVar[int]
    generic = dataclasses.make_dataclass("Box", [("item", T)], bases=(Boxed,))

    @dataclass
    class Unknown:
        x: Nowhere  # type: ignore[name-defined]  # noqa: F821

    named = dataclasses.make_dataclass("Über", [("a", int)])
    cases: list[tuple[Any, str]] = [
        (Init, r"Init\.b is an InitVar without a default"),
        (generic, "~T has no Avro type"),
        (Unknown, "the annotation 'Nowhere' is not known"),
        (named, "is no name in Avro"),
    ]
    for kind, text in cases:
        with pytest.raises(TypeError, match=text):
            avro_schema(kind)


@pytest.mark.parametrize(
    ("annotation", "default", "shown"),
    [
        (int, 5, 5),
        (int, True, None),
        (int, 2**70, None),
        (float, 5, 5),
        (float, float("nan"), None),
        (str | int, 5, 5),
        (int | str | None, "x", "x"),
        (bytes, b"\xff", "\xff"),
        (Status, Status.NEW, "NEW"),
        (Level, Level.LOW, "LOW"),
        (tuple[int, ...], (1, 2), None),
        (tuple[int, ...], (), []),
        (datetime.date, datetime.date(2020, 1, 1), None),
        (list[int] | None, None, None),
    ],
)
def test_defaults_stand_in_the_schema_where_avro_has_a_form_for_them(annotation: Any, default: Any, shown: Any) -> None:
    made = dataclasses.make_dataclass("Made", [("x", annotation, dataclasses.field(default=default))])
    part = json.loads(avro_schema(made))["fields"][0]
    assert part.get("default") == shown
    assert type(part.get("default")) is type(shown)
    value = made(default if shown is not None or annotation is not int else 0)
    assert default != default or through_avro(made, value) is not None


@dataclass
class Node:
    name: str
    kids: list[Node] = field(default_factory=list)


def test_classes_that_hold_themselves() -> None:
    value = Node("a", [Node("b", [Node("c")])])
    assert through_avro(Node, value) == value
    assert through_json(Node, value) == value


def test_errors_while_reading_hold_no_values() -> None:
    registry: Any = FakeRegistry()
    schema = '{"type":"record","name":"M","fields":[{"name":"a","type":"string"}]}'
    model: Any = pydantic.create_model("M", a=(Annotated[str, pydantic.Field(max_length=2)], ...))
    frame = AvroSerializer(registry, schema)({"a": "SECRET"}, VALUE)
    with pytest.raises(SerializationError, match="no M can be made of the value: ValidationError") as caught:
        AvroDeserializer.for_type(model, registry)(frame, VALUE)
    assert "SECRET" not in str(caught.value)
    read = JSONDeserializer.for_type(model, registry, {"validate": False})
    registry.register_schema("x", Schema("{}", "JSON"))
    with pytest.raises(SerializationError, match="the value is no M: string_too_long") as caught:
        read(b'\x00\x00\x00\x00\x02{"a":"SECRET"}', VALUE)
    assert (caught.value.path, "SECRET" in str(caught.value)) == ("a", False)


def test_an_alias_belongs_to_one_field() -> None:
    @dataclass
    class OneAlias:
        first: Annotated[int, Aliases("old")] = 1
        second: Annotated[int, Aliases("old")] = 2

    @dataclass
    class OtherName:
        first: Annotated[int, Aliases("second")] = 1
        second: int = 2

    @dataclass
    class NoName:
        first: Annotated[int, Aliases("full name")] = 1

    with pytest.raises(TypeError, match=r"OneAlias: 'old' is an alias of 'second' and belongs to 'first', too"):
        avro_schema(OneAlias)
    with pytest.raises(TypeError, match=r"'second' is an alias of 'first' and belongs to 'second', too"):
        avro_schema(OtherName)
    with pytest.raises(TypeError, match=r"'second' is an alias of 'first'"):
        avro_schema(dataclasses.make_dataclass("Inside", [("other", list[OtherName])]))
    with pytest.raises(TypeError, match=r"NoName\.first: the alias 'full name' is no name in Avro"):
        avro_schema(NoName)


def test_a_field_may_have_its_own_name_as_an_alias() -> None:
    @dataclass
    class Fine:
        first: Annotated[int, Aliases("first", "old", "old")] = 1
        second: int = 2

    assert json.loads(avro_schema(Fine))["fields"][0]["aliases"] == ["first", "old", "old"]

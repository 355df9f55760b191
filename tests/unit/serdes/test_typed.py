from __future__ import annotations

import asyncio
import datetime
import enum
import json
import uuid
from dataclasses import dataclass, field, make_dataclass
from decimal import Decimal
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import attrs
import pydantic
import pytest

from registry import Rule, RuleKind, RuleMode, RuleSet, Schema
from serdes import Duration, MessageField, SerializationContext, SerializationError
from serdes.avro import AsyncAvroDeserializer, AsyncAvroSerializer, AvroDeserializer, AvroSerializer
from serdes.json_schema import JSONDeserializer, JSONSerializer
from serdes.rules import RuleContext, RuleExecutor, RuleRegistry
from serdes.typed import Aliases, AvroType, Doc, Precision, avro_schema
from tests.unit.serdes.fake import AsyncFakeRegistry, FakeRegistry

VALUE = SerializationContext("orders", MessageField.VALUE)


class Status(enum.Enum):
    NEW = "NEW"
    PAID = 2


@dataclass
class Card:
    number: str


@dataclass
class Cash:
    amount: int


@dataclass
class Order:
    id: uuid.UUID
    at: datetime.datetime
    day: datetime.date
    total: Annotated[Decimal, Precision(12, 2)]
    small: Annotated[int, AvroType("int")]
    status: Status
    kind: Literal["a", "b"]
    wait: Duration
    payment: Card | Cash | None
    lines: list[Card] = field(default_factory=list)
    counts: dict[str, float] = field(default_factory=dict)
    pair: tuple[int, ...] = ()
    note: str | None = None
    parent: Order | None = None
    done: bool = False


@attrs.define
class Point:
    x: int
    y: int = 5
    tags: list[str] = attrs.field(factory=list)


class Model(pydantic.BaseModel):
    name: str
    total: Annotated[Decimal, Precision(5, 2)]
    card: Card | None = None


class Row(TypedDict):
    a: int
    b: NotRequired[str]


ORDER = Order(
    uuid.UUID(int=5),
    datetime.datetime(2026, 1, 1, microsecond=5, tzinfo=datetime.UTC),
    datetime.date(2026, 1, 2),
    Decimal("12.50"),
    5,
    Status.PAID,
    "a",
    Duration(1, 2, 3),
    Cash(7),
    [Card("1"), Card("2")],
    {"x": 0.5},
    (1, 2),
    "note",
)


@pytest.mark.parametrize(
    "value",
    [
        ORDER,
        Point(1),
        Point(1, 2, ["a"]),
        Model(name="x", total=Decimal("1.50"), card=Card("5")),
        {"a": 1, "b": "x"},
    ],
    ids=lambda value: type(value).__name__,
)
def test_avro_out_and_back(value: Any) -> None:
    registry: Any = FakeRegistry()
    kind: Any = Row if isinstance(value, dict) else type(value)
    frame = AvroSerializer.for_type(kind, registry)(value, VALUE)
    assert AvroDeserializer.for_type(kind, registry)(frame, VALUE) == value


def test_recursion_and_unions() -> None:
    registry: Any = FakeRegistry()
    order = Order(**{**vars(ORDER), "parent": ORDER, "payment": None})
    frame = AvroSerializer.for_type(Order, registry)(order, VALUE)
    assert AvroDeserializer.for_type(Order, registry)(frame, VALUE) == order


class Paid(TypedDict):
    paid: int
    note: NotRequired[str]


class Owed(TypedDict):
    owed: int
    note: NotRequired[str]


class Round(TypedDict):
    kind: Literal["round"]
    size: int


class Square(TypedDict):
    kind: Annotated[Literal["square", "rhomb"], Doc("Of four sides.")]
    size: int


class Bare(TypedDict):
    size: int
    kind: str


class Loose(TypedDict):
    paid: NotRequired[int]
    note: str


@dataclass
class Dicts:
    state: Paid | Owed
    shapes: list[Round | Square]
    named: dict[str, Round | Square | None]
    maybe: Paid | int | Owed | None = None


def test_typed_dicts_of_a_union_are_told_apart() -> None:
    registry: Any = FakeRegistry()
    write, read = AvroSerializer(registry, model=Dicts), AvroDeserializer(registry, model=Dicts)
    square: Square = {"kind": "rhomb", "size": 2}
    for value in (
        Dicts({"owed": 1}, [{"kind": "round", "size": 1}, square], {"a": None, "b": square}, {"owed": 2, "note": "x"}),
        Dicts({"paid": 1, "note": "y"}, [], {}, 5),
    ):
        assert read(write(value, VALUE), VALUE) == value
        assert read(write(vars(value), VALUE), VALUE) == value  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("state", "shape", "message"),
    [
        ({"paid": 1, "owed": 1}, {"kind": "round", "size": 1}, r"at Dicts\.state: a .*dict is none of .*Paid, .*Owed"),
        ({"note": "x"}, {"kind": "round", "size": 1}, r"at Dicts\.state: a .*dict is none of"),
        ({"paid": 1}, {"kind": "oval", "size": 1}, r"at Dicts\.shapes\[0\]: a .*dict is none of .*Round, .*Square"),
        ({"paid": 1}, {"kind": ["round"], "size": 1}, r"at Dicts\.shapes\[0\]: a .*dict is none of"),
    ],
)
def test_a_dict_that_is_none_of_a_union(state: Any, shape: Any, message: str) -> None:
    registry: Any = FakeRegistry()
    with pytest.raises(SerializationError, match=message):
        AvroSerializer(registry, model=Dicts)(Dicts(state, [shape], {}), VALUE)


def test_literals_do_not_choose_in_a_schema_that_was_given() -> None:
    registry: Any = FakeRegistry()
    write = AvroSerializer(registry, avro_schema(Dicts), model=Dicts)
    assert write(Dicts({"owed": 1}, [], {}), VALUE)[5:7] == b"\x02\x02"
    with pytest.raises(SerializationError, match="fits several alternatives of its annotation"):
        write(Dicts({"owed": 1}, [{"kind": "round", "size": 1}], {}), VALUE)


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (Paid | Loose, "neither has a required key that the other lacks, or a required Literal with other values"),
        (Round | Bare, "neither has a required key"),
        (Paid | dict[str, int], "both are map in Avro"),
        (dict[str, int] | Paid, "both are map in Avro"),
    ],
)
def test_typed_dicts_that_are_not_told_apart(kind: Any, reason: str) -> None:
    holder = make_dataclass("Holder", [("either", kind)])
    with pytest.raises(TypeError, match=rf"Holder\.either: .* can't be told apart in a union: {reason}"):
        avro_schema(holder)


def test_the_schema_of_a_class() -> None:
    assert json.loads(avro_schema(Point, "shop")) == {
        "type": "record",
        "name": "Point",
        "namespace": "shop",
        "fields": [
            {"name": "x", "type": "long"},
            {"name": "y", "type": "long", "default": 5},
            {"name": "tags", "type": {"type": "array", "items": "string"}, "default": []},
        ],
    }
    assert json.loads(avro_schema(Row))["fields"][1] == {"name": "b", "type": ["null", "string"], "default": None}
    fields = {item["name"]: item for item in json.loads(avro_schema(Order))["fields"]}
    assert fields["total"]["type"] == {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 2}
    assert fields["small"]["type"] == "int"
    assert fields["status"]["type"] == {"type": "enum", "name": "Status", "symbols": ["NEW", "PAID"]}
    assert fields["note"] == {"name": "note", "type": ["null", "string"], "default": None}
    assert fields["parent"]["type"] == ["null", "Order"]
    assert fields["lines"]["type"]["items"] == "Card"


def test_docs_and_aliases_of_a_class() -> None:
    @dataclass
    class Customer:
        __avro_doc__ = "Who buys."
        __avro_aliases__ = ("Client",)
        name: Annotated[str, Doc("As on the invoice."), Aliases("full_name", "n")] = "x"

    made = json.loads(avro_schema(Customer))
    assert (made["doc"], made["aliases"]) == ("Who buys.", ["Client"])
    field = {
        "name": "name",
        "type": "string",
        "default": "x",
        "doc": "As on the invoice.",
        "aliases": ["full_name", "n"],
    }
    assert made["fields"] == [field]


def test_an_alias_reads_older_values() -> None:
    @dataclass
    class Customer:
        name: Annotated[str, Aliases("full_name")]

    registry: Any = FakeRegistry()
    old = '{"type":"record","name":"Customer","fields":[{"name":"full_name","type":"string"}]}'
    frame = AvroSerializer(registry, old)({"full_name": "Ada"}, VALUE)
    assert AvroDeserializer(registry, model=Customer)(frame, VALUE) == Customer("Ada")


def test_types_without_a_schema() -> None:
    @dataclass
    class Odd:
        thing: object

    with pytest.raises(TypeError, match=r"Odd\.thing: .* has no Avro type"):
        avro_schema(Odd)
    with pytest.raises(TypeError, match="no dataclass, attrs class"):
        avro_schema(int)


def test_a_given_schema_must_hold_the_class() -> None:
    registry: Any = FakeRegistry()
    wide = '{"type":"record","name":"Cash","fields":[{"name":"amount","type":["null","long"]}]}'
    frame = AvroSerializer.for_type(Cash, registry, wide)(Cash(5), VALUE)
    assert frame == b"\x00\x00\x00\x00\x01\x02\x0a"
    narrow = '{"type":"record","name":"Cash","fields":[{"name":"amount","type":"int"}]}'
    with pytest.raises(SerializationError, match="the schema can't hold a Cash"):
        AvroSerializer.for_type(Cash, registry, narrow)
    with pytest.raises(SerializationError, match="can't be compared with Cash"):
        AvroSerializer.for_type(Cash, registry, "{")


def test_older_values_get_defaults_and_bad_ones_an_error() -> None:
    registry: Any = FakeRegistry()
    frame = AvroSerializer(registry, '{"type":"record","name":"Point","fields":[{"name":"x","type":"int"}]}')(
        {"x": 1}, VALUE
    )
    assert AvroDeserializer.for_type(Point, registry)(frame, VALUE) == Point(1)
    other = (
        '{"type":"record","name":"Point","fields":[{"name":"x","type":"int"},{"name":"z","type":"int","default":1}]}'
    )
    with pytest.raises(SerializationError, match="topic orders, value, schema id 1: no Point can be made of the value"):
        AvroDeserializer.for_type(Point, registry, other)(frame, VALUE)


@pytest.mark.parametrize("value", [Model(name="x", total=Decimal("1.50"), card=Card("5")), Card("1")])
def test_json_out_and_back(value: Any) -> None:
    registry: Any = FakeRegistry()
    kind: Any = type(value)
    frame = JSONSerializer.for_type(kind, registry)(value, VALUE)
    assert JSONDeserializer.for_type(kind, registry)(frame, VALUE) == value
    unchecked = JSONDeserializer.for_type(kind, registry, {"validate": False})
    with pytest.raises(SerializationError, match="the value is no"):
        unchecked(b'\x00\x00\x00\x00\x01{"a": "x"}', VALUE)


def test_a_model_says_all() -> None:
    registry: Any = FakeRegistry()
    frame = AvroSerializer(registry, model=Point)(Point(1), VALUE)
    assert AvroDeserializer(registry, model=Point)(frame, VALUE) == Point(1)
    frame = JSONSerializer(None, registry, model=Card)(Card("1"), VALUE)
    assert JSONDeserializer(schema_registry_client=registry, model=Card)(frame, VALUE) == Card("1")


def test_a_model_and_a_function_contradict_each_other() -> None:
    registry: Any = FakeRegistry()

    def same(value: Any, ctx: Any) -> Any:
        return value

    for make in (
        lambda: AvroSerializer(registry, to_dict=same, model=Point),
        lambda: AvroDeserializer(registry, from_dict=same, model=Point),
        lambda: AvroDeserializer(registry, return_record_name=True, model=Point),
        lambda: JSONSerializer(None, registry, same, model=Card),
        lambda: JSONDeserializer(None, same, registry, model=Card),
    ):
        with pytest.raises(ValueError, match="model"):
            make()


class Noting(RuleExecutor):
    """Keeps what it is given."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def type(self) -> str:
        return "NOTE"

    def transform(self, ctx: RuleContext, message: Any) -> Any:
        self.seen.append(message)
        return message


def test_rules_see_plain_values_of_models() -> None:
    registry: Any = FakeRegistry()
    noting, rules = Noting(), RuleRegistry()
    rules.register_executor(noting)
    rule = Rule("note", None, RuleKind.TRANSFORM, RuleMode.WRITEREAD, "NOTE")
    ruled = Schema(avro_schema(Order), "AVRO", rule_set=RuleSet(None, [rule]))
    registry.register_schema("orders-value", ruled)
    conf = {"use.latest.version": True, "auto.register.schemas": False}
    frame = AvroSerializer(registry, conf=conf, rule_registry=rules, model=Order)(ORDER, VALUE)
    assert AvroDeserializer(registry, ruled, rule_registry=rules, model=Order)(frame, VALUE) == ORDER
    assert AvroSerializer(registry, model=Order)(ORDER, VALUE)[5:] == frame[5:]
    assert [type(item) for item in noting.seen] == [dict, dict]
    assert noting.seen[0]["status"] == "PAID"


def test_json_needs_a_type_that_pydantic_knows() -> None:
    registry: Any = FakeRegistry()
    with pytest.raises(TypeError, match="there is no JSON Schema for"):
        JSONSerializer.for_type(Point, registry)


def test_asyncio() -> None:
    async def scene() -> None:
        registry: Any = AsyncFakeRegistry(FakeRegistry())
        frame = await AsyncAvroSerializer.for_type(Point, registry)(Point(1), VALUE)
        assert await AsyncAvroDeserializer.for_type(Point, registry)(frame, VALUE) == Point(1)

    asyncio.run(scene())

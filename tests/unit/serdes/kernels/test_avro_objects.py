"""Both implementations of the nodes for objects: the same bytes, objects and refusals for classes of every kind."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import gc
import json
import random
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, NotRequired, TypedDict

import attrs
import msgspec
import pydantic
import pytest

from serdes.formats.avro.logical import Duration
from serdes.kernels.shape import Way
from serdes.models.members import members
from serdes.models.shapes import shape_of
from serdes.typed import Precision, avro_schema
from tests.memory import kept
from tests.unit.serdes.kernels.nodes import Built, nodes_of, outcome


class Color(enum.Enum):
    RED = "RED"
    BLUE = 2


@dataclass
class Card:
    number: str


@dataclass(frozen=True, slots=True)
class Cash:
    amount: int


@attrs.define
class Point:
    x: int
    y: int = 5
    tags: list[str] = attrs.field(factory=list)


@attrs.frozen(slots=False)
class Private:
    _a: int


class Item(msgspec.Struct):
    sku: str
    count: int = 1


class OnlyByName(msgspec.Struct, kw_only=True, frozen=True):
    sku: str
    at: datetime.date | None = None


class Pair(NamedTuple):
    left: int
    right: str = "r"


class Row(TypedDict):
    a: int
    b: NotRequired[str]


class Whole(TypedDict):
    a: int
    b: str


class Model(pydantic.BaseModel):
    name: str
    card: Card | None = None


@dataclass
class Counted:
    made: ClassVar[int] = 0
    a: int = 0

    def __post_init__(self) -> None:
        Counted.made += 1
        if self.a > 100:
            raise ValueError(f"secret {self.a}")


@dataclass(kw_only=True)
class ByName:
    a: int
    b: str = "b"


@dataclass
class Checked:
    a: int

    def __setattr__(self, name: str, value: Any) -> None:
        if value < 0:
            raise ValueError(name)
        super().__setattr__(name, value)


class Handmade:
    pass


@dataclass
class Order:
    id: uuid.UUID
    at: datetime.datetime
    day: datetime.date
    time: datetime.time
    total: Annotated[Decimal, Precision(12, 2)]
    color: Color
    kind: Literal["a", "b"]
    wait: Duration
    payment: Card | Cash | None
    either: int | str | None
    point: Point
    items: list[Item]
    by_name: dict[str, OnlyByName]
    pair: Pair
    pairs: tuple[Pair, ...]
    two: tuple[int, int]
    some: frozenset[str]
    row: Row
    whole: Whole
    model: Model
    counted: Counted
    named: ByName
    checked: Checked
    private: Private
    parent: Order | None = None


def order(**changed: Any) -> Order:
    given: dict[str, Any] = {
        "id": uuid.UUID(int=5),
        "at": datetime.datetime(2026, 1, 1, microsecond=5, tzinfo=datetime.UTC),
        "day": datetime.date(2026, 1, 2),
        "time": datetime.time(1, 2, 3),
        "total": Decimal("12.50"),
        "color": Color.BLUE,
        "kind": "a",
        "wait": Duration(1, 2, 3),
        "payment": Cash(7),
        "either": 5,
        "point": Point(1, 2, ["t"]),
        "items": [Item("s"), Item("t", 2)],
        "by_name": {"k": OnlyByName(sku="s"), "l": OnlyByName(sku="é", at=datetime.date(1, 1, 1))},
        "pair": Pair(1),
        "pairs": (Pair(1), Pair(2, "x")),
        "two": (3, 4),
        "some": frozenset({"q"}),
        "row": {"a": 1},
        "whole": {"a": 1, "b": "x"},
        "model": Model(name="m", card=Card("1")),
        "counted": Counted(a=5),
        "named": ByName(a=1),
        "checked": Checked(1),
        "private": Private(3),
    }
    return Order(**given | changed)


@pytest.fixture(scope="module")
def both() -> tuple[Built, Built]:
    """Encoders and decoders of `Order`: pure, native."""
    schema = SCHEMA
    with pytest.MonkeyPatch.context() as patch:
        pure = Built(nodes_of("pure"), schema, patch, kind=Order)
    with pytest.MonkeyPatch.context() as patch:
        return pure, Built(nodes_of("native"), schema, patch, kind=Order)


def derived(kind: Any) -> Any:
    return json.loads(avro_schema(kind))


SCHEMA = derived(Order)


def test_objects_come_back_alike(both: tuple[Built, Built]) -> None:
    for value in (order(), order(parent=order(payment=Card("9")), either="x", row={"a": 2, "b": "x"}, payment=None)):
        data = both[0].encode(value)
        assert both[1].encode(value) == data
        for made in both:
            found = made.decode(data)
            assert found == value
            assert type(found.items[0]) is Item
            assert type(found.pairs[0]) is Pair
            assert type(found.parent) in (Order, type(None))


WRONG: list[Any] = [
    None, 5, 1.5, True, "x", b"x", [], {}, [1], {"a": 1, "z": 1}, {"b": "x"}, Card("1"), Cash(1), Pair(1), Handmade(),
    Color.RED, datetime.datetime(2026, 1, 1), datetime.date(1, 1, 1), datetime.time(1, tzinfo=datetime.UTC), (1, 2, 3),
    frozenset({1}), Item("x", "y"), OnlyByName(sku=5), Point("x"), [Item(5)], {5: 5}, [None], {"k": Item("s")},
    tuple.__new__(Pair, (1,)), Card(5),
]  # type: ignore[arg-type]  # fmt: skip


def test_values_that_do_not_fit_are_refused_alike(both: tuple[Built, Built]) -> None:
    refused = 0
    for name in [item.name for item in dataclasses.fields(Order)]:
        for wrong in WRONG:
            value = order(parent=order(**{name: wrong}))
            found = ended(both[0].encode, value)
            assert found == ended(both[1].encode, value), (name, wrong)
            refused += not isinstance(found, str) or found.endswith("Error")
    assert refused > 500


def ended(function: Any, argument: Any) -> Any:
    try:
        return outcome(function, argument)
    except Exception as error:  # of an object that its own class did not make
        return type(error).__name__


def test_a_missing_attribute_is_an_error(both: tuple[Built, Built]) -> None:
    for name in ("id", "parent"):
        value = order()
        delattr(value, name)
        for made in both:
            if name == "parent":
                assert made.encode(value) == made.encode(order())  # the class has a default
            else:
                with pytest.raises(AttributeError):
                    made.encode(value)
    empty = object.__new__(Cash)
    for made in both:
        with pytest.raises(AttributeError):
            made.encode(order(payment=empty))


def test_damaged_bytes_end_alike(both: tuple[Built, Built]) -> None:
    rng = random.Random(6)
    good = both[0].encode(order(parent=order()))
    ends = set()
    for _ in range(3000):
        data = bytearray(good)
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(1, len(data))
            if rng.random() < 0.3:
                del data[at:]
                break
            data[at] = rng.choice([0, 1, 2, 127, 128, 255, data[at] ^ 1])
        found = outcome(both[0].decode, bytes(data))
        assert found == outcome(both[1].decode, bytes(data))
        ends.add(found[1] if isinstance(found, tuple) else "a value")
    assert len(ends) > 6
    assert "no Checked can be made of the value: ValueError" in ends
    assert "a value" in ends


def test_a_class_that_refuses_is_named_without_the_value(both: tuple[Built, Built]) -> None:
    good = order()
    good.counted.a = 101
    for made in both:
        kind, reason, path = outcome(made.decode, made.encode(good))
        assert (kind.__name__, reason) == ("Unmade", "no Counted can be made of the value: ValueError")
        assert path == "R.counted"


def test_constructors_with_something_to_do_are_called(both: tuple[Built, Built]) -> None:
    data = both[0].encode(order())
    for made in both:
        before = Counted.made
        made.decode(data)
        assert Counted.made == before + 1


@pytest.mark.parametrize(
    ("kind", "way"),
    [
        (Card, Way.FILL),
        (Cash, Way.FILL),
        (Point, Way.FILL),
        (Private, Way.FILL),
        (ByName, Way.FILL),
        (Counted, Way.INIT),
        (Checked, Way.INIT),
        (Item, Way.CALL),
        (OnlyByName, Way.CALL),
        (Pair, Way.TUPLE),
        (Row, Way.MAKE),
        (Whole, Way.FIELDS),
        (Model, Way.MAKE),
    ],
)
def test_the_shorter_way_of_a_class(kind: Any, way: Way) -> None:
    found = members(kind)
    assert found is not None
    assert shape_of(kind, found).way is way


def test_classes_with_their_own_access_keep_the_long_way() -> None:
    @dataclass
    class Own:
        a: int

        def __init__(self, a: int) -> None:
            self.a = abs(a)

    @dataclass
    class Property:
        a: int

    @dataclass
    class New:
        a: int

        def __new__(cls, *args: Any, **kwargs: Any) -> Any:
            return super().__new__(cls)

    @attrs.define
    class Validated:
        a: int = attrs.field(validator=attrs.validators.gt(0))

    @attrs.define
    class Converted:
        a: int = attrs.field(converter=int)

    class Sub(Pair):
        def __new__(cls, left: int, right: str = "") -> Any:
            return super().__new__(cls, -left, right)

    Property.a = property(lambda self: 5, lambda self, value: None)  # type: ignore[assignment]
    ways = {Own: Way.INIT, Property: Way.INIT, New: Way.CALL, Validated: Way.INIT, Converted: Way.INIT, Sub: Way.CALL}
    for kind, way in ways.items():
        found = members(kind)
        assert found is not None
        assert shape_of(kind, found).way is way, kind


def test_older_values_get_defaults_of_their_own(both: tuple[Built, Built]) -> None:
    old = {
        "type": "record",
        "name": "Point",
        "fields": [{"name": "gone", "type": "string"}, {"name": "x", "type": "int"}],
    }
    for implementation in ("pure", "native"):
        with pytest.MonkeyPatch.context() as patch:
            made = Built(nodes_of(implementation), old, patch, derived(Point), Point)
        plain = b"!\x02z\x0a"
        one, other = made.decode(plain), made.decode(plain)
        assert one == other == Point(5)
        assert one.tags is not other.tags


def test_nothing_leaks(both: tuple[Built, Built]) -> None:
    native, value = both[1], order(parent=order())
    data = native.encode(value)
    wrong = order(items=[Item("x"), Item(5)])  # type: ignore[arg-type]
    refused = order()
    refused.counted.a = 101
    bad = native.encode(refused)

    def once() -> None:
        assert native.decode(native.encode(value)) == value
        for failing in (lambda: native.encode(wrong), lambda: native.decode(bad), lambda: native.decode(data[:-9])):
            outcome(lambda _, failing=failing: failing(), None)  # type: ignore[misc]

    assert kept(once, 150).objects < 64


@dataclass
class Wide:
    first: int
    second: str
    third: float | None


@dataclass(frozen=True)
class Frozen:
    first: int
    second: str
    third: float | None


@pytest.mark.parametrize("kind", [Wide, Frozen])
@pytest.mark.parametrize("implementation", ["pure", "native"])
def test_objects_without_slots_hold_their_values_as_those_of_the_constructor_do(implementation: str, kind: Any) -> None:
    """In themselves, with the keys in their class: a dict of their own is made when somebody asks for it."""
    with pytest.MonkeyPatch.context() as patch:
        made = Built(nodes_of(implementation), derived(kind), patch, kind=kind)
    value = kind(1_000_000, "text", None)
    back = made.decode(made.encode(value))
    assert [type(held) for held in gc.get_referents(back)] == [type(held) for held in gc.get_referents(value)]
    assert back == value


def test_a_class_that_can_not_be_made_that_way_is_refused() -> None:
    native = nodes_of("native")
    found = members(Card)
    assert found is not None
    shape = shape_of(Card, found)
    for kind, way in ((5, Way.FILL), (int, Way.FILL), (str, Way.INIT), (Card, Way.TUPLE), ("x", Way.TUPLE)):
        with pytest.raises(TypeError, match="can't be made"):
            native.ReadObject(dataclasses.replace(shape, kind=kind, way=way))


def test_values_that_are_no_node_are_refused() -> None:
    native = nodes_of("native")
    found = members(Card)
    assert found is not None
    shape = shape_of(Card, found)
    read: Callable[..., Any] = native.ReadObject(shape).fill
    for call in (
        lambda: read([("number", True, 5)], {}, []),
        lambda: native.WriteObject("R", False, False, shape).fill([("number", 5, None, False)]),
        lambda: native.WriteObject("R", False, False, shape).beside(5),
        lambda: native.WriteByClass(native.WriteNull()).fill({int: (0, 5)}),
        lambda: native.WriteMember({}, None),
    ):
        with pytest.raises(TypeError):
            call()

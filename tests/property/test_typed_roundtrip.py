"""Classes as users write them, generated: what is written as Avro or JSON comes back equal, and of the same classes."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import itertools
import uuid
from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import partial
from typing import Annotated, Any, Literal, NamedTuple, Optional, Union

import attrs
import pydantic
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from serdes import MessageField, SerializationContext, SerializationError
from serdes.avro import AvroDeserializer, AvroSerializer
from serdes.json_schema import JSONDeserializer, JSONSerializer
from serdes.typed import Precision, avro_schema
from tests.unit.serdes.fake import FakeRegistry

VALUE = SerializationContext("t", MessageField.VALUE)


class Color(enum.Enum):
    RED = "RED"
    BLUE = 2


class LeafType(NamedTuple):
    """A type and its values."""

    annotation: Any
    values: st.SearchStrategy[Any]
    default: Any = dataclasses.MISSING


LEAVES = [
    LeafType(int, st.integers(-(2**63), 2**63 - 1), 5),
    LeafType(float, st.floats(allow_nan=False, allow_infinity=False), 0.5),
    LeafType(str, st.text(), "x"),
    LeafType(bool, st.booleans(), True),
    LeafType(uuid.UUID, st.uuids()),
    LeafType(datetime.date, st.dates()),
    LeafType(datetime.datetime, st.datetimes(timezones=st.just(datetime.UTC))),
    LeafType(Annotated[Decimal, Precision(8, 2)], st.decimals(-9999, 9999, places=2, allow_nan=False)),
    LeafType(Color, st.sampled_from(Color), Color.RED),
    LeafType(Literal["a", "b"], st.sampled_from(["a", "b"]), "a"),
    LeafType(Union[int, str], st.integers(-5, 5) | st.text(), "x"),  # noqa: UP007
]
AVRO_ONLY = [LeafType(bytes, st.binary(), b"\xff"), LeafType(datetime.time, st.times())]


def _wider(kinds: list[LeafType]) -> st.SearchStrategy[LeafType]:
    base = st.sampled_from(kinds)

    def around(kind: LeafType) -> list[LeafType]:
        nullable = getattr(kind.annotation, "__origin__", None) is not Union
        made = [
            LeafType(list[kind.annotation], st.lists(kind.values, max_size=3)),  # type: ignore[name-defined]
            LeafType(dict[str, kind.annotation], st.dictionaries(st.text(), kind.values, max_size=3)),  # type: ignore[name-defined]
            LeafType(tuple[kind.annotation, ...], st.lists(kind.values, max_size=3).map(tuple)),  # type: ignore[name-defined]
            LeafType(tuple[kind.annotation, kind.annotation], st.tuples(kind.values, kind.values)),  # type: ignore[name-defined]
        ]
        if nullable:
            made.append(LeafType(Optional[kind.annotation], st.none() | kind.values, None))  # noqa: UP045
        if kind.annotation in (int, str, uuid.UUID, Color):
            made.append(LeafType(frozenset[kind.annotation], st.frozensets(kind.values, max_size=3)))  # type: ignore[name-defined]
        return made

    return base | base.flatmap(lambda kind: st.sampled_from(around(kind)))


STYLES = ("dataclass", "frozen", "kw_only", "attrs", "pydantic", "alias", "namedtuple")


def _class(style: str, name: str, fields: list[tuple[str, LeafType, bool]]) -> Any:
    """A class of a style with these fields; True for those that have a default."""
    if style == "pydantic":
        given = {key: (kind.annotation, kind.default if has else ...) for key, kind, has in fields}
        return pydantic.create_model(name, **given)  # type: ignore[call-overload]
    if style == "alias":
        given = {
            key: (kind.annotation, pydantic.Field(kind.default if has else ..., alias=f"{key}Alias"))
            for key, kind, has in fields
        }
        config = pydantic.ConfigDict(populate_by_name=True)
        return pydantic.create_model(name, __config__=config, **given)  # type: ignore[call-overload]
    if style == "attrs":
        made = {
            f"_{key}" if at == 0 else key: attrs.field(default=kind.default if has else attrs.NOTHING, kw_only=True)
            for at, (key, kind, has) in enumerate(fields)
        }
        body = {
            "__annotations__": {key: kind.annotation for key, (_, kind, _) in zip(made, fields, strict=True)},
            **made,
        }
        return attrs.define(type(name, (), body))
    if style == "namedtuple":
        return NamedTuple(name, [(key, kind.annotation) for key, kind, _ in fields])  # type: ignore[misc]
    made_fields = [
        (key, kind.annotation, dataclasses.field(default=kind.default) if has else dataclasses.field())
        for key, kind, has in fields
    ]
    return dataclasses.make_dataclass(name, made_fields, frozen=style == "frozen", kw_only=True)


def _call(made: Any, given: dict[str, Any]) -> Any:
    return made(**given)


def _classes(leaves: list[LeafType], styles: tuple[str, ...]) -> st.SearchStrategy[LeafType]:
    numbers = itertools.count()

    @st.composite
    def one(draw: st.DrawFn, inner: list[LeafType], twins: bool = False) -> list[LeafType]:
        """A class, and one with the same fields."""
        number = next(numbers)
        kinds = draw(st.lists(_wider(leaves + inner), min_size=1, max_size=4))
        fields = [
            (f"f{number}_{at}", kind, kind.default is not dataclasses.MISSING and draw(st.booleans()))
            for at, kind in enumerate(kinds)
        ]
        values = st.fixed_dictionaries({key: kind.values for key, kind, _ in fields})
        found = []
        for name in (f"C{number}", f"D{number}")[: 1 + twins]:
            made = _class(draw(st.sampled_from(styles)), name, fields)
            found.append(LeafType(made, values.map(partial(_call, made))))
        return found

    @st.composite
    def nested(draw: st.DrawFn) -> LeafType:
        first, twin = draw(one([], True))
        second = draw(st.one_of(one([]).map(lambda found: found[0]), st.just(twin)))
        either = LeafType(Union[first.annotation, second.annotation], first.values | second.values)  # noqa: UP007
        return draw(one([first, either, either]))[0]

    return nested()


def _parts(value: Any) -> Iterator[Any]:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield from (getattr(value, item.name) for item in dataclasses.fields(value))
    elif hasattr(value, "__attrs_attrs__"):
        yield from (getattr(value, item.name) for item in value.__attrs_attrs__)
    elif isinstance(value, pydantic.BaseModel):
        yield from (getattr(value, name) for name in type(value).model_fields)
    elif isinstance(value, Mapping):
        for key in sorted(value):
            yield key
            yield value[key]
    elif isinstance(value, (list, tuple)):
        yield from value


def same(one: Any, other: Any) -> bool:
    if type(one) is not type(other) or one != other:
        return False
    return all(same(mine, theirs) for mine, theirs in zip(_parts(one), _parts(other), strict=True))


FEWER = settings(max_examples=max(25, settings.default.max_examples // 4))  # classes are slow to make
PLAIN = ("dataclass", "frozen", "kw_only", "namedtuple")
MODELS = ("dataclass", "frozen", "kw_only", "pydantic", "alias")  # pydantic's models can't hold attrs classes


@FEWER
@given(
    data=st.data(),
    kind=_classes(LEAVES + AVRO_ONLY, (*PLAIN, "attrs")) | _classes(LEAVES + AVRO_ONLY, MODELS),
)
def test_avro(data: st.DataObject, kind: LeafType) -> None:
    registry: Any = FakeRegistry()
    assert avro_schema(kind.annotation) == avro_schema(kind.annotation)
    value = data.draw(kind.values)
    frame = AvroSerializer.for_type(kind.annotation, registry)(value, VALUE)
    assert same(AvroDeserializer.for_type(kind.annotation, registry)(frame, VALUE), value)


@FEWER
@given(data=st.data(), kind=_classes(LEAVES, MODELS))
def test_json(data: st.DataObject, kind: LeafType) -> None:
    registry: Any = FakeRegistry()
    value = data.draw(kind.values)
    try:
        write = JSONSerializer.for_type(kind.annotation, registry)
    except TypeError as error:
        if "can't be told apart" not in str(error):
            raise
        event("refused: alternatives that can't be told apart")
        return
    try:
        frame = write(value, VALUE)
    except SerializationError as error:
        if "would be read back as something else" not in str(error):
            raise
        event("refused: would be read back as something else")
        return
    assert same(JSONDeserializer.for_type(kind.annotation, registry)(frame, VALUE), value)


def test_most_generated_classes_can_be_written_as_json() -> None:
    """The test above would be worth little if it refused much; this class has everything but a doubtful union."""
    given = [(f"f{at}", kind, False) for at, kind in enumerate(LEAVES)]
    made = _class("pydantic", "Whole", given)
    registry: Any = FakeRegistry()
    examples: list[Any] = [
        5, 0.5, "x", True, uuid.UUID(int=1), datetime.date(1, 1, 1),
        datetime.datetime(2020, 1, 1, 5, microsecond=7, tzinfo=datetime.UTC), Decimal("1.50"), Color.BLUE, "b", "y",
    ]  # fmt: skip
    value = made(**{key: item for (key, _, _), item in zip(given, examples, strict=True)})
    frame = JSONSerializer.for_type(made, registry)(value, VALUE)
    assert same(JSONDeserializer.for_type(made, registry)(frame, VALUE), value)


@pytest.mark.parametrize("style", STYLES)
def test_every_style_is_generated_and_written(style: str) -> None:
    made = _class(style, "One", [("a", LEAVES[0], False), ("b", LEAVES[2], style != "namedtuple")])
    registry: Any = FakeRegistry()
    value = made(a=1, **({"b": "y"} if style == "namedtuple" else {}))
    frame = AvroSerializer.for_type(made, registry)(value, VALUE)
    assert same(AvroDeserializer.for_type(made, registry)(frame, VALUE), value)
